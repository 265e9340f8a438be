"""The route of the search box: what a text may mean, in groups, each from a bounded read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Literal, NamedTuple

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime import ids
from duetime.actions.search import Search
from duetime.api.api_model import ApiModel
from duetime.api.authenticator import Caller
from duetime.api.context import ApiRoutes, caller_at, reader_at
from duetime.api.routes import route
from duetime.api.views import ScannedView
from duetime.errors import ActionNotFound, InvalidIdentifier
from duetime.model.action import Action, Status
from duetime.model.content_filter import ANY, LONGEST_TEXT, fields_of
from duetime.model.error_pattern import error_pattern
from duetime.model.permissions import Permission
from duetime.model.selection import LARGEST_PAGE, Filters, Selection
from duetime.ports.actions import Page, Scanned

Kind = Literal["action", "correlation", "job", "type", "error", "payload"]

_ID_PREFIX = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,32}", re.ASCII)
_PART_OF_JOB_NAME = re.compile(r"[a-z0-9-]+", re.ASCII)
_PAYLOAD_FIELD = re.compile(r"(payload\.)?[\w-]+(\.[\w-]+)*=.+")
_SHORTEST_ERROR = 3
"""Characters of a text that is searched for in errors."""
_JOBS_AT_ONCE = 100
_BY_CONTENTS = frozenset({"error", "payload"})
"""Kinds whose group is shown without suggestions too: a longer scan may find some."""


class SuggestionView(ApiModel):
    """One thing that the text may mean."""

    value: str
    """Its id or name; of an error its text, in which `…` stands for what differs."""
    type: str | None
    """The payload type of an action."""
    status: Status | None
    """The status of an action."""
    count: int | None
    """How many of the actions that were compared have it; null of one thing."""


class SuggestionGroup(ApiModel):
    """The suggestions of one kind."""

    kind: Kind
    """Of actions: `action` by id, `correlation`, `type`, `error` and `payload`; `job` by name."""
    items: list[SuggestionView]
    """At most `limit`."""
    count: int
    """How many suggestions were found, those beyond `limit` included."""
    more: bool
    """Whether there may be more that were not read."""
    scanned: ScannedView | None
    """How far it came, if it compared rows one by one; `GET /actions/query` goes on with the same filter."""


class SuggestionsView(ApiModel):
    """What a text may mean: the kinds that the caller may read and that have suggestions or were scanned."""

    items: list[SuggestionGroup]
    """The groups."""


class _Found(NamedTuple):
    suggestions: list[SuggestionView]
    more: bool = False
    scanned: Scanned | None = None


class SearchRoutes(ApiRoutes):
    """Serves the search box for the caller's tenant."""

    tag = "search"

    @route("search", "GET", "/search", Permission.READ_ACTIONS, Permission.READ_JOBS)
    def search(
        self,
        q: Annotated[str, Query(min_length=1, max_length=LONGEST_TEXT, description="a text, or FIELD=VALUE")],
        request: Request,
        limit: Annotated[int, Query(ge=1, le=20, description="the most suggestions of each kind")] = 5,
    ) -> SuggestionsView:
        """Return what a text may mean: ids and their beginnings, correlation ids, jobs, types and errors.

        `payload.customer=42` finds actions by a value in their payload. Each kind is one bounded read: 200
        rows, 100 with payloads. Kinds that the caller may not read are left out.
        """
        text, caller = q.strip(), caller_at(request)
        finders = _finders(self, text, request, limit) if text else []
        return SuggestionsView(
            items=[
                _group(kind, found, limit)
                for kind, permission, find in finders
                if permission in caller.permissions
                for found in [find()]
                if found.suggestions or (found.more and kind in _BY_CONTENTS)
            ]
        )

    def by_id(self, text: str, request: Request, limit: int) -> _Found:
        """Return the action with this id, or those whose id begins with it."""
        try:
            return _Found([_of_action(self.api.scheduler(request).get(text))])
        except (ActionNotFound, InvalidIdentifier):
            pass
        if not _ID_PREFIX.fullmatch(text.lower()):
            return _Found([])
        prefix = text.lower()
        tenant_id = caller_at(request).tenant_id
        page = self.api.store.of_tenant(tenant_id, limit=limit + 1, cursor=f"{prefix}~")
        rows = [row for row in page if row.id.startswith(prefix)]
        return _Found([_of_action(row) for row in rows], more=len(rows) > limit)

    def recent(self, request: Request) -> Page:
        """Return the tenant's newest actions, whose correlation ids and types are counted."""
        return self.api.store.of_tenant(caller_at(request).tenant_id, limit=LARGEST_PAGE, cursor=None)

    def correlations(self, text: str, request: Request, recent: Callable[[], Page]) -> _Found:
        """Return the correlation id itself, and those of recent actions that begin with the text."""
        page = recent()
        counts = Counter(
            row.correlation_id for row in page if row.correlation_id and row.correlation_id.startswith(text)
        )
        if text not in counts and _is_correlation_id(text):
            own = self.api.store.by_correlation(
                caller_at(request).tenant_id, text, limit=LARGEST_PAGE, cursor=None
            )
            counts.update({text: len(own)} if len(own) else {})
        return _counted(counts, page)

    def types(self, text: str, recent: Callable[[], Page]) -> _Found:
        """Return the app's types, and those of recent actions, that have the text in their name."""
        page = recent()
        handlers = self.api.app.handlers
        counts = Counter(dict.fromkeys((name for name, handler in handlers.items() if not handler.job), 0))
        counts.update(row.type for row in page)
        return _counted(
            Counter({name: count for name, count in counts.items() if text.lower() in name.lower()}), page
        )

    def jobs(self, text: str, request: Request, limit: int) -> _Found:
        """Return the jobs whose name begins with the text; of the first ones also those that contain it."""
        caller, prefix = caller_at(request), text.lower()
        if not _PART_OF_JOB_NAME.fullmatch(prefix):
            return _Found([])
        found: dict[str, None] = {}
        more = False
        for tenant_id in _tenants(caller):
            page = self.api.jobs.jobs.list(tenant_id, limit=limit + 1, cursor=_before(prefix))
            found |= dict.fromkeys(job.name for job in page if job.name.startswith(prefix))
        for tenant_id in _tenants(caller) if len(found) < limit else ():
            page = self.api.jobs.jobs.list(tenant_id, limit=_JOBS_AT_ONCE, cursor=None)
            found |= dict.fromkeys(job.name for job in page if prefix in job.name)
            more = more or page.cursor is not None
        return _Found([_of_name(name) for name in found], more=more or len(found) > limit)

    def errors(self, text: str, request: Request) -> _Found:
        """Return the errors of failed actions that have the text in them, by pattern."""
        if len(text.replace(ANY, "").strip()) < _SHORTEST_ERROR:
            return _Found([])
        filters: Filters = {"status": Status.FAILED, "error": text}
        page = self._scan(Selection.parse(filters, self.api.clock.now()), request)
        patterns = Counter(error_pattern(row.failure_reason or "")[:LONGEST_TEXT] for row in page)
        return _Found(list(_by_count(patterns)), page.cursor is not None, page.scanned)

    def payloads(self, text: str, request: Request) -> _Found:
        """Return the actions with a value in their payload, the newest first."""
        filters: Filters = {"payload": fields_of([text])}
        page = self._scan(Selection.parse(filters, self.api.clock.now()), request)
        return _Found([_of_action(row) for row in page], page.cursor is not None, page.scanned)

    def _scan(self, selection: Selection, request: Request) -> Page:
        caller = caller_at(request)
        others = _tenants(caller)[:-1]
        find = Search(
            self.api.store,
            self.api.scheduler(request).jobs.history,
            caller.tenant_id,
            others,
            payload_of=lambda row: reader_at(self.api, request).of_action(row).payload,
            scan_steps=1,
        )
        return find(selection, limit=LARGEST_PAGE, cursor=None)


