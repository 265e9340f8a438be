"""Undelivered wakes, events and passes, in each form of AWS, and their redrive."""

import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import action_store, clients
from duetime.aws.items import to_item
from duetime.model.action import ActionRef, Status
from duetime.model.row_parts import RunPlan
from duetime.model.undelivered import UndeliveredKind
from examples.billing import SendReceipt
from tests.functions.aws_faults import failing
from tests.functions.conftest import sample
from tests.functions.undelivered_inputs import NO_FAILURES, body_of, with_body, without_sqs
from tests.functions.undelivered_inputs import handle_undelivered as handle_undelivered  # noqa: PLC0414
from tests.functions.undelivered_inputs import operator as operator  # noqa: PLC0414 - fixtures
from tests.functions.undelivered_inputs import scheduler as scheduler  # noqa: PLC0414


@pytest.mark.parametrize("name", ["undelivered-wake", "undelivered-timer"])
def test_an_undelivered_wake_is_dispatched_again(handle_undelivered, operator, queued, name):
    assert handle_undelivered(sample(name)) == NO_FAILURES
    assert [message["id"] for message in queued()] == [sample("dispatch")["id"]]
    assert len(operator.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-wake", "undelivered-timer"])
def test_a_wake_that_fails_again_is_stored_with_its_action_and_its_redrive_sends_it(
    handle_undelivered, operator, queued, name
):
    with without_sqs():
        assert handle_undelivered(sample(name)) == NO_FAILURES
        assert handle_undelivered(sample(name)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.count) == (UndeliveredKind.WAKE, "dispatch", 2)
    assert entry.action == ActionRef("acme", sample("dispatch")["id"])
    assert operator.redrive(entry) == NO_FAILURES
    assert [message["id"] for message in queued()] == [sample("dispatch")["id"]]
    assert len(operator.list()) == 0


def test_an_undelivered_wake_of_a_job_is_dispatched_again(
    handle_undelivered, deploy, jobs, operator, monkeypatch
):
    monkeypatch.setenv("DUETIME_ENABLED", "false")
    deploy()
    monkeypatch.setenv("DUETIME_ENABLED", "true")
    event = sample("undelivered-wake")
    assert (
        handle_undelivered(with_body(event, body_of(event) | {"requestPayload": sample("dispatch-job")}))
        == NO_FAILURES
    )
    assert len(operator.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-event", "undelivered-rule"])
def test_an_undelivered_event_starts_its_run_once(handle_undelivered, deploy, jobs, operator, name):
    deploy()
    for _ in range(2):
        assert handle_undelivered(sample(name)) == NO_FAILURES
    (run,) = jobs.history("billing-book-payment")
    assert (run.status, run.created_by) == (Status.PENDING, "event:bank")
    assert len(operator.list()) == 0


@pytest.mark.parametrize("name", ["undelivered-event", "undelivered-rule"])
def test_an_event_that_fails_again_is_stored_and_its_redrive_starts_the_run(
    handle_undelivered, deploy, jobs, operator, name
):
    deploy()
    with failing(clients.dynamodb(), "Query", where="billing-book-payment"):
        for _ in range(2):
            assert handle_undelivered(sample(name)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.source, entry.count, entry.is_cut) == (
        UndeliveredKind.EVENT,
        "dispatch",
        2,
        False,
    )
    assert entry.id.startswith("u.20260301T120500Z.")
    assert operator.redrive(entry) == NO_FAILURES
    (run,) = jobs.history("billing-book-payment")
    assert run.status is Status.PENDING
    assert len(operator.list()) == 0


@pytest.mark.parametrize(
    "event",
    ["text", [], None, {}, {"id": "e", "time": "soon"}, {"id": {}, "time": "0001-01-01T00:00:00+14:00"},
     {"id": "\ud800", "time": "0001-01-01T00:00:00Z", "source": "\ud800"}],
)  # fmt: skip
def test_an_invalid_event_is_stored_and_can_be_read(handle_undelivered, deploy, operator, event):
    deploy()
    message = body_of(sample("undelivered-event"))
    message["requestPayload"] |= {"event": event, "cadence": "OnEvent_bank_PaymentReceived"}
    message["responsePayload"]["errorMessage"] = "\ud800"
    for _ in range(2):
        assert handle_undelivered(with_body(sample("undelivered-event"), message)) == NO_FAILURES
    (entry,) = operator.list()
    assert (entry.kind, entry.count) == (UndeliveredKind.EVENT, 2)
    assert operator.redrive(entry) == NO_FAILURES
    assert operator.get(entry.id).count == 3


def test_an_event_of_a_deleted_rule_is_stored_with_the_reason(handle_undelivered, with_jobs, operator):
    assert handle_undelivered(sample("undelivered-rule")) == NO_FAILURES
    (entry,) = operator.list()
    assert entry.kind is UndeliveredKind.EVENT
    assert "the rule duetime-billing-book-payment does not exist" in entry.reason
    assert json.loads(entry.body)["event"]["detail"] == sample("dispatch-event")["event"]["detail"]
    assert operator.redrive(entry) == NO_FAILURES
    assert len(operator.list()) == 1


def test_the_undelivered_passes_of_an_hour_are_one_entry(handle_undelivered, operator):
    for number, sent in (("a", "1772366700000"), ("b", "1772366760000"), ("c", "1772370300000")):
        event = sample("undelivered-pass")
        event["Records"][0]["messageId"] = number
        event["Records"][0]["attributes"]["SentTimestamp"] = sent
        assert handle_undelivered(event) == NO_FAILURES
    later, first = operator.list()
    assert [(entry.kind, entry.source, entry.count) for entry in (later, first)] == [
        (UndeliveredKind.PASS, "sweep", 1), (UndeliveredKind.PASS, "sweep", 2),
    ]  # fmt: skip
    assert "timed out" in first.reason
    assert operator.redrive(first) == NO_FAILURES
    assert list(operator.list()) == [later]


def test_the_dead_letter_of_a_triggered_pass_belongs_to_the_system_tenant(
    handle_undelivered, operator, deployed
):
    message = body_of(sample("undelivered")) | {
        "tenant": "system",
        "id": "duetime-sweep.000001.20260301T120500Z",
    }
    store = action_store(deployed)
    action = Scheduler.from_env(tenant_id="acme").schedule(SendReceipt(order="o-1"), at=timedelta(0))
    run = replace(action, tenant_id="system", id=message["id"], planned=RunPlan(action.due_at))
    boto3.client("dynamodb").put_item(TableName=deployed.made.actions_table, Item=to_item(run))
    assert store.get(run.ref) is not None
    assert handle_undelivered(with_body(sample("undelivered"), message)) == NO_FAILURES
    (entry,) = operator.list()
    assert entry.action == run.ref
