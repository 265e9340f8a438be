"""`Scheduler.from_env` rejects a missing tenant, and types that no deployed worker hosts."""

from datetime import timedelta

import pytest

from duetime import Payload, Scheduler, ids
from duetime.aws.notes import publish
from duetime.clock import SystemClock
from duetime.errors import InvalidArgument, OtherFormat, SettingsError, UnknownType
from duetime.jobs.register import Registration
from duetime.model.deployed_shards import DeployedShards
from duetime.model.manifest import Manifest
from duetime.testing import create_tables
from duetime_contract.specimens import NOON

SOON, DAY = timedelta(hours=1), timedelta(days=1)


class SendReceipt(Payload):
    order: str


class Refund(Payload):
    order: str


REPORT = Registration(
    name="daily-report", handler=SendReceipt(order="o-1"), cadences=["every 15m"], replace=True
)


@pytest.fixture
def dynamodb(dynamodb):
    create_tables(dynamodb)
    return dynamodb


@pytest.fixture
def deployed(dynamodb):
    publish_shards(dynamodb, 16, NOON)
    return dynamodb


def publish_shards(client, number, now):
    """Publish a manifest as a deploy does whose stack has that many due shards."""
    manifest = Manifest("default", {"send-receipt": 1})
    publish(client, "duetime-jobs", manifest, DeployedShards(number), now)


def queries_of_manifests(client):
    """Return the growing list of the client's reads of the jobs table."""
    reads = []
    client.meta.events.register(
        "before-parameter-build.dynamodb.Query",
        lambda params, **_rest: reads.append(params) if params["TableName"] == "duetime-jobs" else None,
    )
    return reads


@pytest.mark.parametrize(
    "schedule",
    [
        lambda scheduler: scheduler.schedule(Refund(order="o-1"), at=SOON),
        lambda scheduler: scheduler.transact_items(Refund(order="o-1"), at=SOON),
    ],
)
def test_a_type_that_no_worker_hosts_is_not_scheduled(deployed, schedule):
    scheduler = Scheduler.from_env()
    with pytest.raises(UnknownType, match="known are: send-receipt; deploy its worker first"):
        schedule(scheduler)
    assert list(scheduler.list()) == []


def test_many_puts_cost_one_read(deployed):
    reads = queries_of_manifests(deployed)
    scheduler = Scheduler.from_env(client=deployed)
    for number in range(5):
        scheduler.schedule(SendReceipt(order=f"o-{number}"), at=SOON)
    assert len(reads) == 1


def test_a_caller_with_more_due_shards_than_the_stack_schedules_nothing(deployed, monkeypatch):
    monkeypatch.setenv("DUETIME_DUE_SHARDS", "32")
    scheduler, reads = Scheduler.from_env(), queries_of_manifests(deployed)
    with pytest.raises(SettingsError, match="reads 16: set DUETIME_DUE_SHARDS=16 for the caller"):
        scheduler.schedule(SendReceipt(order="o-1"), at=SOON)
    assert list(scheduler.list()) == []
    publish_shards(deployed, 64, NOON)
    assert Scheduler.from_env(client=deployed).schedule(SendReceipt(order="o-1"), at=SOON)
    assert len(reads) == 1


def test_a_caller_that_does_not_read_the_tables_schedules_nothing(deployed):
    table = {"TableName": "duetime-jobs"}
    key = {"pk": {"S": "system#manifest"}, "sk": {"S": "default"}}
    later = {":later": {"N": "99"}}
    deployed.update_item(
        **table, Key=key, UpdateExpression="SET tables_format = :later", ExpressionAttributeValues=later
    )
    scheduler = Scheduler.from_env(client=deployed)
    for _ in range(2):
        with pytest.raises(OtherFormat, match="have format 99; this version of duetime reads format 1"):
            scheduler.schedule(SendReceipt(order="o-1"), at=SOON)
    assert list(scheduler.list()) == []


def test_a_caller_with_more_due_shards_than_the_stack_starts_no_run(deployed, monkeypatch):
    assert Scheduler.from_env().jobs.register(REPORT)
    before = [row.id for row in Scheduler.from_env().jobs.history(REPORT.name, limit=100)]
    monkeypatch.setenv("DUETIME_DUE_SHARDS", "32")
    scheduler = Scheduler.from_env()
    for write in (
        lambda: scheduler.jobs.register(REPORT),
        lambda: scheduler.jobs.register_and_trigger(REPORT),
        lambda: scheduler.jobs.trigger(REPORT.name),
        lambda: scheduler.jobs.skip_next(REPORT.name),
        lambda: scheduler.jobs.pause(REPORT.name),
        lambda: scheduler.jobs.resume(REPORT.name),
        lambda: scheduler.redrive(ids.new_action_id(NOON)),
        lambda: scheduler.redrive_many(created_until=NOON),
    ):
        with pytest.raises(SettingsError, match="due_shards"):
            write()
    assert [row.id for row in scheduler.jobs.history(REPORT.name, limit=100)] == before


def test_for_a_day_after_a_deploy_has_lowered_them_callers_may_have_the_former_number(deployed, monkeypatch):
    monkeypatch.setenv("DUETIME_DUE_SHARDS", "64")
    now = SystemClock().now()
    for number, at in [(64, now - 2 * DAY), (16, now - DAY / 2), (16, now)]:
        publish_shards(deployed, number, at)
        Scheduler.from_env().schedule(SendReceipt(order="o-1"), at=SOON)
    publish_shards(deployed, 64, now - 3 * DAY)
    publish_shards(deployed, 16, now - 2 * DAY)
    with pytest.raises(SettingsError, match="due_shards"):
        Scheduler.from_env().schedule(SendReceipt(order="o-2"), at=SOON)


def test_a_setting_turns_the_check_off(deployed, monkeypatch):
    monkeypatch.setenv("DUETIME_CHECK_TYPES", "false")
    assert Scheduler.from_env().schedule(Refund(order="o-1"), at=SOON).type == "refund"


def test_without_a_manifest_or_its_table_every_type_is_scheduled(dynamodb):
    Scheduler.from_env().schedule(Refund(order="o-1"), at=SOON)
    dynamodb.delete_table(TableName="duetime-jobs")
    Scheduler.from_env().schedule(Refund(order="o-2"), at=SOON)


@pytest.mark.parametrize("tenants", ["acme globex", "*"])
def test_a_deployment_with_several_tenants_needs_a_tenant(dynamodb, monkeypatch, tenants):
    monkeypatch.setenv("DUETIME_TENANTS", tenants)
    with pytest.raises(InvalidArgument, match="pass tenant_id="):
        Scheduler.from_env()
    assert Scheduler.from_env(tenant_id="acme").tenant_id == "acme"


def test_a_deployment_with_one_tenant_needs_none(dynamodb, monkeypatch):
    assert Scheduler.from_env().tenant_id == "default"
    monkeypatch.setenv("DUETIME_TENANTS", "acme")
    assert Scheduler.from_env().tenant_id == "acme"


def test_unreadable_tenants_are_rejected(dynamodb, monkeypatch):
    monkeypatch.setenv("DUETIME_TENANTS", "acme,  globex")
    with pytest.raises(SettingsError, match="one space between them"):
        Scheduler.from_env()
