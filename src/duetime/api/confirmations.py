"""Routes of confirmations: the requests that wait for a second person, with the setting `two_persons`.

The second person claims a request by a reschedule of its row, and ends it by a cancel after the last step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.actions.cancel import cancel
from duetime.api.api_model import ApiModel
from duetime.api.authenticator import Caller, require
from duetime.api.confirmation_request import ConfirmationRequest
from duetime.api.context import ApiRoutes, caller_at
from duetime.api.errors import ConfirmationEnded, ConfirmationNotFound, SamePerson
from duetime.api.filters import SkippedView
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.served_request import ServedProblem, Within
from duetime.api.two_persons import CONFIRMATIONS, CORRELATION, WAITS
from duetime.api.views import Instant
from duetime.errors import ActionNotFound
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.model.action import Action, Status
from duetime.model.audit import AuditKind
from duetime.model.built_in import CONFIRMATION
from duetime.model.lease import Applied
from duetime.model.permissions import Permission
from duetime.model.redaction import read_payload
from duetime.ports.actions import Page

_READ = (Permission.READ_ACTIONS, Permission.READ_JOBS)
_MANAGE = (Permission.MANAGE_ACTIONS, Permission.MANAGE_JOBS)
_MOST_PAGES = 20
_CONFIRMED = "confirm#"
"""Precedes the second person in the row: no actor has a ``#``, so only a confirmation writes it."""
_LONGEST = timedelta(seconds=15)
"""A confirmation makes no further step of a bulk change after this time."""
_GOES_ON = timedelta(hours=1)
"""How long the second person may make the further steps, or repeat a failed one."""


class ConfirmationView(ApiModel):
    """A change that a second person must confirm."""

    id: str
    """Its id."""
    operation: str
    """The operation's id in the OpenAPI document, such as ``cancelActions``."""
    path: str
    """The path of the request, under the prefix."""
    body: dict[str, Any] | None
    """The body of the request, with the cut-off of its count; null without one."""
    count: int | None
    """How many actions it would change; null if that is not counted."""
    more: bool
    """Whether it may be more."""
    requested_by: str
    """The first person."""
    requested_at: Instant
    """When it was requested."""
    confirm_until: Instant
    """When it lapses."""
    state: Literal["waiting", "ended", "lapsed"]
    """``ended`` is confirmed or withdrawn; the audit trail has which."""
    ended_by: str | None
    """Who confirmed or withdrew it."""


class ConfirmationList(ApiModel):
    """The changes that wait for a second person."""

    items: list[ConfirmationView]
    """The oldest first."""


class ConfirmRequest(RequestBody):
    """A step of a confirmed change."""

    cursor: Annotated[
        str | None, Field(description="the `next_cursor` of the previous step; null in the first one")
    ] = None


class ConfirmedView(ApiModel):
    """What a confirmed change did."""

    id: str
    """The confirmation."""
    operation: str
    """The operation's id."""
    changed: int
    """How many actions were changed; 1 for another target."""
    left: list[SkippedView]
    """The actions that were left, with the reason."""
    next_cursor: str | None
    """Of a large change: the same person sends it with the next call; null after the last step."""


