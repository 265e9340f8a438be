"""The ports of the routes of access and of health. They import no route: a cold start needs none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from duetime.api.context import ApiContext
from duetime.clock import Clock
from duetime.ids import SYSTEM_TENANT, ActionId
from duetime.model.action import ActionRef
from duetime.ports.access import AuditTrail, Grants
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks

_MISSING_ACTION = ActionRef(SYSTEM_TENANT, ActionId("00000000-0000-7000-8000-000000000000"))

Probe = Callable[[], object]
"""Reads from one part; raises if the part is unhealthy."""


def probes(store: ActionStore, bookmarks: Bookmarks) -> Mapping[str, Probe]:
    """Return a probe of each part, which reads an absent item."""
    return {
        "actions table": lambda: store.get(_MISSING_ACTION),
        "jobs table": lambda: bookmarks.read("health"),
    }


@dataclass(frozen=True, slots=True)
class Access:
    """The grants made at run time, and the audit trail."""

    grants: Grants
    trail: AuditTrail
    clock: Clock


@dataclass(frozen=True, slots=True)
class Details:
    """What the health details read: `waiting` counts the failure queue's messages; `runbook` is a link."""

    api: ApiContext
    bookmarks: Bookmarks
    waiting: Callable[[], int] | None = None
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """The parts to probe, and the details for operators if they are configured."""

    probes: Mapping[str, Probe]
    details: Details | None = None
