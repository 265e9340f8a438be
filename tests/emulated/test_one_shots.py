"""Actions on the handlers and back ends of a deployment."""

import logging
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

from duetime.aws.items import to_item
from duetime.clock import SystemClock
from duetime.ids import new_action_id
from duetime.model.action import Status
from tests.emulated import EmulatedCloud, EmulatedOptions, SchedulerQuirks
from tests.emulated.call_lock import CallLock
from tests.emulated.conftest import (
    SHORT,
    Deadly,
    Note,
    eventually,
    rest,
    schedules_in,
    settled,
    status_of,
)
from tests.emulated.event_sources import ExpiryPoller


def held(notes):
    """A cloud that runs nothing until it is deployed with `enabled`: its messages wait."""
    return EmulatedCloud(notes.app, EmulatedOptions(settings=replace(SHORT, enabled=False)))


def test_a_near_action_runs_when_it_is_due_and_not_before(cloud, notes):
    action = cloud.scheduler().schedule(Note(text="near"), at=timedelta(seconds=1.2), precision="millisecond")
    (run,) = notes.wait_for("near")
    done = settled(cloud, action)
    assert done.status is Status.EXECUTED
    assert done.attempts[0].started_at >= action.due_at
    assert run.tenant_id == "acme"
    assert run.actor == "local"


def test_an_action_that_is_already_due_runs_at_once(cloud, notes):
    cloud.scheduler().schedule(Note(text="past"), at=timedelta(hours=-1))
    assert notes.wait_for("past")


def test_a_schedule_wakes_a_far_action_and_is_then_deleted(cloud, notes):
    action = cloud.scheduler().schedule(Note(text="far"), at=timedelta(seconds=3.5), precision="millisecond")
    assert eventually(lambda: schedules_in(cloud), "the schedule") == [f"{action.tenant_id}.{action.id}.1"]
    notes.wait_for("far")
    done = settled(cloud, action)
    assert done.attempts[0].started_at >= action.due_at
    assert schedules_in(cloud) == []


def test_a_cancelled_action_does_not_run_and_its_schedule_is_deleted(notes):
    with held(notes) as cloud:
        scheduler = cloud.scheduler()
        near, far = (scheduler.schedule(Note(text="no"), at=timedelta(minutes=late)) for late in (0, 5))
        eventually(lambda: schedules_in(cloud), "the schedule")
        scheduler.cancel(near.id)
        scheduler.cancel(far.id)
        eventually(lambda: not schedules_in(cloud), "the schedule's end")
        cloud.redeploy(enabled=True)
        scheduler.schedule(Note(text="later"), at=timedelta(seconds=1))
        notes.wait_for("later")
        assert notes.of("no") == []
        assert {status_of(cloud, action) for action in (near, far)} == {Status.CANCELLED}


def test_a_rescheduled_action_runs_at_its_new_time_only(notes):
    with held(notes) as cloud:
        scheduler = cloud.scheduler()
        action = scheduler.schedule(Note(text="moved"), at=timedelta(0))
        moved = scheduler.reschedule(action.id, timedelta(seconds=3.5), precision="millisecond")
        cloud.redeploy(enabled=True)
        (run,) = notes.wait_for("moved")
        assert run.now() >= moved.due_at
        settled(cloud, action)
        assert len(notes.of("moved")) == 1


def test_the_action_of_a_killed_worker_runs_again_without_using_up_an_attempt(cloud, notes):
    notes.kills_left = 1
    action = cloud.scheduler().schedule(Deadly(text="killed"), at=timedelta(0))
    first, second = notes.wait_for("killed", count=2)
    done = settled(cloud, action)
    assert (first.attempt, second.attempt) == (1, 1)
    assert second.fence > first.fence
    assert (done.status, done.attempt, done.recoveries) == (Status.EXECUTED, 1, 1)


def test_a_disabled_deployment_runs_nothing_and_runs_it_once_when_enabled(notes):
    with held(notes) as cloud:
        action = cloud.scheduler().schedule(Note(text="held"), at=timedelta(0))
        rest(1.2)
        assert notes.of("held") == []
        assert status_of(cloud, action) is Status.PENDING
        cloud.redeploy(enabled=True)
        cloud.invoke("sweep")
        notes.wait_for("held")
        settled(cloud, action)
        cloud.invoke("sweep")
        rest(0.5)
        assert len(notes.of("held")) == 1


def test_a_message_that_sqs_delivers_twice_runs_once(notes, caplog):
    doubled = EmulatedOptions(settings=SHORT, timers=SchedulerQuirks(doubles=1.0), message_doubles=1.0)
    with EmulatedCloud(notes.app, doubled) as cloud:
        near = cloud.scheduler().schedule(
            Note(text="near"), at=timedelta(seconds=0.5), precision="millisecond"
        )
        far = cloud.scheduler().schedule(Note(text="far"), at=timedelta(seconds=2.5), precision="millisecond")
        for action in (near, far):
            settled(cloud, action)
        rest(1)
        assert [len(notes.of(name)) for name in ("near", "far")] == [1, 1]
    assert "a turn failed" not in caplog.text


