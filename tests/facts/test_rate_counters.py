"""The counters of a rate limit, whose sums are whole microseconds."""

import pytest

from duetime.model.rate_limit import Pace, RateCounters

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


def test_each_start_moves_the_counters_by_an_interval_from_now_or_from_the_end_of_the_line():
    pace, former = Pace(2 * SECOND, 4 * SECOND), ((1, 2),)
    first = RateCounters(former=former).after_start(pace, NOW, is_reserved=False)
    assert first == RateCounters(NOW + 2 * SECOND, NOW + 2 * SECOND, former)
    second = first.after_start(pace, NOW + SECOND, is_reserved=False)
    assert second == RateCounters(NOW + 4 * SECOND, NOW + 4 * SECOND, former)
    reserved = second.after_reservation(pace, NOW)
    assert reserved == RateCounters(NOW + 4 * SECOND, NOW + 6 * SECOND, former)
    assert reserved.after_start(pace, NOW, is_reserved=True) == RateCounters(
        NOW + 6 * SECOND, NOW + 6 * SECOND, former
    )


def test_a_run_with_an_instant_of_its_own_waits_for_no_others():
    pace = Pace(2 * SECOND, 4 * SECOND)
    counters = RateCounters(started=NOW, reserved=NOW + 20 * SECOND)
    assert counters.free_at(pace, is_reserved=True) == NOW - 4 * SECOND
    assert counters.free_at(pace, is_reserved=False) == NOW + 16 * SECOND
    assert counters.next_free(pace, NOW) == NOW + 16 * SECOND
    assert counters.next_free(pace, NOW + 30 * SECOND) == NOW + 30 * SECOND
    ahead = RateCounters(started=NOW + 20 * SECOND, reserved=NOW)
    assert ahead.after_reservation(pace, NOW).reserved == NOW + 22 * SECOND
    assert ahead.next_free(pace, NOW) == NOW + 16 * SECOND
