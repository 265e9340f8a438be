"""What users need to test handlers and schedules: a fake run for a plain unit test, and a simulated cloud."""

from __future__ import annotations

from duetime.testing.calls import DeadLetter
from duetime.testing.fakes import fake_run
from duetime.testing.faults import Faults
from duetime.testing.invariants import InvariantBroken
from duetime.testing.simulated import SimulatedCloud
from duetime.testing.turned_clock import TurnedClock

__all__ = ["DeadLetter", "Faults", "InvariantBroken", "SimulatedCloud", "TurnedClock", "fake_run"]
