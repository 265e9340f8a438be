"""Workloads, and what each costs by the usual prices."""

from dataclasses import fields

from hypothesis import strategies as st

from duetime.cost.estimate import estimate
from duetime.cost.prices import usual_prices
from duetime.cost.workload import ARCHITECTURES, EVENTS, STARTS, TIMERS, Workload

PRICES = usual_prices()
NUMBERS = [field for field in fields(Workload) if "choices" not in field.metadata]
NOTHING = Workload(
    **dict.fromkeys(
        (
            "actions_per_day",
            "jobs",
            "api_requests_per_day",
            "mails_per_day",
            "notices_per_day",
            "alarms",
        ),
        0,
    )
)


def priced(work):
    return estimate(work, PRICES)


def line_of(work, name):
    [found] = [line for line in priced(work).lines if line.name == name]
    return found


def amounts(field):
    low, high = field.metadata["low"], min(field.metadata["high"], 1e8)
    return st.floats(low, high, allow_subnormal=False)


@st.composite
def workloads(draw):
    chosen = {number.name: draw(amounts(number)) for number in NUMBERS}
    chosen["payload_bytes"] = draw(st.integers(0, 10_000))
    return Workload(
        **chosen,
        architecture=draw(st.sampled_from(ARCHITECTURES)),
        events=draw(st.sampled_from(EVENTS)),
        timers=draw(st.sampled_from(TIMERS)),
        start=draw(st.sampled_from(STARTS)),
    )
