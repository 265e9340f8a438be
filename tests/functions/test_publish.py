"""Lifecycle events go from the tables' streams to the bus; rejected ones are published again or stored."""

import json
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import AwsBackends, clients
from duetime.clock import SystemClock
from duetime.errors import QuotaExceeded
from duetime.lambdas.publish import action_filters, job_filters
from duetime.model.event_pattern import matches
from duetime.model.undelivered import UndeliveredKind
from duetime.settings import Settings
from examples.billing import SendReceipt
from tests.functions.aws_faults import answered, failing
from tests.functions.conftest import Context, sample
from tests.functions.undelivered_inputs import Operator, body_of, with_body
from tests.journeys.shop import SCHEMA

NO_FAILURES = {"batchItemFailures": []}


@pytest.fixture
def received(deployed):
    """Return a function that receives the events of a subscriber of the bus."""
    sqs, bus = boto3.client("sqs"), boto3.client("events")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    bus.put_rule(Name="all-of-duetime", EventPattern=json.dumps({"source": ["duetime"]}))
    arn = "arn:aws:sqs:eu-west-1:123456789012:subscriber"
    bus.put_targets(Rule="all-of-duetime", Targets=[{"Id": "queue", "Arn": arn}])

    def read():
        events = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            events += [json.loads(message["Body"]) for message in messages]
            for message in messages:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return events

    return read


@pytest.fixture
def publish(function):
    handler = function("publish")
    return lambda event: handler(event, Context())


@pytest.fixture
def handle_undelivered(function):
    handler = function("undelivered")
    return lambda event: handler(event, Context())


def without_event_bus():
    """EventBridge rejects all events."""
    return all_of(failing(clients.events(calls), "PutEvents") for calls in (clients.BRIEF, clients.PATIENT))


@contextmanager
def all_of(contexts):
    with ExitStack() as stack:
        for context in contexts:
            stack.enter_context(context)
        yield


def records(table):
    """Return all records of a table's stream, in the form of Lambda's events."""
    streams = boto3.client("dynamodbstreams")
    (stream,) = streams.list_streams(TableName=table)["Streams"]
    description = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
    shard = description["Shards"][0]["ShardId"]
    begun = streams.get_shard_iterator(
        StreamArn=stream["StreamArn"], ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )
    read = streams.get_records(ShardIterator=begun["ShardIterator"])["Records"]
    return json.loads(json.dumps(read, default=lambda moment: int(moment.timestamp())))


def undelivered_batch(deployed, count):
    """Return a batch of the first `count` records of the actions table's stream that publish failed for."""
    table = boto3.client("dynamodb").describe_table(TableName=deployed.made.actions_table)["Table"]
    event = sample("undelivered-publish")
    body = body_of(event)
    info = body["DDBStreamBatchInfo"]
    last = str(int(info["startSequenceNumber"]) + count - 1)
    body["DDBStreamBatchInfo"] = info | {"streamArn": table["LatestStreamArn"], "endSequenceNumber": last}
    return with_body(event, body)


def test_a_failure_and_a_pause_reach_the_bus_in_their_published_form(publish, received):
    assert publish(sample("publish")) == NO_FAILURES
    failed, paused = received()
    assert (failed["detail-type"], paused["detail-type"]) == ("action.failed", "job.paused")
    for event in (failed, paused):
        assert event["source"] == "duetime"
        SCHEMA.validate(event["detail"])
    assert failed["detail"]["id"] == "acme/019ca932-7c00-735e-a389-6f2fb6b5d775/failed/1.1"
    assert failed["detail"]["action"]["reason"] == "Fatal: order o-17 is gone"
    assert "payload" not in failed["detail"]["action"]
    assert paused["detail"]["by"] == "ada@acme.example"


def test_lambda_repeats_a_batch_that_the_bus_rejects_with_the_same_ids(publish, received, monkeypatch):
    with without_event_bus():
        first = sample("publish")["Records"][0]["dynamodb"]["SequenceNumber"]
        assert publish(sample("publish")) == {"batchItemFailures": [{"itemIdentifier": first}]}
    publish(sample("publish"))
    publish(sample("publish"))
    ids = [event["detail"]["id"] for event in received()]
    assert ids[:2] == ids[2:]


def test_an_unreadable_record_stops_no_other(publish, received):
    event = sample("publish")
    event["Records"][0]["dynamodb"]["NewImage"]["due_at"] = {"S": "never"}
    assert publish(event) == NO_FAILURES
    assert [event["detail-type"] for event in received()] == ["job.paused"]


