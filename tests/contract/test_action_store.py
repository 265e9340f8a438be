"""The contract of the action store, over each back end that duetime has."""

import pytest

from duetime.testing.contract import ActionStoreContract


class TestActionStore(ActionStoreContract):
    @pytest.fixture
    def store(self, store):
        return store
