"""Permissions: what a caller may do.

Roles are a deployment's settings; a tenant's admins may grant more at run time.

=================== =============================================================
permission          allows
=================== =============================================================
``actions:read``    see the tenant's actions, and its dead letters
``actions:manage``  schedule, cancel, reschedule and redrive them
``actions:approve`` approve or reject actions that wait for an approval
``jobs:read``       see jobs, their runs and occurrences
``jobs:manage``     pause, trigger, set, register and unregister them
``payloads:read``   see the sensitive fields of payloads
``audit:read``      see the audit trail
``grants:manage``   grant the tenant's roles the first six, and revoke them
``tenant:admin``    all of these, and the notifications for the tenant's admins
``tenants:manage``  pause and resume tenants
``system``          the same for code's jobs, and for undelivered inputs
``admin``           everything: of the caller's tenant, and of the deployment
=================== =============================================================

A permission to manage or approve includes the one to read; no permission to manage includes the one to
approve. ``tenants:manage``, ``system`` and ``admin`` reach beyond the
caller's tenant: code's jobs run for all tenants, and undelivered inputs belong to the deployment. If tenants
must not see each other's data, give their admins ``tenant:admin``. A grant at run time can contain the first
six only, and applies to one tenant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Permission(StrEnum):
    """One thing that a caller may be allowed to do."""

    READ_ACTIONS = "actions:read"
    MANAGE_ACTIONS = "actions:manage"
    APPROVE_ACTIONS = "actions:approve"
    READ_JOBS = "jobs:read"
    MANAGE_JOBS = "jobs:manage"
    READ_PAYLOADS = "payloads:read"
    READ_AUDIT = "audit:read"
    MANAGE_GRANTS = "grants:manage"
    TENANT_ADMIN = "tenant:admin"
    MANAGE_TENANTS = "tenants:manage"
    SYSTEM = "system"
    ADMIN = "admin"


GRANTABLE = frozenset(
    {
        Permission.READ_ACTIONS,
        Permission.MANAGE_ACTIONS,
        Permission.APPROVE_ACTIONS,
        Permission.READ_JOBS,
        Permission.MANAGE_JOBS,
        Permission.READ_PAYLOADS,
    }
)
"""What may be granted at run time."""

EVERYTHING = frozenset(Permission)

_IMPLIED: Mapping[Permission, frozenset[Permission]] = {
    Permission.MANAGE_ACTIONS: frozenset({Permission.READ_ACTIONS}),
    Permission.APPROVE_ACTIONS: frozenset({Permission.READ_ACTIONS}),
    Permission.MANAGE_JOBS: frozenset({Permission.READ_JOBS}),
    Permission.TENANT_ADMIN: EVERYTHING - {Permission.MANAGE_TENANTS, Permission.SYSTEM, Permission.ADMIN},
    Permission.ADMIN: EVERYTHING,
}


def permissions_of(names: Iterable[str]) -> frozenset[Permission]:
    """Return the named permissions, and those that they imply.

    Raises:
        ValueError: a name is no permission.
    """
    named = frozenset(map(Permission, names))
    return named.union(*(_IMPLIED.get(permission, frozenset()) for permission in named))
