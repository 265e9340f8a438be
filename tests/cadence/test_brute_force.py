"""The evaluator against the oracle, which checks every minute or second."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from duetime.cadence import NeverFires, cron
from tests.cadence.oracle import SECOND, Plain, occurrences
from tests.cadence.strategies import CHANGING, expressions, fields, timely, zone_params, zoned_starts

RULES = st.sampled_from(["cronos", "vixie", "eventbridge"])
EPOCH_DAY = date(1970, 1, 1)


@given(
    expression=timely | expressions, where=zoned_starts(), dst=RULES, day_rule=st.sampled_from(["and", "or"])
)
def test_every_minute_of_two_days_is_as_in_the_oracle(expression, where, dst, day_rule):
    tz, start = where
    try:
        cadence = cron(expression, tz=tz, dst=dst, day_rule=day_rule)
    except NeverFires:
        assume(False)
    plain = Plain.parse(expression, day_rule)
    end = start + timedelta(days=2)

    expected = occurrences(
        plain.matches, tz, start, end, dst=dst, interval=plain.interval, starred=plain.starred
    )

    assert list(cadence.between(start, end)) == expected


@settings(max_examples=max(20, settings().max_examples // 4))
@given(
    expression=st.tuples(fields(0, 59), fields(0, 59), fields(0, 3)).map(
        lambda times: f"{' '.join(times)} * * *"
    ),
    where=zoned_starts(),
    dst=RULES,
)
def test_every_second_of_two_hours_is_as_in_the_oracle(expression, where, dst):
    tz, start = where
    cadence = cron(expression, tz=tz, dst=dst)
    plain = Plain.parse(expression)
    end = start + timedelta(hours=2)

    expected = occurrences(
        plain.matches, tz, start, end, dst=dst, interval=plain.interval, starred=plain.starred, step=SECOND
    )

    assert list(cadence.between(start, end)) == expected


@given(expression=expressions, day_rule=st.sampled_from(["and", "or"]), year=st.integers(1971, 2150))
def test_every_date_of_four_years_is_as_in_the_oracle(expression, day_rule, year):
    days = " ".join(expression.split()[2:])
    plain = Plain.parse(f"0 0 {days}", day_rule)
    start = date(year, 1, 1)
    expected = [day for n in range(1461) if plain.has_day(day := start + timedelta(days=n))]
    try:
        cadence = cron(f"0 0 {days}", day_rule=day_rule)
    except NeverFires:
        assert not expected
        return
    first = datetime(year, 1, 1, tzinfo=UTC) - timedelta(seconds=1)

    found = [at.date() for at in cadence.between(first, first + timedelta(days=1461))]

    assert found == expected


@settings(max_examples=max(10, settings().max_examples // 10))
@given(expression=expressions, day_rule=st.sampled_from(["and", "or"]))
def test_an_expression_never_fires_if_and_only_if_no_day_of_forty_years_matches(expression, day_rule):
    plain = Plain.parse(expression, day_rule)
    fires = any(plain.has_day(date(2000, 1, 1) + timedelta(days=n)) for n in range(365 * 41))

    if fires:
        cron(expression, day_rule=day_rule)
    else:
        with pytest.raises(NeverFires):
            cron(expression, day_rule=day_rule)


@given(expression=timely, where=zoned_starts(), fraction=st.integers(0, 999_999))
def test_the_next_occurrence_is_strictly_later_whole_and_in_utc(expression, where, fraction):
    tz, start = where
    at = start + timedelta(microseconds=fraction)

    following = cron(expression, tz=tz).next_after(at)

    assert following > at
    assert following.tzinfo is UTC
    assert following.microsecond == 0


@given(expression=timely, where=zoned_starts(), ahead=st.integers(1, 10_000))
def test_a_later_start_skips_no_occurrence(expression, where, ahead):
    tz, start = where
    cadence = cron(expression, tz=tz)
    later = start + timedelta(seconds=ahead)
    first = cadence.next_after(start)

    assert cadence.next_after(later) >= first
    assert first > later or cadence.next_after(first - timedelta(seconds=1)) == first


@pytest.mark.parametrize("tz", zone_params(CHANGING))
def test_a_decade_of_a_nightly_job_has_one_run_a_day_under_the_default_rule(tz):
    cadence = cron("30 2 * * *", tz=tz)
    start = datetime(2010, 1, 1, 12, tzinfo=UTC)
    runs = list(cadence.between(start, start + timedelta(days=3652)))

    assert 3651 <= len(runs) <= 3653
    assert all(
        timedelta(hours=20) <= later - earlier <= timedelta(hours=28)
        for earlier, later in pairwise(runs)
        if tz != "Pacific/Apia"
    )
