"""Routes of tenants: operators pause and resume them; what a tenant may have or cause, and what it uses."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import ids
from duetime._masking import masked
from duetime.api.context import caller_at
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.pauses import LONGEST_REASON, checked_end
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.summary import TenantPauseView
from duetime.api.views import View
from duetime.ids import TenantId
from duetime.jobs.register import job_usage
from duetime.model.audit import AuditKind
from duetime.model.job import Definition
from duetime.model.permissions import Permission
from duetime.model.quota import Quota, has_quotas, limit_of
from duetime.model.work_pause import PauseScope, WorkPause

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


class TenantPauseList(View):
    """Pauses of tenants."""

    items: list[TenantPauseView]
    """All of them, the oldest first."""


class QuotaView(View):
    """A quota of a tenant."""

    name: Quota
    """Which."""
    limit: int
    """The most that it permits."""
    used: int | None
    """What the tenant has, up to ten seconds ago; null if it is not counted, or the count cannot be read."""


class QuotaList(View):
    """The quotas of a tenant."""

    tenant_id: str
    """The tenant."""
    items: list[QuotaView]
    """All quotas; none if the deployment has none."""


class Tenants(RouteGroup):
    """Serves pauses and quotas: to a tenant its own quotas, to operators those of all tenants."""

    tag = "tenants"

    @route("listTenantPauses", "GET", "/tenants/pauses", _MANAGE)
    def list(self) -> TenantPauseList:
        """Return the pauses in force. A tenant may have several, each with its own reason and end."""
        return _listed([pause for pause in self.api.known_pauses.list() if pause.scope is PauseScope.TENANT])

    @route(
        "pauseTenant",
        "POST",
        "/tenants/<tenant>/pause",
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
        return TenantPauseView.of(pause, tenant=pause.name)

    @route(
        "resumeTenant",
        "POST",
        "/tenants/<tenant>/resume",
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

    @route("listQuotas", "GET", "/quotas", Permission.READ_ACTIONS, Permission.READ_JOBS)
    def own(self, request: Request) -> QuotaList:
        """Return the quotas of the caller's tenant and what it uses.

        `requests` a second and `events` a minute are limited in each process, so they have no use.
        """
        return self._quotas(caller_at(request).tenant_id)

    @route("listTenantQuotas", "GET", "/tenants/<tenant>/quotas", Permission.MANAGE_TENANTS)
    def of_tenant(self, tenant: str) -> QuotaList:
        """Return the quotas of a tenant and what it uses."""
        return self._quotas(ids.tenant(tenant))

    def _quotas(self, tenant_id: TenantId) -> QuotaList:
        limits = {quota: limit_of(self.api.settings, tenant_id, quota) for quota in Quota}
        used = self._used(tenant_id) if has_quotas(self.api.settings) else {}
        items = [
            QuotaView(name=quota, limit=limit, used=used.get(quota))
            for quota, limit in limits.items()
            if limit is not None
        ]
        return QuotaList(tenant_id=tenant_id, items=items)

    def _used(self, tenant_id: TenantId) -> Mapping[Quota, int]:
        usage = None if self.api.quotas is None else self.api.quotas.used(tenant_id)
        counted = {} if usage is None else {Quota(name): used for name, used in usage._asdict().items()}
        return {**counted, **job_usage(list(self._definitions(tenant_id)))}

    def _definitions(self, tenant_id: TenantId) -> Iterator[Definition]:
        cursor = None
        while True:
            page = self.api.jobs.jobs.list(tenant_id, limit=LARGEST_PAGE, cursor=cursor)
            yield from (job.definition for job in page.jobs if job.removed_at is None)
            if (cursor := page.cursor) is None:
                return


def _listed(pauses: Sequence[WorkPause]) -> TenantPauseList:
    return TenantPauseList(items=[TenantPauseView.of(pause, tenant=pause.name) for pause in pauses])
