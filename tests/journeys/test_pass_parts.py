"""The parts of a pass run in turn within its time."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.testing import TurnedClock
from duetime.wakeups.pass_parts import in_turn

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SHARE = timedelta(seconds=20)


def test_a_part_that_uses_all_its_time_leaves_the_others_their_share():
    clock, shares = TurnedClock(NOON), []

    def greedy(stop_at):
        shares.append(stop_at - clock.now())
        clock.wait_until(stop_at)
        return {}

    in_turn((greedy, greedy, greedy), NOON + 3 * SHARE, clock)
    assert shares == [SHARE, SHARE, SHARE]


def test_a_failing_part_stops_no_other_and_the_first_error_is_raised():
    clock, finished = TurnedClock(NOON), []

    def fails(_stop_at):
        raise ConnectionError(f"failure {len(finished)}")

    def works(_stop_at):
        finished.append(clock.now())
        return {"sent": 1}

    with pytest.raises(ConnectionError, match="failure 0"):
        in_turn((fails, works, fails), NOON + SHARE, clock)
    assert finished == [NOON]
