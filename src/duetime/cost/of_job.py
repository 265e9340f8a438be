"""The monthly price of one more job in a deployment."""

from __future__ import annotations

from duetime.cost.estimate import estimate
from duetime.cost.prices import usual_prices
from duetime.cost.workload import Workload

_SHARED = "metrics"
"""The line whose metrics a deployment has anyway."""


def dollars_of_job(runs_per_day: float, payload_bytes: int) -> float:
    """Return the dollars a month of a job's runs, by the usual prices, without the deployment's fixed part.

    The handler's time, its retries and its failures are those that `Workload` assumes.
    """
    alone = Workload(
        actions_per_day=0,
        jobs=1,
        runs_per_day=runs_per_day,
        payload_bytes=payload_bytes,
        api_requests_per_day=0,
    )
    lines = estimate(alone, usual_prices()).lines
    return sum(line.growing_dollars for line in lines if line.name != _SHARED)
