"""What was given up, in each form in which AWS hands it over, as `events/` has it; and what operators do with it."""
# ruff: noqa: PLR0917 - a test is given the fixtures that it tells of

import copy
import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.action import ActionRef, Status
from duetime.aws.items import to_item
from duetime.aws.keys import row_key
from duetime.errors import BackendMisconfigured, BackendUnavailable, UndeliveredNotFound
from duetime.undelivered import BODY_LIMIT, Kind
from examples.billing import SendReceipt
from tests.functions.conftest import Context, sample

TAKEN = {"batchItemFailures": []}


@pytest.fixture
def scheduler(deployed):
    return Scheduler.from_env(tenant_id="acme", actor="ann")


@pytest.fixture
def salvage(function):
    """Hand salvage a message; returns its answer."""
    handler = function("salvage")
    return lambda event: handler(event, Context())


class Desk:
    """What an operator does, and what salvage makes of it."""

    def __init__(self, scheduler, salvage, failures):
        self.undelivered, self._salvage, self._failures = scheduler.undelivered, salvage, failures
        self.list, self.get = self.undelivered.list, self.undelivered.get

    def redriven(self, thing):
        """Have one redriven, and salvage get the request; its answer."""
        sqs, url = boto3.client("sqs"), self._failures
        self.undelivered.redrive(thing.id)
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return self._salvage(with_body(sample("salvage-redrive"), message["Body"]))


@pytest.fixture
def desk(scheduler, salvage, deployed):
    return Desk(scheduler, salvage, deployed.failure_queue)


def with_body(event, body, **changes):
    changed = copy.deepcopy(event)
    changed["Records"][0] |= {"body": body if isinstance(body, str) else json.dumps(body), **changes}
    return changed


def body_of(event):
    return json.loads(event["Records"][0]["body"])


def dead_message(action, **changes):
    """The dead letter of an action's message."""
    told = {"id": action.id, "type": action.type, "due_at": action.due_at.isoformat(), "gen": action.gen}
    return with_body(sample("salvage"), body_of(sample("salvage")) | told | changes)


def unplugged(monkeypatch):
    """SQS is gone, and comes back when this is called."""

    def refuse(_self, _sends):
        raise BackendUnavailable("SQS", "throttled")

    monkeypatch.setattr("duetime.aws.queues.SqsQueues.send", refuse)


