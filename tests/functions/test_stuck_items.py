"""One item that is stuck, or one service that hangs, does not hold up the others of a function's call."""

import copy
import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import boto3

from duetime import Scheduler, on_event
from duetime.aws import clients, failures
from duetime.aws.backends import AwsBackends
from duetime.aws.items import to_item
from duetime.aws.notes import publish
from duetime.aws.stuck_work import StuckWork
from duetime.clock import SystemClock
from duetime.jobs.register import Registration
from duetime.model.manifest import Manifest
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime.undelivered.failed_inputs import FailedPass
from examples.billing import ApplyPlanChange, SendReceipt
from tests.functions.aws_faults import answered, failing, hanging
from tests.functions.conftest import Context, sample


def far_records(count, due_at="2099-06-01T07:00:00.000000Z"):
    """Return the records of rows that are due in the far future."""
    event = sample("arm")
    [record] = event["Records"]
    event["Records"] = []
    for number in range(count):
        event["Records"].append(copy.deepcopy(record))
        row = event["Records"][-1]["dynamodb"]["NewImage"]
        row["due_at"]["S"] = due_at
        row["sk"]["S"] = row["sk"]["S"][:-4] + f"{number:03x}" + row["sk"]["S"][-1]
    return event


def waiting(queue_url):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    found = boto3.client("sqs").get_queue_attributes(QueueUrl=queue_url, AttributeNames=names)["Attributes"]
    return sum(map(int, found.values()))


def test_arm_gives_up_on_a_hanging_eventbridge_after_three_calls(function, deployed):
    arm = function("arm")
    with hanging(clients.scheduler(clients.PROMPT), "CreateSchedule") as tried:
        assert arm(far_records(100), Context()) == {"batchItemFailures": []}
        assert arm(sample("arm"), Context()) == {"batchItemFailures": []}
    assert len(tried) == 3 * 2  # botocore repeats each once
    assert waiting(deployed.made.queues["default"]) == 2 + 1  # two hop, and the wheel has the others


def test_at_the_quota_of_schedules_the_wheel_takes_over_and_hands_back(function, deployed, monkeypatch):
    scheduler, client = Scheduler.from_env(tenant_id="acme", actor="ann"), clients.scheduler(clients.PROMPT)
    rows = [
        scheduler.schedule(SendReceipt(order="o"), at=timedelta(minutes=minutes)) for minutes in (16, 600)
    ]
    arm, sweep, images = function("arm"), function("sweep"), far_records(2)
    for record, row in zip(images["Records"], rows, strict=True):
        record["dynamodb"]["NewImage"] = to_item(row)
    with failing(client, "CreateSchedule", "ServiceQuotaExceededException"):
        assert arm(images, Context()) == {"batchItemFailures": []}
        later(monkeypatch, timedelta(minutes=3))
        passed = sweep(sample("sweep"), Context())
    assert (passed["ahead"], passed["rearmed"]) == (1, 0)
    [reported] = [failure(record) for record in received(deployed.made.failure_queue)]
    assert (reported.source, type(reported)) == ("arm", FailedPass)
    assert "Raise the quota of schedules" in reported.reason
    later(monkeypatch, timedelta(minutes=17))
    passed = [sweep(sample("sweep"), Context())["rearmed"] for _ in range(2)]
    assert passed == [1, 0]
    [timer] = boto3.client("scheduler").list_schedules(GroupName=deployed.made.schedule_group)["Schedules"]
    assert rows[1].id in timer["Name"]


def later(monkeypatch, span):
    """Put the machine's clock ahead by a span."""
    now = SystemClock.now
    monkeypatch.setattr(SystemClock, "now", lambda clock: now(clock) + span)


def test_a_sweep_gives_up_on_a_hanging_eventbridge_after_three_jobs(function, deploy, jobs):
    deploy()
    for number in range(6):
        registration = Registration(name=f"r-{number}", handler=SendReceipt(order="o"), cadences=["every 6h"])
        jobs.register(registration)
    sweep = function("sweep")
    with hanging(clients.scheduler(clients.PROMPT), "CreateSchedule") as tried:
        passed = sweep(sample("sweep"), Context())
    assert (len(tried), len(passed["failed_jobs"])) == (3 * 2, 3)
    assert not passed["failed_shards"]


