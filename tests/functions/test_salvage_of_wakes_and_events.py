"""Wakes, events and passes that were given up, in each form in which AWS hands them over.

And what operators do with them.
"""
# ruff: noqa: PLR0917 - a test is given the fixtures that it tells of

import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws.items import to_item
from duetime.errors import BackendUnavailable
from duetime.model.action import ActionRef, Status
from duetime.model.undelivered import UndeliveredKind
from examples.billing import SendReceipt
from tests.functions.conftest import sample
from tests.functions.salvaged import TAKEN, body_of, unplugged, with_body
from tests.functions.salvaged import desk as desk  # noqa: PLC0414 - fixtures
from tests.functions.salvaged import salvage as salvage  # noqa: PLC0414
from tests.functions.salvaged import scheduler as scheduler  # noqa: PLC0414


@pytest.mark.parametrize("name", ["undelivered-wake", "undelivered-timer"])
def test_a_wake_that_dispatch_gave_up_on_is_dispatched_once_more(salvage, desk, queued, name):
    assert salvage(sample(name)) == TAKEN
    assert [each["id"] for each in queued()] == [sample("dispatch")["id"]]
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-wake", "undelivered-timer"])
def test_a_wake_that_fails_again_is_kept_with_its_action_until_its_redrive_sends_it(
    salvage, desk, queued, monkeypatch, name
):
    with monkeypatch.context() as while_sqs_is_gone:
        unplugged(while_sqs_is_gone)
        assert salvage(sample(name)) == TAKEN
        assert salvage(sample(name)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.source, thing.count) == (UndeliveredKind.WAKE, "dispatch", 2)
    assert thing.action == ActionRef("acme", sample("dispatch")["id"])
    assert desk.redriven(thing) == TAKEN
    assert [each["id"] for each in queued()] == [sample("dispatch")["id"]]
    assert len(desk.list()) == 0


def test_a_jobs_wake_is_dispatched_once_more(salvage, deploy, jobs, desk, monkeypatch):
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    deploy()
    monkeypatch.setenv("DUETIME_ENABLED", "true")
    event = sample("undelivered-wake")
    assert salvage(with_body(event, body_of(event) | {"requestPayload": sample("dispatch-job")})) == TAKEN
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-event", "undelivered-rule"])
def test_an_event_that_was_given_up_starts_its_run_once(salvage, deploy, jobs, desk, name):
    deploy()
    for _ in range(2):
        assert salvage(sample(name)) == TAKEN
    (run,) = jobs.history("billing-book-payment")
    assert (run.status, run.created_by) == (Status.PENDING, "event:bank")
    assert len(desk.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-event", "undelivered-rule"])
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
    assert (thing.kind, thing.source, thing.count, thing.is_cut) == (
        UndeliveredKind.EVENT,
        "dispatch",
        2,
        False,
    )
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
    told = body_of(sample("undelivered-event"))
    told["requestPayload"] |= {"event": event, "cadence": "OnEvent_bank_PaymentReceived"}
    told["responsePayload"]["errorMessage"] = "\ud800"
    for _ in range(2):
        assert salvage(with_body(sample("undelivered-event"), told)) == TAKEN
    (thing,) = desk.list()
    assert (thing.kind, thing.count) == (UndeliveredKind.EVENT, 2)
    assert desk.redriven(thing) == TAKEN
    assert desk.get(thing.id).count == 3


def test_an_event_whose_rule_is_gone_is_kept_with_why(salvage, with_jobs, desk):
    assert salvage(sample("undelivered-rule")) == TAKEN
    (thing,) = desk.list()
    assert thing.kind is UndeliveredKind.EVENT
    assert "the rule duetime-billing-book-payment does not exist" in thing.reason
    assert json.loads(thing.body)["event"]["detail"] == sample("dispatch-event")["event"]["detail"]
    assert desk.redriven(thing) == TAKEN
    assert len(desk.list()) == 1


def test_passes_are_kept_one_an_hour(salvage, desk):
    for number, sent in (("a", "1772366700000"), ("b", "1772366760000"), ("c", "1772370300000")):
        event = sample("undelivered-pass")
        event["Records"][0]["messageId"] = number
        event["Records"][0]["attributes"]["SentTimestamp"] = sent
        assert salvage(event) == TAKEN
    later, first = desk.list()
    assert [(each.kind, each.source, each.count) for each in (later, first)] == [
        (UndeliveredKind.PASS, "sweep", 1), (UndeliveredKind.PASS, "sweep", 2),
    ]  # fmt: skip
    assert "timed out" in first.reason
    assert desk.redriven(first) == TAKEN
    assert list(desk.list()) == [later]


def test_a_triggered_passes_dead_message_is_the_systems(salvage, desk, deployed):
    message = body_of(sample("undelivered")) | {"tenant": "system", "id": "duetime-sweep.000001.20260301T120500Z"}
    store = Scheduler.from_env(tenant_id="acme")._context.store
    action = Scheduler.from_env(tenant_id="acme").schedule(SendReceipt(order="o-1"), at=timedelta(0))
    run = replace(action, tenant_id="system", id=message["id"], planned_at=action.due_at)
    boto3.client("dynamodb").put_item(TableName=deployed.actions_table, Item=to_item(run))
    assert store.get(run.ref) is not None
    assert salvage(with_body(sample("undelivered"), message)) == TAKEN
    (thing,) = desk.list()
    assert thing.action == run.ref
