"""The commit: a handler's own writes and the settle of its action, all or nothing.

What a handler writes is shown here with actions that it schedules, since every table of a back end's own may
be written in its
transactions. A back end without transactions says so, and commits without entries alone.
"""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from duetime.errors import CommitRejected, Unsupported
from duetime.model.action import Action, Ending, Status
from duetime.model.job import Job, JobRef
from duetime.model.lease import Settlement, SettleResult
from duetime.model.row_parts import Act
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime_contract.job_specimens import DAY, counted, ended, planned, stored_job, taken
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    end,
    fresh,
    running,
    scheduled,
    stored_row,
    unchanged,
)
from duetime_contract.subject import JobsContract, StoreContract

LOST, DONE = SettleResult.LEASE_LOST, SettleResult.SETTLED
Entries = Sequence[Mapping[str, Any]]


def executed(at: datetime = NOON + SECOND) -> Settlement:
    """The only end that a commit has."""
    return end(Status.EXECUTED, at)


def commit(
    store: ActionStore,
    claimed: Action,
    entries: Entries = (),
    *,
    number: int = 1,
    at: datetime = NOON + SECOND,
) -> SettleResult:
    """Commit a run, a second after noon unless another instant is given."""
    return store.commit(claimed, executed(at), entries=entries, number=number)


def commit_run(
    jobs: JobStore, run: Action, ref: JobRef, entries: Entries = (), *, number: int = 1
) -> SettleResult:
    """Commit a job's run that holds the lock."""
    return jobs.commit(run, executed(), ref, ended(run), entries=entries, number=number)


def entries_of(store: ActionStore, action: Action) -> Entries:
    """Return the entries that schedule an action; skip the test if the back end has no transactions."""
    with suppress(Unsupported):
        return store.entries(action)
    pytest.skip("this back end has no transactions")


class FollowUpContract(StoreContract):
    """Commits that schedule another action."""

    @pytest.fixture
    def follow_up(self, store: ActionStore) -> Action:
        return fresh(store)


