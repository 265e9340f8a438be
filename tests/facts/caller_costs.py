"""The most that the callers of each role can cost in a day: all requests that the limits allow.

Each request is the most expensive of its kind. The rates are those of the stack: each of the API's URLs
counts all of its callers together. A handler's own time is not included. Its due times have no common
fraction of a second, so that no sleep saves many waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from duetime.cdk.gateway import PUBLIC_RATE
from duetime.cost.estimate import estimate
from duetime.cost.prices import Prices
from duetime.cost.units import DAYS
from duetime.cost.workload import Workload
from duetime.model.new_action import PAYLOAD_LIMIT

# Derived: a page of 25 jobs that events start, with the latest runs of each from its 17 partitions.
MOST_LIST_READS = 25 * 17

# The lists that one request reads at most (`GET /reads`).
MOST_LISTS = 12

_SECONDS = 86_400
_IDLE = Workload(tenants="several", actions_per_day=0, jobs=0, handler_ms=0, api_requests_per_day=0)


@dataclass(frozen=True, slots=True)
class CallerCost:
    """The most expensive day of the callers of one kind, in dollars."""

    caller: str
    does: str
    dollars: float


def caller_costs(prices: Prices, *, api_rate: float) -> Iterator[CallerCost]:
    """Yield the cost of each kind of callers, with those rates in requests a second."""
    requests = api_rate * _SECONDS
    calling = replace(_IDLE, api_requests_per_day=requests)
    scheduling = replace(calling, actions_per_day=requests)
    most = replace(scheduling, payload_bytes=PAYLOAD_LIMIT)
    public = _a_day(replace(_IDLE, api_requests_per_day=PUBLIC_RATE * _SECONDS), prices)
    lists = prices["read-units"].dollars_for(requests * MOST_LISTS * MOST_LIST_READS)
    yield CallerCost("not signed in", f"{PUBLIC_RATE} requests a second of public paths", public)
    yield CallerCost(
        "signed in, no role", f"{api_rate:g} rejected requests a second", _a_day(calling, prices)
    )
    yield CallerCost("viewer", f"{MOST_LISTS} of the most expensive lists", _a_day(calling, prices) + lists)
    yield CallerCost("member, operator", "schedules an action of 1 KB", _a_day(scheduling, prices))
    yield CallerCost("member, operator", "schedules the largest payload", _a_day(most, prices))
    million = replace(_IDLE, actions_per_day=1_000_000)
    yield CallerCost("role with grant_schedule", "writes a million actions of 1 KB", _a_day(million, prices))


def caller_table(costs: Iterator[CallerCost]) -> str:
    """Return the costs as lines of text in columns."""
    rows = [("caller", "does all day", "dollars")]
    rows += [(cost.caller, cost.does, f"{cost.dollars:,.0f}") for cost in costs]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        f"{caller:<{widths[0]}}  {does:<{widths[1]}}  {dollars:>{widths[2]}}"
        for caller, does, dollars in rows
    )


def _a_day(work: Workload, prices: Prices) -> float:
    return estimate(work, prices, may_sleep=False).growing_dollars / DAYS
