"""One test covers transaction, wait and effect: a simulated cloud runs what the tables of moto hold."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from duetime import App, Payload, Run, Scheduler, every
from duetime.errors import CommitRejected, Unsupported
from duetime.testing import Faults, SimulatedCloud, create_tables

START = datetime(2027, 6, 1, tzinfo=UTC)


class Remind(Payload):
    order: str


class Archive(Payload):
    order: str


@pytest.fixture
def dynamodb(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        client.create_table(
            TableName="orders",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        yield client


def order_of(client, name="o-1"):
    item = client.get_item(TableName="orders", Key={"id": {"S": name}}).get("Item", {})
    return {field: value["S"] for field, value in item.items()}


def state(name, value, condition="attribute_exists(id)"):
    return {
        "Update": {
            "TableName": "orders",
            "Key": {"id": {"S": name}},
            "UpdateExpression": "SET #state = :state",
            "ConditionExpression": condition,
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {":state": {"S": value}},
        }
    }


@pytest.fixture
def app():
    return App()


def place_order(client, scheduler, **options):
    """The code under test: an order and its reminder in one transaction."""
    order = {"Put": {"TableName": "orders", "Item": {"id": {"S": "o-1"}, "state": {"S": "placed"}}}}
    reminder, items = scheduler.transact_items(Remind(order="o-1"), at=timedelta(days=3), **options)
    client.transact_write_items(TransactItems=[order, *items])
    return reminder


def test_a_transaction_of_a_scheduler_of_the_environment_takes_effect_when_it_is_due(dynamodb, app):
    @app.action
    def remind(payload: Remind, run: Run) -> None:
        run.commit([state(payload.order, "reminded")])

    cloud = SimulatedCloud(app, dynamodb=dynamodb, tenant_id="acme")
    reminder = place_order(dynamodb, Scheduler.from_env(tenant_id="acme", actor="checkout"))
    cloud.advance(days=2, hours=23)
    assert order_of(dynamodb)["state"] == "placed"
    cloud.advance(hours=1)
    assert order_of(dynamodb)["state"] == "reminded"
    assert Scheduler.from_env(tenant_id="acme").get(reminder.id).status == "executed"
    cloud.check()


def test_the_clouds_scheduler_has_the_clouds_time(dynamodb, app):
    ran = []

    @app.action
    def remind(payload: Remind, run: Run) -> None:
        ran.append(run.now())

    cloud = SimulatedCloud(app, dynamodb=dynamodb, start=START)
    place_order(dynamodb, cloud.scheduler)
    cloud.advance(days=3)
    assert ran == [START + timedelta(days=3)]


def test_a_step_that_commits_the_next_one_has_it_run_too(dynamodb, app):
    clouds = []

    @app.action
    def remind(payload: Remind, run: Run) -> None:
        _, items = clouds[0].scheduler.transact_items(Archive(order=payload.order), at=timedelta(days=1))
        run.commit([state(payload.order, "reminded"), *items])

    @app.action
    def archive(payload: Archive, run: Run) -> None:
        run.commit([state(payload.order, "archived")])

    clouds.append(SimulatedCloud(app, dynamodb=dynamodb, start=START))
    place_order(dynamodb, clouds[0].scheduler)
    clouds[0].advance(days=3)
    assert order_of(dynamodb)["state"] == "reminded"
    clouds[0].advance(days=1)
    assert order_of(dynamodb)["state"] == "archived"


def test_a_commit_whose_condition_fails_is_rejected_with_the_entry(dynamodb, app):
    rejected = []

    @app.action
    def remind(payload: Remind, run: Run) -> None:
        try:
            run.commit([state(payload.order, "reminded"), state("missing", "reminded")])
        except CommitRejected as error:
            rejected.extend(error.reasons)

    cloud = SimulatedCloud(app, dynamodb=dynamodb, start=START)
    place_order(dynamodb, cloud.scheduler)
    cloud.advance(days=3)
    assert [(reason.index, reason.code) for reason in rejected] == [(1, "ConditionalCheckFailed")]
    assert order_of(dynamodb)["state"] == "placed"


def test_what_is_cancelled_or_rescheduled_in_the_table_is_so_in_the_cloud(dynamodb, app):
    ran = []

    @app.action
    def remind(payload: Remind, run: Run) -> None:
        ran.append((payload.order, run.now()))

    cloud = SimulatedCloud(app, dynamodb=dynamodb, start=START)
    soon = timedelta(hours=1)
    dropped, moved = (cloud.scheduler.schedule(Remind(order=name), at=soon) for name in ("o-1", "o-2"))
    cloud.advance(minutes=30)
    cloud.scheduler.cancel(dropped.id)
    cloud.scheduler.reschedule(moved.id, START + timedelta(hours=5))
    cloud.advance(hours=6)
    assert ran == [("o-2", START + timedelta(hours=5))]


def test_a_large_payload_and_a_repeated_key_are_as_in_a_deployment(dynamodb, app):
    ran = []

    @app.action
    def remind(payload: Remind) -> None:
        ran.append(len(payload.order))

    cloud = SimulatedCloud(app, dynamodb=dynamodb, start=START)
    orders = [
        cloud.scheduler.schedule(Remind(order="o" * 5_000), at=timedelta(hours=1), idempotency_key="once")
        for _ in range(2)
    ]
    cloud.advance(hours=2)
    assert (len({order.id for order in orders}), ran) == (1, [5_000])
    assert cloud.scheduler.get(orders[0].id).status == "executed"


def test_jobs_run_and_their_history_is_in_the_table(dynamodb, app):
    @app.job(every(hours=1), name="tally-hourly")
    def hourly() -> None: ...

    cloud = SimulatedCloud(app, dynamodb=dynamodb, start=START)
    cloud.advance(hours=3)
    statuses = [row.status for row in cloud.jobs.history("tally-hourly") if row.due_at <= cloud.now]
    assert statuses == ["executed"] * 3


def test_faults_need_the_memory_back_ends(dynamodb, app):
    with pytest.raises(Unsupported, match="omit dynamodb, or faults"):
        SimulatedCloud(app, dynamodb=dynamodb, faults=Faults(1))
