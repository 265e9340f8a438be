"""Dollars: what AWS charges for a million lifecycles, and for a month of few, by `duetime app cost`.

Nothing is measured here: the estimate's units are metered by ``tests/contract/test_costs.py``.
"""

from __future__ import annotations

from bench.result import Result, at_most
from duetime.cost.estimate import estimate
from duetime.cost.prices import usual_prices
from duetime.cost.workload import Workload

_MILLIONS = {"actions_per_day": 10_000_000, "handler_ms": 0}
_SMALL = {"tenants": "one", "events": "off", "alarms": 3}
_GOALS = (
    ("near", 5.0, {"far_share": 0, "worker_batch": 1}),
    ("far", 6.5, {"far_share": 1, "worker_batch": 1}),
    ("near, in batches of ten", 3.5, {"far_share": 0, "worker_batch": 10}),
    ("far, in batches of ten", 5.0, {"far_share": 1, "worker_batch": 10}),
)
_MOST_OF_A_MONTH = 3.0


def measure() -> list[Result]:
    """Return the dollars of each kind of load, with its budget."""
    prices = usual_prices()
    million = [
        Result(
            bench="dollars",
            name=f"a million, {name}",
            measured=estimate(Workload(**_MILLIONS, **work), prices).per_million,
            unit="dollars",
            budget=at_most(goal),
        )
        for name, goal, work in _GOALS
    ]
    month = [
        Result(
            bench="dollars",
            name=f"a month of a thousand a day{name}",
            measured=estimate(Workload(actions_per_day=1_000, **work), prices).dollars,
            unit="dollars",
            budget=at_most(_MOST_OF_A_MONTH),
        )
        for name, work in ((", profile=small", _SMALL), ("", {}))
    ]
    return [*million, *month]
