"""The sample events of `events/` wake jobs and start runs; the passes are jobs of the system."""

import copy
import json
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import clients
from duetime.errors import BackendUnavailable, UnreadableMessage
from duetime.model.action import Status
from duetime.model.manifest import packed
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from tests.functions.aws_faults import failing
from tests.functions.conftest import Context, sample

EVENT_RUN = "billing-book-payment.e20260301T120500Z."


@pytest.fixture
def with_system_jobs(deploy):
    manifest = system_jobs.manifest(Settings())
    jobs = packed(manifest.jobs_json())
    deploy("Create", Worker=manifest.worker, Manifest=manifest.to_json(), Jobs=jobs)


def test_a_wake_plans_its_job(function, deploy, jobs, monkeypatch):
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    deploy()
    monkeypatch.setenv("DUETIME_ENABLED", "true")
    planned = function("dispatch")(sample("dispatch-job"), Context())
    rows = list(jobs.history("billing-clean-up"))
    assert planned == {"job": "billing-clean-up", "planned": len(rows)}
    assert {(row.status, row.cadence) for row in rows} == {(Status.PENDING, "Daily_03_15")}


def test_a_wake_while_the_switch_is_off_plans_nothing(function, deploy, jobs, monkeypatch):
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    deploy()
    planned = function("dispatch")(sample("dispatch-job"), Context())
    assert planned == {"job": "billing-clean-up", "planned": 0}
    assert list(jobs.history("billing-clean-up")) == []


def test_a_wake_of_a_missing_job_is_ignored(function, with_jobs):
    wake = {"job": "no-such-job", "tenant": "acme"}
    assert function("dispatch")(wake, Context()) == {"job": "no-such-job", "planned": 0}


def test_a_repeated_event_starts_one_run(function, deploy, jobs):
    deploy()
    dispatch = function("dispatch")
    answers = [dispatch(sample("dispatch-event"), Context()) for _ in range(2)]
    assert answers[0] == answers[1]
    (row,) = jobs.history("billing-book-payment")
    assert row.id == answers[0]["id"]
    assert row.id.startswith(EVENT_RUN)
    assert row.created_by == "event:bank"


def test_an_event_while_the_switch_is_off_is_not_lost(function, deploy, jobs, monkeypatch):
    deploy()
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    function("dispatch")(sample("dispatch-event"), Context())
    (row,) = jobs.history("billing-book-payment")
    assert row.status is Status.PENDING


def test_an_events_run_gets_the_events_detail(function, deploy, jobs):
    deploy()
    run = function("dispatch")(sample("dispatch-event"), Context())
    event = sample("work")
    body = json.loads(event["Records"][0]["body"])
    body |= {"tenant": "system", "id": run["id"], "type": "billing-book-payment"}
    event["Records"][0]["body"] = json.dumps(body)
    assert function("work")(event, Context()) == {"batchItemFailures": []}
    (row,) = jobs.history("billing-book-payment")
    assert row.status is Status.EXECUTED


def test_an_event_without_a_matching_trigger_starts_nothing(function, deploy, jobs):
    deploy()
    event = sample("dispatch-event") | {"job": "billing-clean-up"}
    assert function("dispatch")(event, Context()) == {"job": "billing-clean-up", "id": None}


@pytest.mark.parametrize(
    "changed",
    [
        {"job": "notkebab"},
        {"job": 7},
        {"tenant": "a#b"},
        {"tenant": None},
        {"cadence": None},
        {"event": "text"},
        {"event": {"time": "2026-03-01T12:05:00Z"}},
    ],
)
def test_a_foreign_event_is_rejected(function, with_jobs, changed):
    with pytest.raises(UnreadableMessage):
        function("dispatch")(sample("dispatch-event") | changed, Context())


@pytest.mark.parametrize(("name", "job"), [("sweep", "duetime-sweep"), ("catch_up", "duetime-catch-up")])
def test_a_pass_is_a_run_of_its_job(function, with_system_jobs, jobs, name, job):
    function(name)(sample(name), Context())
    (row,) = jobs.history(job)
    assert row.status is Status.EXECUTED
    assert row.attempts[0].message == "sent 0, maintained 0 jobs"


