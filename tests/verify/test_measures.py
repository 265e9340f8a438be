"""What a verification measures: each from rows whose times are known."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from duetime import instant
from duetime.clock import SystemClock
from duetime.verify.lab import Bounds, Lab, Sighting
from duetime.verify.measures import histogram, in_phase, measures

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMITS = {"limits": {"near_limit": 900, "wake_early": 90, "lease": 300, "clock_skew": 5}}
SECOND = timedelta(seconds=1)


def lab_of(*rows):
    lab = Lab(None, SystemClock())
    for row in rows:
        lab.rows[row["id"]] = row
        lab.sightings[row["id"]] = Sighting(NOON - 5 * SECOND, NOON + 3 * SECOND)
    return lab


def row(name="p", *, late=0.0, held=0.0, process_since=-60.0, created=-10.0, delay=9.0, **changes):
    """A probe due at noon; all times in seconds from then."""

    def at(seconds):
        return instant.text(NOON + seconds * SECOND)

    facts = {"sent_at": at(-delay), "received_at": at(held), "process_since": at(process_since)}
    run = {
        "queued_at": at(0),
        "started_at": at(late),
        "finished_at": at(late + 0.1),
        "outcome": "executed",
        "message": json.dumps(facts),
    }
    row_ = {"id": name, "status": "executed", "due_at": at(0), "created_at": at(created), "attempts": [run]}
    return {**row_, "concurrency_key": None, **changes}


def test_lateness_is_counted_below_each_limit():
    assert histogram([]) == dict.fromkeys(histogram([]), 0)
    bars = histogram([0, 9.9, 10, 4_999, 5_000, 60_000])
    assert {name: number for name, number in bars.items() if number} == {
        "< 10 ms": 2,
        "< 25 ms": 1,
        "< 5000 ms": 1,
        ">= 5000 ms": 2,
    }


def test_probes_that_wait_for_another_or_run_twice_are_no_measure_of_the_path():
    keyed, failed = row("a", concurrency_key="k"), row("b", status="failed")
    twice = row("c", attempts=[*row()["attempts"], *row()["attempts"]])
    assert measures(lab_of(keyed, failed, twice, row("d", late=0.5)), LIMITS).lateness == [500]


def test_a_process_that_began_after_its_message_was_ready_is_a_cold_start():
    found = measures(lab_of(row("a", late=1.5, process_since=0.4), row("b", late=3)), LIMITS)
    assert (found.cold_starts, found.cold_lateness) == (1, 1500)


@pytest.mark.parametrize(
    ("receive", "is_in_phase"), [(lambda _ready: 0.02, True), (lambda ready: -ready.timestamp() % 1, False)]
)
def test_delays_end_exactly_or_at_the_next_whole_second(receive, is_in_phase):
    ready = [NOON + number * timedelta(milliseconds=130) for number in range(1, 8)]
    assert in_phase([(at, receive(at) * SECOND) for at in ready]) is is_in_phase


def test_a_delay_that_ends_just_before_a_whole_second_shows_no_phase():
    assert in_phase([(NOON - 50 * timedelta(milliseconds=1), timedelta(milliseconds=20))] * 10) is None


def test_without_a_delayed_message_the_phase_is_not_measured():
    found = measures(lab_of(row(delay=0)), LIMITS)
    assert (found.delays_in_phase, found.delay_excess) == (None, None)


def test_the_workers_clocks_lie_between_what_was_scheduled_and_what_was_seen():
    found = measures(lab_of(row(late=0)), LIMITS)
    assert found.worker_clock_ahead == (-2900, 5000)
    assert found.api_clock_ahead is None


def test_bounds_that_allow_less_win():
    assert Bounds(-SECOND, SECOND).within(Bounds(-2 * SECOND, SECOND / 2)) == (-SECOND, SECOND / 2)


def test_a_timer_is_late_by_the_send_after_its_time():
    far = row(created=-2_000, delay=70)
    assert measures(lab_of(far), LIMITS).timer_lateness == 20_000
    assert measures(lab_of(row()), LIMITS).timer_lateness is None
