"""Routes of quotas: what a tenant may have or cause, and what it uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aws_lambda_powertools.event_handler.request import Request

from duetime import ids
from duetime.api.api_model import ApiModel
from duetime.api.context import ApiRoutes, caller_at
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.routes import route
from duetime.api.tenants import TENANTS
from duetime.ids import TenantId
from duetime.jobs.register import job_usage
from duetime.model.job import Definition
from duetime.model.permissions import Permission
from duetime.model.quota import Quota, has_quotas, limit_of


class QuotaView(ApiModel):
    """A quota of a tenant."""

    name: Quota
    """Which."""
    limit: int
    """The most that it permits."""
    used: int | None
    """What the tenant has, up to ten seconds ago; null if it is not counted, or the count cannot be read."""


class QuotaList(ApiModel):
    """The quotas of a tenant."""

    tenant_id: str
    """The tenant."""
    items: list[QuotaView]
    """All quotas; none if the deployment has none."""


class QuotaRoutes(ApiRoutes):
    """Serves the quotas of the caller's tenant, and those of all tenants to their managers."""

    tag = "tenants"

    @route("listQuotas", "GET", "/quotas", Permission.READ_ACTIONS, Permission.READ_JOBS)
    def own(self, request: Request) -> QuotaList:
        """Return the quotas of the caller's tenant and what it uses.

        `requests` a second and `events` a minute are limited in each process, so they have no use.
        """
        return self._quotas(caller_at(request).tenant_id)

    @route("listTenantQuotas", "GET", f"{TENANTS}/<tenant>/quotas", Permission.MANAGE_TENANTS)
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
