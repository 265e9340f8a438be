"""Commits whose requests or responses are lost: each is made once, and its result is returned."""

from collections import deque
from datetime import timedelta
from functools import partial

import pytest
from botocore.exceptions import ReadTimeoutError

from duetime.errors import BackendUnavailable, CommitRejected, RejectedEntry
from duetime.model.action import Status
from duetime.model.lease import SettleResult
from duetime_contract.committing import DONE, LOST, commit, commit_run
from duetime_contract.job_specimens import added, stored_job, taken
from duetime_contract.specimens import HOUR, NOON, ORPHANED_AT, claim, end, running, stored_row
from tests.contract.commit_faults import (
    CONFLICT,
    THROTTLED,
    Network,
    cancelled,
    fault,
    lost,
    twice,
    unanswered,
    unanswered_fault,
)
from tests.contract.commit_faults import jobs_over as jobs_over  # noqa: PLC0414 - fixtures
from tests.contract.commit_faults import over as over  # noqa: PLC0414
from tests.contract.commit_faults import store as store  # noqa: PLC0414
from tests.contract.ledger import LEDGER, Ledger
from tests.contract.ledger import ledger as ledger  # noqa: PLC0414 - a fixture

SOON = pytest.mark.parametrize(
    "outcomes",
    [
        [unanswered],
        [twice],
        [lost],
        [lost, lost],
        [lost, unanswered],
        [unanswered, lost, lost],
        [lost, lost, unanswered],
        [fault, unanswered_fault],
        [CONFLICT],
        [CONFLICT, CONFLICT, unanswered],
        [THROTTLED, lost],
    ],
    ids=lambda outcomes: ", ".join(getattr(event, "__name__", "") for event in outcomes),
)


@SOON
@pytest.mark.parametrize("entry", [Ledger.book, Ledger.open])
def test_a_commit_is_written_once_whatever_the_network_loses(over, store, ledger, outcomes, entry):
    claimed = running(store)
    assert commit(over(*outcomes), claimed, [entry()]) is DONE
    assert ledger.balance() == (1 if entry is Ledger.book else 100)
    assert stored_row(store, claimed.ref).status is Status.EXECUTED


@SOON
def test_whatever_is_lost_for_a_while_a_jobs_run_is_written_and_counted_once(
    jobs_over, store, ledger, outcomes
):
    job = added(jobs_over())
    run = taken(store, jobs_over(), job)
    assert commit_run(jobs_over(*outcomes), run, job.ref, [ledger.book()]) is DONE
    after = stored_job(jobs_over(), job.ref)
    assert (ledger.balance(), after.tally.executed, after.running) == (1, 1, None)


def test_a_commit_without_entries_whose_response_was_lost_returns_its_result(table, store):
    claimed = running(store)
    network = Network(table.client)
    sends = deque([unanswered, unanswered])
    network.update_item = lambda **request: (sends.popleft() if sends else lambda call: call())(
        partial(table.client.update_item, **request)
    )
    assert commit(table.store(network), claimed) is DONE
    assert stored_row(store, claimed.ref).status is Status.EXECUTED


def test_without_any_response_the_result_is_unknown_and_the_row_is_unchanged(over, store, ledger):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(*[lost] * 9), claimed, [ledger.book()])
    assert (store.get(claimed.ref), ledger.balance()) == (claimed, 0)


@pytest.mark.parametrize("first", [lost, unanswered])
def test_without_a_response_and_a_readable_row_the_result_is_unknown(over, store, ledger, first):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(first, lost, lost, reads=False), claimed, [ledger.book()])
    assert ledger.balance() == (first is unanswered)
    assert (stored_row(store, claimed.ref).status is Status.EXECUTED) == (first is unanswered)


def test_without_a_response_a_run_that_was_taken_over_meanwhile_has_lost_its_lease(over, store, ledger):
    late = running(store)
    claim(store, late.ref, ORPHANED_AT)
    assert commit(over(*[lost] * 9), late, [ledger.book()]) is LOST


@pytest.mark.parametrize(
    ("outcomes", "code"), [(CONFLICT, "TransactionConflict"), (THROTTLED, "ThrottlingError")]
)
def test_a_permanently_busy_item_is_rejected_in_the_end(over, store, ledger, outcomes, code):
    claimed = running(store)
    with pytest.raises(CommitRejected) as refused:
        commit(over(*[outcomes] * 99), claimed, [ledger.book()])
    assert refused.value.reasons == (RejectedEntry(0, code),)
    assert store.get(claimed.ref) == claimed


def test_a_conflict_over_the_actions_own_row_names_no_entry(over, store, ledger):
    with pytest.raises(CommitRejected, match="the action was busy") as refused:
        commit(over(*[cancelled("None", "TransactionConflict")] * 99), running(store), [ledger.book()])
    assert refused.value.reasons == ()


def test_a_conflict_over_the_jobs_row_names_no_entry(jobs_over, store, ledger):
    job = added(jobs_over())
    run = taken(store, jobs_over(), job)
    busy = jobs_over(*[cancelled("None", "TransactionConflict", "None")] * 99)
    with pytest.raises(CommitRejected) as refused:
        commit_run(busy, run, job.ref, [ledger.book()])
    assert refused.value.reasons == ()


def test_a_commit_that_arrives_after_its_presumed_rejection_is_not_taken_for_the_next(
    over, store, ledger, table
):
    claimed, late = running(store), []

    def overtaken(call):
        late.append(call)
        raise ReadTimeoutError(endpoint_url="the table")

    def then_refused(call):
        commit(store, running(store), [ledger.open()])
        return call()

    with pytest.raises(CommitRejected):
        commit(over(overtaken, then_refused), claimed, [ledger.open(), ledger.book(account="first")])
    table.client.delete_item(TableName=LEDGER, Key={"account": {"S": "a-1"}})
    late.pop()()
    second = [ledger.book(account="second")]
    assert commit(store, claimed, second, number=2, at=NOON + HOUR) is LOST
    assert (ledger.balance("first"), ledger.balance("second")) == (1, 0)


def test_settling_after_a_lost_response_changes_nothing_that_the_commit_has_done(over, store, ledger):
    claimed = running(store)
    with pytest.raises(BackendUnavailable):
        commit(over(unanswered, lost, lost, reads=False), claimed, [ledger.book()])
    before = stored_row(store, claimed.ref)
    assert store.settle(claimed, end(Status.FAILED, NOON + HOUR)) is SettleResult.SETTLED
    assert store.get(claimed.ref) == before
    assert before.kept_until - NOON > timedelta(days=1)
