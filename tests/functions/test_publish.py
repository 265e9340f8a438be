"""Lifecycle events, from the tables' streams to the bus.

And what becomes of those that the bus does not take.
"""

import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest
from botocore.client import BaseClient

from duetime import Scheduler
from duetime.errors import BackendUnavailable
from duetime.lambdas.publish import action_filters, job_filters
from duetime.model.event_pattern import matches
from duetime.model.undelivered import UndeliveredKind
from duetime.settings import Settings
from examples.billing import SendReceipt
from tests.functions.conftest import Context, sample
from tests.functions.salvaged import Desk, body_of, with_body
from tests.journeys.shop import SCHEMA

TAKEN = {"batchItemFailures": []}


@pytest.fixture
def heard(deployed):
    """What a subscriber of the bus has got."""
    sqs, events = boto3.client("sqs"), boto3.client("events")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    events.put_rule(Name="all-of-duetime", EventPattern=json.dumps({"source": ["duetime"]}))
    arn = "arn:aws:sqs:eu-west-1:123456789012:subscriber"
    events.put_targets(Rule="all-of-duetime", Targets=[{"Id": "queue", "Arn": arn}])

    def read():
        told = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            told += [json.loads(message["Body"]) for message in messages]
            for each in messages:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
        return told

    return read


@pytest.fixture
def publish(function):
    handler = function("publish")
    return lambda event: handler(event, Context())


@pytest.fixture
def salvage(function):
    handler = function("undelivered")
    return lambda event: handler(event, Context())


def away(monkeypatch):
    def refuse(_self, _events):
        raise BackendUnavailable("EventBridge", "throttled")

    monkeypatch.setattr("duetime.aws.event_bus.EventBridgeBus.put", refuse)


def records(table):
    """All records of a table's stream, as Lambda hands them over."""
    streams = boto3.client("dynamodbstreams")
    (stream,) = streams.list_streams(TableName=table)["Streams"]
    told = streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
    shard = told["Shards"][0]["ShardId"]
    begun = streams.get_shard_iterator(
        StreamArn=stream["StreamArn"], ShardId=shard, ShardIteratorType="TRIM_HORIZON"
    )
    read = streams.get_records(ShardIterator=begun["ShardIterator"])["Records"]
    return json.loads(json.dumps(read, default=lambda moment: int(moment.timestamp())))


def given_up(deployed, count):
    """A batch of the first so many records of the actions table's stream, which publish gave up on."""
    table = boto3.client("dynamodb").describe_table(TableName=deployed.actions_table)["Table"]
    event = sample("undelivered-publish")
    body = body_of(event)
    info = body["DDBStreamBatchInfo"]
    last = str(int(info["startSequenceNumber"]) + count - 1)
    body["DDBStreamBatchInfo"] = info | {"streamArn": table["LatestStreamArn"], "endSequenceNumber": last}
    return with_body(event, body)


def test_a_failure_and_a_pause_reach_the_bus_in_their_published_form(publish, heard):
    assert publish(sample("publish")) == TAKEN
    failed, paused = heard()
    assert (failed["detail-type"], paused["detail-type"]) == ("action.failed", "job.paused")
    for each in (failed, paused):
        assert each["source"] == "duetime"
        SCHEMA.validate(each["detail"])
    assert failed["detail"]["id"] == "acme/019ca932-7c00-735e-a389-6f2fb6b5d775/failed/1.1"
    assert failed["detail"]["action"]["reason"] == "Fatal: order o-17 is gone"
    assert "payload" not in failed["detail"]["action"]
    assert paused["detail"]["by"] == "ada@acme.example"


def test_a_batch_that_the_bus_does_not_take_comes_again_whole_and_is_the_same(publish, heard, monkeypatch):
    with monkeypatch.context() as meanwhile:
        away(meanwhile)
        first = sample("publish")["Records"][0]["dynamodb"]["SequenceNumber"]
        assert publish(sample("publish")) == {"batchItemFailures": [{"itemIdentifier": first}]}
    publish(sample("publish"))
    publish(sample("publish"))
    ids = [each["detail"]["id"] for each in heard()]
    assert ids[:2] == ids[2:]


def test_a_record_that_cannot_be_read_holds_up_nothing(publish, heard):
    event = sample("publish")
    event["Records"][0]["dynamodb"]["NewImage"]["due_at"] = {"S": "never"}
    assert publish(event) == TAKEN
    assert [each["detail-type"] for each in heard()] == ["job.paused"]


def test_an_entry_that_the_bus_refuses_alone_fails_the_batch(publish, monkeypatch):
    def refused(_self, operation, request):
        assert operation == "PutEvents"
        answers = [{"ErrorCode": "ThrottlingException"} for _ in request["Entries"]]
        return {"FailedEntryCount": len(answers), "Entries": answers}

    publish(sample("publish"))  # its clients are made
    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", _only_events(refused))
    assert publish(sample("publish"))["batchItemFailures"]


