"""The permissions to read notifications, and to change preferences, by kind.

=============================  ====================================================
a notification                 needs the permission
=============================  ====================================================
of an action                   ``actions:read``
of a job                       ``jobs:read``
for the tenant's admins        ``admin``
of the deployment's own list   ``system``
=============================  ====================================================

The deployment's own list is that of the tenant ``system``, which owns code's jobs and the undelivered inputs.
"""

from __future__ import annotations

from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Query

from duetime.api.authenticator import Caller, require
from duetime.errors import OperatorsOnly
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.notification import NotificationKind
from duetime.model.permissions import Permission

READ = (Permission.READ_ACTIONS, Permission.READ_JOBS)
MANAGE = (Permission.MANAGE_ACTIONS, Permission.MANAGE_JOBS)
"""Either lets one in; what is seen or changed is decided here, kind by kind."""

Whose = Literal["tenant", "system"]
Scope = Annotated[Whose, Query(description="the tenant's own, or, for operators, the deployment's")]


def whose(caller: Caller, scope: str) -> TenantId:
    """The tenant that a caller means.

    Raises:
        OperatorsOnly: it is ``system``, and the caller may not see that.
    """
    if scope != SYSTEM_TENANT:
        return caller.tenant_id
    if Permission.SYSTEM not in caller.permissions:
        raise OperatorsOnly("the list of the tenant system, as its preferences are,")
    return SYSTEM_TENANT


def readers(kind: NotificationKind, owner: TenantId) -> Permission:
    """The permission to see notifications of a kind in the list of `owner`."""
    if owner == SYSTEM_TENANT:
        return Permission.SYSTEM
    if kind.is_for_admins:
        return Permission.TENANT_ADMIN
    return Permission.READ_JOBS if kind.startswith("jobs.") else Permission.READ_ACTIONS


def seen_by(
    caller: Caller, owner: TenantId, requested: NotificationKind | None = None
) -> frozenset[NotificationKind]:
    """The kinds that a caller sees in that list; of these the requested one, if one is.

    Raises:
        Forbidden: the caller may not see the requested kind.
    """
    if requested is not None:
        require(caller, readers(requested, owner), what=f"seeing {requested}")
        return frozenset({requested})
    return frozenset(kind for kind in NotificationKind if readers(kind, owner) in caller.permissions)


def admin_of(owner: TenantId) -> Permission:
    """Return the permission to read and change the settings for the owner's admins."""
    return Permission.SYSTEM if owner == SYSTEM_TENANT else Permission.TENANT_ADMIN
