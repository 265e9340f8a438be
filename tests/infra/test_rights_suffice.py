"""Each role allows the calls of its function. The functions run on moto."""

import json
from dataclasses import replace
from datetime import timedelta
from functools import partial

import boto3
import pytest

from duetime import Order, Scheduler, instant
from duetime.actions.usage_quotas import UsageQuotas
from duetime.aws import action_store, clients
from duetime.aws.backends import AwsBackends
from duetime.aws.keyed_items import item_key
from duetime.aws.keys import row_key
from duetime.cdk import Duetime
from duetime.clock import SystemClock
from duetime.errors import QuotaExceeded
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.plan import Plan
from duetime.jobs.register import Registration
from duetime.model.action import Ending, Status
from duetime.model.deadline import check_row
from duetime.model.deadline_report import ReportKind
from duetime.model.job import JobRef
from duetime.model.lease import Claimed, ClaimTerms, Settlement
from duetime.model.manifest import packed
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.model.undelivered import UndeliveredKind, request_for
from duetime.ports.slots import key_of
from duetime.settings import Settings
from duetime.testing import TurnedClock
from duetime.wakeups import system_jobs
from examples.billing import SendReceipt
from tests.contract.rules.undelivered import given_up
from tests.functions.aws_faults import failing
from tests.functions.conftest import Context, sample
from tests.functions.conftest import answers as answers  # noqa: PLC0414 - fixtures
from tests.functions.conftest import deploy as deploy  # noqa: PLC0414
from tests.functions.conftest import function as load
from tests.functions.conftest import with_jobs as with_jobs  # noqa: PLC0414
from tests.functions.test_publish import undelivered_batch as given_up_by_publish
from tests.functions.undelivered_inputs import records_in, stream_event, with_body
from tests.infra.api_calls import ask_all
from tests.infra.calls import Recorder, allows
from tests.infra.synthesis import PLAIN, Synthesised, caller, listed, named, stack
from tests.quick_moto import fast_path

__all__ = ["load"]


@pytest.fixture
def recorder(deployed):
    with fast_path(), Recorder().recording() as made:
        yield made


@pytest.fixture
def function(load, recorder):
    """An entry point whose calls are recorded under its function's name."""

    def loaded(entry):
        handler = load(entry)
        name = "work-default" if entry == "work" else entry.replace("_", "-")

        def recorded(event, context):
            with recorder.acting(name):
                return handler(event, context)

        return recorded

    return loaded


def refused(synthesised, statements, calls):
    """The calls that no statement allows."""
    words = [
        (statement, [named(synthesised, arn) for arn in listed(statement["Resource"])])
        for statement in statements
    ]
    return {
        call
        for call in calls
        if not any(allows(statement, resources, call) for statement, resources in words)
    }


def message_for(action, entry="work"):
    event = sample(entry)
    body = json.loads(event["Records"][0]["body"])
    body |= {"tenant": action.tenant_id, "id": action.id, "type": action.type, "delay": 0}
    event["Records"][0]["body"] = json.dumps(body)
    return event


def deploy_all(deploy):
    deploy("Create")
    system = system_jobs.manifest(Settings())
    deploy("Create", Worker="system", Manifest=system.to_json(), Jobs=packed(system.jobs_json()))


def without(jobs, dropped):
    return packed(json.dumps([job for job in json.loads(jobs) if job["name"] != dropped]))


def handle_all_undelivered(handle, settings):
    """Handle each form of undelivered input; again while AWS fails; then redrive all entries."""
    scheduler = Scheduler.from_env(tenant_id="acme")
    keyed = {"at": timedelta(days=1), "idempotency_key": "order-17"}
    gone = scheduler.schedule(SendReceipt(order="x" * 5_000), **keyed)
    dynamodb = boto3.client("dynamodb")
    dynamodb.delete_item(TableName=settings.made.actions_table, Key=row_key(gone.ref))
    dead = scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(0))
    forms = ("wake", "event", "pass", "timer", "rule", "redrive", "notification")
    events = [*(sample(f"undelivered-{form}") for form in forms), message_for(dead, "undelivered")]
    events += [stream_event(settings, records_in(settings)), with_body(sample("undelivered"), "poison")]
    events.append(given_up_by_publish(settings, records_in(settings)))
    for event in events:
        assert handle(event, Context()) == {"batchItemFailures": []}
    with (
        failing(clients.sqs(), "SendMessageBatch"),
        failing(clients.dynamodb(), "Query", where="billing-book-payment"),
        failing(clients.dynamodb(), "DeleteItem", where="#key#"),
        failing(clients.events(), "PutEvents"),
    ):
        for event in events:
            assert handle(event, Context()) == {"batchItemFailures": []}
    undelivered = list(scheduler.undelivered.list(limit=200))
    assert {entry.kind for entry in undelivered} == set(UndeliveredKind)
    for entry in undelivered:
        request = with_body(sample("undelivered-redrive"), request_for(entry.id))
        assert handle(request, Context()) == {"batchItemFailures": []}
    assert len(scheduler.undelivered.list()) == 0


