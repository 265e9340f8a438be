"""Each function handles its sample event of `events/`, over moto."""

import copy
import json
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import boto3
import pytest

from duetime import App, Rate, Scheduler, Status, instant
from duetime.aws import action_store, clients
from duetime.aws.items import to_item
from duetime.aws.messages import to_json
from duetime.clock import SystemClock
from duetime.cost import units
from duetime.errors import BackendUnavailable
from duetime.ids import new_action_id
from duetime.lambdas import work
from duetime.ports.rate_limits import SetLimits
from duetime.ports.work_pauses import WorkPauses
from duetime.wakeups.due_messages import PhaseSleep, message_of
from duetime_contract.specimens import end
from duetime_contract.specimens import terms as claim_terms
from examples.billing import SendReceipt
from tests.functions.aws_faults import failing
from tests.functions.conftest import Context, sample


def _row_of(event):
    return event["Records"][0]["dynamodb"]["NewImage"]


def test_a_new_row_due_in_the_past_is_sent_to_its_queue_at_once(function, queued):
    answer = function("arm")(sample("arm"), Context())
    assert answer == {"batchItemFailures": []}
    [message] = queued()
    assert (message["id"], message["delay"]) == (_row_of(sample("arm"))["sk"]["S"], 0)


@pytest.mark.parametrize("name", ["arm", "dispatch", "sweep"])
def test_each_deployed_function_that_sends_messages_does_so_in_phase(function, deployed, monkeypatch, name):
    phases, now = [], SystemClock().now()
    monkeypatch.setattr(PhaseSleep, "until", lambda _, at: phases.append(at))
    monkeypatch.setenv("DUETIME_TIMERS", "wheel")
    due_at = now + timedelta(minutes=5)
    event = sample(name)
    if name == "arm":
        _row_of(event)["due_at"]["S"] = instant.text(due_at)
        _row_of(event)["sk"]["S"] = new_action_id(now, lambda size: bytes([5] * size))
    elif name == "dispatch":
        event["due_at"] = instant.text(due_at)
    else:
        Scheduler.from_env(tenant_id="acme", actor="test").schedule(SendReceipt(order="o-1"), at=due_at)
    function(name)(event, Context())
    assert len(phases) == 1
    assert phases[0] - now < timedelta(minutes=1)


def test_a_new_far_row_gets_a_schedule_that_fires_early_and_deletes_itself(function, deployed, queued):
    event = sample("arm")
    _row_of(event)["due_at"]["S"] = "2099-06-01T07:00:00.000000Z"
    function("arm")(event, Context())
    scheduler = boto3.client("scheduler")
    [summary] = scheduler.list_schedules(GroupName=deployed.made.schedule_group)["Schedules"]
    schedule = scheduler.get_schedule(Name=summary["Name"], GroupName=deployed.made.schedule_group)
    assert schedule["ScheduleExpression"] == "at(2099-06-01T06:58:30)"
    assert schedule["ActionAfterCompletion"] == "DELETE"
    assert schedule["Target"]["Arn"] == deployed.made.dispatch_arn
    assert queued() == []


def test_a_removed_row_frees_its_idempotency_key_unless_another_action_has_it(function, deployed):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    keyed = {"at": timedelta(days=1), "idempotency_key": "order-17"}
    action = scheduler.schedule(SendReceipt(order="o-1"), **keyed)
    event, gone = sample("arm"), _row_of(sample("arm")) | {"idempotency_key": {"S": "order-17"}}
    event["Records"][0] |= {"eventName": "REMOVE"}
    images = event["Records"][0]["dynamodb"]
    images["OldImage"] = gone | {"status": {"S": "executed"}}
    del images["NewImage"]
    arm = function("arm")
    assert arm(event, Context()) == {"batchItemFailures": []}
    assert scheduler.schedule(SendReceipt(order="o-1"), **keyed) == action
    images["OldImage"] |= {"pk": {"S": f"acme#{action.id[-1]}"}, "sk": {"S": action.id}}
    assert arm(event, Context()) == {"batchItemFailures": []}
    assert scheduler.schedule(SendReceipt(order="o-2"), **keyed).id != action.id


