"""The contract of the ports, to be run against a back end of your own; it needs pytest.

::

    from duetime_contract import ActionStoreContract

    class TestMyStore(ActionStoreContract):
        @pytest.fixture
        def store(self):
            return MyStore(...)  # empty, for one test alone

Each sentence of `duetime.ports.wakeups` and `duetime.ports.jobs` that can be seen from outside is a test
whose name says it. The tests look at states,
never at the calls that made them.
"""

from __future__ import annotations

import pkgutil

import pytest

for _part in pkgutil.iter_modules(__path__, f"{__name__}."):
    pytest.register_assert_rewrite(_part.name)  # before the imports: a failure shows the compared values

# ruff: noqa: E402
from duetime_contract.batches import BatchContract, ReleaseContract
from duetime_contract.committing import CommitContract, OccurrenceCommitContract
from duetime_contract.due import DueContract, DueOrderContract
from duetime_contract.items import ItemsContract
from duetime_contract.job_history import JobHistoryContract
from duetime_contract.job_runs import JobRunContract, RecordContract
from duetime_contract.job_wakes import JobWakesContract
from duetime_contract.jobs import AttendContract, CountContract, CursorContract, JobRowContract
from duetime_contract.lists import FailedContract, ListContract
from duetime_contract.races import RaceContract
from duetime_contract.row_changes import RowChangeContract, RowWriteContract
from duetime_contract.scheduling import PayloadContract, SchedulingContract
from duetime_contract.wakes import BookmarksContract, DueQueuesContract, RoutesContract, TimersContract

__all__ = [
    "ActionStoreContract",
    "BookmarksContract",
    "DueOrderContract",
    "DueQueuesContract",
    "JobStoreContract",
    "JobWakesContract",
    "RoutesContract",
    "TimersContract",
]


class ActionStoreContract(
    ItemsContract,
    RowWriteContract,
    RowChangeContract,
    SchedulingContract,
    PayloadContract,
    CommitContract,
    ListContract,
    FailedContract,
    DueContract,
    JobRunContract,
    RecordContract,
    JobHistoryContract,
    RaceContract,
    BatchContract,
    ReleaseContract,
):
    """The whole contract of `duetime.ports.action_store.ActionStore`: override the fixture `store`.

    `DueOrderContract` is the rest of it, for a store that is set up with ``due_order``.
    """


class JobStoreContract(
    JobRowContract,
    AttendContract,
    CursorContract,
    CountContract,
    OccurrenceCommitContract,
):
    """The whole contract of `duetime.ports.job_store.JobStore`.

    Override the fixtures `store` and `jobs`, two faces of one back end.
    """