def notify_all(notify, settings):
    """A failure in each channel but mails, which this deployment has none of; and a digest."""
    backends = AwsBackends(settings, SystemClock())
    failed, channels = NotificationKind.ACTION_FAILED, frozenset({Channel.IN_APP, Channel.SNS})
    backends.preferences.put(Preferences(tenant_id="acme", channels={failed: channels}))
    for name in ("notify", "notify", "notify-digest"):
        assert notify(sample(name), Context()) == {"batchItemFailures": []}


def late_checks(settings, name):
    """Return the checks of a nominal time that missed its deadline, and of a silent job."""
    clock = SystemClock()
    backends, now = AwsBackends(settings, clock), clock.now().replace(microsecond=0)
    read = backends.jobs.get(JobRef(SYSTEM_TENANT, JobName(name)))
    late = replace(read.definition, within=5, every_success_within=60)
    assert backends.jobs.change(read, replace(read, definition=late, since=now - timedelta(hours=1)))
    job = backends.jobs.get(read.ref)
    due = next(job.cadence_set.after(now - timedelta(minutes=1)))
    Plan(backends).ahead(job, due)
    shards = len(backends.store.due_shards)
    deadline = due.at + timedelta(seconds=5)
    checks = [
        check_row(job, due.at, shards, nominal_at=due.at, deadline=deadline),
        check_row(job, now, shards, nominal_at=None),
    ]
    for check in checks:
        backends.store.put(check)
    return checks, lambda: backends.jobs.reports(
        job.ref, ReportKind.MISSED, due.at - timedelta(seconds=1), now
    )


def test_the_functions_rights_cover_their_calls(function, deploy, with_jobs, recorder, synthesised):
    deploy_all(deploy)
    jobs = Scheduler.from_env(tenant_id="acme").jobs
    function("dispatch")(sample("dispatch"), Context())
    function("dispatch")(sample("dispatch-job"), Context())
    large = sample("dispatch-event")
    large["event"]["detail"]["text"] = "x" * 50_000
    started = function("dispatch")(large, Context())
    work = function("work")
    runs = [next(run for run in jobs.history("billing-book-payment") if run.id == started["id"])]
    runs += [jobs.trigger(name) for name in ("billing-write-report", "billing-clean-up")]
    runs.append(jobs.skip_next("billing-watch-payments"))
    backfill = jobs.backfill("billing-watch-payments", timedelta(hours=-1), timedelta(0), at_once=2)
    runs += [Scheduler.from_env(tenant_id="acme").get(backfill.run_id(at)) for at in backfill.open]
    runs.append(Scheduler.from_env(tenant_id="acme").schedule(SendReceipt(order="o-1"), at=timedelta(0)))
    for run in runs:
        assert work(message_for(run), Context()) == {"batchItemFailures": []}
    for job in ("duetime-sweep", "duetime-catch-up", "duetime-recount"):
        event = message_for(jobs.trigger(job), "catch_up-triggered")
        assert function("catch_up")(event, Context()) == {"batchItemFailures": []}
    checks, reports = late_checks(with_jobs, "billing-watch-payments")
    for check in checks:
        assert function("catch_up")(message_for(check, "catch_up-triggered"), Context()) == {
            "batchItemFailures": []
        }
    assert len(reports()) == 1
    jobs.cancel_backfill("billing-watch-payments")
    jobs.backfill("billing-watch-payments", timedelta(hours=-3), timedelta(hours=-2), at_once=2)
    jobs.pause("billing-clean-up")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DUETIME_CANARY", "60")
        function("sweep")(sample("sweep"), Context())
    jobs.resume("billing-clean-up")
    function("catch_up")(sample("catch_up"), Context())
    function("arm")(sample("arm"), Context())
    function("publish")(sample("publish"), Context())
    notify_all(function("notify"), with_jobs)
    ask_all(function("api"), codes_job="billing-clean-up")
    about = sample("deploy-jobs")["ResourceProperties"]
    handle_all_undelivered(function("undelivered"), with_jobs)
    deploy("Update", Jobs=without(about["Jobs"], "billing-clean-up"))
    deploy("Delete")
    assert recorder.calls.keys() == synthesised.functions().keys() - {"console"}  # which calls nothing of AWS
    for name, calls in recorder.calls.items():
        assert refused(synthesised, synthesised.rights(name), calls) == set(), name