def test_one_rejected_entry_fails_the_batch(publish, monkeypatch):
    def refuse(request):
        answers = [{"ErrorCode": "ThrottlingException"} for _ in request["Entries"]]
        return {"FailedEntryCount": len(answers), "Entries": answers}

    with answered(clients.events(clients.BRIEF), "PutEvents", refuse):
        assert publish(sample("publish"))["batchItemFailures"]


def test_the_undelivered_function_publishes_a_batch_that_publish_failed_for(
    handle_undelivered, received, deployed
):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    scheduler.cancel(scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1)).id)
    assert handle_undelivered(undelivered_batch(deployed, 2)) == NO_FAILURES
    assert [event["detail-type"] for event in received()] == ["action.cancelled"]
    assert len(scheduler.undelivered.list()) == 0


def test_an_event_that_the_bus_rejects_again_is_stored_and_its_redrive_publishes_it(
    handle_undelivered, received, deployed, monkeypatch
):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    scheduler.cancel(scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1)).id)
    with without_event_bus():
        assert handle_undelivered(undelivered_batch(deployed, 2)) == NO_FAILURES
    operator = Operator(scheduler, handle_undelivered, deployed.made.failure_queue)
    [entry] = operator.list()
    assert (entry.kind, entry.source) == (UndeliveredKind.LIFECYCLE, "publish")
    assert "throttled" in entry.reason
    assert operator.redrive(entry) == NO_FAILURES
    assert [event["detail-type"] for event in received()] == ["action.cancelled"]
    assert len(operator.list()) == 0


def test_a_batch_that_has_left_the_stream_is_stored(handle_undelivered, deployed, monkeypatch):
    with failing(clients.dynamodb_streams(), "GetShardIterator", "TrimmedDataAccessException"):
        assert handle_undelivered(sample("undelivered-publish")) == NO_FAILURES
    operator = Operator(Scheduler.from_env(tenant_id="acme"), handle_undelivered, deployed.made.failure_queue)
    [entry] = operator.list()
    assert (entry.kind, entry.source, entry.action) == (UndeliveredKind.RECORD, "publish", None)
    assert "no longer in the stream" in entry.reason
    assert operator.redrive(entry) == NO_FAILURES
    assert len(operator.list()) == 0


def test_the_filters_of_the_event_sources_pass_every_record_with_an_event(
    deploy, function, with_jobs, publish, received
):
    """The filtered records publish the same events as all records."""
    deploy("Create")
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    work = function("work")
    action = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1))
    scheduler.reschedule(action.id, timedelta(hours=2))
    scheduler.cancel(action.id)
    jobs = scheduler.jobs
    jobs.pause("billing-clean-up")
    jobs.resume("billing-clean-up")
    run = jobs.trigger("billing-write-report")
    jobs.skip_next("billing-watch-payments")
    backfill = jobs.backfill("billing-clean-up", -timedelta(days=3), timedelta(0))
    jobs.pause_backfill("billing-clean-up", backfill.id)
    jobs.resume_backfill("billing-clean-up", backfill.id)
    jobs.cancel_backfill("billing-clean-up", backfill.id)
    message = sample("work")
    body = json.loads(message["Records"][0]["body"])
    body |= {
        "tenant": run.tenant_id,
        "id": run.id,
        "type": run.type,
        "due_at": run.due_at.isoformat(),
        "delay": 0,
    }
    message["Records"][0]["body"] = json.dumps(body)
    assert work(message, Context()) == NO_FAILURES
    for table, filters in (
        (with_jobs.made.actions_table, action_filters(Settings())),
        (with_jobs.made.actions_table, action_filters(Settings(tenants="*"))),
        (with_jobs.made.jobs_table, job_filters(Settings())),
    ):
        everything = records(table)
        publish({"Records": everything})
        expected = sorted(event["detail"]["id"] for event in received())
        publish(
            {
                "Records": [
                    record for record in everything if any(matches(pattern, record) for pattern in filters)
                ]
            }
        )
        assert sorted(event["detail"]["id"] for event in received()) == expected
        assert expected
    words = {name.split("/")[2] for name in expected}
    changes = ("started", "paused", "resumed", "cancelled", "ended")
    assert {f"backfill_{word}" for word in changes} <= words


