"""What holds of the jobs in DynamoDB when an answer is lost, or another transaction is in the way."""

import json
from dataclasses import replace
from types import SimpleNamespace

import boto3
import pytest
from botocore.config import Config

from duetime.aws import AwsBackends
from duetime.aws.job_items import job_key
from duetime.aws.job_wakes import EventBridgeJobWakes
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.tables import JOBS, create_table_request
from duetime.errors import BackendMisconfigured, BackendUnavailable, InvalidCursor, UnreadableRow
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.job import WHOLE_JOB, Pause
from duetime.model.lease import SettleResult
from duetime.model.transition import cancelled
from duetime.model.wake_state import WakeState
from duetime.ports.job_state import STATE
from duetime.ports.jobs import LockRequirement
from duetime.settings import DUE_SHARDS, Made, Settings
from duetime_contract.job_specimens import (
    NIGHTLY,
    added,
    ended,
    nightly,
    planned,
    stored_job,
    taken,
    taking,
)
from duetime_contract.job_wakes import RULE
from duetime_contract.specimens import ACME, EXPIRY, HOUR, NOON, SECOND, end, stored_row
from tests.contract.networks import LosesAnAnswer
from tests.contract.test_rows import fails, item_size
from tests.dynamodb_local import CREDENTIALS

ONCE = Config(retries={"total_max_attempts": 1}, connect_timeout=1)


@pytest.fixture
def over(table):
    """A job store over the tables, through a client."""
    table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
    yield lambda client=None: DynamoJobStore(
        client or table.client, table.name, "duetime-jobs", due_shards=DUE_SHARDS
    )
    table.client.delete_table(TableName="duetime-jobs")


@pytest.fixture
def jobs(over):
    """A job store that loses nothing."""
    return over()


@pytest.fixture
def losing(table, over):
    """A job store that loses the answer of the first call of an operation."""
    return lambda operation: over(LosesAnAnswer(table.client, operation))


@pytest.mark.parametrize("hold", [LockRequirement.LOCK, LockRequirement.UNCHANGED])
def test_a_claim_whose_response_was_lost_succeeds_when_repeated(table, jobs, losing, hold):
    store, job = table.store(), added(jobs)
    run_claim, worker = taking(planned(store), job, hold), losing("transact_write_items")
    with pytest.raises(BackendUnavailable):
        worker.claim(run_claim)
    assert worker.claim(run_claim)
    assert stored_row(store, run_claim.row.ref).fence == 1


def test_a_claim_of_the_row_alone_whose_response_was_lost_succeeds_when_repeated(table, jobs, losing):
    store, job = table.store(), added(jobs)
    run_claim, worker = taking(planned(store), job, LockRequirement.NOTHING), losing("update_item")
    with pytest.raises(BackendUnavailable):
        worker.claim(run_claim)
    assert worker.claim(run_claim)
    assert not jobs.claim(taking(run_claim.row, job, LockRequirement.NOTHING))


def test_a_settle_whose_response_was_lost_is_counted_once(table, jobs, losing):
    store, job = table.store(), added(jobs)
    run, worker = taken(store, jobs, job), losing("transact_write_items")
    with pytest.raises(BackendUnavailable):
        worker.settle(run, end(Status.EXECUTED), job.ref, ended(run))
    assert worker.settle(run, end(Status.EXECUTED), job.ref, ended(run)) is SettleResult.SETTLED
    assert stored_job(jobs, job.ref).tally.executed == 1


@pytest.mark.parametrize("operation", ["update_item", "transact_write_items"])
def test_a_change_whose_response_was_lost_returns_its_result_when_repeated(jobs, losing, operation):
    job, caller = added(jobs), losing(operation)
    new = replace(job, pauses={WHOLE_JOB: Pause(since=NOON, by="ops")})
    if operation == "transact_write_items":
        new = replace(new, definition=replace(job.definition, title="Books"))
    with pytest.raises(BackendUnavailable):
        caller.change(job, new)
    jobs.move_cursor(stored_job(jobs, job.ref), NOON, NOON + HOUR)
    assert caller.change(job, new)
    assert not caller.change(job, replace(new, wakes=WakeState(1, 0, "other")))


def test_a_cancelled_retry_whose_response_was_lost_returns_its_result_when_repeated(table, jobs, losing):
    store, job = table.store(), added(jobs)
    run, caller = taken(store, jobs, job), losing("transact_write_items")
    store.settle(run, end(Status.PENDING))
    row = stored_row(store, run.ref)
    after = cancelled(row, by="ops", at=NOON, kept_until=EXPIRY)
    with pytest.raises(BackendUnavailable):
        caller.end_pending(row, after, job.ref)
    assert caller.end_pending(row, after, job.ref)
    assert stored_job(jobs, job.ref).running is None


def test_a_cancelled_run_waits_no_more(table, jobs):
    store, job = table.store(), added(jobs)
    row = planned(store)
    jobs.wait(job, row.ref)
    assert jobs.end_pending(row, cancelled(row, by="ops", at=NOON, kept_until=EXPIRY), job.ref)
    assert stored_job(jobs, job.ref).waiting is None


