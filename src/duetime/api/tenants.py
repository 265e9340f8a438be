"""Routes of tenants, for operators of the deployment: pause, resume, and list the paused ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import ids
from duetime.api.api_model import ApiModel
from duetime.api.context import ApiRoutes, caller_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.parameters import instant_of
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.summary import TenantPauseView
from duetime.errors import InvalidTime
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.work_pause import PauseScope, WorkPause

TENANTS = "/tenants"
_LONGEST_REASON = 200
_MANAGE = Permission.MANAGE_TENANTS


class TenantPauseRequest(RequestBody):
    """A pause of a tenant."""

    reason: Annotated[
        str,
        Field(
            description="why, for the tenant and other operators", min_length=1, max_length=_LONGEST_REASON
        ),
    ]
    until: Annotated[
        str | None,
        Field(description="an ISO 8601 instant at which it ends by itself; without it, a resume ends it"),
    ] = None


class TenantPauseList(ApiModel):
    """Pauses of tenants."""

    items: list[TenantPauseView]
    """All of them, the oldest first."""


class Tenants(ApiRoutes):
    """Serves the pauses of all tenants."""

    tag = "tenants"

    @route("listTenantPauses", "GET", f"{TENANTS}/pauses", _MANAGE)
    def list(self) -> TenantPauseList:
        """Return the pauses in force. A tenant may have several, each with its own reason and end."""
        return _listed(self.api.known_pauses.list())

    @route(
        "pauseTenant",
        "POST",
        f"{TENANTS}/<tenant>/pause",
        _MANAGE,
        operation=Operation("pause", AuditKind.TENANT),
    )
    def pause(
        self, tenant: str, body: Annotated[TenantPauseRequest, Body()], request: Request
    ) -> TenantPauseView:
        """Pause a tenant: within five seconds, no run of it begins. Its actions wait.

        A run in progress continues. A pause stands beside earlier ones and changes none of them.
        """
        now = self.api.clock.now()
        if not body.reason.strip() or not body.reason.isprintable():
            raise InvalidRequest([Flaw("reason", "must be printable text, not only spaces")])
        until = None if body.until is None else instant_of(body.until, "until", now)
        if until is not None and until <= now:
            raise InvalidTime(body.until, "has passed; name a later instant, or none", field="until")
        pause = WorkPause(
            id=ids.new_action_id(now, os.urandom),
            scope=PauseScope.TENANT,
            name=ids.tenant(tenant),
            reason=body.reason,
            by=caller_at(request).actor,
            since=now,
            until=until,
        )
        self.api.known_pauses.begin(pause)
        return TenantPauseView.model_validate(pause)

    @route(
        "resumeTenant",
        "POST",
        f"{TENANTS}/<tenant>/resume",
        _MANAGE,
        operation=Operation("resume", AuditKind.TENANT),
    )
    def resume(self, tenant: str, request: Request) -> TenantPauseList:
        """End all pauses of a tenant, and return them. Its waiting actions run within fifteen minutes."""
        return _listed(self.api.known_pauses.end_all(ids.tenant(tenant), caller_at(request).actor))


def _listed(pauses: Sequence[WorkPause]) -> TenantPauseList:
    return TenantPauseList(items=[TenantPauseView.model_validate(pause) for pause in pauses])
