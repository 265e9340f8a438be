"""The local cloud: a complete deployment in one process, on moto, for development, tests and measurements.

It needs the extra ``duetime[local]``. Read `cloud` first: it shows how the parts are connected.
"""

from __future__ import annotations

from tests.emulated.cloud import LocalCloud
from tests.emulated.options import LocalOptions
from tests.emulated.schedule_poller import SchedulerQuirks

__all__ = ["LocalCloud", "LocalOptions", "SchedulerQuirks"]