class TornRead:
    """Shows a job's definition as it was before its last change, once or for ever."""

    def __init__(self, client, old, times):
        self._client, self._old, self._times = client, old, times

    def __getattr__(self, name):
        return getattr(self._client, name)

    def query(self, **request):
        answer = self._client.query(**request)
        if self._times:
            self._times -= 1
            answer["Items"] = [self._old if i["sk"] == self._old["sk"] else i for i in answer["Items"]]
        return answer


@pytest.mark.parametrize(("times", "is_read"), [(1, True), (99, False)])
def test_a_definition_read_before_a_change_is_not_taken_for_that_of_the_state_read_after_it(
    table, over, jobs, times, is_read
):
    job = added(jobs)
    old = table.client.get_item(TableName="duetime-jobs", Key=job_key(job.ref, "current#definition"))["Item"]
    jobs.change(job, replace(job, definition=replace(job.definition, title="Books")))
    reader = over(TornRead(table.client, old, times))
    if is_read:
        assert reader.get(job.ref) == jobs.get(job.ref)
        assert reader.get(job.ref).definition.title == "Books"
    else:
        with pytest.raises(UnreadableRow, match="revisions"):
            reader.get(job.ref)


def cancelling(*codes, calls=None):
    """A real client whose every transaction is cancelled for those reasons, before moto receives it."""
    client = boto3.client("dynamodb", config=ONCE, **CREDENTIALS)
    message = f"Transaction cancelled, please refer cancellation reasons for specific reasons {[*codes]}"
    parsed = {
        "Error": {"Code": "TransactionCanceledException", "Message": message},
        "CancellationReasons": [{"Code": code} for code in codes],
        "ResponseMetadata": {"HTTPStatusCode": 400, "RetryAttempts": 0},
    }

    def answer(params, **_rest):
        if calls is not None:
            calls.append(params["headers"]["X-Amz-Target"])
        return SimpleNamespace(status_code=400), parsed

    client.meta.events.register_first("before-call", answer)
    return client


def far(client):
    return AwsBackends(Settings(), client=client).jobs


def test_a_conflict_is_tried_again_and_then_unavailable():
    calls = []
    job = nightly()
    with pytest.raises(BackendUnavailable, match="TransactionConflict"):
        far(cancelling("TransactionConflict", "None", calls=calls)).add(job)
    assert len(calls) > 3


@pytest.mark.parametrize("reason", ["TransactionConflict", "ThrottlingError"])
def test_a_run_without_the_lock_ends_even_if_it_cannot_be_counted(table, jobs, reason):
    store, job = table.store(), added(jobs)
    run, calls = taken(store, jobs, job, hold=LockRequirement.UNCHANGED), []
    blocked = cancelling("None", reason, calls=calls)

    class Blocked:
        """Other transactions, or a limit, block the job's row."""

        def __getattr__(self, name):
            return getattr(blocked if "transact" in name else table.client, name)

    over = DynamoJobStore(Blocked(), table.name, "duetime-jobs", due_shards=DUE_SHARDS)
    run_end = ended(run)
    assert over.settle(run, end(Status.EXECUTED), job.ref, run_end, has_lock=False) is SettleResult.SETTLED
    assert stored_row(store, run.ref).status is Status.EXECUTED
    assert jobs.get(job.ref).tally.executed == 1
    assert calls


def test_a_run_with_the_lock_does_not_end_while_the_job_is_blocked(table, jobs):
    store, job = table.store(), added(jobs)
    run, blocked = taken(store, jobs, job), cancelling("None", "ThrottlingError")

    class Blocked:
        def __getattr__(self, name):
            return getattr(blocked if "transact" in name else table.client, name)

    over = DynamoJobStore(Blocked(), table.name, "duetime-jobs", due_shards=DUE_SHARDS)
    with pytest.raises(BackendUnavailable):
        over.settle(run, end(Status.EXECUTED), job.ref, ended(run))
    assert stored_row(store, run.ref).status is Status.PROCESSING


@pytest.mark.parametrize("status", [Status.EXECUTED, Status.CANCELLED])
def test_a_run_ends_only_after_its_payload_has_the_longer_time_to_live(table, jobs, monkeypatch, status):
    store, job = table.store(), added(jobs)
    run = taken(store, jobs, job)
    if status is Status.CANCELLED:
        store.settle(run, end(Status.PENDING))
    row = stored_row(store, run.ref)
    monkeypatch.setattr(DynamoPayloads, "outlive", fails)
    after = cancelled(row, by="ops", at=NOON, kept_until=EXPIRY)
    ends = {
        Status.EXECUTED: lambda: jobs.settle(run, end(status), job.ref, ended(run)),
        Status.CANCELLED: lambda: jobs.end_pending(row, after, job.ref),
    }
    with pytest.raises(BackendUnavailable):
        ends[status]()
    assert stored_row(store, run.ref) == row
    assert stored_job(jobs, job.ref).running == run.ref