class CommitContract(FollowUpContract):
    """*settle by commit*."""

    def test_a_commit_executes_the_action(self, store: ActionStore, claimed: Action) -> None:
        assert commit(store, claimed) is DONE
        finished = replace(claimed.attempts[0], finished_at=NOON + SECOND, ending=Ending.EXECUTED)
        assert stored_row(store, claimed.ref) == replace(
            claimed,
            status=Status.EXECUTED,
            attempts=(finished,),
            lease_until=None,
            nonce=None,
            kept_until=EXPIRY,
            due_shard=stored_row(store, claimed.ref).due_shard,
        )

    def test_a_committed_row_leaves_the_due_index(self, store: ActionStore, claimed: Action) -> None:
        commit(store, claimed)
        assert self.due_time(store, claimed) is None

    def test_a_commit_writes_its_entries(
        self, store: ActionStore, claimed: Action, follow_up: Action
    ) -> None:
        assert commit(store, claimed, entries_of(store, follow_up)) is DONE
        assert store.get(follow_up.ref) == follow_up
        assert stored_row(store, claimed.ref).status is Status.EXECUTED

    def test_a_repeated_commit_returns_the_first_result(
        self, store: ActionStore, claimed: Action, follow_up: Action
    ) -> None:
        commit(store, claimed, entries_of(store, follow_up))
        with unchanged(store.get, claimed.ref):
            assert commit(store, claimed, entries_of(store, follow_up)) is DONE
        assert store.get(follow_up.ref) == follow_up

    def test_a_repeated_commit_without_entries_returns_the_first_result(
        self, store: ActionStore, claimed: Action
    ) -> None:
        assert (commit(store, claimed), commit(store, claimed)) == (DONE, DONE)

    def test_a_second_commit_of_a_run_is_not_the_first(self, store: ActionStore, claimed: Action) -> None:
        commit(store, claimed)
        with unchanged(store.get, claimed.ref):
            assert commit(store, claimed, number=2, at=NOON + HOUR) is LOST

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
    def test_a_run_that_has_ended_commits_nothing(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        store.settle(claimed, end(status, NOON + HOUR))
        with unchanged(store.get, claimed.ref):
            assert commit(store, claimed) is LOST

    @pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
    def test_a_settle_after_a_commit_changes_nothing(
        self, store: ActionStore, status: Status, claimed: Action
    ) -> None:
        commit(store, claimed)
        with unchanged(store.get, claimed.ref):
            assert store.settle(claimed, end(status, NOON + HOUR)) is DONE

    def test_a_heartbeat_after_a_commit_changes_nothing(self, store: ActionStore, claimed: Action) -> None:
        commit(store, claimed)
        with unchanged(store.get, claimed.ref):
            assert store.renew(claimed, NOON + HOUR) is None

    def test_a_run_that_was_taken_over_commits_nothing(
        self, store: ActionStore, claimed: Action, follow_up: Action, taken_over: Action
    ) -> None:
        assert commit(store, claimed, entries_of(store, follow_up)) is LOST
        assert store.get(follow_up.ref) is None
        assert store.get(claimed.ref) == taken_over

    def test_a_run_that_was_taken_over_commits_nothing_without_entries_either(
        self, store: ActionStore, claimed: Action, taken_over: Action
    ) -> None:
        assert commit(store, claimed) is LOST
        assert store.get(claimed.ref) == taken_over

    def test_of_a_run_and_its_successor_one_commits(
        self, store: ActionStore, claimed: Action, follow_up: Action, taken_over: Action
    ) -> None:
        stale = fresh(store)
        assert commit(store, taken_over, entries_of(store, follow_up), at=ORPHANED_AT) is DONE
        assert commit(store, claimed, entries_of(store, stale), at=ORPHANED_AT) is LOST
        assert (store.get(stale.ref), store.get(follow_up.ref)) == (None, follow_up)

    def test_a_commit_without_a_row_has_lost_its_lease(self, store: ActionStore) -> None:
        claimed = replace(running(store), id=fresh(store).id)
        assert commit(store, claimed) is LOST
        assert store.get(claimed.ref) is None

    def test_a_request_to_cancel_stops_no_commit(self, store: ActionStore, claimed: Action) -> None:
        store.ask_to_cancel(claimed, by=CALLER, at=NOON + SECOND)
        assert commit(store, claimed) is DONE
        row = stored_row(store, claimed.ref)
        assert (row.status, row.cancel_request) == (Status.EXECUTED, Act(NOON + SECOND, CALLER))

    def test_a_rejected_commit_writes_nothing_and_names_the_entry(
        self, store: ActionStore, claimed: Action, follow_up: Action
    ) -> None:
        there = scheduled(store)
        with pytest.raises(CommitRejected) as refused:
            commit(store, claimed, [*entries_of(store, follow_up), *store.entries(there)])
        assert [(reason.index, reason.code) for reason in refused.value.reasons] == [
            (1, "ConditionalCheckFailed")
        ]
        assert store.get(follow_up.ref) is None
        assert store.get(there.ref) == there
        assert store.get(claimed.ref) == claimed

    def test_a_run_with_a_rejected_commit_can_commit_other_entries(
        self, store: ActionStore, claimed: Action, follow_up: Action
    ) -> None:
        with pytest.raises(CommitRejected):
            commit(store, claimed, entries_of(store, scheduled(store)))
        assert commit(store, claimed, entries_of(store, follow_up), number=2, at=NOON + HOUR) is DONE
        assert store.get(follow_up.ref) == follow_up
        assert stored_row(store, claimed.ref).attempts[-1].finished_at == NOON + HOUR

    def test_a_run_with_a_rejected_commit_can_settle_in_any_way(
        self, store: ActionStore, claimed: Action
    ) -> None:
        with pytest.raises(CommitRejected):
            commit(store, claimed, entries_of(store, scheduled(store)))
        assert store.settle(claimed, end(Status.PENDING)) is DONE
        assert stored_row(store, claimed.ref).status is Status.PENDING


class OccurrenceCommitContract(JobsContract, FollowUpContract):
    """*settle an occurrence by commit*: the lock and the tally go with it."""

    def test_a_committed_run_frees_its_lock_and_is_counted(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        assert commit_run(jobs, run, job.ref) is DONE
        assert jobs.get(job.ref) == replace(job, tally=counted(ended(run), job.tally))
        row = stored_row(store, run.ref)
        assert (row.status, row.attempts[-1].ending) == (Status.EXECUTED, Ending.EXECUTED)

    def test_entries_lock_and_row_are_written_together(
        self,
        store: ActionStore,
        jobs: JobStore,
        job: Job,
        run: Action,
        follow_up: Action,
    ) -> None:
        assert commit_run(jobs, run, job.ref, entries_of(store, follow_up)) is DONE
        assert store.get(follow_up.ref) == follow_up
        assert stored_job(jobs, job.ref).running is None

    def test_a_repeated_commit_of_a_run_is_counted_once(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action, follow_up: Action
    ) -> None:
        for _ in range(3):
            assert commit_run(jobs, run, job.ref, entries_of(store, follow_up)) is DONE
        assert stored_job(jobs, job.ref).tally.executed == 1

    def test_a_commit_repeated_after_the_next_has_the_lock_leaves_it(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        commit_run(jobs, run, job.ref)
        following = taken(store, jobs, stored_job(jobs, job.ref), NOON + DAY)
        assert commit_run(jobs, run, job.ref) is DONE
        assert stored_job(jobs, job.ref).running == following.ref

    @pytest.mark.parametrize("is_held", [True, False])
    def test_without_the_lock_the_entries_are_written_with_the_action_alone(
        self, store: ActionStore, jobs: JobStore, is_held: bool, job: Job, follow_up: Action
    ) -> None:
        holder = taken(store, jobs, job) if is_held else None
        beside = claim(store, planned(store, NOON - DAY).ref)
        before = stored_job(jobs, job.ref)
        assert commit_run(jobs, beside, job.ref, entries_of(store, follow_up)) is DONE
        assert stored_job(jobs, job.ref) == before
        assert before.running == (holder.ref if holder else None)
        assert store.get(follow_up.ref) == follow_up
        assert stored_row(store, beside.ref).status is Status.EXECUTED

    def test_a_rejected_commit_retains_the_lock(
        self,
        store: ActionStore,
        jobs: JobStore,
        job: Job,
        run: Action,
        follow_up: Action,
    ) -> None:
        before, there = stored_job(jobs, job.ref), scheduled(store)
        with pytest.raises(CommitRejected) as refused:
            commit_run(jobs, run, job.ref, [*entries_of(store, follow_up), *store.entries(there)])
        assert [reason.index for reason in refused.value.reasons] == [1]
        assert store.get(follow_up.ref) is None
        assert (stored_job(jobs, job.ref), store.get(run.ref)) == (before, run)

    def test_a_run_of_a_job_that_was_taken_over_commits_nothing(
        self, store: ActionStore, jobs: JobStore, job: Job, run: Action
    ) -> None:
        following = claim(store, run.ref, ORPHANED_AT)
        assert commit_run(jobs, run, job.ref) is LOST
        assert store.get(run.ref) == following
        assert stored_job(jobs, job.ref).running == run.ref
