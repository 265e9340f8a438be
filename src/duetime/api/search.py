"""The route of the search box: what a text may mean, in groups, each from a bounded read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Annotated, Literal, NamedTuple

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime import ids
from duetime._lazy_property import lazy_property
from duetime.actions.search import Search
from duetime.api.authenticator import Caller
from duetime.api.context import ApiContext, caller_at, reader_at
from duetime.api.routes import RouteGroup, route
from duetime.api.views import ScannedView, View
from duetime.errors import InvalidArgument, NotFound
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


class SuggestionView(View):
    """One thing that the text may mean."""

    value: str
    """Its id or name; of an error its text, in which `…` stands for what differs."""
    type: str | None
    """The payload type of an action."""
    status: Status | None
    """The status of an action."""
    count: int | None
    """How many of the actions that were compared have it; null of one thing."""


class SuggestionGroup(View):
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


class SuggestionsView(View):
    """What a text may mean: the kinds that the caller may read and that have suggestions or were scanned."""

    items: list[SuggestionGroup]
    """The groups."""


class _Found(NamedTuple):
    suggestions: list[SuggestionView]
    more: bool = False
    scanned: Scanned | None = None


class SearchRoutes(RouteGroup):
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
        text, permissions = q.strip(), caller_at(request).permissions
        finders = _TextSearch(self.api, request, text, limit).finders() if text else {}
        return SuggestionsView(
            items=[
                _group(kind, found, limit)
                for kind, find in finders.items()
                if (Permission.READ_JOBS if kind == "job" else Permission.READ_ACTIONS) in permissions
                for found in [find()]
                if found.suggestions or (found.more and kind in _BY_CONTENTS)
            ]
        )


class _TextSearch:
    """What one caller may mean by a text."""

    def __init__(self, api: ApiContext, request: Request, text: str, limit: int) -> None:
        self._api, self._request, self._text, self._limit = api, request, text, limit
        self._caller, self._scheduler = caller_at(request), api.scheduler(request)

    def finders(self) -> dict[Kind, Callable[[], _Found]]:
        """Return what finds each kind; a text with ``=`` is a payload field, or a correlation id."""
        if _PAYLOAD_FIELD.fullmatch(self._text):
            return {"payload": self._payloads, "correlation": self._correlations}
        return {
            "action": self._by_id,
            "job": self._jobs,
            "correlation": self._correlations,
            "type": self._types,
            "error": self._errors,
        }

    def _by_id(self) -> _Found:
        """Return the action with this id, or those whose id begins with it."""
        try:
            return _Found([_of_action(self._scheduler.get(self._text))])
        except (NotFound, InvalidArgument):
            pass
        prefix = self._text.lower()
        if not _ID_PREFIX.fullmatch(prefix):
            return _Found([])
        page = self._api.store.of_tenant(self._caller.tenant_id, limit=self._limit + 1, cursor=f"{prefix}~")
        rows = [row for row in page if row.id.startswith(prefix)]
        return _Found([_of_action(row) for row in rows], more=len(rows) > self._limit)

    @lazy_property
    def _recent(self) -> Page:
        """The tenant's newest actions, whose correlation ids and types are counted."""
        return self._api.store.of_tenant(self._caller.tenant_id, limit=LARGEST_PAGE, cursor=None)

    def _correlations(self) -> _Found:
        """Return the correlation id itself, and those of recent actions that begin with the text."""
        text, page = self._text, self._recent
        counts = Counter(
            row.correlation_id for row in page if row.correlation_id and row.correlation_id.startswith(text)
        )
        if text not in counts and _is_correlation_id(text):
            own = self._api.store.by_correlation(
                self._caller.tenant_id, text, limit=LARGEST_PAGE, cursor=None
            )
            counts.update({text: len(own)} if len(own) else {})
        return _counted(counts, page)

    def _types(self) -> _Found:
        """Return the app's types, and those of recent actions, that have the text in their name."""
        handlers = self._api.app.handlers
        counts = Counter(dict.fromkeys((name for name, handler in handlers.items() if not handler.job), 0))
        counts.update(row.type for row in self._recent)
        found = {name: count for name, count in counts.items() if self._text.lower() in name.lower()}
        return _counted(Counter(found), self._recent)

    def _jobs(self) -> _Found:
        """Return the jobs whose name begins with the text; of the first ones also those that contain it."""
        prefix, jobs = self._text.lower(), self._api.jobs.jobs
        if not _PART_OF_JOB_NAME.fullmatch(prefix):
            return _Found([])
        found: dict[str, None] = {}
        more = False
        for tenant_id in _tenants(self._caller):
            page = jobs.list(tenant_id, limit=self._limit + 1, cursor=_before(prefix))
            found |= dict.fromkeys(job.name for job in page if job.name.startswith(prefix))
        for tenant_id in _tenants(self._caller) if len(found) < self._limit else ():
            page = jobs.list(tenant_id, limit=_JOBS_AT_ONCE, cursor=None)
            found |= dict.fromkeys(job.name for job in page if prefix in job.name)
            more = more or page.cursor is not None
        return _Found([_of_name(name) for name in found], more=more or len(found) > self._limit)

    def _errors(self) -> _Found:
        """Return the errors of failed actions that have the text in them, by pattern."""
        if len(self._text.replace(ANY, "").strip()) < _SHORTEST_ERROR:
            return _Found([])
        page = self._scan({"status": Status.FAILED, "error": self._text})
        patterns = Counter(error_pattern(row.failure_reason or "")[:LONGEST_TEXT] for row in page)
        return _Found(list(_by_count(patterns)), page.cursor is not None, page.scanned)

    def _payloads(self) -> _Found:
        """Return the actions with a value in their payload, the newest first."""
        page = self._scan({"payload": fields_of([self._text])})
        return _Found([_of_action(row) for row in page], page.cursor is not None, page.scanned)

    def _scan(self, filters: Filters) -> Page:
        find = Search(
            self._api.store,
            self._scheduler.jobs.history,
            self._caller.tenant_id,
            _tenants(self._caller)[:-1],
            payload_of=lambda row: reader_at(self._api, self._request).of_action(row).payload,
            scan_steps=1,
        )
        selection = Selection.parse(filters, self._api.clock.now())
        return find(selection, limit=LARGEST_PAGE, cursor=None)


def _tenants(caller: Caller) -> list[ids.TenantId]:
    """Return the tenants whose jobs and runs a caller sees, its own last."""
    sees_system = Permission.SYSTEM in caller.permissions
    return [*([ids.SYSTEM_TENANT] if sees_system else []), caller.tenant_id]


def _before(prefix: str) -> str:
    """Return a text that sorts before every name with this prefix, and after all smaller ones."""
    return prefix[:-1] + chr(max(ord(prefix[-1]) - 1, 32)) + "~"


def _is_correlation_id(text: str) -> bool:
    try:
        return ids.key("correlation_id", text) == text
    except InvalidArgument:
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
        scanned=None if found.scanned is None else ScannedView.of(found.scanned),
    )