def test_a_malformed_message_delays_no_other(cloud, notes):
    cloud.client("sqs").send_message(QueueUrl=cloud.settings.made.queues["default"], MessageBody="poison")
    action = cloud.scheduler().schedule(Note(text="next"), at=timedelta(0))
    settled(cloud, action)


def test_a_schedule_that_aws_would_reject_is_logged_and_delays_no_other(cloud, notes, caplog):
    with caplog.at_level(logging.ERROR, "duetime.local"):
        for name, bad in {"hello": "hello", "cron": "cron(99 99 * * * *)"}.items():
            make_schedule(cloud, name, bad)
        make_schedule(cloud, "zone", "cron(0 9 * * ? *)", tz="Mars/X")
        make_schedule(cloud, "input", "rate(1 minute)", target_input="no JSON")
        cloud.scheduler().schedule(Note(text="good"), at=timedelta(seconds=3.5), precision="millisecond")
        assert notes.wait_for("good")
    for name in ("hello", "cron", "zone", "input"):
        assert f"schedule {name}" in caplog.text


def test_another_process_schedules_through_the_sdk(cloud, notes):
    program = (
        "from datetime import timedelta\n"
        "from duetime import Payload, Scheduler\n"
        "class Note(Payload):\n    text: str\n"
        "scheduler = Scheduler.from_env(tenant_id='other', actor='process')\n"
        "print(scheduler.schedule(Note(text='remote'), at=timedelta(0)).id)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], env=cloud.environment, capture_output=True, text=True, check=True
    )
    (run,) = notes.wait_for("remote")
    assert (run.id, run.tenant_id, run.actor) == (done.stdout.strip(), "other", "process")


def test_expired_rows_are_deleted_with_their_payloads(cloud):
    scheduler, dynamodb = cloud.scheduler(), cloud.client("dynamodb")
    action = scheduler.schedule(Note(text="x" * 3_000), at=timedelta(0))
    settled(cloud, action)
    table = cloud.settings.made.actions_table

    def items():
        found = dynamodb.scan(TableName=table)["Items"]
        return [item for item in found if action.id in item["sk"]["S"] + item["pk"]["S"]]

    (row,) = (item for item in items() if "status" in item)
    assert len(items()) == 2
    dynamodb.put_item(TableName=table, Item={**row, "sk": {"S": "forged"}, "ttl": {"B": b"1"}})
    dynamodb.put_item(TableName=table, Item={**row, "ttl": {"N": "1"}})
    ExpiryPoller(dynamodb, table, CallLock(), SystemClock()).turn()
    eventually(lambda: not items(), "the removal")


def test_rows_with_values_of_other_types_are_undelivered_and_stop_no_other(cloud):
    base = to_item(cloud.scheduler().schedule(Note(text="base"), at=timedelta(days=9)))
    forged, values = {}, [{"B": b"\xff"}, {"BS": [b"x"]}, {"NS": ["1"]}, {"L": []}, {"M": {}}, {"NULL": True}]
    for name in ("type", "status", "payload", "created_by", "generation", "attempt", "ttl", "trace"):
        for value in values:
            row_id = new_action_id(SystemClock().now())
            key = {"pk": {"S": base["pk"]["S"][:-1] + row_id[-1]}, "sk": {"S": row_id}}
            cloud.client("dynamodb").put_item(
                TableName=cloud.settings.made.actions_table, Item={**base, **key, name: value}
            )
            forged[row_id] = (name, value)
    settled(cloud, cloud.scheduler().schedule(Note(text="behind them"), at=timedelta(0)))

    def missing():
        found, cursor = set(), None
        while True:
            page = cloud.scheduler().undelivered.list(limit=100, cursor=cursor)
            found |= {entry.action.id for entry in page if entry.action}
            if (cursor := page.cursor) is None:
                return [about for row_id, about in forged.items() if row_id not in found]

    eventually(lambda: not missing(), f"the entries of {missing()}")


def make_schedule(cloud, name, expression, *, tz="UTC", target=None, target_input="{}"):
    cloud.client("scheduler").create_schedule(
        Name=name,
        GroupName=cloud.settings.made.schedule_group,
        ScheduleExpression=expression,
        ScheduleExpressionTimezone=tz,
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": target or cloud.settings.made.dispatch_arn,
            "RoleArn": cloud.settings.made.timer_role_arn,
            "Input": target_input,
        },
    )
