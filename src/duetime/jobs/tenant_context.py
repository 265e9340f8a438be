"""The facts that a tenant's scheduler shares with its actions and its jobs."""

from __future__ import annotations

import os
from dataclasses import dataclass

from duetime.clock import Clock
from duetime.ids import Entropy, TenantId
from duetime.ports.actions import ActionStore
from duetime.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantContext:
    """One tenant, one actor, and the back end that serves them.

    Attributes:
        actor: the name that the audit shows for each change.
        sees_system: whether the code's jobs, and their runs, are visible beside the tenant's own.
    """

    store: ActionStore
    tenant_id: TenantId
    actor: str
    clock: Clock
    settings: Settings
    sees_system: bool = True
    random_bytes: Entropy = os.urandom
