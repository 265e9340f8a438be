"""What tenants have of their own on the local cloud of a test."""

from __future__ import annotations

from typing import Any

from duetime.embedded.cloud import CloudPorts
from duetime.jobs.register import Registration
from duetime.local import LocalCloud
from duetime.model.job import Job
from tests.console.browser import Reader, flaws, scrolls_sideways
from tests.console.shop import Parcel

SOON = 30_000
"""Milliseconds, for what the cloud must do first."""
EVENING = "daily 18:00 tz=Europe/Paris"
MONDAYS = "weekly mon 08:00 tz=Europe/Paris"


def ports_of(cloud: LocalCloud) -> CloudPorts:
    """The tables that the API reads."""
    return cloud._engine.cloud.ports


def register(
    cloud: LocalCloud, name: str, *cadences: str, tenant: str = "acme", fails: int = 0, **options: Any
) -> Job:
    """A job of a tenant's own that sends a parcel."""
    handler = Parcel(order=name, fails=fails)
    job = Registration(name=name, handler=handler, cadences=cadences, **options)
    return cloud.scheduler(tenant_id=tenant).jobs.register(job)


def flaws_in_either_scheme(reader: Reader) -> list[str]:
    """What axe finds in what is shown now, on light and on dark."""
    found = []
    for scheme in ("light", "dark"):
        reader.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += flaws(reader.page)
    return found


def fits_a_phone(reader: Reader) -> bool:
    """Whether what is shown now needs no scrolling sideways on a phone."""
    reader.page.set_viewport_size({"width": 360, "height": 800})
    return not scrolls_sideways(reader.page)
