"""The health probe: it reads from each back end that a request needs. It returns no tenant's data."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from duetime.api.api_model import ApiModel
from duetime.api.errors import Unhealthy
from duetime.api.route_ports import Probe
from duetime.api.routes import RouteGroup, route
from duetime.errors import BackendMisconfigured, BackendUnavailable, truncate

log = logging.getLogger(__name__)

PATH = "/health"


class HealthView(ApiModel):
    """All parts respond."""

    status: Literal["ok"] = "ok"
    """Always ``ok``: an unhealthy part is a problem response."""
    parts: dict[str, str]
    """Each probed part: ``ok``."""


@dataclass(frozen=True, slots=True)
class HealthRoutes(RouteGroup):
    """Serves the open health probe."""

    tag = "service"

    probes: Mapping[str, Probe]

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
