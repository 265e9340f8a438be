"""A run stores checkpoints for the next one."""

from __future__ import annotations

from dataclasses import replace

from duetime.model.action import CONTINUES, Action, Ending, Status
from duetime.model.checkpoint import CHECKPOINT_LIMIT, Checkpoint
from duetime.model.lease import Claimed, Renewed, Settlement, SettleResult
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    end,
    fresh,
    running,
    stored_row,
    terms,
    unchanged,
)
from duetime_contract.subject import StoreContract
from tests.contract.rules.slots import holding

FIRST, SECOND_ONE = Checkpoint('{"done":1}', 1, 1), Checkpoint('{"done":2}', 1, 2)


def continued(store: ActionStore, claimed: Action) -> Action:
    """Settle a run that continues; return the pending row."""
    settlement = Settlement(
        status=Status.PENDING,
        ending=Ending.RETRY,
        finished_at=NOON + SECOND,
        message=CONTINUES,
        due_at=NOON + SECOND,
        continues=True,
    )
    assert store.settle(claimed, settlement) is SettleResult.SETTLED
    return stored_row(store, claimed.ref)


class CheckpointContract(StoreContract):
    """*checkpoint*, and a run that continues."""

    def test_a_checkpoint_is_stored_and_changes_nothing_else(
        self, store: ActionStore, claimed: Action
    ) -> None:
        assert store.checkpoint(claimed, FIRST) == Renewed(cancel_requested=False)
        assert stored_row(store, claimed.ref) == replace(claimed, checkpoint=FIRST)

    def test_a_checkpoint_of_the_largest_size_is_stored_in_full(self, store: ActionStore) -> None:
        claimed, largest = running(store), Checkpoint(f'"{"é" * (CHECKPOINT_LIMIT // 2 - 1)}"', 1, 1)
        store.checkpoint(claimed, largest)
        assert stored_row(store, claimed.ref).checkpoint == largest

    def test_the_latest_checkpoint_replaces_the_former(self, store: ActionStore, claimed: Action) -> None:
        for checkpoint in (FIRST, SECOND_ONE):
            store.checkpoint(claimed, checkpoint)
        assert stored_row(store, claimed.ref).checkpoint == SECOND_ONE

    def test_a_checkpoint_that_arrives_after_a_later_one_changes_nothing(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.checkpoint(claimed, SECOND_ONE)
        assert store.checkpoint(claimed, FIRST) == Renewed(cancel_requested=False)
        assert stored_row(store, claimed.ref).checkpoint == SECOND_ONE

    def test_a_take_over_gets_the_checkpoint_and_its_own_replaces_it(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.checkpoint(claimed, SECOND_ONE)
        second = claim(store, claimed.ref, ORPHANED_AT)
        assert second.checkpoint == SECOND_ONE
        its_first = Checkpoint('{"done":3}', second.fence, 1)
        store.checkpoint(second, its_first)
        assert stored_row(store, claimed.ref).checkpoint == its_first

    def test_a_run_that_was_taken_over_stores_no_checkpoint(
        self, store: ActionStore, claimed: Action
    ) -> None:
        claim(store, claimed.ref, ORPHANED_AT)
        with unchanged(store.get, claimed.ref):
            assert store.checkpoint(claimed, FIRST) is None

    def test_a_settled_run_stores_no_checkpoint(self, store: ActionStore, claimed: Action) -> None:
        store.settle(claimed, end(Status.EXECUTED))
        with unchanged(store.get, claimed.ref):
            assert store.checkpoint(claimed, FIRST) is None

    def test_a_row_that_is_gone_stores_no_checkpoint(self, store: ActionStore) -> None:
        claimed = replace(running(store), id=fresh(store).id)
        assert store.checkpoint(claimed, FIRST) is None
        assert store.get(claimed.ref) is None

    def test_a_checkpoint_returns_a_request_to_cancel(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON)
        assert store.checkpoint(claimed, FIRST) == Renewed(cancel_requested=True)

    def test_a_run_that_continues_is_counted_and_its_checkpoint_stays(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.checkpoint(claimed, FIRST)
        row = continued(store, claimed)
        assert (row.status, row.attempt, row.continued, row.checkpoint) == (Status.PENDING, 1, 1, FIRST)
        assert (row.is_retrying, row.attempts[-1].is_continued) == (False, True)
        again = claim(store, row.ref, NOON + SECOND)
        assert (again.attempt, again.continued, again.checkpoint) == (2, 1, FIRST)

    def test_a_run_that_took_over_continues_under_its_own_fence(
        self, store: ActionStore, claimed: Action
    ) -> None:
        row = continued(store, claim(store, claimed.ref, ORPHANED_AT))
        assert (row.status, row.fence, row.continued) == (Status.PENDING, 2, 1)

    def test_a_run_that_does_not_continue_is_not_counted(self, store: ActionStore, claimed: Action) -> None:
        store.settle(claimed, end(Status.PENDING))
        assert stored_row(store, claimed.ref).continued == 0

    def test_a_redrive_begins_with_the_checkpoint_and_counts_anew(
        self, store: ActionStore, claimed: Action
    ) -> None:
        store.checkpoint(claimed, FIRST)
        again = claim(store, continued(store, claimed).ref, NOON + SECOND)
        store.settle(again, end(Status.FAILED, NOON + 2 * SECOND))
        store.redrive(stored_row(store, again.ref), EXPIRY, by=CALLER, at=NOON)
        row = stored_row(store, again.ref)
        assert (row.continued, row.redriven_after, row.checkpoint) == (0, 2, FIRST)

    def test_a_dead_run_is_not_taken_over_with_its_slot_under_a_checkpoint_that_it_stored_since(
        self, store: ActionStore
    ) -> None:
        dead = holding(store)
        store.checkpoint(dead, FIRST)
        assert not isinstance(store.claim(dead, terms(ORPHANED_AT)), Claimed)
        row = stored_row(store, dead.ref)
        assert row == replace(dead, checkpoint=FIRST)
        store.checkpoint(dead, SECOND_ONE)
        assert not isinstance(store.claim(row, terms(ORPHANED_AT)), Claimed)
        row = stored_row(store, dead.ref)
        assert isinstance(store.claim(row, terms(ORPHANED_AT)), Claimed)
        assert stored_row(store, dead.ref).checkpoint == SECOND_ONE