def test_a_run_whose_end_is_rejected_keeps_its_place(table, jobs):
    store, job = table.store(), added(jobs)
    row = planned(store)
    jobs.wait(job, row.ref)
    stale = replace(row, generation=row.generation + 1)
    assert not jobs.end_pending(stale, cancelled(stale, by="ops", at=NOON, kept_until=EXPIRY), job.ref)
    assert stored_job(jobs, job.ref).waiting == row.ref


def test_a_claim_in_conflict_is_lost():
    run_claim = taking(planned(MemoryStore()), nightly())
    assert not far(cancelling("None", "TransactionConflict")).claim(run_claim)


@pytest.mark.parametrize("reason", ["ThrottlingError", "ProvisionedThroughputExceeded", "Whatever"])
def test_a_throttled_transaction_is_unavailable(reason):
    with pytest.raises(BackendUnavailable, match=reason):
        far(cancelling(reason, "None")).add(nightly())


def test_a_transaction_that_could_never_be_is_misconfigured():
    with pytest.raises(BackendMisconfigured, match="a repeat does not help"):
        far(cancelling("TransactionConflict", "ValidationError")).add(nightly())


def test_a_state_is_written_in_one_unit_all_its_life(table, jobs):
    store = table.store()
    job = added(
        jobs, wakes=WakeState(2, 1, "0123456789ab"), registered_by="customer-0042", ends={1: NOON, 2: NOON}
    )
    run = taken(store, jobs, job)
    jobs.wait(job, planned(store, NOON + HOUR).ref)
    jobs.count(job.ref, ended(run, Status.FAILED, "x" * 300))
    item = table.client.get_item(TableName="duetime-jobs", Key=job_key(job.ref, STATE))["Item"]
    assert item_size(item) <= 1_024


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "a|b", "billing-nightly.000001.20300601T120000Z|", "kb-reindex.000001.20300601T120000Z"],
)
def test_a_cursor_of_another_list_is_rejected(table, cursor):
    store = table.store()
    with pytest.raises(InvalidCursor):
        store.of_job(ACME, NIGHTLY, limit=5, cursor=cursor)
    if "|" not in cursor or cursor == "a|b":
        with pytest.raises(InvalidCursor):
            store.of_job(ACME, NIGHTLY, limit=5, cursor=cursor, has_events=True)
    with pytest.raises(InvalidCursor):
        store.occurrences(ACME, NIGHTLY, 1, after=NOON - HOUR, until=NOON - SECOND, limit=5, cursor=cursor)


@pytest.mark.parametrize("cursor", ["", "9", "0 a", "0 a b", "x a b c"])
def test_a_cursor_of_another_list_is_rejected_by_to_attend(jobs, cursor):
    with pytest.raises(InvalidCursor):
        jobs.due_for_maintenance(NOON, limit=5, cursor=cursor)


def wakes_of(moto, prefix, dispatch="dispatch"):
    account = "123456789012"
    settings = Settings(
        prefix=prefix,
        made=Made(
            dispatch_arn=f"arn:aws:lambda:eu-west-1:{account}:function:{prefix}{dispatch}",
            timer_role_arn=f"arn:aws:iam::{account}:role/timers",
            timer_dlq_arn=f"arn:aws:sqs:eu-west-1:{account}:dead",
        ),
    )
    moto["scheduler"].create_schedule_group(Name=settings.made.job_group)
    return EventBridgeJobWakes(moto["scheduler"], moto["events"], settings)


@pytest.mark.parametrize("prefix", ["duetime-", ""])
def test_rules_of_a_deployment_with_a_longer_prefix_are_ignored(moto, prefix):
    ours, theirs = wakes_of(moto, prefix), wakes_of(moto, "duetime-eu-")
    theirs.put(RULE)
    assert [*ours.known()] == []
    ours.put(RULE)
    assert [*ours.known()] == [*theirs.known()] == [("rule", RULE.name)]


def test_a_rule_without_its_target_is_removed_too(moto):
    wakes = wakes_of(moto, "duetime-")
    wakes.put(RULE)
    moto["events"].remove_targets(Rule="duetime-kb-reindex", Ids=["dispatch"])
    wakes.remove("rule", RULE.name)
    assert moto["events"].list_rules()["Rules"] == []


def test_dispatch_receives_job_cadence_and_event(moto):
    wakes = wakes_of(moto, "duetime-")
    wakes.put(replace(RULE, cadence='OnEvent_<a>_"b"_{c}'))
    (target,) = moto["events"].list_targets_by_rule(Rule="duetime-kb-reindex")["Targets"]
    template = target["InputTransformer"]["InputTemplate"]
    event = {
        "id": "1",
        "time": "2030-06-01T12:00:00Z",
        "source": "orders",
        "detail-type": "OrderPlaced",
        "detail": {"n": 1},
    }
    paths = target["InputTransformer"]["InputPathsMap"]
    for name, path in paths.items():
        assert template.count(f"<{name}>") == 1
        template = template.replace(f"<{name}>", json.dumps(event[path.removeprefix("$.")]))
    assert json.loads(template) == {
        "job": "kb-reindex",
        "tenant": "acme",
        "cadence": 'OnEvent_<a>_"b"_{c}',
        "event": event,
    }
    assert target["DeadLetterConfig"]["Arn"].endswith(":dead")