def test_a_pass_maintains_overdue_jobs(function, deploy, jobs, with_jobs):
    deploy()
    jobs.pause("billing-clean-up")
    assert state_of("billing-clean-up", with_jobs) == "ENABLED"
    passed = function("sweep")(sample("sweep"), Context())
    assert (passed["maintained"] >= 1, passed["failed_jobs"]) == (True, ())
    assert state_of("billing-clean-up", with_jobs) == "DISABLED"


def test_the_catch_up_deletes_stray_schedules_and_sets_missing_ones(function, deploy, with_jobs):
    deploy()
    scheduler, group = boto3.client("scheduler"), with_jobs.made.job_group
    schedule = scheduler.get_schedule(Name="billing-clean-up", GroupName=group)
    scheduler.create_schedule(
        Name="stray",
        GroupName=group,
        **{name: schedule[name] for name in ("ScheduleExpression", "FlexibleTimeWindow", "Target")},
    )
    scheduler.delete_schedule(Name="billing-clean-up", GroupName=group)
    passed = function("catch_up")(sample("catch_up"), Context())
    assert (passed["removed"], passed["set_again"]) == (("stray",), ("billing-clean-up",))
    assert state_of("billing-clean-up", with_jobs) == "ENABLED"


def test_a_failing_sweep_does_not_stop_the_maintenance_of_jobs(function, deploy, jobs, with_jobs):
    deploy()
    jobs.pause("billing-clean-up")
    with sweep_failing(), pytest.raises(BackendUnavailable):
        function("sweep")(sample("sweep"), Context())
    assert state_of("billing-clean-up", with_jobs) == "DISABLED"


def test_a_pass_that_fails_is_recorded_as_failed(function, with_system_jobs, jobs):
    with sweep_failing(), pytest.raises(BackendUnavailable):
        function("sweep")(sample("sweep"), Context())
    (row,) = jobs.history("duetime-sweep")
    assert row.status is Status.FAILED
    assert row.attempts[0].message.startswith("BackendUnavailable")


@pytest.mark.parametrize("name", ["duetime-sweep", "duetime-catch-up"])
def test_a_triggered_pass_runs_in_the_catch_ups_function(function, with_system_jobs, jobs, queued, name):
    late = Scheduler.from_env(tenant_id="acme").schedule(late_note(), at=timedelta(minutes=-7))
    run = jobs.trigger(name)
    event = triggered(run)
    assert function("catch_up")(event, Context()) == {"batchItemFailures": []}
    row = next(row for row in jobs.history(name) if row.id == run.id)
    assert (row.status, row.created_by) == (Status.EXECUTED, "ann")
    assert [message["id"] for message in queued()] == [late.id]


def test_an_unreadable_trigger_of_a_pass_fails_only_itself(function, with_system_jobs, jobs):
    event = triggered(jobs.trigger("duetime-catch-up"))
    event["Records"].append(copy.deepcopy(event["Records"][0]) | {"messageId": "bad", "body": "]["})
    assert function("catch_up")(event, Context()) == {"batchItemFailures": [{"itemIdentifier": "bad"}]}


def sweep_failing():
    """The bookmark of the sweep cannot be read."""
    return failing(clients.dynamodb(clients.PROMPT), "GetItem", where='"S": "sweep"')


def late_note():
    from examples.billing import SendReceipt  # noqa: PLC0415 - an entry point imports the app again

    return SendReceipt(order="o-1")


def triggered(action):
    event = sample("catch_up-triggered")
    record = event["Records"][0]
    body = json.loads(record["body"])
    record["body"] = json.dumps(body | {"id": action.id, "type": action.type})
    return event


def state_of(name, settings):
    return boto3.client("scheduler").get_schedule(Name=name, GroupName=settings.made.job_group)["State"]
