"""A pause holds in the standby region too, after a failover."""

from datetime import timedelta

from duetime import App, Payload, Run
from duetime.ids import new_action_id
from duetime.model.action import Status
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.testing import Faults
from duetime_faults.two_regions import SECOND, TwoRegions

HOUR = timedelta(hours=1)


class Errand(Payload):
    pass


def test_a_pause_of_one_region_holds_in_the_one_that_takes_over():
    app, ran = App(), []

    @app.action
    def run_errand(payload: Errand, run: Run) -> None:
        del payload
        ran.append(run.now())

    regions = TwoRegions(app, faults=Faults.only(1))
    begun = WorkPause(
        id=new_action_id(regions.now),
        scope=PauseScope.TYPE,
        name="errand",
        reason="a drill",
        by="ann",
        since=regions.now,
        until=regions.now + 2 * HOUR,
    )
    regions.active.pauses.begin(begun)
    action = regions.scheduler("eu-central-1").schedule(Errand(), at=timedelta(minutes=20))
    regions.advance(minutes=10)
    regions.fail_over()
    regions.advance(HOUR)
    assert ran == []
    regions.advance(2 * HOUR)
    row = regions.scheduler(SECOND).get(action.id)
    assert row.status is Status.EXECUTED
    assert min(ran) >= begun.until
    assert "a drill" in row.held_by
    regions.close()
