"""A caller that pauses between its clock and its write: its change is not older than the one before."""

from datetime import UTC, datetime, timedelta

from duetime import App, Fatal, Order, Payload, Run, Scheduler
from duetime.model.batch import BatchState
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.testing.turned_clock import TurnedClock

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)


class Line(Payload):
    number: int


def test_a_member_that_a_paused_caller_cancels_after_its_redrive_is_counted_as_cancelled():
    app = App()

    @app.action
    def import_line(payload: Line, run: Run) -> None:
        raise Fatal("no such article")

    cloud = SimulatedCloud(app, start=NOON)
    with cloud.scheduler.batch("import") as batch:
        batch.schedule_many([Order(Line(number=number), at=NOON) for number in range(2)])
    cloud.advance(minutes=2)
    requested_at = cloud.now
    cloud.advance(minutes=10)
    (first, _) = cloud.scheduler.batches.members("import")
    redriven = cloud.scheduler.redrive(first.id, at=timedelta(hours=1))
    paused = Scheduler(
        cloud.memory.store,
        tenant_id="acme",
        actor="clerk",
        clock=TurnedClock(requested_at),
        settings=Settings(),
    )

    cancelled = paused.cancel(first.id)
    assert cancelled.changed.at == redriven.changed.at > requested_at
    cloud.advance(hours=3)
    progress = cloud.scheduler.batches.get("import")
    assert progress.state is BatchState.COMPLETE
    assert (progress.counts.failed, progress.counts.cancelled) == (1, 1)