class ConfirmationRoutes(ApiRoutes):
    """Serves the confirmations of the caller's tenant."""

    tag = "access"

    @route("listConfirmations", "GET", CONFIRMATIONS, *_READ)
    def list(self, request: Request) -> ConfirmationList:
        """Return the changes that wait for a second person, the oldest first; at most 100."""
        scheduler, cursor, items = self.api.scheduler(request), None, list[ConfirmationView]()
        for _ in range(_MOST_PAGES):
            page = scheduler.list(
                correlation_id=CORRELATION,
                type=CONFIRMATION,
                status=Status.PENDING,
                limit=LARGEST_PAGE,
                cursor=cursor,
            )
            items += self._waiting(page, request)
            if (cursor := page.cursor) is None or len(items) >= LARGEST_PAGE:
                break
        return ConfirmationList(items=items[:LARGEST_PAGE])

    @route("getConfirmation", "GET", f"{CONFIRMATIONS}/<confirmation_id>", *_READ)
    def get(self, confirmation_id: str, request: Request) -> ConfirmationView:
        """Return a confirmation, also one that waits no longer."""
        return self._view(self._row(confirmation_id, request))

    @route(
        "confirm",
        "POST",
        f"{CONFIRMATIONS}/<confirmation_id>/confirm",
        *_MANAGE,
        operation=Operation("confirm", AuditKind.CONFIRMATION),
    )
    def confirm(
        self, confirmation_id: str, request: Request, body: Annotated[ConfirmRequest | None, Body()] = None
    ) -> Response[ConfirmedView]:
        """Make a requested change as its second person; it needs the permission of the change itself.

        One person makes it, once. For a large change, call again with `next_cursor`; a failed call may be
        repeated.
        """
        row, caller = self._row(confirmation_id, request), caller_at(request)
        waiting = _request_of(row)
        require(caller, *map(Permission, waiting.needs))
        if _is_same(caller, row, waiting):
            raise SamePerson(row.id, caller.actor)
        by = _CONFIRMED + caller.actor
        self._claim(row, by)
        done = self._make(row, waiting, None if body is None else body.cursor, request)
        if done.next_cursor is None:
            self._cancel(lambda: self.api.store.get(row.ref), by)
        return Response(HTTPStatus.OK, "application/json", done)

    @route(
        "withdrawConfirmation",
        "DELETE",
        f"{CONFIRMATIONS}/<confirmation_id>",
        *_MANAGE,
        status=HTTPStatus.NO_CONTENT,
        operation=Operation("withdraw", AuditKind.CONFIRMATION),
    )
    def withdraw(self, confirmation_id: str, request: Request) -> None:
        """Withdraw a request: the first person's own, or reject another's."""
        row = self._row(confirmation_id, request)
        caller = caller_at(request)
        require(caller, *map(Permission, _request_of(row).needs))

        def waiting() -> Action:
            found = self.api.store.get(row.ref) or row
            if self._state(found) != "waiting":  # read again after a change: no claim comes between
                raise _ended(found)
            return found

        self._cancel(waiting, caller.actor)

    def _waiting(self, page: Page, request: Request) -> Iterator[ConfirmationView]:
        """Yield the requests of a page that wait; a row that is gone or has no request is left out."""
        for row in page:
            with suppress(ConfirmationNotFound):
                view = self._view(self._row(row.id, request))
                if view.state == "waiting":
                    yield view

    def _row(self, confirmation_id: str, request: Request) -> Action:
        try:
            row = self.api.scheduler(request).get(confirmation_id)
        except ActionNotFound:
            raise ConfirmationNotFound(confirmation_id) from None
        if row.type != CONFIRMATION:
            raise ConfirmationNotFound(confirmation_id)
        return row

    def _view(self, row: Action) -> ConfirmationView:
        waiting = _request_of(row)
        return ConfirmationView(
            id=row.id,
            operation=waiting.operation,
            path=waiting.path,
            body=None if waiting.body is None else dict(waiting.body),
            count=waiting.count,
            more=waiting.more,
            requested_by=row.created_by,
            requested_at=row.created_at,
            confirm_until=_lapses_at(row),
            state=self._state(row),
            ended_by=None if (by := _ender_of(row)) is None else by.removeprefix(_CONFIRMED),
        )

    def _state(self, row: Action) -> Literal["waiting", "ended", "lapsed"]:
        if _ender_of(row) is not None:
            return "ended"
        is_waiting = row.status is Status.PENDING and self.api.clock.now() < _lapses_at(row)
        return "waiting" if is_waiting else "lapsed"

    def _claim(self, row: Action, by: str) -> None:
        """Let this caller alone make the change, within an hour; it may have claimed the request before.

        Raises:
            ConfirmationEnded: another caller has claimed or ended it, it has lapsed, or the change is made.
            BackendUnavailable: its row kept changing.
        """
        store = self.api.store

        def claimed() -> Action | Conflict:
            found, now = store.get(row.ref) or row, self.api.clock.now()
            if found.status is Status.PENDING and found.changed_by == by and now < found.due_at:
                return found
            if self._state(found) != "waiting":
                raise _ended(found)
            outcome = store.reschedule(found, now + _GOES_ON, by=by, at=found.next_change_at(now))
            return outcome.action if isinstance(outcome, Applied) else CHANGED

        change_with_retry(claimed, f"the confirmation {row.id}", table="the actions table")

    def _cancel(self, read: Callable[[], Action | None], by: str) -> None:
        """Cancel the row of a request as read, unless it is final."""
        now = self.api.clock.now()
        kept_until = now + self.api.settings.retention
        cancel(read, self.api.store, None, by=by, at=now, kept_until=kept_until)

    def _make(
        self, row: Action, waiting: ConfirmationRequest, cursor: str | None, request: Request
    ) -> ConfirmedView:
        """Make the change: of a bulk change as many steps as its time allows.

        Raises:
            ServedProblem: the change is rejected, or failed.
        """
        changed, left, ends = 0, list[SkippedView](), self.api.clock.now() + _LONGEST
        while True:
            steps = {} if cursor is None else {"cursor": cursor}
            body = None if waiting.body is None else json.dumps({**waiting.body, **steps})
            response = request.context["serve"](
                Within(waiting.path, method=waiting.method, body=body, etag=waiting.etag)
            )
            if response["statusCode"] >= HTTPStatus.BAD_REQUEST:
                raise ServedProblem(response)
            step = json.loads(response["body"]) if response["body"] else {}
            changed += len(step["changed"]) if "changed" in step else 1
            left += [SkippedView.model_validate(one) for one in step.get("left", ())]
            cursor = step.get("next_cursor")
            if cursor is None or self.api.clock.now() >= ends:
                break
        return ConfirmedView(
            id=row.id, operation=waiting.operation, changed=changed, left=left, next_cursor=cursor
        )


