"""Routes of tenants, for operators of the deployment: pause, resume, and list the paused ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import ids
from duetime._masking import masked
from duetime.api.api_model import ApiModel
from duetime.api.context import ApiRoutes, caller_at
from duetime.api.pauses import LONGEST_REASON, checked_end
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, route
from duetime.api.summary import TenantPauseView
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.work_pause import PauseScope, WorkPause

TENANTS = "/tenants"
_MANAGE = Permission.MANAGE_TENANTS


class TenantPauseRequest(RequestBody):
    """A pause of a tenant."""

    reason: Annotated[
        str,
        Field(description="why, for the tenant and other operators", min_length=1, max_length=LONGEST_REASON),
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
        return _listed([pause for pause in self.api.known_pauses.list() if pause.scope is PauseScope.TENANT])

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
        until = checked_end(body.reason, body.until, now, is_required=self.api.settings.pause_needs_end)
        pause = WorkPause(
            id=ids.new_action_id(now, os.urandom),
            scope=PauseScope.TENANT,
            name=ids.tenant(tenant),
            reason=masked(body.reason),
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
        """End a tenant's pauses, and return them. What waits begins within two minutes and their spread."""
        pauses = self.api.known_pauses
        mine = [
            pause
            for pause in pauses.list()
            if (pause.scope, pause.name) == (PauseScope.TENANT, ids.tenant(tenant))
        ]
        return _listed(pauses.end_all(mine, caller_at(request).actor))


def _listed(pauses: Sequence[WorkPause]) -> TenantPauseList:
    return TenantPauseList(items=[TenantPauseView.model_validate(pause) for pause in pauses])