def test_a_workers_rights_cover_the_calls_for_a_slot(function, deployed, recorder, synthesised):
    scheduler, store = Scheduler.from_env(tenant_id="acme"), action_store(deployed)
    now, work = SystemClock().now(), function("work")
    keyed = {"at": timedelta(hours=-1), "concurrency_key": "customer:42"}
    runs = [scheduler.schedule(SendReceipt(order="x" * 50_000), **keyed) for _ in range(4)]
    assert store.take_slot(runs[0], store.key_slots("acme", "customer:42"), now)
    assert isinstance(store.claim(runs[0], terms_at(now)), Claimed)
    for run in runs[:2]:
        assert work(message_for(run), Context()) == {"batchItemFailures": []}
    slots = store.key_slots("acme", "customer:42")
    assert (slots.holders.keys(), slots.waiting) == ({runs[0].id}, (runs[1].id,))
    hold(deployed, store.get(runs[0].ref), now - timedelta(hours=1))
    for run in runs[1:3]:  # a dead holder, and one that is settled
        assert work(message_for(run), Context()) == {"batchItemFailures": []}
        assert scheduler.get(run.id).status is Status.EXECUTED
        take(deployed, run)
    boto3.client("dynamodb").delete_item(TableName=deployed.made.actions_table, Key=row_key(runs[2].ref))
    assert work(message_for(runs[3]), Context()) == {"batchItemFailures": []}
    assert scheduler.get(runs[3].id).status is Status.EXECUTED
    tailed, other = (
        scheduler.schedule(SendReceipt(order="o-1"), at=timedelta(hours=-1), concurrency_key="customer:43")
        for _ in range(2)
    )
    store.join_tail(other, now)
    store.mark_tail("acme", "customer:43", now)
    assert work(message_for(tailed), Context()) == {"batchItemFailures": []}
    assert store.tail("acme", "customer:43", limit=1) == []
    calls = recorder.calls["work-default"]
    needed = {"ConditionCheckItem", "BatchGetItem", "DeleteItem"}
    assert {call.action.rpartition(":")[2] for call in calls} >= needed
    assert refused(synthesised, synthesised.rights("work-default"), calls) == set()


def hold(deployed, row, until):
    """Play a lease that ended at that instant."""
    boto3.client("dynamodb").update_item(
        TableName=deployed.made.actions_table,
        Key=row_key(row.ref),
        UpdateExpression="SET lease_until = :until",
        ExpressionAttributeValues={":until": {"S": instant.text(until)}},
    )


def take(deployed, row):
    """Play a settle that had to leave its slot behind."""
    boto3.client("dynamodb").update_item(
        TableName=deployed.made.actions_table,
        Key=item_key(key_of(row.tenant_id, row.slot_key)),
        UpdateExpression="SET holders.#id = :fence",
        ExpressionAttributeNames={"#id": row.id},
        ExpressionAttributeValues={":fence": {"N": "1"}},
    )


