"""A handler's own writes and the settle of its action in DynamoDB.

Exactly once, whatever is lost on the way.
"""

from dataclasses import replace
from functools import partial

import pytest

from duetime.aws.commits import CommitTransaction
from duetime.errors import BackendMisconfigured, CommitRejected, RejectedEntry
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime_contract.committing import (
    DONE,
    LOST,
    CommitContract,
    OccurrenceCommitContract,
    commit,
    executed,
)
from duetime_contract.races import together
from duetime_contract.specimens import HOUR, NOON, ORPHANED_AT, claim, running, stored_row, terms
from tests.contract.broken_stores import bound
from tests.contract.commit_faults import jobs_over as jobs_over  # noqa: PLC0414 - fixtures
from tests.contract.commit_faults import over as over  # noqa: PLC0414
from tests.contract.commit_faults import store as store  # noqa: PLC0414
from tests.contract.commit_faults import twice
from tests.contract.ledger import LEDGER, Ledger
from tests.contract.ledger import ledger as ledger  # noqa: PLC0414 - a fixture


class TestWhereEachTransactionIsMadeTwice(CommitContract):
    @pytest.fixture
    def store(self, over):
        return over(*[twice] * 99)


class TestWhereEachTransactionOfAJobIsMadeTwice(OccurrenceCommitContract):
    @pytest.fixture
    def store(self, table):
        return table.store()

    @pytest.fixture
    def jobs(self, jobs_over):
        return jobs_over(*[twice] * 99)

    def remove(self, store, row):
        raise NotImplementedError


class Unfenced(MemoryStore):
    def commit(self, claimed, settlement, *, entries, number):
        current = self.get(claimed.ref) or claimed
        return super().commit(current, settlement, entries=entries, number=number)


class Credulous(MemoryStore):
    def commit(self, claimed, settlement, *, entries, number):
        del entries, number
        return self.settle(claimed, settlement)


@pytest.mark.parametrize(
    ("broken", "sentence"),
    {
        Unfenced: "test_a_run_that_was_taken_over_commits_nothing_without_entries_either",
        Credulous: "test_a_second_commit_of_a_run_is_not_the_first",
    }.items(),
)
def test_a_store_that_breaks_a_rule_of_commits_fails_that_rules_test(broken, sentence):
    bound(CommitContract(), sentence, store=MemoryStore())()
    check = bound(CommitContract(), sentence, store=broken())
    with pytest.raises(AssertionError):
        check()


def test_both_are_written(store, ledger):
    claimed = running(store)
    assert commit(store, claimed, [ledger.book(), ledger.open("a-2")]) is DONE
    assert (ledger.balance(), ledger.balance("a-2")) == (1, 100)
    assert stored_row(store, claimed.ref).status is Status.EXECUTED


def test_neither_is_written_if_a_condition_of_the_handler_is_false(store, ledger):
    claimed = running(store)
    commit(store, running(store), [ledger.open("a-2")])
    item = ledger.item("a-2")
    asks = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    entries = [ledger.book(), ledger.open("a-2", **asks), ledger.open("a-3")]
    with pytest.raises(CommitRejected) as refused:
        commit(store, claimed, entries)
    assert refused.value.reasons == (RejectedEntry(1, "ConditionalCheckFailed", item),)
    assert (ledger.balance(), ledger.balance("a-3")) == (0, 0)
    assert store.get(claimed.ref) == claimed


def test_each_rejected_entry_is_returned_without_its_item_unless_it_requests_it(store, ledger):
    commit(store, running(store), [ledger.open(), ledger.open("a-2")])
    with pytest.raises(CommitRejected, match="entry 0: ConditionalCheckFailed, entry 2") as refused:
        commit(store, running(store), [ledger.open(), ledger.book(account="a-3"), ledger.open("a-2")])
    assert [(reason.index, reason.item) for reason in refused.value.reasons] == [(0, None), (2, None)]


def test_nothing_is_written_under_an_old_fence(store, ledger):
    late = running(store)
    following = claim(store, late.ref, ORPHANED_AT)
    assert commit(store, late, [ledger.book()]) is LOST
    assert (ledger.balance(), store.get(late.ref)) == (0, following)


def test_of_a_run_and_the_one_that_takes_it_over_at_once_exactly_one_has_its_effect(store, ledger):
    for rounds in range(1, 9):
        late = running(store)

        def take_over(late=late):
            following = claim_or_none(store, late)
            return following and commit(store, following, [ledger.book()], at=ORPHANED_AT + HOUR)

        results = together([partial(commit, store, late, [ledger.book()], at=ORPHANED_AT), take_over])
        assert ledger.balance() == rounds
        assert sorted(result is DONE for result in results) == [False, True]
        assert stored_row(store, late.ref).status is Status.EXECUTED


def claim_or_none(store, late):
    claimed = store.claim(late, terms(ORPHANED_AT))
    return claimed and claimed.action


def test_of_many_commits_of_one_run_at_once_one_is_made(store, ledger):
    claimed = running(store)
    calls = [
        partial(commit, store, claimed, [ledger.book()], number=n, at=NOON + n * HOUR) for n in range(1, 6)
    ]
    results = together(calls)
    assert sorted(result is DONE for result in results) == [False] * 4 + [True]
    assert ledger.balance() == 1


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"Put": {"TableName": LEDGER, "Item": {"account": "a-1"}}}], "as a low-level client takes it"),
        ([{"Put": {"TableName": "no-such-one", "Item": {"account": {"S": "a"}}}}], "that each entry names"),
        ([Ledger.book(), Ledger.book()], "a repeat does not help"),
    ],
    ids=["plain values", "a table that is not there", "two writes of one item"],
)
def test_invalid_entries_are_rejected_and_the_run_goes_on(store, ledger, entries, message):
    claimed = running(store)
    with pytest.raises(BackendMisconfigured, match=message):
        commit(store, claimed, entries)
    assert store.get(claimed.ref) == claimed
    assert commit(store, claimed, [ledger.book()], number=2) is DONE


def test_each_commit_has_a_token_of_its_own_and_its_repeat_the_same():
    claimed = running(MemoryStore())
    transaction = CommitTransaction("duetime-actions", claimed, executed(), [Ledger.book()], 1)
    others = [
        transaction,
        replace(transaction, number=2),
        replace(transaction, table="staging-actions"),
        replace(transaction, claimed=replace(claimed, fence=2)),
        replace(transaction, claimed=replace(claimed, nonce="another")),
        replace(transaction, entries=[Ledger.book(), Ledger.open()]),
    ]
    tokens = [other.request()["ClientRequestToken"] for other in others]
    assert len({*tokens}) == len(others)
    assert {len(token) for token in tokens} == {36}
    assert transaction.request() == transaction.request()