def test_a_dead_message_of_an_action_that_waits_is_kept_and_not_sent_again(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    assert salvage(dead_message(action)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action) == (Kind.MESSAGE, "due-default", action.ref)
    assert thing.count == 1
    assert queued() == []


def test_however_many_of_its_messages_die_it_is_one_thing(salvage, scheduler, desk):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    for number in ("a", "b", "c"):
        event = dead_message(action)
        event["Records"][0]["messageId"] = number
        salvage(event)
    (thing,) = desk.list()
    assert thing.count == 3
    moved = scheduler.reschedule(action.id, timedelta(0))
    salvage(dead_message(moved))
    assert len(desk.list()) == 2


def test_a_dead_message_of_an_action_that_is_settled_gone_or_due_anew_is_of_no_consequence(
    salvage, scheduler, desk
):
    settled = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    scheduler.cancel(settled.id)
    moved = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    scheduler.reschedule(moved.id, timedelta(days=1))
    for event in (dead_message(settled), dead_message(moved), sample("salvage")):
        assert salvage(event) == TAKEN
    assert len(desk.list()) == 0


def test_redriving_it_sends_its_wake_and_forgets_it(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    assert desk.redriven(thing) == TAKEN
    assert [(each["id"], each["delay"]) for each in queued()] == [(action.id, 0)]
    with pytest.raises(UndeliveredNotFound):
        desk.get(thing.id)


def test_redriving_it_when_its_action_is_settled_just_forgets_it(salvage, scheduler, desk, queued):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    scheduler.cancel(action.id)
    assert desk.redriven(thing) == TAKEN
    assert (len(desk.list()), queued()) == (0, [])


def test_what_is_redriven_in_vain_stays_with_the_new_reason(salvage, scheduler, desk, monkeypatch):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    salvage(dead_message(action))
    (thing,) = desk.list()
    unplugged(monkeypatch)
    assert desk.redriven(thing) == TAKEN
    (kept,) = desk.list()
    assert (kept.id, kept.count, kept.action) == (thing.id, 2, action.ref)
    assert kept.reason.startswith("redriven in vain: BackendUnavailable: SQS is not available")


def test_a_row_that_cannot_be_read_is_kept_with_why(salvage, deployed, desk):
    told = body_of(sample("salvage"))
    key = row_key(ActionRef(told["tenant"], told["id"]))
    boto3.client("dynamodb").put_item(
        TableName=deployed.actions_table, Item=key | {"status": {"S": "strange"}}
    )
    assert salvage(sample("salvage")) == TAKEN
    (thing,) = desk.list()
    assert "cannot be read" in thing.reason


@pytest.mark.parametrize("body", ["poison", "[]", "null", "{}", '{"redrive": "u.20260301T120500Z.0123456789abcdef"}',
    '{"tenant": "a#b", "id": "019ca932-7c00-735e-a389-6f2fb6b5d775", "type": "x", "due_at": "2026-03-01T12:05:00Z", "gen": 1}',
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "2026-03-01T12:05:00Z", "gen": 1}',
    '{"tenant": "acme", "id": "", "type": "x", "due_at": "0001-01-01T00:00:00+14:00", "gen": 1}',
])  # fmt: skip
def test_what_no_worker_could_read_is_kept_and_put_back_onto_its_queue(salvage, desk, deployed, body):
    assert salvage(with_body(sample("salvage"), body)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.body, thing.action) == (
        Kind.MESSAGE, "due-default", body, None,
    )  # fmt: skip
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 0
    (message,) = boto3.client("sqs").receive_message(QueueUrl=deployed.queues["default"])["Messages"]
    assert message["Body"] == body


@pytest.mark.parametrize(
    "body",
    [
        "poison", "[1]", '"text"', "{}", '{"redrive": 7}', '{"redrive": "u.1"}', '{"requestPayload": {}}',
        '{"DDBStreamBatchInfo": {}, "requestContext": {}}', '{"DDBStreamBatchInfo": 7}',
        '{"requestPayload": {}, "requestContext": {"functionArn": "arn", "condition": "x"}}',
        '{"requestPayload": 7, "requestContext": {"functionArn": 7}}',
        '{"requestPayload": 7, "requestContext": {"functionArn": "a:b:c:d:e:f:duetime-dispatch", "condition": ""}}',
        "[" * 100_000,
    ],
)  # fmt: skip
def test_what_nobody_can_read_among_the_failures_is_kept(salvage, desk, body):
    assert salvage(with_body(sample("salvage-redrive"), body)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.body) == (Kind.MESSAGE, "failures", body)


def test_a_body_that_is_too_long_is_kept_as_far_as_it_goes_and_not_put_back(salvage, desk, queued):
    salvage(with_body(sample("salvage"), "é" * BODY_LIMIT))
    (thing,) = desk.list()
    assert thing.is_cut
    assert thing.body == "é" * (BODY_LIMIT // 2)
    assert desk.redriven(thing) == TAKEN
    (kept,) = desk.list()
    assert "cannot be done again" in kept.reason
    assert queued() == []


@pytest.mark.parametrize("name", ["salvage-wake", "salvage-timer"])
def test_a_wake_that_dispatch_gave_up_on_is_dispatched_once_more(salvage, desk, queued, name):
    assert salvage(sample(name)) == TAKEN
    assert [each["id"] for each in queued()] == [sample("dispatch")["id"]]
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["salvage-wake", "salvage-timer"])
def test_a_wake_that_fails_again_is_kept_with_its_action_until_its_redrive_sends_it(
    salvage, desk, queued, monkeypatch, name
):
    with monkeypatch.context() as while_sqs_is_gone:
        unplugged(while_sqs_is_gone)
        assert salvage(sample(name)) == TAKEN
        assert salvage(sample(name)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.count) == (Kind.WAKE, "dispatch", 2)
    assert thing.action == ActionRef("acme", sample("dispatch")["id"])
    assert desk.redriven(thing) == TAKEN
    assert [each["id"] for each in queued()] == [sample("dispatch")["id"]]
    assert len(desk.list()) == 0


def test_a_jobs_wake_is_dispatched_once_more(salvage, deploy, jobs, desk, monkeypatch):
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    deploy()
    monkeypatch.setenv("DUETIME_ENABLED", "true")
    event = sample("salvage-wake")
    assert salvage(with_body(event, body_of(event) | {"requestPayload": sample("dispatch-job")})) == TAKEN
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["salvage-event", "salvage-rule"])
def test_an_event_that_was_given_up_starts_its_run_once(salvage, deploy, jobs, desk, name):
    deploy()
    for _ in range(2):
        assert salvage(sample(name)) == TAKEN
    (run,) = jobs.history("billing-book-payment")
    assert (run.status, run.created_by) == (Status.PENDING, "event:bank")
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["salvage-event", "salvage-rule"])
def test_an_event_that_fails_again_is_kept_whole_and_its_redrive_starts_the_run(
    salvage, deploy, jobs, desk, monkeypatch, name
):
    deploy()

    def refuse(*_about):
        raise BackendUnavailable("DynamoDB", "throttled")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("duetime.aws.jobs.DynamoJobStore.get", refuse)
        for _ in range(2):
            assert salvage(sample(name)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.count, thing.is_cut) == (Kind.EVENT, "dispatch", 2, False)
    assert thing.id.startswith("u.20260301T120500Z.")
    assert desk.redriven(thing) == TAKEN
    (run,) = jobs.history("billing-book-payment")
    assert run.status is Status.PENDING
    assert len(desk.list()) == 0


