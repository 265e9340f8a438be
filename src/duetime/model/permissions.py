"""Permissions: what a caller may do. Roles are a deployment's settings; a tenant's admins may grant more at run time.

=================  =============================================================
permission         allows
=================  =============================================================
``actions:read``   see the tenant's actions, and its dead letters
``actions:manage`` schedule, cancel, reschedule and redrive them
``jobs:read``      see jobs, their runs and occurrences
``jobs:manage``    pause, trigger, set, register and unregister them
``payloads:read``  see what payloads keep as sensitive
``audit:read``     see who asked for which change
``grants:manage``  grant the tenant's roles the first five, and take that back
``tenant:admin``   all of these, and what is for the tenant's admins
``system``         all this for code's jobs, and for what queues gave up, too
``admin``          everything: of the caller's tenant, and of the deployment
=================  =============================================================

Whoever may manage may read. ``system`` and ``admin`` reach beyond the caller's tenant: code's jobs run for all tenants, and
what is undelivered is everybody's. Where tenants are strangers to one another, their admins are ``tenant:admin``. A grant at run time gives none but the first five: whoever grants rules one tenant alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Permission(StrEnum):
    """One thing that a caller may be allowed to do."""

    READ_ACTIONS = "actions:read"
    MANAGE_ACTIONS = "actions:manage"
    READ_JOBS = "jobs:read"
    MANAGE_JOBS = "jobs:manage"
    READ_PAYLOADS = "payloads:read"
    READ_AUDIT = "audit:read"
    MANAGE_GRANTS = "grants:manage"
    TENANT_ADMIN = "tenant:admin"
    SYSTEM = "system"
    ADMIN = "admin"


GRANTABLE = frozenset(
    {
        Permission.READ_ACTIONS,
        Permission.MANAGE_ACTIONS,
        Permission.READ_JOBS,
        Permission.MANAGE_JOBS,
        Permission.READ_PAYLOADS,
    }
)
"""What may be granted at run time."""

EVERYTHING = frozenset(Permission)

_IMPLIED: Mapping[Permission, frozenset[Permission]] = {
    Permission.MANAGE_ACTIONS: frozenset({Permission.READ_ACTIONS}),
    Permission.MANAGE_JOBS: frozenset({Permission.READ_JOBS}),
    Permission.TENANT_ADMIN: EVERYTHING - {Permission.SYSTEM, Permission.ADMIN},
    Permission.ADMIN: EVERYTHING,
}


def permissions_of(said: Iterable[str]) -> frozenset[Permission]:
    """The permissions of that many words, and what they imply.

    Raises:
        ValueError: a word is no permission.
    """
    named = frozenset(map(Permission, said))
    return named.union(*(_IMPLIED.get(each, frozenset()) for each in named))
