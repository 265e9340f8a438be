"""The route of quotas: what a tenant may have or cause, and what it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime import ids
from duetime.api.authenticator import require
from duetime.api.context import caller_at
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.routes import RouteGroup, route
from duetime.api.views import View
from duetime.ids import TenantId
from duetime.jobs.register import job_usage
from duetime.model.job import Definition
from duetime.model.permissions import Permission
from duetime.model.quota import Quota, has_quotas, limit_of


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


class Quotas(RouteGroup):
    """Serves a tenant its own quotas, and operators those of all tenants."""

    tag = "quotas"

    @route(
        "listQuotas",
        "GET",
        "/quotas",
        Permission.READ_ACTIONS,
        Permission.READ_JOBS,
        Permission.MANAGE_TENANTS,
    )
    def list(
        self,
        request: Request,
        of_tenant: Annotated[
            str | None, Query(description="for operators: the tenant; the caller's by default")
        ] = None,
    ) -> QuotaList:
        """Return the quotas of a tenant and what it uses.

        `requests` a second and `events` a minute are limited in each process, so they have no use.
        """
        caller = caller_at(request)
        if of_tenant in {None, caller.tenant_id}:
            return self._quotas(caller.tenant_id)
        require(caller, Permission.MANAGE_TENANTS, what="another tenant")
        return self._quotas(ids.tenant(of_tenant))

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
