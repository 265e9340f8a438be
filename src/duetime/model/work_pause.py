"""A pause of work: no run of a tenant begins until an operator ends the pause, or its time is over.

A pause has a scope and a name. A process ignores scopes that it does not know. Facts only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from duetime.ids import TenantId


class PauseScope(StrEnum):
    """What a pause covers."""

    TENANT = "tenant"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPause:
    """One pause. Several may cover one tenant; each has its own reason and end."""

    id: str
    """A UUIDv7: pauses sort by their begin."""
    scope: PauseScope
    name: str
    """The tenant."""
    reason: str
    by: str
    since: datetime
    until: datetime | None = None
    """When it ends by itself."""
    ended_at: datetime | None = None
    """When an operator ended it."""
    ended_by: str | None = None

    def is_over(self, now: datetime) -> bool:
        """Return whether work may begin again, as far as this pause is concerned."""
        return self.ended_at is not None or (self.until is not None and self.until <= now)

    def ended(self, *, by: str, at: datetime) -> Self:
        """Return the pause after an operator ended it."""
        return replace(self, ended_at=at, ended_by=by)


@dataclass(frozen=True, slots=True)
class WorkPauseChange:
    """A pause before and after a write; None stands for no pause."""

    old: WorkPause | None
    new: WorkPause


def pause_of_tenant(pauses: Iterable[WorkPause], tenant_id: TenantId, now: datetime) -> WorkPause | None:
    """Return the pause that covers a tenant's work the longest; None if work may begin."""
    covering = [
        pause
        for pause in pauses
        if (pause.scope, pause.name) == (PauseScope.TENANT, tenant_id) and not pause.is_over(now)
    ]
    endless = next((pause for pause in covering if pause.until is None), None)
    return endless or max(covering, key=lambda pause: pause.until or now, default=None)
