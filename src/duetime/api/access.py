"""Routes of access: the caller, the grants made at run time, and the audit trail."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import BeforeValidator, Field

from duetime.api.context import caller_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import PageView, View, shows
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget
from duetime.model.permissions import GRANTABLE, Permission
from duetime.model.tenant_erase import TenantErase
from duetime.ports.access import Grant

_ROLE_LIMIT = 128


class CallerView(View):
    """The caller and its permissions."""

    tenant_id: str
    """The caller's tenant."""
    actor: str
    """The e-mail address or the subject of a person; the role or user of a service."""
    subject: str | None
    """The id that never changes: a person's ``sub``, a service's unique id in IAM."""
    roles: list[str]
    """The groups of a person; the roles of a service, by the settings."""
    permissions: list[Permission]
    """All permissions of the roles, implied ones included."""


class GrantRequest(RequestBody):
    """The permissions to grant, in addition to those in the settings."""

    permissions: Annotated[list[Permission], Field(min_length=1, description="at least one")]


@shows(Grant, "role granted_by granted_at")
class GrantView(View):
    """A role's permissions that were granted at run time."""

    permissions: Annotated[list[Permission], BeforeValidator(sorted)]
    """The permissions, in addition to those in the settings."""


class GrantList(View):
    """The grants of the caller's tenant."""

    items: list[GrantView]
    """All grants, by role."""


@shows(AuditLink, "chain number previous hash")
class AuditLinkView(View):
    """The place of a record in a chain of hashes."""


@shows(
    AuditEntry,
    "id operation by subject roles address requested_at request_fields status result expires_at",
)
class AuditEntryView(View):
    """One requested change."""

    target: Annotated[str, BeforeValidator(str)]
    """``action:<id>``, ``job:<name>``, ``grant:<role>``, ``many``, ``undelivered:<id>``,
    ``notification:<id>``, ``tenant:<name>``, ``batch:<name>``, ``preferences``;
    ``rejected:<caller>`` of counted rejections."""
    begun_link: AuditLinkView | None
    """The record before the change; null for a new target."""
    ended_link: AuditLinkView | None
    """The record with the result; null without one."""


@shows(TenantErase, "ended_at entries_expired_by")
class TenantEraseView(View):
    """The latest erase of the tenant, with its trail."""


class AuditPageView(PageView):
    """A page of the trail, latest first; `next_cursor` is null on the last page."""

    items: list[AuditEntryView]
    """At most `limit`."""
    erase: TenantEraseView | None = None
    """The latest erase of the tenant; on the first page of all its entries, null elsewhere."""


class AccessRoutes(RouteGroup):
    """Serves the grants and the audit trail of the caller's tenant."""

    tag = "access"

    @route("getCaller", "GET", "/me")
    def me(self, request: Request) -> CallerView:
        """Return the caller's identity, roles and permissions."""
        caller = caller_at(request)
        return CallerView(
            tenant_id=caller.tenant_id,
            actor=caller.actor,
            subject=caller.subject or None,
            roles=sorted(caller.roles),
            permissions=sorted(caller.permissions),
        )

    @route("listGrants", "GET", "/grants", Permission.MANAGE_GRANTS)
    def list(self, request: Request) -> GrantList:
        """Return the grants made at run time, without those in the settings."""
        held = self.access.grants.for_tenant(caller_at(request).tenant_id)
        return GrantList(items=[GrantView.of(held[role]) for role in sorted(held)])

    @route(
        "grantToRole",
        "PUT",
        "/grants/<role>",
        Permission.MANAGE_GRANTS,
        operation=Operation("grant", AuditKind.GRANT),
    )
    def grant(self, role: str, body: Annotated[GrantRequest, Body()], request: Request) -> GrantView:
        """Replace a role's granted permissions; the change takes effect within ten seconds."""
        if beyond := sorted(set(body.permissions) - GRANTABLE):
            problem = f"holds {', '.join(beyond)}; may be granted: {', '.join(sorted(GRANTABLE))}"
            raise InvalidRequest([Flaw("permissions", problem)])
        return GrantView.of(self._put(role, frozenset(body.permissions), request))

    @route(
        "revokeFromRole",
        "DELETE",
        "/grants/<role>",
        Permission.MANAGE_GRANTS,
        status=HTTPStatus.NO_CONTENT,
        operation=Operation("revoke", AuditKind.GRANT),
    )
    def revoke(self, role: str, request: Request) -> None:
        """Revoke all permissions granted to a role at run time."""
        self._put(role, frozenset(), request)

    def _put(self, role: str, permissions: frozenset[Permission], request: Request) -> Grant:
        if len(role) > _ROLE_LIMIT or not role.isprintable() or " " in role:
            raise InvalidRequest(
                [Flaw("role", f"must be 1 to {_ROLE_LIMIT} printable characters without spaces")]
            )
        caller = caller_at(request)
        grant = Grant(role, permissions, caller.actor, self.api.clock.now())
        self.access.grants.put(caller.tenant_id, grant)
        return grant

    @route("listAuditEntries", "GET", "/audit", Permission.READ_AUDIT)
    def audit(
        self,
        request: Request,
        action: Annotated[str | None, Query(description="only changes of this action")] = None,
        job: Annotated[str | None, Query(description="only changes of this job")] = None,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
        cursor: Annotated[str | None, Query()] = None,
    ) -> AuditPageView:
        """Return a page of the trail, latest first: of the tenant, or of one action or job."""
        if action is not None and job is not None:
            raise InvalidRequest([Flaw("job", "cannot be used with action; leave out one of them")])
        filters = {AuditKind.ACTION: action, AuditKind.JOB: job}
        target = next((AuditTarget(kind, name) for kind, name in filters.items() if name is not None), None)
        tenant_id = caller_at(request).tenant_id
        page = self.access.trail.list(tenant_id, target, limit=limit, cursor=cursor)
        return AuditPageView(
            items=[AuditEntryView.of(entry) for entry in page],
            next_cursor=page.cursor,
            erase=self._erase(tenant_id) if target is None and cursor is None else None,
        )

    def _erase(self, tenant_id: TenantId) -> TenantEraseView | None:
        of_tenant = AuditTarget(AuditKind.TENANT, tenant_id)
        entries = self.access.trail.list(SYSTEM_TENANT, of_tenant, limit=LARGEST_PAGE, cursor=None)
        erase = TenantErase.latest(entries)
        return None if erase is None else TenantEraseView.of(erase)
