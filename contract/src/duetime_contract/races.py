"""Races: many threads write one row, which ends in a state that one order of the writes explains."""
# ruff: noqa: D102, S101, PLR2004 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

from duetime.model.action import Action, Status
from duetime.model.lease import Applied, Claimed, LeaseHeld, Rejected, SettleResult
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    LEASE,
    LEASE_END,
    NOON,
    ORPHANED_AT,
    SECOND,
    end,
    running,
    scheduled,
    stored_row,
    terms,
)
from duetime_contract.subject import StoreContract

CROWD = 20
ROUNDS = 5


class RaceContract(StoreContract):
    """What holds when several do something at the same moment."""

    def test_of_many_claims_at_once_exactly_one_wins(self, store: ActionStore, action: Action) -> None:
        answers = together([partial(store.claim, action, terms()) for _ in range(CROWD)])
        assert sum(isinstance(answer, Claimed) for answer in answers) == 1
        assert answers.count(LeaseHeld(LEASE_END)) == CROWD - 1
        row = stored_row(store, action.ref)
        assert (row.fence, row.attempt, len(row.attempts)) == (1, 1, 1)

    def test_of_many_take_overs_at_once_exactly_one_wins(self, store: ActionStore, claimed: Action) -> None:
        answers = together([partial(store.claim, claimed, terms(ORPHANED_AT)) for _ in range(CROWD)])
        assert sum(isinstance(answer, Claimed) for answer in answers) == 1
        assert answers.count(LeaseHeld(ORPHANED_AT + LEASE)) == CROWD - 1
        assert (stored_row(store, claimed.ref).fence, stored_row(store, claimed.ref).recoveries) == (2, 1)

    def test_of_a_cancel_a_reschedule_and_a_claim_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            action = scheduled(store)
            cancel, move, claim = together(
                [
                    partial(store.cancel, action, by=CALLER, at=NOON, kept_until=EXPIRY),
                    partial(store.reschedule, action, NOON + HOUR, by=CALLER, at=NOON),
                    partial(store.claim, action, terms()),
                ]
            )
            row = stored_row(store, action.ref)
            outcomes = {
                Status.PROCESSING: isinstance(claim, Claimed),
                Status.CANCELLED: isinstance(cancel, Applied),
                Status.PENDING: isinstance(move, Applied),
            }
            assert [status for status, won in outcomes.items() if won] == [row.status]

    def test_of_a_late_settle_and_a_take_over_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = running(store)
            settled, taken = together(
                [
                    partial(store.settle, late, end(Status.EXECUTED, ORPHANED_AT)),
                    partial(store.claim, late, terms(ORPHANED_AT)),
                ]
            )
            row = stored_row(store, late.ref)
            if settled is SettleResult.SETTLED:
                assert (taken, row.status, row.fence) == (None, Status.EXECUTED, 1)
            else:
                assert settled is SettleResult.LEASE_LOST
                assert taken == Claimed(row)
                assert row.fence == 2

    def test_of_a_renewal_and_a_take_over_exactly_one_wins(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            late = running(store)
            renewed, taken = together(
                [
                    partial(store.renew, late, ORPHANED_AT + LEASE),
                    partial(store.claim, late, terms(ORPHANED_AT)),
                ]
            )
            assert (renewed is None) == isinstance(taken, Claimed)
            assert stored_row(store, late.ref).fence == (1 if renewed else 2)

    def test_a_request_to_cancel_is_never_lost_to_a_retry(self, store: ActionStore) -> None:
        for _ in range(ROUNDS):
            claimed = running(store)
            outcome, settled = together(
                [
                    partial(store.ask_to_cancel, claimed, by=CALLER, at=NOON + SECOND),
                    partial(store.settle, claimed, end(Status.PENDING)),
                ]
            )
            row = stored_row(store, claimed.ref)
            if settled is SettleResult.SETTLED:
                assert outcome == Rejected(row)
                assert row.status is Status.PENDING
            else:
                assert settled is SettleResult.CANCEL_REQUESTED
                assert outcome == Applied(row)
                assert row.status is Status.PROCESSING

    def test_of_many_concurrent_puts_of_one_action_one_row_results(
        self, store: ActionStore, action: Action
    ) -> None:
        together([partial(store.put, action)] * CROWD)
        assert store.get(action.ref) == action


def together(calls: Sequence[Callable[[], object]]) -> list[object]:
    """Make all calls at one moment, each in a thread of its own; their answers, in the calls' order."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], object]) -> object:
        barrier.wait(timeout=60)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