def test_audit_entries_are_published_if_all_events_are(publish, function, received, deployed, monkeypatch):
    function("api")(sample("api-cancel-many"), Context())
    trail = [
        record for record in records(deployed.made.jobs_table) if "audit_of" in record["dynamodb"]["NewImage"]
    ]
    assert publish({"Records": trail}) == NO_FAILURES
    assert received() == []
    monkeypatch.setenv("DUETIME_EVENTS", "all")
    assert function("publish")({"Records": trail}, Context()) == NO_FAILURES
    begun, ended = received()
    for event in (begun, ended):
        SCHEMA.validate(event["detail"])
        assert event["detail-type"] == "audit.recorded"
    assert begun["detail"]["audit"]["id"] == ended["detail"]["audit"]["id"]
    assert (begun["detail"]["audit"]["status"], ended["detail"]["audit"]["status"]) == (None, 200)
    assert begun["detail"]["by"]
    filters = job_filters(replace(deployed, events="all"))
    assert all(any(matches(pattern, record) for pattern in filters) for record in trail)


def test_an_unreadable_row_of_another_version_stops_no_other(publish, received):
    event = sample("publish")
    key = {"pk": {"S": "system#undelivered"}, "sk": {"S": "u.20260301T120500Z.0123456789abcdef"}}
    odd = {**key, "kind": {"S": "of-tomorrow"}}
    images = {"ApproximateCreationDateTime": 1772366702, "Keys": key, "NewImage": odd, "SequenceNumber": "1"}
    event["Records"].insert(0, {"eventName": "INSERT", "dynamodb": images})
    assert publish(event) == NO_FAILURES
    assert [event["detail-type"] for event in received()] == ["action.failed", "job.paused"]


def test_only_rejected_entries_are_put_again(publish, monkeypatch):
    requests = []

    def refuse_first(request):
        requests.append([event["DetailType"] for event in request["Entries"]])
        answers = [{"EventId": str(place)} for place in range(len(request["Entries"]))]
        if len(requests) == 1:
            answers[0] = {"ErrorCode": "ThrottlingException"}
        return {"FailedEntryCount": 0, "Entries": answers}

    with answered(clients.events(clients.BRIEF), "PutEvents", refuse_first):
        assert publish(sample("publish")) == NO_FAILURES
    assert requests == [["action.failed", "job.paused"], ["action.failed"]]


def counted(settings, tenant="acme"):
    """Return the counts of a tenant that the jobs table has: by sort key, without the time to live."""
    page = boto3.client("dynamodb").query(
        TableName=settings.made.jobs_table,
        KeyConditionExpression="pk = :counts",
        ExpressionAttributeValues={":counts": {"S": f"{tenant}#counts"}},
    )
    return {
        item["sk"]["S"]: {name: value["N"] for name, value in item.items() if name.startswith("m")}
        for item in page["Items"]
    }


class TestCounts:
    def test_an_ended_run_is_counted_by_its_minute(self, deployed, publish):
        assert publish(sample("publish")) == NO_FAILURES
        [(place, counts)] = counted(deployed).items()
        assert place == "2026-03-01T12#type#send-receipt"
        assert {name[3:]: value for name, value in counts.items()} == {"f": "1", "l0": "1"}

    def test_events_that_the_bus_rejects_are_not_counted_before_they_come_again(self, deployed, publish):
        batch = sample("publish")
        with without_event_bus():
            assert publish(batch)["batchItemFailures"]
        assert counted(deployed) == {}
        publish(batch)
        assert {*next(iter(counted(deployed).values())).values()} == {"1"}

    def test_a_count_that_cannot_be_written_brings_no_event_again(self, deployed, publish):
        batch = sample("publish")
        with failing(clients.dynamodb(clients.PROMPT), "UpdateItem"):
            assert publish(batch) == NO_FAILURES
        assert counted(deployed) == {}


def test_with_quotas_the_selected_changes_of_one_shots_are_counted(deployed, function, monkeypatch):
    monkeypatch.setenv("DUETIME_TENANTS", "acme globex")
    monkeypatch.setenv("DUETIME_QUOTAS", '{"acme": "pending=2"}')
    scheduler = Scheduler.from_env(tenant_id="acme")
    first = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1))
    scheduler.schedule(SendReceipt(order="x" * 3_000), at=timedelta(hours=1))
    with pytest.raises(QuotaExceeded):
        scheduler.schedule(SendReceipt(order="o-3"), at=timedelta(hours=1))
    scheduler.cancel(first.id)
    filters = action_filters(Settings.from_env())
    chosen = [
        one for one in records(deployed.made.actions_table) if any(matches(rule, one) for rule in filters)
    ]
    assert function("publish")({"Records": chosen}, Context()) == NO_FAILURES
    used = AwsBackends(deployed).usage_counts.read("acme", SystemClock().now())
    assert used.pending == 1
    assert used.payload_bytes > 3_000
    Scheduler.from_env(tenant_id="acme").schedule(SendReceipt(order="o-4"), at=timedelta(hours=1))
