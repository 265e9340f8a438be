"""What a deployed stack does with actions that are scheduled from outside of it."""

from datetime import timedelta

import boto3
import pytest
from boto3.dynamodb.conditions import Attr

from duetime import Order, Payload, Scheduler, Status
from duetime.errors import UnknownType
from duetime.model.built_in import CANARY
from duetime.rehearsal.emulator import LOG
from tests.e2e.conftest import POISON
from tests.e2e.deployment import PREFIX
from tests.e2e.handlers.errands import Collapse, RunErrand

pytestmark = pytest.mark.e2e


class NobodysErrand(Payload):
    """No handler of the deployed app takes it."""


NEAR, FAR = timedelta(seconds=6), timedelta(seconds=40)
SLACK = timedelta(seconds=25)
"""How late a start may be on a busy machine: the emulator feeds one function at a time."""


def assert_ran_once_in_time(action):
    assert action.status is Status.EXECUTED
    [attempt] = action.attempts
    assert timedelta(0) <= attempt.started_at - action.due_at < SLACK


def timers_of(bench, action):
    return {name for name in bench.timers() if f".{action.id}." in name}


def test_a_near_action_is_carried_by_the_queue_alone_and_runs_at_its_time(bench):
    action = bench.scheduler.schedule(RunErrand(what="near"), at=NEAR, correlation_id="order:1")
    assert_ran_once_in_time(bench.settled(action.id, within=60))
    assert not timers_of(bench, action)
    assert [row.id for row in bench.scheduler.list(correlation_id="order:1")] == [action.id]


def test_a_far_action_is_carried_by_a_timer_that_is_gone_when_it_has_run_at_its_time(bench):
    action = bench.scheduler.schedule(RunErrand(what="far"), at=FAR)
    bench.eventually(lambda: timers_of(bench, action), within=20)
    assert_ran_once_in_time(bench.settled(action.id, within=90))
    assert not timers_of(bench, action)


def test_a_cancelled_action_loses_its_timer_and_does_not_run(bench):
    action = bench.scheduler.schedule(RunErrand(what="cancelled"), at=FAR)
    bench.eventually(lambda: timers_of(bench, action), within=20)
    bench.scheduler.cancel(action.id)
    bench.eventually(lambda: not timers_of(bench, action), within=20)
    assert bench.scheduler.get(action.id).status is Status.CANCELLED


def test_a_near_action_that_is_cancelled_does_not_run_although_its_message_comes(bench):
    action = bench.scheduler.schedule(RunErrand(what="cancelled"), at=NEAR)
    bench.scheduler.cancel(action.id)
    later = bench.scheduler.schedule(RunErrand(what="after it"), at=NEAR + timedelta(seconds=4))
    bench.settled(later.id, within=60)
    cancelled = bench.scheduler.get(action.id)
    assert cancelled.status is Status.CANCELLED
    assert not cancelled.attempts


def test_a_rescheduled_action_runs_at_its_new_time_only(bench):
    action = bench.scheduler.schedule(RunErrand(what="sooner"), at=timedelta(hours=5))
    bench.eventually(lambda: timers_of(bench, action), within=20)
    moved = bench.scheduler.reschedule(action.id, NEAR)
    ran = bench.settled(action.id, within=60)
    assert ran.due_at == moved.due_at
    assert_ran_once_in_time(ran)
    bench.eventually(lambda: not timers_of(bench, action), within=20)


def test_actions_scheduled_in_bulk_all_run(bench):
    orders = [Order(payload=RunErrand(what=str(index)), at=NEAR) for index in range(30)]
    for action in bench.scheduler.schedule_many(orders):
        assert bench.settled(action.id, within=90).status is Status.EXECUTED


def test_an_action_of_a_killed_worker_runs_again_after_its_lease(bench):
    action = bench.scheduler.schedule(Collapse(), at=timedelta(seconds=1))
    ran = bench.settled(action.id, within=120)
    assert ran.status is Status.EXECUTED
    assert (ran.fence, ran.attempt, ran.recoveries) == (2, 1, 1)
    lost, repeated = ran.attempts
    assert lost.finished_at is None
    assert repeated.started_at - lost.started_at > timedelta(seconds=4)
    assert repeated.instance != lost.instance


def test_an_unreadable_message_is_stored_as_undelivered(bench):
    sqs = bench.client("sqs")
    due = sqs.get_queue_url(QueueName=f"{PREFIX}due-default")["QueueUrl"]
    sqs.send_message(QueueUrl=due, MessageBody=POISON)
    [poison] = bench.eventually(lambda: bench.scheduler.undelivered.list().things, within=120)
    assert (poison.source, poison.body) == ("due-default", POISON)


def test_a_type_that_no_worker_hosts_is_rejected_with_the_hosted_ones(bench):
    with pytest.raises(UnknownType, match="did you mean 'run-errand'"):
        bench.scheduler.schedule(NobodysErrand(), at=timedelta(seconds=1))


def test_an_unknown_type_fails_at_once_with_the_reason(bench, monkeypatch):
    monkeypatch.setenv("DUETIME_CHECK_TYPES", "false")
    scheduler = Scheduler.from_env(tenant_id="acme", actor="e2e")
    action = scheduler.schedule(NobodysErrand(), at=timedelta(seconds=1))
    failed = bench.settled(action.id, within=60)
    assert failed.status is Status.FAILED
    assert "no handler is registered for the type 'nobodys-errand'" in failed.failure_reason


def test_a_canary_takes_the_whole_path_and_its_lateness_is_measured(bench, directory):
    table = boto3.resource("dynamodb").Table(bench.deployment.outputs["ActionsTable"])

    def executed():
        rows = table.scan(FilterExpression=Attr("type").eq(CANARY) & Attr("status").eq("executed"))["Items"]
        return rows[0] if rows else None

    row = bench.eventually(executed, within=240)
    assert row["pk"].startswith("system#")
    bench.eventually(lambda: "canary_lateness" in (directory / LOG).read_text(), within=60)
