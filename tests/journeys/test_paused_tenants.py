"""A paused tenant begins no run; its work waits and goes on after the resume. Others notice nothing."""

from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest

from duetime import App, Payload, Run, every, on_event
from duetime.errors import BackendUnavailable
from duetime.ids import TenantId, new_action_id
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.jobs.register import Registration
from duetime.model.action import SkipReason, Status
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.wakeups import Send
from duetime.testing import SimulatedCloud

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Errand(Payload):
    pass


@pytest.fixture
def ran():
    return []


@pytest.fixture
def cloud(ran):
    app = App()

    @app.action
    def run_errand(payload: Errand, run: Run) -> None:
        del payload
        ran.append((run.tenant_id, run.now()))

    @app.job(on_event("shop", "order", tenant="detail.tenant"), name="count-orders")
    def count_orders(run: Run) -> None:
        ran.append((run.tenant_id, run.now()))

    return SimulatedCloud(app, start=NOON)


def pause(cloud, until=None, spread=None):
    begun = WorkPause(
        id=new_action_id(cloud.now),
        scope=PauseScope.TENANT,
        name="acme",
        reason="a loop",
        by="ops",
        since=cloud.now,
        until=until,
        spread=spread,
    )
    cloud.memory.pauses.begin(begun)
    return begun


def resume(cloud, begun):
    cloud.memory.pauses.end(begun.ended(by="ops", at=cloud.now))


def test_actions_of_a_paused_tenant_wait_without_messages_and_run_after_the_resume(cloud, ran, caplog):
    caplog.set_level("INFO", logger="duetime.worker.worker")
    begun = pause(cloud)
    acme, globex = cloud.scheduler_for("acme"), cloud.scheduler_for("globex")
    waiting = [acme.schedule(Errand(), at=MINUTE * minute).id for minute in (1, 2, 3)]
    globex.schedule(Errand(), at=MINUTE)
    cloud.advance(hours=24)
    assert ran == [("globex", NOON + MINUTE)]
    assert "put off" not in caplog.messages
    resume(cloud, begun)
    cloud.advance(begun.ended(by="ops", at=cloud.now).over_at - cloud.now)
    assert [tenant for tenant, _ in ran] == ["globex", "acme", "acme", "acme"]
    assert {acme.get(id_).status for id_ in waiting} == {Status.EXECUTED}
    assert cloud.events("tenant.paused")
    assert cloud.events("tenant.resumed")


def test_copies_of_an_action_s_message_become_one_while_the_pauses_cannot_be_read(cloud, ran):
    cloud.scheduler_for("acme").schedule(Errand(), at=MINUTE)
    cloud.advance(seconds=1)
    (message,) = cloud.memory.queues.messages.values()
    cloud.memory.queues.send([Send("default", message, 60)] * 9)
    with patch.object(cloud.memory.pauses, "list", side_effect=BackendUnavailable("DynamoDB", "throttled")):
        cloud.advance(HOUR)
        assert list(cloud.memory.queues.messages.values()) == [message]
        assert ran == []
    cloud.advance(HOUR)
    assert len(ran) == 1


def test_a_paused_action_that_is_moved_runs_by_its_new_message(cloud, ran):
    begun, scheduler = pause(cloud, spread=timedelta(0)), cloud.scheduler_for("acme")
    errand = scheduler.schedule(Errand(), at=MINUTE)
    cloud.advance(hours=2)
    scheduler.reschedule(errand.id, at=MINUTE)
    cloud.advance(seconds=70)
    resume(cloud, begun)
    cloud.advance(minutes=3)
    assert len(ran) == 1


def test_a_pause_ends_by_itself(cloud, ran):
    pause(cloud, until=NOON + HOUR)
    cloud.scheduler_for("acme").schedule(Errand(), at=MINUTE)
    cloud.advance(HOUR)
    assert ran == []
    cloud.advance(minutes=15)
    assert len(ran) == 1


def test_a_paused_tenant_s_own_jobs_are_not_planned_and_their_missed_times_are_explained(cloud, ran):
    jobs = cloud.scheduler_for("acme").jobs
    jobs.register(Registration(name="acme-errand", handler=Errand(), cadences=[every(minutes=1)]))
    cloud.advance(minutes=3)
    begun, before = pause(cloud), len(ran)
    cloud.advance(HOUR)
    assert before <= len(ran) <= before + 1
    resume(cloud, begun)
    cloud.advance(minutes=30)
    assert len(ran) >= before + 14
    statuses = {time.account for time in jobs.explain("acme-errand", NOON, NOON + HOUR)}
    assert OccurrenceStatus.MISSED in statuses


def test_events_of_a_paused_tenant_are_recorded_as_skipped(cloud, ran):
    pause(cloud)
    for tenant in ("acme", "globex"):
        cloud.send_event("shop", "order", {"tenant": tenant})
    cloud.advance(minutes=1)
    assert [tenant for tenant, _ in ran] == ["globex"]
    [skipped] = cloud.actions("skipped")
    assert (skipped.tenant_id, skipped.skip_reason) == (TenantId("acme"), SkipReason.PAUSED)
    assert skipped.note == "the tenant acme was paused by ops: a loop"
