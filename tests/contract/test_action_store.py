"""The contract of the action store over each back end that duetime has, and its rules over some."""

import pytest

from duetime_contract import ActionStoreContract, DueOrderContract
from tests.contract.rules import ActionRules


class TestActionStore(ActionStoreContract):
    @pytest.fixture
    def store(self, store):
        return store


class TestDueOrder(DueOrderContract):
    @pytest.fixture
    def store(self, ordered_store):
        return ordered_store


class TestActionRules(ActionRules):
    @pytest.fixture
    def store(self, rule_store):
        return rule_store
