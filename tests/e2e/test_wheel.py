"""The other timer, chosen on a running system and left again: nothing is lost or doubled on the way."""

from datetime import timedelta

import pytest

from duetime import Status
from tests.e2e.handlers.errands import RunErrand

pytestmark = pytest.mark.e2e

NEAR_LIMIT = timedelta(minutes=3)
"""As short as it may be with the wheel, which turns once a minute."""

SLACK = timedelta(seconds=25)


def has_timer(bench, action):
    return any(f".{action.id}." in name for name in bench.timers())


def test_the_wheel_takes_over_from_timers_and_gives_back_to_them(bench):
    by_timer = bench.scheduler.schedule(RunErrand(what="by timer"), at=timedelta(seconds=90))
    bench.eventually(lambda: has_timer(bench, by_timer), within=20)

    bench.deployment.deploy(timers="wheel", near_limit=int(NEAR_LIMIT.total_seconds()))
    by_wheel = bench.scheduler.schedule(RunErrand(what="by wheel"), at=NEAR_LIMIT + timedelta(seconds=10))
    left_behind = bench.scheduler.schedule(RunErrand(what="by timer again"), at=timedelta(days=30))
    for action in (by_timer, by_wheel):
        ran = bench.settled(action.id, within=260)
        assert ran.status is Status.EXECUTED
        [attempt] = ran.attempts
        assert timedelta(0) <= attempt.started_at - ran.due_at < SLACK
    assert not has_timer(bench, by_wheel)
    assert not has_timer(bench, left_behind)

    bench.deployment.deploy()
    bench.eventually(lambda: has_timer(bench, left_behind), within=120)
    bench.scheduler.cancel(left_behind.id)
    bench.eventually(lambda: not has_timer(bench, left_behind), within=20)
