"""The comparison with croniter: it agrees on compared expressions; others have a reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from croniter import croniter
from hypothesis import assume, given
from hypothesis import strategies as st

from duetime.cadence import InvalidCadence, compare_with_croniter, cron
from duetime.cadence.preview import incomparable_reason
from tests.cadence.strategies import expressions, fields

THURSDAY = datetime(2026, 1, 15, 12, tzinfo=UTC)

KNOWN = [
    ("0 0 15W * *", "and", "does not know W"),
    ("0 0 LW * *", "and", "does not know W"),
    ("0 0 L-3 * *", "and", "L-n"),
    ("0-0 * * * *", "and", "has one value"),
    ("* 5-5/1 * * *", "and", "has one value"),
    ("0 22-2/2 * * *", "and", "wraps"),
    ("0 0 * * FRI-MON", "and", "wraps"),
    ("0 0 * * 0-SUN", "and", "has one value"),
    ("0 0 * * FRI#1,MON", "and", "alone"),
    ("0 0 * * 2L,4L", "and", "alone"),
    ("0 0 17-30 * WEDL", "or", "alone"),
    ("0 0 * * FRI/2", "and", "ends FRI/2 on Saturday"),
]


@pytest.mark.parametrize(("expression", "day_rule", "reason"), KNOWN, ids=[case[0] for case in KNOWN])
def test_expressions_that_croniter_reads_differently_are_not_compared(expression, day_rule, reason):
    cadence = cron(expression, day_rule=day_rule)

    assert reason in incomparable_reason(cadence)
    assert compare_with_croniter(cadence) == []


@pytest.mark.parametrize(
    ("expression", "theirs"),
    [("0-0 * * * *", "12:01"), ("0 0 * * FRI/2", "00:00"), ("* 5-5 * * *", "12:01")],
)
def test_the_known_disagreements_are_still_there(expression, theirs):
    found = croniter(expression, THURSDAY).get_next(datetime)

    assert f"{found:%H:%M}" == theirs
    assert expression.endswith("FRI/2") or found != cron(expression).next_after(THURSDAY)


@given(
    expression=expressions,
    seconds=st.none() | fields(0, 59),
    day_rule=st.sampled_from(["and", "or"]),
    days_on=st.integers(0, 4_000),
)
def test_croniter_agrees_on_every_compared_expression(expression, seconds, day_rule, days_on):
    try:
        cadence = cron(expression if seconds is None else f"{seconds} {expression}", day_rule=day_rule)
    except InvalidCadence:
        assume(False)
    start = datetime.fromtimestamp(1_700_000_000 + days_on * 86_400 + 77, UTC)

    assert compare_with_croniter(cadence, start=start, count=5) == []


def test_a_wrong_evaluation_is_reported():
    right = cron("30 2 * * *")
    wrong = replace(right, parts=replace_minutes(right.parts, 31))

    disagreements = compare_with_croniter(wrong, start=THURSDAY, count=2)

    assert [str(disagreement) for disagreement in disagreements] == [
        f"after {after}: {ours}, but croniter says {theirs}"
        for after, ours, theirs in (
            ("2026-01-15T12:00:00+00:00", "2026-01-16T02:31:00+00:00", "2026-01-16T02:30:00+00:00"),
            ("2026-01-16T02:31:00+00:00", "2026-01-17T02:31:00+00:00", "2026-01-17T02:30:00+00:00"),
        )
    ]


def replace_minutes(parts, minute):
    return parts._replace(minutes=1 << minute)


def test_zone_filters_and_clock_rule_are_not_compared():
    cadence = cron("30 2 * * *", tz="Europe/Paris", dst="eventbridge", window=("02:00", "03:00"), days="mon")

    assert compare_with_croniter(cadence) == []
