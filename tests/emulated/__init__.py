"""A deployment in one process: the Lambda handlers on moto, behind event sources that behave as those of AWS.

Read `cloud` first: it shows how the parts are connected.
"""

from __future__ import annotations

from tests.emulated.cloud import EmulatedCloud
from tests.emulated.options import EmulatedOptions
from tests.emulated.schedule_poller import SchedulerQuirks

__all__ = ["EmulatedCloud", "EmulatedOptions", "SchedulerQuirks"]
