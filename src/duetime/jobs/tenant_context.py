"""The facts that a tenant's scheduler shares with its actions and its jobs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duetime.clock import Clock
from duetime.errors import InvalidArgument
from duetime.ids import Entropy, TenantId
from duetime.model.action import Action
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantContext:
    """One tenant, one actor, and the back end that serves them.

    Attributes:
        actor: the name that the audit shows for each change.
        sees_system: whether the code's jobs, and their runs, are visible beside the tenant's own.
        payload_of: returns a payload as a search compares it; None compares what is stored.
    """

    store: ActionStore
    tenant_id: TenantId
    actor: str
    clock: Clock
    settings: Settings
    sees_system: bool = True
    payload_of: Callable[[Action], Any] | None = None
    random_bytes: Entropy = os.urandom


@dataclass(frozen=True, slots=True)
class TenantTables:
    """The `JobTables` of a tenant's scheduler."""

    store: ActionStore
    jobs: JobStore
    clock: Clock
    settings: Settings


def tenant_of(given: str | None, settings: Settings) -> str:
    """Return the given tenant, or the deployment's only one.

    Raises:
        InvalidArgument: none is given, and the deployment has several.
    """
    if given is not None:
        return given
    if not settings.sole_tenant:
        many = settings.tenants == "*"
        known = "many tenants" if many else f"the tenants {', '.join(settings.tenants.split())}"
        raise InvalidArgument(
            f"this deployment has {known} (DUETIME_TENANTS), and no tenant was given; pass tenant_id=…",
            field="tenant_id",
        )
    return settings.sole_tenant
