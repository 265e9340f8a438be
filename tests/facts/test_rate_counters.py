"""The counters of a rate limit, whose sums are whole microseconds."""

from datetime import timedelta

import pytest

from duetime.errors import DeclarationError
from duetime.model.rate_limit import (
    HIGHEST_RATE,
    LARGEST_BURST,
    LONGEST_PERIOD,
    Pace,
    RateCounters,
    RateLimit,
)

SECOND = 1_000_000
NOW = 100 * SECOND
SLOW, FAST = Pace(10 * SECOND, 0), Pace(2 * SECOND, 0)


@pytest.mark.parametrize(
    ("pace", "former", "begins"),
    [
        (FAST, ((NOW + 30 * SECOND, SLOW.interval),), NOW + 6 * SECOND),
        (SLOW, ((NOW + 6 * SECOND, FAST.interval),), NOW + 30 * SECOND),
        (SLOW, ((NOW + 6 * SECOND, FAST.interval), (NOW + 80 * SECOND, 20 * SECOND)), NOW + 40 * SECOND),
        (SLOW, ((NOW + 1, FAST.interval),), NOW + 5),
        (SLOW, ((NOW, FAST.interval),), 0),
        (SLOW, ((NOW - 6 * SECOND, FAST.interval),), 0),
        (SLOW, (), 0),
    ],
    ids=[
        "a higher limit",
        "a lower limit",
        "the one that is farthest ahead",
        "less than a start",
        "none ahead",
        "one that was used long ago",
        "the first limit",
    ],
)
def test_after_a_change_of_the_limit_a_counter_begins_with_the_starts_that_are_ahead(pace, former, begins):
    assert RateCounters(former=former).carried(pace, NOW) == begins


def test_a_counter_that_has_begun_takes_nothing_from_former_ones():
    former = ((NOW + 30 * SECOND, SLOW.interval),)
    assert RateCounters(started=1, former=former).carried(FAST, NOW) == 0


def test_a_run_with_an_instant_of_its_own_waits_for_no_others():
    pace = Pace(2 * SECOND, 4 * SECOND)
    counters = RateCounters(started=NOW, reserved=NOW + 20 * SECOND)
    assert counters.free_at(pace, is_reserved=True) == NOW - 4 * SECOND
    assert counters.free_at(pace, is_reserved=False) == NOW + 16 * SECOND
    assert counters.next_free(pace, NOW) == NOW + 16 * SECOND
    assert counters.next_free(pace, NOW + 30 * SECOND) == NOW + 30 * SECOND
    ahead = RateCounters(started=NOW + 20 * SECOND, reserved=NOW)
    assert ahead.next_free(pace, NOW) == NOW + 16 * SECOND


@pytest.mark.parametrize(
    "declared",
    [
        {"count": 0},
        {"count": True},
        {"count": 1.5},
        {"count": HIGHEST_RATE + 1, "per": "second"},
        {"burst": 0},
        {"burst": True},
        {"burst": "1"},
        {"burst": LARGEST_BURST + 1},
        {"count": 501, "per": "second", "burst": 2},
        {"per": "week"},
        {"per": timedelta(seconds=1) - timedelta.resolution},
        {"per": LONGEST_PERIOD + timedelta.resolution},
        {"per": 60},
    ],
    ids=str,
)
def test_a_limit_out_of_its_bounds_is_rejected(declared):
    with pytest.raises(DeclarationError, match=r"rate is|burst is|per is"):
        RateLimit.parse(**{"count": 10, "per": "minute", **declared})


@pytest.mark.parametrize(
    ("declared", "burst", "shards", "interval"),
    [
        ({"count": 1, "per": "second"}, 1, 1, SECOND),
        ({"count": 1, "per": LONGEST_PERIOD}, 1, 1, 31 * 86_400 * SECOND),
        ({"count": 90, "per": "minute"}, 2, 1, 666_667),
        ({"count": 250, "per": timedelta(seconds=1)}, 250, 1, 4_000),
        ({"count": 251, "per": "second"}, 251, 2, 7_969),
        ({"count": 501, "per": "second", "burst": 3}, 3, 3, 5_989),
        ({"count": HIGHEST_RATE, "per": "second", "burst": LARGEST_BURST}, LARGEST_BURST, 16, 4_000),
    ],
    ids=str,
)
def test_a_limit_has_as_few_counters_as_can_count_it_and_never_more_starts(declared, burst, shards, interval):
    limit = RateLimit.parse(**declared)
    assert (limit.burst, limit.shards) == (burst, shards)
    assert limit.pace == Pace(interval, (burst // shards - 1) * interval)


def test_a_limit_names_its_counters_if_its_burst_is_too_small_for_them():
    with pytest.raises(DeclarationError, match=r"from 3, since 501 in 1 s need so many counters to 1000000"):
        RateLimit.parse(501, "second", 2)
    with pytest.raises(DeclarationError, match=r"from 2, since 251 in 1 s need so many counters"):
        RateLimit.parse(251, "second", 1)
    with pytest.raises(DeclarationError, match=r"burst is 0; allowed is a whole number from 1 to 1000000"):
        RateLimit.parse(10, "minute", 0)


def test_a_limit_has_a_text_with_its_unit_or_its_seconds():
    assert RateLimit.parse(100, "hour", 10).text == "100 an hour, 10 at once"
    assert RateLimit.parse(100, "minute", 10).text == "100 a minute, 10 at once"
    assert RateLimit.parse(100, timedelta(seconds=90), 10).text == "100 in 90 s, 10 at once"
