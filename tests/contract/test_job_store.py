"""The contract of the job store, over each back end that duetime has."""

import pytest

from duetime_contract import JobStoreContract


class TestJobStore(JobStoreContract):
    @pytest.fixture(autouse=True)
    def over(self, back_end):
        self.back_end = back_end

    @pytest.fixture
    def store(self):
        return self.back_end.store

    @pytest.fixture
    def jobs(self):
        return self.back_end.jobs

    def remove(self, store, row):  # noqa: ARG002 - a contract hands its hooks more than each needs
        self.back_end.remove(row.ref)