def test_a_far_row_armed_twice_has_one_schedule_and_a_cancelled_row_none(function, deployed):
    event = sample("arm")
    _row_of(event)["due_at"]["S"] = "2099-06-01T07:00:00.000000Z"
    arm, scheduler = function("arm"), boto3.client("scheduler")
    arm(event, Context())
    arm(copy.deepcopy(event), Context())
    assert len(scheduler.list_schedules(GroupName=deployed.made.schedule_group)["Schedules"]) == 1
    images = event["Records"][0]["dynamodb"]
    images["OldImage"] = copy.deepcopy(images["NewImage"])
    images["NewImage"] |= {"status": {"S": "cancelled"}}
    arm(event, Context())
    assert scheduler.list_schedules(GroupName=deployed.made.schedule_group)["Schedules"] == []


def test_an_unreadable_record_is_skipped(function, queued):
    event = sample("arm")
    bad = copy.deepcopy(event["Records"][0])
    bad["dynamodb"]["NewImage"]["due_at"] = {"S": "soon"}
    stranger = copy.deepcopy(event["Records"][0])
    stranger["dynamodb"]["NewImage"] = {"pk": {"S": "x"}, "sk": {"S": "y"}}
    event["Records"] = [bad, stranger, *event["Records"]]
    assert function("arm")(event, Context()) == {"batchItemFailures": []}
    assert len(queued()) == 1


def test_lambda_repeats_a_batch_that_sqs_rejects(function):
    with failing(clients.sqs(), "SendMessageBatch"):
        answer = function("arm")(sample("arm"), Context())
    assert answer == {"batchItemFailures": [{"itemIdentifier": "4421584500000000017450439091"}]}


def test_a_wake_becomes_a_message_with_the_remaining_delay(function, queued):
    answer = function("dispatch")(sample("dispatch"), Context())
    assert answer == {"id": sample("dispatch")["id"], "delay": 0}
    assert [message["id"] for message in queued()] == [sample("dispatch")["id"]]


def test_a_foreign_wake_is_rejected(function):
    with pytest.raises(ValueError, match="cannot be read as a message"):
        function("dispatch")({"tenant": "acme"}, Context())


def test_a_due_message_runs_its_action(function, deployed):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    event = sample("work")
    event["Records"][0]["body"] = (
        event["Records"][0]["body"]
        .replace(sample("dispatch")["id"], action.id)
        .replace("apply-plan-change", "send-receipt")
    )
    assert function("work")(event, Context()) == {"batchItemFailures": []}
    settled = scheduler.get(action.id)
    assert settled.status == "executed"
    [attempt] = settled.attempts
    assert attempt.queued_at.isoformat() == "2026-03-01T12:05:00+00:00"


@pytest.mark.parametrize("queue", ["default", "default_high"])
def test_a_message_is_put_off_into_the_queue_that_it_came_from(function, deployed, monkeypatch, queue):
    high = boto3.client("sqs").create_queue(QueueName="duetime-due-default_high")["QueueUrl"]
    settings = replace(
        deployed, made=replace(deployed.made, queues={**deployed.made.queues, "default_high": high})
    )
    monkeypatch.setenv("DUETIME_QUEUES", settings.to_env()["DUETIME_QUEUES"])
    event, due_at = sample("work"), SystemClock().now() + timedelta(minutes=5)
    body = json.loads(event["Records"][0]["body"]) | {"due_at": instant.text(due_at)}
    arn = f"arn:aws:sqs:eu-west-1:123456789012:duetime-due-{queue}"
    event["Records"][0] |= {"body": json.dumps(body), "eventSourceARN": arn}
    assert function("work")(event, Context()) == {"batchItemFailures": []}
    counts = {name: waiting(url) for name, url in settings.made.queues.items() if name.startswith("default")}
    assert counts == {"default": 0, "default_high": 0} | {queue: 1}


@pytest.mark.parametrize("limits", [WorkPauses, SetLimits], ids=["pauses", "limits"])
def test_a_worker_that_cannot_read_what_limits_a_type_puts_its_message_off(deployed, limits):
    app, ran = App(), []

    @app.action(rate=Rate(100, per="minute"))
    def send_receipt(payload: SendReceipt) -> None:
        ran.append(payload)

    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    [record] = sample("work")["Records"]
    event = {"Records": [record | {"body": to_json(message_of(action))}]}
    worker = work.make_handler(deployed, app.handler_set, instance="w-1", metrics=len)
    with patch.object(limits, "list", side_effect=BackendUnavailable("DynamoDB", "throttled")):
        assert worker(event, Context()) == {"batchItemFailures": []}
    row = scheduler.get(action.id)
    assert (ran, row.status, row.fence, row.attempts) == ([], "pending", 0, ())
    assert waiting(deployed.made.queues["default"]) == 1


