"""The contract of the action store, over each back end that duetime has."""

import pytest

from duetime_contract import ActionStoreContract, DueOrderContract


class TestActionStore(ActionStoreContract):
    @pytest.fixture
    def store(self, store):
        return store


class TestDueOrder(DueOrderContract):
    @pytest.fixture
    def store(self, ordered_store):
        return ordered_store
