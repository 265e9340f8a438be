"""The contract of the job store over each back end that duetime has, and its rules over some."""

import pytest

from duetime_contract import JobStoreContract
from tests.contract.rules import JobRules


class TestJobStore(JobStoreContract):
    @pytest.fixture
    def store(self, back_end):
        return back_end.store

    @pytest.fixture
    def jobs(self, back_end):
        return back_end.jobs


class TestJobRules(JobRules):
    @pytest.fixture(autouse=True)
    def over(self, rule_back_end):
        self.back_end = rule_back_end

    @pytest.fixture
    def store(self):
        return self.back_end.store

    @pytest.fixture
    def jobs(self):
        return self.back_end.jobs

    def remove(self, _store, row):
        self.back_end.remove(row.ref)
