"""The subject: the store that a contract is about. Whoever checks a back end overrides what is here."""
# ruff: noqa: S101 - what is not as it should be fails the test that asked

from __future__ import annotations

from dataclasses import replace

import pytest

from duetime.action import Action, Status
from duetime.ports import ActionStore
from duetime.testing.contract.specimens import claim, end, fresh, scheduled, standing


class StoreContract:
    """What each part of the store's contract stands on."""

    @pytest.fixture
    def store(self) -> ActionStore:
        """An empty store, for this test alone."""
        raise NotImplementedError("override the fixture `store`: it returns an empty store of your back end")

    def let_indexes_follow(self) -> None:
        """Return once the due and the correlation index show the last write; override it if yours lag."""

    def put_skipped(self, store: ActionStore) -> Action:
        """A skipped row. No method skips a one-shot action, so a row of that status is put as it stands."""
        action = replace(fresh(store), status=Status.SKIPPED)
        store.put(action)
        return action

    def bring_to(self, store: ActionStore, status: Status) -> Action:
        """A row that has reached `status` by the port's own methods."""
        if status is Status.SKIPPED:
            return standing(store, self.put_skipped(store).ref)
        action = scheduled(store)
        if status is not Status.PENDING:
            claimed = claim(store, action.ref)
            if status is not Status.PROCESSING:
                store.settle(claimed, end(status))
        row = standing(store, action.ref)
        assert row.status is status
        return row