@pytest.mark.parametrize(
    "event",
    ["text", [], None, {}, {"id": "e", "time": "soon"}, {"id": {}, "time": "0001-01-01T00:00:00+14:00"},
     {"id": "\ud800", "time": "0001-01-01T00:00:00Z", "source": "\ud800"}],
)  # fmt: skip
def test_an_event_that_nobody_can_run_is_kept_and_can_be_asked_for(salvage, deploy, desk, event):
    deploy()
    told = body_of(sample("salvage-event"))
    told["requestPayload"] |= {"event": event, "cadence": "OnEvent_bank_PaymentReceived"}
    told["responsePayload"]["errorMessage"] = "\ud800"
    for _ in range(2):
        assert salvage(with_body(sample("salvage-event"), told)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.count) == (Kind.EVENT, 2)
    assert desk.redriven(thing) == TAKEN
    assert desk.get(thing.id).count == 3


def test_an_event_whose_rule_is_gone_is_kept_with_why(salvage, with_jobs, desk):
    assert salvage(sample("salvage-rule")) == TAKEN
    (thing,) = desk.list()
    assert thing.kind is Kind.EVENT
    assert "there is no rule duetime-billing-book-payment any more" in thing.reason
    assert json.loads(thing.body)["event"]["detail"] == sample("dispatch-event")["event"]["detail"]
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 1


def test_passes_are_kept_one_an_hour(salvage, desk):
    for number, sent in (("a", "1772366700000"), ("b", "1772366760000"), ("c", "1772370300000")):
        event = sample("salvage-pass")
        event["Records"][0]["messageId"] = number
        event["Records"][0]["attributes"]["SentTimestamp"] = sent
        assert salvage(event) == TAKEN
    later, first = desk.list()
    assert [(each.kind, each.source, each.count) for each in (later, first)] == [
        (Kind.PASS, "sweep", 1), (Kind.PASS, "sweep", 2),
    ]  # fmt: skip
    assert "timed out" in first.reason
    assert desk.redriven(first) == TAKEN
    assert list(desk.list()) == [later]


def records_in(deployed):
    """How many records the table's stream has."""
    streams = boto3.client("dynamodbstreams")
    (stream,) = streams.list_streams(TableName=deployed.actions_table)["Streams"]
    shard = {"ShardId": body_of(sample("salvage-stream"))["DDBStreamBatchInfo"]["shardId"]}
    begun = streams.get_shard_iterator(
        StreamArn=stream["StreamArn"], ShardIteratorType="TRIM_HORIZON", **shard
    )
    return len(streams.get_records(ShardIterator=begun["ShardIterator"])["Records"])


def stream_event(deployed, count):
    """A batch of the first so many records of the table's stream."""
    table = boto3.client("dynamodb").describe_table(TableName=deployed.actions_table)["Table"]
    event = sample("salvage-stream")
    body = body_of(event)
    first = int(body["DDBStreamBatchInfo"]["startSequenceNumber"])
    body["DDBStreamBatchInfo"] |= {
        "streamArn": table["LatestStreamArn"], "endSequenceNumber": str(first + count - 1),
    }  # fmt: skip
    return with_body(event, body)


def test_a_batch_that_arm_gave_up_on_is_armed_record_by_record(salvage, scheduler, deployed, desk, queued):
    actions = [scheduler.schedule(SendReceipt(order=f"o-{each}"), at=timedelta(0)) for each in range(3)]
    assert salvage(stream_event(deployed, 2)) == TAKEN
    assert {each["id"] for each in queued()} == {each.id for each in actions[:2]}
    assert len(desk.list()) == 0


