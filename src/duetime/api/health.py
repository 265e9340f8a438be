"""The health probe: honest, since it asks each part that a request would need. It tells nothing of any tenant."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from pydantic import BaseModel

from duetime.api.errors import Unhealthy
from duetime.api.health_details import Details
from duetime.api.routes import Route
from duetime.errors import BackendMisconfigured, BackendUnavailable, truncate
from duetime.ids import SYSTEM_TENANT, ActionId
from duetime.model.action import ActionRef
from duetime.ports.actions import ActionStore
from duetime.ports.wakeups import Bookmarks

_route = partial(Route, "service")

log = logging.getLogger(__name__)

PATH = "/health"

_MISSING_ACTION = ActionRef(SYSTEM_TENANT, ActionId("00000000-0000-7000-8000-000000000000"))

Probe = Callable[[], object]
"""Asks one part for something; raises when it is ill."""


def probes(store: ActionStore, bookmarks: Bookmarks) -> Mapping[str, Probe]:
    """How each part is asked: by a read of something that is not there."""
    return {
        "actions table": lambda: store.get(_MISSING_ACTION),
        "jobs table": lambda: bookmarks.read("health"),
    }


class HealthView(BaseModel):
    """All is well."""

    status: Literal["ok"] = "ok"
    """Always ``ok``: what is ill is a problem."""
    parts: dict[str, str]
    """Each part that was asked: ``ok``."""


@dataclass(frozen=True, slots=True)
class Health:
    """Whether every part answers: cheap, and open to everybody; beside it the details, for operators, if they are served."""

    probes: Mapping[str, Probe]
    details: Details | None = None

    def routes(self) -> Iterable[Route]:
        """Return the routes, under the prefix."""
        details = self.details.routes() if self.details else ()
        return (_route("getHealth", "GET", PATH, self.get, None, is_open=True), *details)

    def get(self) -> HealthView:
        """Well, when all parts answer; else a 503 that names the ill ones."""
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
