"""Routes of undelivered inputs, for operators: list, read, redrive."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Self

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.context import UNDELIVERED, reader_at
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import PageView, View, shows
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.undelivered import Undelivered, UndeliveredKind
from duetime.undelivered.undelivered_client import MOST_AT_ONCE, UndeliveredClient

_NO_ACTION = {"tenant_id": None, "action_id": None}


@shows(Undelivered, "id kind source reason first_at last_at count")
class UndeliveredSummary(View):
    """Something undelivered without its body: in lists."""

    tenant_id: str | None
    """The tenant that owns the action; null where that is not known."""
    action_id: str | None
    """The action that it is about; null where that is not known."""

    @classmethod
    def of(cls, *shown: Any, **made: Any) -> Self:
        """Return the view of something undelivered."""
        [thing] = shown
        ref = thing.action
        owner = {"tenant_id": ref.tenant_id, "action_id": ref.id} if ref else _NO_ACTION
        return super().of(thing, **owner, **made)


class UndeliveredView(UndeliveredSummary):
    """Something undelivered in full."""

    body: str | None
    """The undelivered input as text; null if it can be sensitive and the caller lacks `payloads:read`."""
    redacted: list[str]
    """`*` if the body is hidden from the caller; else empty."""
    is_cut: bool
    """Whether the body is only its beginning: then it cannot be redriven."""


class UndeliveredList(PageView):
    """A page of a list; `next_cursor` is null on the last one."""

    items: list[UndeliveredSummary]
    """At most `limit`."""


class RedriveRequest(RequestBody):
    """Which are to be redriven."""

    ids: Annotated[
        list[str] | None,
        Field(description="these, in place of the newest ones", min_length=1, max_length=LARGEST_PAGE),
    ] = None
    kind: Annotated[UndeliveredKind | None, Field(description="only those of this kind")] = None
    limit: Annotated[int, Field(strict=True, ge=1, le=MOST_AT_ONCE, description="how many at most")] = 100
    dry_run: Annotated[bool, Field(strict=True, description="only say which")] = False


class Redriven(View):
    """Those that are redriven, or would be, as they are before."""

    items: list[UndeliveredSummary]
    """In the order of the ids, or the newest first."""
    dry_run: bool
    """Whether nothing was done."""


class UndeliveredRoutes(RouteGroup):
    """Serves the deployment's undelivered inputs; only operators see them."""

    tag = "undelivered"

    @route("listUndelivered", "GET", UNDELIVERED, Permission.SYSTEM)
    def list(
        self,
        request: Request,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> UndeliveredList:
        """Return a page of all undelivered inputs, newest first."""
        page = self._undelivered(request).list(limit=limit, cursor=cursor)
        return UndeliveredList(items=[UndeliveredSummary.of(item) for item in page], next_cursor=page.cursor)

    @route("getUndelivered", "GET", f"{UNDELIVERED}/<undelivered_id>", Permission.SYSTEM)
    def get(self, undelivered_id: str, request: Request) -> UndeliveredView:
        """Return the undelivered input."""
        thing = self._undelivered(request).get(undelivered_id)
        body, paths = reader_at(self.api, request).of_undelivered(thing)
        return UndeliveredView.of(thing, body=body, redacted=list(paths))

    @route(
        "redriveUndelivered",
        "POST",
        f"{UNDELIVERED}/redrive",
        Permission.SYSTEM,
        status=HTTPStatus.ACCEPTED,
        operation=Operation("redrive", AuditKind.UNDELIVERED, has_dry_run=True),
        has_ids=True,
    )
    def redrive(self, body: Annotated[RedriveRequest, Body()], request: Request) -> Redriven:
        """Redrive soon those of the ids, or the newest; with `dry_run` only list them.

        Each disappears, or stays with the reason of the new failure. An unknown id redrives none.
        """
        client = self._undelivered(request)
        if body.ids is None:
            chosen = client.redrive_many(body.kind, limit=body.limit, dry_run=body.dry_run)
        else:
            chosen = tuple(client.get(one) for one in body.ids)
            for one in () if body.dry_run else chosen:
                client.redrive(one.id)
        return Redriven(items=[UndeliveredSummary.of(item) for item in chosen], dry_run=body.dry_run)

    def _undelivered(self, request: Request) -> UndeliveredClient:
        return self.api.scheduler(request).undelivered