def test_the_catch_up_removes_no_wake_of_a_job_that_the_index_does_not_have_yet(
    function, deploy, jobs, with_jobs
):
    deploy()
    registration = Registration(
        name="new-report",
        handler=SendReceipt(order="o"),
        cadences=["every 6h", on_event("duetime", "job.paused")],
    )
    jobs.register(registration)
    function("sweep")(sample("sweep"), Context())
    wakes = AwsBackends(with_jobs, SystemClock()).job_wakes
    known = sorted(wakes.known())
    assert {("rule", "acme.new-report"), ("schedule", "acme.new-report")} <= set(known)
    with answered(clients.dynamodb(clients.PROMPT), "Query", lagging):
        passed = function("catch_up")(sample("catch_up"), Context())
    assert passed["removed"] == ()
    assert sorted(wakes.known()) == known


def lagging(request):
    """Answer a query of the jobs' index as one that has no row yet."""
    return {"Items": [], "Count": 0, "ScannedCount": 0} if request.get("IndexName") == "maintenance" else None


def test_actions_whose_queue_is_gone_are_reported_once_and_hold_up_no_others(function, deployed, monkeypatch):
    """A type's manifest names a queue that was deleted, as after the removal of a worker by hand."""
    gone = boto3.client("sqs").create_queue(QueueName="duetime-due-mails")["QueueUrl"]
    boto3.client("sqs").delete_queue(QueueUrl=gone)
    monkeypatch.setenv("DUETIME_QUEUES", json.dumps({**deployed.made.queues, "mails": gone}))
    publish(clients.dynamodb(), deployed.made.jobs_table, Manifest("mails", {"apply-plan-change": 1}))
    publish(clients.dynamodb(), deployed.made.jobs_table, Manifest("default", {"send-receipt": 1}))
    scheduler = Scheduler.from_env(tenant_id="acme", actor="ann")
    plan_change = ApplyPlanChange(subscription_id=uuid4(), new_plan_id=uuid4())
    for minutes in (7, 8):
        scheduler.schedule(SendReceipt(order="o"), at=-timedelta(minutes=minutes))
        scheduler.schedule(plan_change, at=-timedelta(minutes=minutes + 0.5))
    sweep = function("sweep")
    passed = [sweep(sample("sweep"), Context()) for _ in range(2)]
    assert [done["sent"] for done in passed] == [2, 0]
    assert [aside["number"] for aside in passed[0]["set_aside"]] == [2]
    assert passed[0]["failed_shards"] == ()
    arm = function("arm")
    for due_at in ("2026-03-01T12:05:00.000000Z", "2099-06-01T07:00:00.000000Z"):
        assert arm(far_records(3, due_at), Context()) == {"batchItemFailures": []}
    reported = [failure(record) for record in received(deployed.made.failure_queue)]
    assert sorted((one.source, type(one)) for one in reported) == [("arm", FailedPass), ("sweep", FailedPass)]
    assert all("does not exist" in one.reason for one in reported)


def test_every_problem_is_reported_once_an_hour_however_many_actions_wait(deployed):
    clock = TurnedClock(datetime(2026, 3, 1, tzinfo=UTC))
    report = StuckWork(Settings.from_env(), "sweep", clock)
    problems = [
        "{} actions of the queue 'mails' cannot be sent: it is gone",
        "{} actions of the queue 'bills' cannot be sent: denied",
    ]
    for minutes in (0, 30, 61):
        clock.wait_until(datetime(2026, 3, 1, tzinfo=UTC) + timedelta(minutes=minutes))
        for problem in problems:
            report(problem.format(3 + minutes))
    reasons = [failure(record).reason for record in received(deployed.made.failure_queue)]
    assert sorted(reasons) == sorted(problem.format(number) for problem in problems for number in (3, 64))


def received(queue_url):
    receive = boto3.client("sqs").receive_message
    return receive(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages", [])


def failure(message):
    """Return what the undelivered handler reads in a message of the failure queue."""
    record = {
        "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:duetime-failures",
        "body": message["Body"],
        "messageId": message["MessageId"],
        "attributes": {"SentTimestamp": "1772366700000"},
    }
    return failures.read(record, "duetime-")