def waiting(url):
    """The messages of a queue, delayed ones too."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    found = boto3.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(found[name]) for name in names)


OF_A_LINE = 26
"""Bytes that CloudWatch Logs counts for each line, beside its text."""


def size_of(lines):
    return sum(len(line.encode()) + OF_A_LINE for line in lines)


@pytest.fixture(params=["few", "all"])
def metrics(request, deployed, monkeypatch):
    """Which metrics the deployment writes."""
    monkeypatch.setenv("DUETIME_METRICS", request.param)
    return request.param


@pytest.mark.parametrize("number", [1, 10])
def test_runs_write_as_much_to_the_logs_as_the_cost_estimate_says(function, metrics, capsys, number):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    event, records = sample("work"), []
    for index in range(number):
        action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
        body = {"body": to_json(message_of(action)), "messageId": str(index)}
        records.append(event["Records"][0] | body)
    assert function("work")(event | {"Records": records}, Context()) == {"batchItemFailures": []}
    lines = [
        line for line in capsys.readouterr().out.splitlines() if '"executed"' in line or '"lateness"' in line
    ]
    assert len(lines) == (1 if number == 1 else number + 1)
    estimated = units.RUN_LINE_BYTES + (number - 1) * units.ONE_MORE_BYTES
    estimated += units.RUN_METRICS_BYTES * (metrics == "all")
    assert estimated * 0.9 <= size_of(lines) <= estimated


@pytest.mark.parametrize("number", [1, 10])
def test_arm_writes_as_much_to_the_logs_as_the_cost_estimate_says(function, metrics, capsys, number):
    armed = sample("arm")
    [record] = armed["Records"]
    armed["Records"] = []
    for index in range(number):
        scheduler = Scheduler.from_env(tenant_id=f"tenant-{index}", actor="billing-service")
        row = to_item(scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0)))
        armed["Records"].append(record | {"dynamodb": record["dynamodb"] | {"NewImage": row}})
    capsys.readouterr()
    function("arm")(armed, Context())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == (2 if metrics == "all" else 1)
    estimated = units.ARM_LINE_BYTES + (number - 1) * units.ONE_MORE_SCHEDULED_BYTES
    estimated += units.ARM_METRICS_BYTES * (metrics == "all")
    assert estimated * 0.85 <= size_of(lines) <= estimated
    assert all(record["dynamodb"]["NewImage"]["sk"]["S"] in lines[0] for record in armed["Records"])


def test_an_action_with_a_concurrency_key_waits_for_a_free_slot(function, deployed, queued):
    scheduler, store = Scheduler.from_env(tenant_id="acme", actor="billing-service"), action_store(deployed)
    how = {"at": timedelta(seconds=-5), "concurrency_key": "customer:42"}
    waits, holder = (scheduler.schedule(SendReceipt(order=name), **how) for name in ("o-1", "o-2"))
    assert store.take_slot(holder, store.key_slots("acme", "customer:42"), SystemClock().now())
    begun = store.claim(holder, claim_terms(SystemClock().now())).action
    event, work = sample("work"), function("work")
    event["Records"][0]["body"] = to_json(message_of(waits))
    assert work(event, Context()) == {"batchItemFailures": []}
    assert scheduler.get(waits.id) == waits
    assert queued() == []  # it is delayed
    store.settle(begun, end(Status.EXECUTED, SystemClock().now()))
    assert store.key_slots("acme", "customer:42").waiting == (waits.id,)
    assert work(event, Context()) == {"batchItemFailures": []}
    settled = scheduler.get(waits.id)
    assert (settled.status, settled.attempt) == (Status.EXECUTED, 1)
    slots = store.key_slots("acme", "customer:42")
    assert (slots.holders, slots.waiting) == ({}, ())


def test_a_message_without_a_row_is_ignored(function):
    assert function("work")(sample("work"), Context()) == {"batchItemFailures": []}


def test_an_unreadable_message_fails_only_itself(function):
    event = sample("work")
    bad = copy.deepcopy(event["Records"][0]) | {"messageId": "bad", "body": "]["}
    event["Records"].append(bad)
    assert function("work")(event, Context()) == {"batchItemFailures": [{"itemIdentifier": "bad"}]}


@pytest.mark.parametrize("name", ["sweep", "catch_up"])
def test_the_passes_send_overdue_actions_again(function, deployed, queued, name):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    late, later = timedelta(minutes=7), timedelta(days=-1)
    action = scheduler.schedule(SendReceipt(order="o-1"), at=-late)
    scheduler.schedule(SendReceipt(order="o-2"), at=-later)
    passed = function(name)(sample(name), Context())
    assert (passed["sent"], passed["failed_shards"], passed["is_complete"]) == (1, (), True)
    assert [message["id"] for message in queued()] == [action.id]


def test_only_the_catch_up_sends_an_action_that_is_days_late(function, deployed, queued):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(days=-3))
    assert function("sweep")(sample("sweep"), Context())["sent"] == 0
    assert function("catch_up")(sample("catch_up"), Context())["sent"] == 1


def test_a_sweep_sends_a_late_row_once_in_its_band(function, deployed, queued):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(minutes=-7))
    sweep = function("sweep")
    assert [sweep(sample("sweep"), Context())["sent"] for _ in range(3)] == [1, 0, 0]


def test_the_error_of_a_missing_table_names_its_remedy(function, deployed):
    boto3.client("dynamodb").delete_table(TableName=deployed.made.actions_table)
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    with pytest.raises(Exception, match="Check DUETIME_PREFIX") as caught:
        scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    assert not isinstance(caught.value, BackendUnavailable)


def test_the_wheel_sends_each_row_that_is_due_soon_once(function, deployed, monkeypatch):
    monkeypatch.setenv("DUETIME_TIMERS", "wheel")
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    for minutes in (1, 13, 16, 600):
        scheduler.schedule(SendReceipt(order=f"o-{minutes}"), at=timedelta(minutes=minutes))
    sweep = function("sweep")
    assert [sweep(sample("sweep"), Context())["ahead"] for _ in range(3)] == [2, 0, 0]


def test_with_the_wheel_a_far_row_gets_no_schedule(function, deployed, monkeypatch, queued):
    monkeypatch.setenv("DUETIME_TIMERS", "wheel")
    event = sample("arm")
    _row_of(event)["due_at"]["S"] = "2099-06-01T07:00:00.000000Z"
    assert function("arm")(event, Context()) == {"batchItemFailures": []}
    group = deployed.made.schedule_group
    assert boto3.client("scheduler").list_schedules(GroupName=group)["Schedules"] == []
    assert queued() == []


def test_from_the_wheel_to_eventbridge_every_far_row_gets_its_schedule_once(function, deployed, monkeypatch):
    monkeypatch.setenv("DUETIME_TIMERS", "wheel")
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing-service")
    for hours in range(1, 4):
        scheduler.schedule(SendReceipt(order=f"o-{hours}"), at=timedelta(hours=hours))
    gone = scheduler.schedule(SendReceipt(order="gone"), at=timedelta(hours=9))
    scheduler.cancel(gone.id)
    function("sweep")(sample("sweep"), Context())
    monkeypatch.setenv("DUETIME_TIMERS", "eventbridge")
    sweep = function("sweep")
    assert [sweep(sample("sweep"), Context())["rearmed"] for _ in range(3)] == [3, 0, 0]
    group = deployed.made.schedule_group
    assert len(boto3.client("scheduler").list_schedules(GroupName=group)["Schedules"]) == 3


def test_only_the_unreadable_row_of_a_batch_becomes_a_dead_letter(function, deployed):
    row = _row_of(sample("arm"))
    boto3.client("dynamodb").put_item(
        TableName=deployed.made.actions_table,
        Item=row | {"created_by": {"N": "7"}, "attempts": {"L": [{"S": "x"}]}},
    )
    event = sample("work")
    good = copy.deepcopy(event["Records"][0]) | {"messageId": "good"}
    good["body"] = good["body"].replace(row["sk"]["S"], "019ca932-7c00-735e-a389-000000000005")
    event["Records"].append(good)
    failed = [{"itemIdentifier": event["Records"][0]["messageId"]}]
    assert function("work")(event, Context()) == {"batchItemFailures": failed}
