"""Users test their own Lambdas over tables like a deployment's."""

from datetime import timedelta

from duetime import Payload, Scheduler
from duetime.testing import create_tables


class Remind(Payload):
    order: str


def test_the_scheduler_finds_its_tables(dynamodb):
    create_tables(dynamodb)
    scheduler = Scheduler.from_env(tenant_id="acme", actor="checkout")
    action = scheduler.schedule(Remind(order="o-1"), at=timedelta(days=3), correlation_id="order:1")
    assert [action.id for action in scheduler.list(correlation_id="order:1")] == [action.id]
    assert list(scheduler.list(status="failed")) == []
    assert list(scheduler.jobs.list()) == []


def test_the_environment_sets_the_tables_names_and_indexes(dynamodb, monkeypatch):
    monkeypatch.setenv("DUETIME_PREFIX", "shop-")
    monkeypatch.setenv("DUETIME_DUE_ORDER", "true")
    create_tables(dynamodb)
    assert dynamodb.list_tables()["TableNames"] == ["shop-actions", "shop-jobs"]
    scheduler = Scheduler.from_env(tenant_id="acme", actor="checkout")
    later = scheduler.schedule(Remind(order="o-2"), at=timedelta(days=4))
    sooner = scheduler.schedule(Remind(order="o-1"), at=timedelta(days=3))
    assert [action.id for action in scheduler.list(due_after=timedelta(0))] == [sooner.id, later.id]