_Finder = tuple[Kind, Permission, Callable[[], _Found]]


def _finders(routes: SearchRoutes, text: str, request: Request, limit: int) -> Iterator[_Finder]:
    """Yield what finds each kind; a text with ``=`` is a payload field, or a correlation id."""
    pages: list[Page] = []

    def recent() -> Page:
        if not pages:
            pages.append(routes.recent(request))
        return pages[0]

    read = Permission.READ_ACTIONS
    if _PAYLOAD_FIELD.fullmatch(text):
        yield "payload", read, lambda: routes.payloads(text, request)
        yield "correlation", read, lambda: routes.correlations(text, request, recent)
        return
    yield "action", read, lambda: routes.by_id(text, request, limit)
    yield "job", Permission.READ_JOBS, lambda: routes.jobs(text, request, limit)
    yield "correlation", read, lambda: routes.correlations(text, request, recent)
    yield "type", read, lambda: routes.types(text, recent)
    yield "error", read, lambda: routes.errors(text, request)


def _tenants(caller: Caller) -> list[ids.TenantId]:
    """Return the tenants whose jobs and runs a caller sees, its own last."""
    sees_system = Permission.SYSTEM in caller.permissions
    return [*([ids.SYSTEM_TENANT] if sees_system else []), caller.tenant_id]


def _before(prefix: str) -> str:
    """Return a text that sorts before every name with this prefix, and after all smaller ones."""
    return prefix[:-1] + chr(max(ord(prefix[-1]) - 1, 32)) + "~"


def _is_correlation_id(text: str) -> bool:
    try:
        return ids.correlation_id(text) == text
    except InvalidIdentifier:
        return False


def _of_action(row: Action) -> SuggestionView:
    return SuggestionView(value=row.id, type=row.job or row.type, status=row.status, count=None)


def _of_name(name: str, count: int | None = None) -> SuggestionView:
    return SuggestionView(value=name, type=None, status=None, count=count)


def _by_count(counts: Counter[str]) -> Iterable[SuggestionView]:
    return (_of_name(name, count) for name, count in counts.most_common())


def _counted(counts: Counter[str], page: Page) -> _Found:
    """Return counted names; the rows that the page does not have were not counted."""
    until = page.actions[-1].created_at if len(page) else None
    return _Found(list(_by_count(counts)), page.cursor is not None, Scanned(len(page), until))


def _group(kind: Kind, found: _Found, limit: int) -> SuggestionGroup:
    return SuggestionGroup(
        kind=kind,
        items=found.suggestions[:limit],
        count=len(found.suggestions),
        more=found.more,
        scanned=None if found.scanned is None else ScannedView.model_validate(found.scanned),
    )
