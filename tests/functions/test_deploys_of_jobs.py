"""A deploy reconciles a worker's jobs when CloudFormation calls it."""

import json
from dataclasses import replace

import boto3
import pytest

from duetime.aws import clients
from duetime.errors import NotFound
from duetime.model.job import Definition
from duetime.model.manifest import PLAIN_LIMIT, Manifest, packed, unpacked
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from examples.billing import app
from tests.functions.aws_faults import failing
from tests.functions.conftest import sample


def manifest_of(*jobs, worker="default"):
    """Return the resource properties of these definitions."""
    manifest = Manifest(worker, {definition.name: 1 for definition in jobs}, jobs)
    return {"Worker": worker, "Manifest": manifest.to_json(), "Jobs": packed(manifest.jobs_json())}


def job(name="nightly-cleanup", cadence="daily 03:15", **more):
    return Definition(name=name, type=name, cadences=(cadence,), **more)


def schedules(settings):
    listed = boto3.client("scheduler").list_schedules(GroupName=settings.made.job_group)["Schedules"]
    return {schedule["Name"] for schedule in listed}


def test_the_sample_event_contains_the_jobs_of_the_example_app():
    about = sample("deploy-jobs")["ResourceProperties"]
    assert Manifest.from_json(about["Manifest"], unpacked(about["Jobs"])) == app.manifest


def test_the_sample_event_adds_jobs_and_their_schedules_and_rules(deploy, jobs, with_jobs):
    answer = deploy()
    assert answer["Status"] == "SUCCESS"
    assert (answer["Data"]["Changed"], answer["Data"]["Unchanged"]) == ("4", "0")
    assert "added billing-clean-up: every day at 03:15" in answer["Data"]["Changes"]
    assert [job.name for job in jobs.list()] == sorted(app.jobs)
    assert schedules(with_jobs) == {"billing-clean-up", "billing-watch-payments", "billing-write-report"}
    assert [rule["Name"] for rule in boto3.client("events").list_rules()["Rules"]] == [
        "duetime-billing-book-payment"
    ]


def test_a_second_deploy_changes_nothing(deploy, jobs):
    deploy()
    before = list(jobs.list())
    data = deploy()["Data"]
    assert (data["Changed"], data["Unchanged"], data["Changes"]) == ("0", "4", "")
    assert list(jobs.list()) == before


def test_a_deploy_disables_a_job_that_is_no_longer_declared_and_deletes_its_schedules(
    deploy, jobs, with_jobs
):
    deploy()
    answer = deploy(**manifest_of(job("billing-clean-up")))
    assert answer["Status"] == "SUCCESS"
    assert jobs.get("billing-watch-payments").removed_at
    assert jobs.get("billing-clean-up").version == 2
    assert schedules(with_jobs) == {"billing-clean-up"}
    assert boto3.client("events").list_rules()["Rules"] == []


def test_a_deploy_deletes_stray_schedules(deploy, with_jobs):
    boto3.client("scheduler").create_schedule(
        Name="stray",
        GroupName=with_jobs.made.job_group,
        ScheduleExpression="rate(1 minute)",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={"Arn": with_jobs.made.dispatch_arn, "RoleArn": with_jobs.made.timer_role_arn},
    )
    deploy()
    assert "stray" not in schedules(with_jobs)


def test_deleting_a_worker_removes_only_its_jobs(deploy, jobs, with_jobs):
    deploy()
    deploy("Create", **manifest_of(*system_jobs.definitions(Settings()), worker=system_jobs.SYSTEM_WORKER))
    assert deploy("Delete")["Status"] == "SUCCESS"
    assert {job.name for job in jobs.list() if job.removed_at is None} == {
        "duetime-sweep",
        "duetime-catch-up",
        "duetime-recount",
    }
    assert schedules(with_jobs) == set()


def test_a_stack_without_its_tables_and_groups_can_still_be_deleted(deploy, with_jobs):
    deploy()
    for table in (with_jobs.made.actions_table, with_jobs.made.jobs_table):
        boto3.client("dynamodb").delete_table(TableName=table)
    boto3.client("scheduler").delete_schedule_group(Name=with_jobs.made.job_group)
    assert deploy("Delete")["Status"] == "SUCCESS"


def test_a_rejected_definition_fails_the_deploy_with_its_reason(deploy, jobs):
    answer = deploy("Create", **manifest_of(job(cadence="daily 27:00")))
    assert answer["Status"] == "FAILED"
    assert "27:00" in answer["Reason"]
    with pytest.raises(NotFound, match="no job"):
        jobs.get("nightly-cleanup")


def test_a_deploy_without_jobs_removes_all_jobs(deploy, jobs):
    deploy()
    answer = deploy(sampled="deploy")
    assert (answer["Status"], answer["Data"]["Changed"]) == ("SUCCESS", "4")
    assert all(job.removed_at for job in jobs.list())


def test_the_response_lists_as_many_changes_as_fit(deploy, jobs):
    long = ("daily 03:15 tz=America/Argentina/Buenos_Aires", "weekly mon,wed,fri 08:00 tz=Asia/Ho_Chi_Minh")
    many = [replace(job(f"one-of-many-{index:03}"), cadences=long) for index in range(25)]
    data = deploy("Create", **manifest_of(*many))["Data"]
    *changes, rest = data["Changes"].splitlines()
    assert data["Changed"] == "25"
    assert rest == f"and {25 - len(changes)} more"
    assert len(list(jobs.list())) == 25


def test_many_definitions_are_compressed_and_few_are_not():
    few = json.dumps([job().to_json()])
    many = json.dumps([replace(job(), name=f"some-job-{index}").to_json() for index in range(1_000)])
    assert packed(few) == few
    assert len(packed(many)) < PLAIN_LIMIT < len(many)
    assert [unpacked(packed(text)) for text in (few, many)] == [few, many]


REFUSED = [
    (
        clients.events,
        "PutRule",
        "LimitExceededException",
        "The rule duetime-billing-book-payment has no room: the event bus default may have as many rules",
        "delete rules, or set event_bus to another bus",
    ),
    (
        clients.events,
        "PutRule",
        "ResourceNotFoundException",
        "The rule duetime-billing-book-payment needs the event bus default, which does not exist",
        "or to <prefix>events, which the stack creates",
    ),
    (
        clients.scheduler,
        "CreateSchedule",
        "ServiceQuotaExceededException",
        "of the group duetime-jobs has no room",
        "Raise the quota of EventBridge Scheduler in Service Quotas, or delete schedules",
    ),
]


@pytest.mark.parametrize("refused", REFUSED, ids=[f"{row[1]}-{row[2]}" for row in REFUSED])
def test_a_wake_that_eventbridge_refuses_fails_the_deploy_with_the_rule_and_the_remedy(deploy, refused):
    client, operation, code, rule, remedy = refused
    with failing(client(), operation, code):
        answer = deploy()
    assert answer["Status"] == "FAILED"
    assert rule in answer["Reason"]
    assert remedy in answer["Reason"]
    assert deploy()["Status"] == "SUCCESS"