@pytest.mark.parametrize("tenants", [None, ["acme"]])
def test_the_grant_to_schedule_covers_the_sdks_calls(deployed, recorder, tenants):
    clock = TurnedClock(SystemClock().now())
    store = action_store(deployed)
    several = Settings(tenants="acme globex")
    scheduler = Scheduler(
        store,
        tenant_id="acme",
        actor="ann",
        clock=clock,
        settings=deployed,
        quotas=UsageQuotas(AwsBackends(deployed).usage_counts, clock, several),
        sees_system=tenants is None,
    )
    keyed = {"at": timedelta(0), "idempotency_key": "order-17", "correlation_id": "order:17"}
    large = SendReceipt(order="x" * 50_000)
    with recorder.acting("caller"):
        first = scheduler.schedule(large, **keyed)
        assert scheduler.schedule(large, **keyed).id == first.id
        for _ in range(2):
            scheduler.schedule(large, at=timedelta(0), debounce_key="order:17")
        scheduler.schedule_many([Order(payload=large, at=timedelta(0))] * 3)
        scheduler.get(first.id)
        scheduler.list()
        scheduler.list(correlation_id="order:17")
        scheduler.list(status="failed")
        scheduler.reschedule(first.id, timedelta(hours=1))
        scheduler.cancel_many(correlation_id="order:17")
        clock.wait_until(clock.now() + timedelta(days=2))
        second = scheduler.schedule(SendReceipt(order="o-1"), **keyed)
        fail(store, second.ref, clock.now())
        scheduler.redrive_many(type="send-receipt", status="failed")
        assert scheduler.get(second.id).status == "pending"
    made, duetime = stack(settings=several, deployment=PLAIN)
    Duetime.grant_schedule(duetime, caller(made), tenants=tenants)
    template = Synthesised.from_stack(made)
    [policy] = template.of_type("AWS::IAM::Policy")
    assert refused(template, policy["PolicyDocument"]["Statement"], recorder.calls["caller"]) == set()


def test_the_grant_to_redrive_covers_the_sdks_calls(deployed, recorder):
    ports = AwsBackends(deployed).undelivered
    ports.store.keep(given_up(), expires_at=SystemClock().now() + timedelta(days=1))
    undelivered = Scheduler.from_env(tenant_id="acme").undelivered
    with recorder.acting("caller"):
        (thing,) = undelivered.list()
        undelivered.redrive(thing.id)
        assert len(undelivered.redrive_many()) == 1
    made, duetime = stack(deployment=PLAIN)
    duetime.grant_redrive(caller(made))
    template = Synthesised.from_stack(made)
    [policy] = template.of_type("AWS::IAM::Policy")
    assert refused(template, policy["PolicyDocument"]["Statement"], recorder.calls["caller"]) == set()


def fail(store, ref, at):
    """Fail a run like a worker, without recording its calls."""
    claimed = store.claim(store.get(ref), terms_at(at)).action
    end = {"status": Status.FAILED, "ending": Ending.FAILED, "kept_until": at + timedelta(days=30)}
    store.settle(claimed, Settlement(finished_at=at, **end))


def terms_at(at):
    """Return the terms of a worker's claim."""
    return ClaimTerms(
        now=at,
        lease_until=at + timedelta(minutes=5),
        skew=timedelta(0),
        nonce="n",
        instance="w",
        queued_at=at,
        retry="[1,[60],0.1,null]",
    )


@pytest.mark.parametrize("tenants", [None, ["acme"]])
def test_the_grant_to_manage_jobs_covers_the_sdks_calls(deploy, with_jobs, recorder, tenants, monkeypatch):
    deploy_all(deploy)
    monkeypatch.setenv("DUETIME_QUOTAS", '{"acme": "jobs=1 event_rules=1"}')
    jobs = Scheduler.from_env(tenant_id="acme", actor="ann").jobs
    mine = partial(Registration, handler=SendReceipt(order="o-1"), cadences=["every 1h"])
    again = mine(name="acme-receipts", idempotency_key="k-1", replace=True)
    with recorder.acting("operator"):
        jobs.register(mine(name="acme-receipts"))
        jobs.register_and_trigger(again)
        jobs.register_and_trigger(again)
        with pytest.raises(QuotaExceeded):
            jobs.register(mine(name="acme-reminders"))
        jobs.list()
        for name in ["acme-receipts", *([] if tenants else ["billing-clean-up"])]:
            jobs.pause(name)
            jobs.resume(name)
            jobs.set(name, attempts=2)
            jobs.trigger(name, payload=SendReceipt(order="x" * 50_000))
            jobs.skip_next(name)
            jobs.history(name)
            jobs.explain(name, timedelta(days=-1), timedelta(days=1))
            jobs.preview_backfill(name, timedelta(days=-3), timedelta(0))
            jobs.pause_backfill(name, jobs.backfill(name, timedelta(days=-3), timedelta(0)).id)
            jobs.resume_backfill(name)
            jobs.cancel_backfill(name)
        jobs.get("billing-clean-up")
        jobs.unregister("acme-receipts")
    made, scheduler = stack(deployment=PLAIN)
    Duetime.grant_manage_jobs(scheduler, caller(made), tenants=tenants)
    template = Synthesised.from_stack(made)
    [policy] = template.of_type("AWS::IAM::Policy")
    assert refused(template, policy["PolicyDocument"]["Statement"], recorder.calls["operator"]) == set()
