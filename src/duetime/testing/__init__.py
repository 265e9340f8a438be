"""What users need to test handlers and schedules: a fake run for a plain unit test, and a simulated cloud.

The names are loaded when they are first used: `plugin` is imported in every run of pytest, also where none is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.testing.calls import DeadLetter as DeadLetter
    from duetime.testing.fakes import fake_run as fake_run
    from duetime.testing.faults import Faults as Faults
    from duetime.testing.invariants import InvariantBroken as InvariantBroken
    from duetime.testing.recorded_metrics import RecordedMetrics as RecordedMetrics
    from duetime.testing.simulated import SimulatedCloud as SimulatedCloud
    from duetime.testing.tables import create_tables as create_tables
    from duetime.testing.turned_clock import TurnedClock as TurnedClock

_HOMES = {
    "DeadLetter": "calls",
    "Faults": "faults",
    "InvariantBroken": "invariants",
    "RecordedMetrics": "recorded_metrics",
    "SimulatedCloud": "simulated",
    "TurnedClock": "turned_clock",
    "create_tables": "tables",
    "fake_run": "fakes",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the names are texts


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
