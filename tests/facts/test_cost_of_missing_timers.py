"""What a million far actions cost a day at the quota of timers: by hops, as once, and by the wheel."""

import re
from pathlib import Path

from duetime.cost import units
from duetime.cost.prices import usual_prices
from duetime.cost.quantities import InvocationCounts, compute, invocations, starts
from duetime.cost.workload import Workload

PAGE = (Path(__file__).parents[2] / "docs/cost.md").read_text()
MILLION, HOPS_A_DAY = 1_000_000, 4 * 24


def by_hops(prices, work):
    """Each action's message is received and sent again every 15 minutes, until the action is due."""
    hops = MILLION * HOPS_A_DAY
    calls = [InvocationCounts("work", hops, hops * units.HOP_MS, work.handler_memory)]
    calls = [*calls, *starts(calls)]
    written = invocations(calls) * units.LINE_BYTES / 1_000_000_000
    return (
        prices["queue-requests"].dollars_for(hops * units.MESSAGE_REQUESTS)
        + prices["lambda-requests"].dollars_for(invocations(calls))
        + prices[f"lambda-{work.architecture}"].dollars_for(compute(calls))
        + prices["log-ingestion"].dollars_for(written)
    )


def by_the_wheel(prices, work):
    """A turn a minute; each action is read once, before it is due, and its timer is not charged."""
    turns = units.SWEEPS
    reads = turns * units.WHEEL_READS + MILLION * units.WHEEL_READS_OF_ONE
    calls = [InvocationCounts("sweep", 0, turns * units.WHEEL_MS, work.function_memory)]
    return (
        prices["read-units"].dollars_for(reads)
        + prices["write-units"].dollars_for(turns * units.WHEEL_WRITES)
        + prices[f"lambda-{work.architecture}"].dollars_for(compute(calls))
    )


def test_the_page_states_what_the_wheel_saves_at_the_quota_of_timers():
    prices, work = usual_prices(), Workload()
    stated = re.search(r"a million for ([\d.]+) dollars a day at most, instead of (\d+) by hops", PAGE)
    assert stated, "docs/cost.md does not state it"
    assert float(stated[1]) == round(by_the_wheel(prices, work), 2)
    assert int(stated[2]) == round(by_hops(prices, work))
