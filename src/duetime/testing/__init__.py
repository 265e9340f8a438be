"""What users need to test handlers and schedules: a fake run for a plain unit test, and a simulated cloud."""

from __future__ import annotations

from duetime.testing.fakes import fake_run
from duetime.testing.simulated import SimulatedCloud, TurnedClock

__all__ = ["SimulatedCloud", "TurnedClock", "fake_run"]
