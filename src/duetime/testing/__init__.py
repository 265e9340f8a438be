"""Tools to test handlers and schedules: a fake run for unit tests, and a simulated cloud.

Names are imported at their first use, since every run of pytest imports `plugin`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.model.run import WorkerDied as WorkerDied
    from duetime.testing.fakes import fake_batch as fake_batch
    from duetime.testing.fakes import fake_run as fake_run
    from duetime.testing.faults import DeadLetter as DeadLetter
    from duetime.testing.faults import Faults as Faults
    from duetime.testing.invariants import InvariantBroken as InvariantBroken
    from duetime.testing.journey import SimulationStuck as SimulationStuck
    from duetime.testing.recorded_metrics import RecordedMetrics as RecordedMetrics
    from duetime.testing.simulated import SimulatedCloud as SimulatedCloud
    from duetime.testing.tables import create_tables as create_tables
    from duetime.testing.turned_clock import TurnedClock as TurnedClock

_MODULES = {
    "DeadLetter": "faults",
    "Faults": "faults",
    "InvariantBroken": "invariants",
    "RecordedMetrics": "recorded_metrics",
    "SimulatedCloud": "simulated",
    "SimulationStuck": "journey",
    "TurnedClock": "turned_clock",
    "WorkerDied": ".model.run",
    "create_tables": "tables",
    "fake_batch": "fakes",
    "fake_run": "fakes",
}

__all__ = [*_MODULES]  # noqa: PLE0604 - the names are texts


def __getattr__(name: str) -> object:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
