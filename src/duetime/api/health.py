"""The health probe: it reads from each back end that a request needs. It returns no tenant's data."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from duetime.api.api_model import ApiModel
from duetime.api.errors import Unhealthy
from duetime.api.health_details import Details
from duetime.api.routes import RouteGroup, route
from duetime.errors import BackendMisconfigured, BackendUnavailable, truncate
from duetime.ids import SYSTEM_TENANT, ActionId
from duetime.model.action import ActionRef
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks

log = logging.getLogger(__name__)

PATH = "/health"

_MISSING_ACTION = ActionRef(SYSTEM_TENANT, ActionId("00000000-0000-7000-8000-000000000000"))

Probe = Callable[[], object]
"""Reads from one part; raises if the part is unhealthy."""


def probes(store: ActionStore, bookmarks: Bookmarks) -> Mapping[str, Probe]:
    """Return a probe of each part, which reads an absent item."""
    return {
        "actions table": lambda: store.get(_MISSING_ACTION),
        "jobs table": lambda: bookmarks.read("health"),
    }


class HealthView(ApiModel):
    """All parts respond."""

    status: Literal["ok"] = "ok"
    """Always ``ok``: an unhealthy part is a problem response."""
    parts: dict[str, str]
    """Each probed part: ``ok``."""


@dataclass(frozen=True, slots=True)
class Health(RouteGroup):
    """Serves the open health probe, and the details for operators if they are configured."""

    tag = "service"

    probes: Mapping[str, Probe]
    details: Details | None = None

    @route("getHealth", "GET", PATH, is_open=True)
    def get(self) -> HealthView:
        """Return 200 if all parts respond; else a 503 that names the unhealthy parts."""
        parts = {name: _state_of(name, probe) for name, probe in self.probes.items()}
        if any(state != "ok" for state in parts.values()):
            raise Unhealthy(parts)
        return HealthView(parts=parts)


def _state_of(name: str, probe: Probe) -> str:
    try:
        probe()
    except (BackendUnavailable, BackendMisconfigured) as error:
        log.warning("a part is ill", extra={"part": name, "reason": truncate(error)})
        return error.code
    return "ok"