def test_a_record_that_fails_again_is_kept_alone_and_its_redrive_arms_the_row(
    salvage, scheduler, deployed, desk, queued, monkeypatch
):
    far = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(days=1))
    near = scheduler.schedule(SendReceipt(order="o-2"), at=timedelta(0))
    with monkeypatch.context() as while_sqs_is_gone:
        unplugged(while_sqs_is_gone)
        for _ in range(2):
            assert salvage(stream_event(deployed, 2)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action, thing.count) == (Kind.RECORD, "arm", near.ref, 2)
    assert "receipt" not in thing.body
    schedules = boto3.client("scheduler").list_schedules(GroupName=deployed.schedule_group)["Schedules"]
    assert [each["Name"] for each in schedules] == [f"{far.id}.1"]
    assert desk.redriven(thing) == TAKEN
    assert [each["id"] for each in queued()] == [near.id]
    assert len(desk.list()) == 0


def test_a_removal_that_fails_again_takes_its_key_and_payload_along_when_it_is_redriven(
    salvage, scheduler, deployed, desk, monkeypatch
):
    keyed = {"at": timedelta(days=1), "idempotency_key": "order-17"}
    action = scheduler.schedule(SendReceipt(order="x" * 5_000), **keyed)
    dynamodb, table = boto3.client("dynamodb"), deployed.actions_table
    dynamodb.delete_item(TableName=table, Key=row_key(action.ref))

    def refuse(*_about):
        raise BackendUnavailable("DynamoDB", "throttled")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr("duetime.aws.store.DynamoStore.remove_payload", refuse)
        meanwhile.setattr("duetime.aws.store.DynamoStore.remove_key", refuse)
        assert salvage(stream_event(deployed, 4)) == TAKEN
    (thing,) = desk.list()
    assert thing.action == action.ref
    assert desk.redriven(thing) == TAKEN
    assert dynamodb.scan(TableName=table)["Items"] == []


def test_a_record_that_cannot_be_read_is_kept(salvage, deployed, desk):
    row = {"pk": {"S": "acme#5"}, "sk": {"S": "019ca932-7c00-735e-a389-6f2fb6b5d775"}}
    boto3.client("dynamodb").put_item(
        TableName=deployed.actions_table, Item=row | {"status": {"S": "strange"}}
    )
    assert salvage(stream_event(deployed, 1)) == TAKEN
    (thing,) = desk.list()
    assert (thing.action.id, thing.reason) == (row["sk"]["S"], "the record cannot be read")


def test_a_batch_that_is_no_longer_in_the_stream_is_kept_until_somebody_has_seen_it(
    salvage, desk, monkeypatch
):
    monkeypatch.setattr("duetime.aws.streams.DynamoStream.read", lambda *_about: None)
    assert salvage(sample("salvage-stream")) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.action) == (Kind.RECORD, "arm", None)
    assert "DDBStreamBatchInfo" in thing.body
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 0


def test_what_cannot_be_kept_comes_again(salvage, deployed, scheduler):
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    event = dead_message(action)
    boto3.client("dynamodb").delete_table(TableName=deployed.jobs_table)
    failed = {"itemIdentifier": event["Records"][0]["messageId"]}
    assert salvage(event) == {"batchItemFailures": [failed]}


def test_without_the_failure_queue_a_redrive_says_what_is_missing(salvage, desk, monkeypatch):
    salvage(with_body(sample("salvage"), "poison"))
    monkeypatch.delenv("DUETIME_FAILURE_QUEUE")
    blind = Scheduler.from_env(tenant_id="acme").undelivered
    (thing,) = blind.list()
    with pytest.raises(BackendMisconfigured, match="DUETIME_FAILURE_QUEUE"):
        blind.redrive(thing.id)


def test_a_request_to_redrive_what_is_gone_needs_nothing(salvage, desk):
    assert salvage(sample("salvage-redrive")) == TAKEN
    assert len(desk.list()) == 0


def test_a_triggered_passes_dead_message_is_the_systems(salvage, desk, deployed):
    message = body_of(sample("salvage")) | {"tenant": "system", "id": "duetime-sweep.000001.20260301T120500Z"}
    store = Scheduler.from_env(tenant_id="acme")._store
    action = Scheduler.from_env(tenant_id="acme").schedule(SendReceipt(order="o-1"), at=timedelta(0))
    run = replace(action, tenant_id="system", id=message["id"], planned_at=action.due_at)
    boto3.client("dynamodb").put_item(TableName=deployed.actions_table, Item=to_item(run))
    assert store.get(run.ref) is not None
    assert salvage(with_body(sample("salvage"), message)) == TAKEN
    (thing,) = desk.list()
    assert thing.action == run.ref