def _request_of(row: Action) -> ConfirmationRequest:
    """Return the request in a row.

    Raises:
        ConfirmationNotFound: the row has none: another program wrote it.
    """
    try:
        return ConfirmationRequest.model_validate(read_payload(row.payload or "{}"))
    except ValueError:
        raise ConfirmationNotFound(row.id) from None


def _lapses_at(row: Action) -> datetime:
    """Return when a request lapses; who reschedules its row cannot extend it."""
    return min(row.due_at, row.created_at + WAITS)


def _ender_of(row: Action) -> str | None:
    """Return who has ended or claimed a request; None if it waits or has lapsed."""
    claimed_by = row.changed_by if (row.changed_by or "").startswith(_CONFIRMED) else None
    return row.cancelled_by or claimed_by


def _ended(row: Action) -> ConfirmationEnded:
    if (by := _ender_of(row)) is None:
        return ConfirmationEnded(row.id, f"lapsed at {_lapses_at(row):%FT%TZ}")
    name = by.removeprefix(_CONFIRMED)
    return ConfirmationEnded(row.id, f"was {'withdrawn' if name == by else 'confirmed'} by {name}")


def _is_same(caller: Caller, row: Action, waiting: ConfirmationRequest) -> bool:
    """Return whether the caller may be the first person: by identity, or by name in whatever case.

    A name counts without its role: IAM Identity Center gives a person's sessions of all roles one name.
    """
    return _name_of(caller.actor) == _name_of(row.created_by) or caller.person == (waiting.subject or None)


def _name_of(actor: str) -> str:
    return actor.rpartition("/")[2].casefold()