def _only_events(answer):
    usual = BaseClient._make_api_call

    def call(self, operation, request):
        if operation == "PutEvents":
            return answer(self, operation, request)
        return usual(self, operation, request)

    return call


def test_what_the_bus_has_not_taken_for_hours_is_published_by_salvage(salvage, heard, deployed):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    scheduler.cancel(scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1)).id)
    assert salvage(given_up(deployed, 2)) == TAKEN
    assert [each["detail-type"] for each in heard()] == ["action.cancelled"]
    assert len(scheduler.undelivered.list()) == 0


def test_and_kept_where_it_is_still_away_and_a_redrive_publishes_it(salvage, heard, deployed, monkeypatch):
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    scheduler.cancel(scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=1)).id)
    with monkeypatch.context() as meanwhile:
        away(meanwhile)
        assert salvage(given_up(deployed, 2)) == TAKEN
    desk = Desk(scheduler, salvage, deployed.failure_queue)
    [kept] = desk.list()
    assert (kept.kind, kept.source) == (UndeliveredKind.LIFECYCLE, "publish")
    assert "throttled" in kept.reason
    assert desk.redriven(kept) == TAKEN
    assert [each["detail-type"] for each in heard()] == ["action.cancelled"]
    assert len(desk.list()) == 0


def test_of_records_that_are_gone_it_is_kept_that_they_are(salvage, deployed, monkeypatch):
    monkeypatch.setattr("duetime.aws.streams.DynamoStream.read_all", lambda *_about: None)
    assert salvage(sample("undelivered-publish")) == TAKEN
    desk = Desk(Scheduler.from_env(tenant_id="acme"), salvage, deployed.failure_queue)
    [kept] = desk.list()
    assert (kept.kind, kept.source, kept.action) == (UndeliveredKind.RECORD, "publish", None)
    assert "no longer in the stream" in kept.reason
    assert desk.redriven(kept) == TAKEN
    assert len(desk.list()) == 0


def test_nothing_that_is_told_is_kept_back_by_the_event_sources_filters(
    deploy, function, with_jobs, publish, heard
):
    """Whatever the filters let through makes the same events as everything would."""
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
    assert work(message, Context()) == TAKEN
    for table, filters in (
        (with_jobs.actions_table, action_filters(Settings())),
        (with_jobs.jobs_table, job_filters(Settings())),
    ):
        everything = records(table)
        publish({"Records": everything})
        whole = sorted(each["detail"]["id"] for each in heard())
        publish({"Records": [each for each in everything if any(matches(one, each) for one in filters)]})
        assert sorted(each["detail"]["id"] for each in heard()) == whole
        assert whole


def test_the_audit_trail_is_told_where_that_is_chosen(publish, function, heard, deployed, monkeypatch):
    function("api")(sample("api-cancel-many"), Context())
    trail = [
        record for record in records(deployed.jobs_table) if "audit_of" in record["dynamodb"]["NewImage"]
    ]
    assert publish({"Records": trail}) == TAKEN
    assert heard() == []
    monkeypatch.setenv("DUETIME_AUDIT_EVENTS", "true")
    assert function("publish")({"Records": trail}, Context()) == TAKEN
    begun, ended = heard()
    for each in (begun, ended):
        SCHEMA.validate(each["detail"])
        assert each["detail-type"] == "audit.recorded"
    assert begun["detail"]["audit"]["id"] == ended["detail"]["audit"]["id"]
    assert (begun["detail"]["audit"]["status"], ended["detail"]["audit"]["status"]) == (None, 200)
    assert begun["detail"]["by"]
    let_through = job_filters(replace(deployed, audit_events=True))
    assert all(any(matches(one, each) for one in let_through) for each in trail)


def test_what_another_version_wrote_and_this_one_cannot_read_holds_up_nothing(publish, heard):
    event = sample("publish")
    kept = {"pk": {"S": "system#undelivered"}, "sk": {"S": "u.20260301T120500Z.0123456789abcdef"}}
    odd = {**kept, "kind": {"S": "of-tomorrow"}}
    images = {"ApproximateCreationDateTime": 1772366702, "Keys": kept, "NewImage": odd, "SequenceNumber": "1"}
    event["Records"].insert(0, {"eventName": "INSERT", "dynamodb": images})
    assert publish(event) == TAKEN
    assert [each["detail-type"] for each in heard()] == ["action.failed", "job.paused"]


def test_only_the_entries_that_the_bus_refused_are_put_again(publish, monkeypatch):
    asked = []

    def once_refused(_self, _operation, request):
        asked.append([each["DetailType"] for each in request["Entries"]])
        answers = [{"EventId": str(place)} for place in range(len(request["Entries"]))]
        if len(asked) == 1:
            answers[0] = {"ErrorCode": "ThrottlingException"}
        return {"FailedEntryCount": 0, "Entries": answers}

    publish(sample("publish"))  # its clients are made
    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", _only_events(once_refused))
    assert publish(sample("publish")) == TAKEN
    assert asked == [["action.failed", "job.paused"], ["action.failed"]]
