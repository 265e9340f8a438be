"""The subject of a contract: the store. A test of a back end overrides its fixtures."""
# ruff: noqa: D102, S101 - what is not as it should be fails the test that asked

from __future__ import annotations

from datetime import datetime

import pytest

from duetime.model.action import Action, SkipReason, Status
from duetime.model.job import Job
from duetime.ports.action_store import ActionStore
from duetime.ports.job_store import JobStore
from duetime_contract.job_specimens import added, planned, taken
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    NOON,
    ORPHANED_AT,
    claim,
    due_time_in_index,
    end,
    running,
    scheduled,
    stored_row,
)


class StoreContract:
    """What each part of the store's contract stands on."""

    @pytest.fixture
    def store(self) -> ActionStore:
        raise NotImplementedError("override the fixture `store`: it returns an empty store of your back end")

    @pytest.fixture
    def action(self, store: ActionStore) -> Action:
        return scheduled(store)

    @pytest.fixture
    def claimed(self, store: ActionStore) -> Action:
        return running(store)

    @pytest.fixture
    def taken_over(self, store: ActionStore, claimed: Action) -> Action:
        """The claimed action, as another worker took it over."""
        return claim(store, claimed.ref, ORPHANED_AT)

    @pytest.fixture
    def row(self, store: ActionStore) -> Action:
        """A pending occurrence of the nightly job."""
        return planned(store)

    def let_indexes_follow(self) -> None:
        """Return once the indexes (due, correlation, failed) show the last write.

        Override it if yours lag.
        """

    def due_time(self, store: ActionStore, action: Action) -> datetime | None:
        """Return the due time of a row in the due index, once that shows the last write; None without one."""
        self.let_indexes_follow()
        return due_time_in_index(store, action)

    def bring_to(self, store: ActionStore, status: Status) -> Action:
        """A row that has reached `status` by the port's own methods."""
        action = scheduled(store)
        if status is Status.SKIPPED:
            store.skip(action, SkipReason.REQUESTED, note="", by=CALLER, at=NOON, kept_until=EXPIRY)
        elif status is not Status.PENDING:
            claimed = claim(store, action.ref)
            if status is not Status.PROCESSING:
                store.settle(claimed, end(status))
        row = stored_row(store, action.ref)
        assert row.status is status
        return row


class JobsContract(StoreContract):
    """What each part of the jobs' contract stands on: `store` and `jobs` are two faces of one back end."""

    @pytest.fixture
    def jobs(self) -> JobStore:
        """The jobs of the same back end, none of them added."""
        raise NotImplementedError(
            "override the fixture `jobs`: it returns the job store over the same tables"
        )

    @pytest.fixture
    def job(self, jobs: JobStore) -> Job:
        return added(jobs)

    @pytest.fixture
    def run(self, store: ActionStore, jobs: JobStore, job: Job) -> Action:
        """An occurrence of the nightly job, claimed with its lock at noon."""
        return taken(store, jobs, job)
