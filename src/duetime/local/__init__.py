"""The local cloud: a complete deployment in one process, on moto, for development, tests and measurements.

It needs the extra ``duetime[local]``. Read `cloud` first: it shows how the parts are connected.
"""

from __future__ import annotations

from duetime.local.cloud import LocalCloud
from duetime.local.options import LocalOptions
from duetime.local.schedule_poller import SchedulerQuirks

__all__ = ["LocalCloud", "LocalOptions", "SchedulerQuirks"]
