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
from duetime_contract.access import AuditTrailContract, GrantsContract
from duetime_contract.backfills import BackfillContract
from duetime_contract.batches import BatchContract, ReleaseContract
from duetime_contract.changing import (
    CancelContract,
    DismissContract,
    LateContract,
    RedriveContract,
    RescheduleContract,
    StrangerContract,
)
from duetime_contract.checkpoints import CheckpointContract
from duetime_contract.claiming import ClaimContract, TakeOverContract
from duetime_contract.committing import CommitContract, OccurrenceCommitContract
from duetime_contract.debounce import DebounceContract, DebounceRaceContract
from duetime_contract.due import DueContract, DueOrderContract
from duetime_contract.evicting import EvictContract, SlotRaceContract
from duetime_contract.handing_over import HandOverContract
from duetime_contract.idempotency import IdempotencyContract, KeyRaceContract, KeyRedriveContract
from duetime_contract.job_changes import JobChangeContract
from duetime_contract.job_claims import OccurrenceClaimContract
from duetime_contract.job_history import JobHistoryContract
from duetime_contract.job_locks import LockContract
from duetime_contract.job_reports import DeadlineReportContract
from duetime_contract.job_runs import JobRunContract, RecordContract, SkipContract
from duetime_contract.job_settles import OccurrenceSettleContract
from duetime_contract.job_waits import EndPendingContract, WaitContract
from duetime_contract.job_wakes import JobWakesContract
from duetime_contract.jobs import AttendContract, CountContract, CursorContract, JobRowContract
from duetime_contract.legality import LegalityContract
from duetime_contract.lists import FailedContract, ListContract
from duetime_contract.notifications import InboxContract, PreferencesContract
from duetime_contract.notified import DeliveriesContract, WindowsContract
from duetime_contract.races import RaceContract
from duetime_contract.rate_limits import SetLimitsContract
from duetime_contract.rates import RateContract
from duetime_contract.regions import EpochContract, RegionsContract
from duetime_contract.run_counts import RunCountsContract
from duetime_contract.scheduling import PayloadContract, SchedulingContract
from duetime_contract.settling import AttemptsContract, LeaseContract, RetryContract, SettleContract
from duetime_contract.slots import LineContract, SlotContract
from duetime_contract.tracebacks import TracebackContract
from duetime_contract.undelivered import UndeliveredContract
from duetime_contract.usage import UsageCountsContract
from duetime_contract.wakes import (
    BookmarksContract,
    DueQueuesContract,
    RoutesContract,
    TimersContract,
)
from duetime_contract.work_pauses import WorkPausesContract

__all__ = [
    "ActionStoreContract",
    "AuditTrailContract",
    "BookmarksContract",
    "DeliveriesContract",
    "DueOrderContract",
    "DueQueuesContract",
    "GrantsContract",
    "InboxContract",
    "JobStoreContract",
    "JobWakesContract",
    "PreferencesContract",
    "RegionsContract",
    "RoutesContract",
    "RunCountsContract",
    "SetLimitsContract",
    "TimersContract",
    "UndeliveredContract",
    "UsageCountsContract",
    "WindowsContract",
    "WorkPausesContract",
]


class ActionStoreContract(
    SchedulingContract,
    PayloadContract,
    ClaimContract,
    TakeOverContract,
    EpochContract,
    LeaseContract,
    SettleContract,
    RetryContract,
    AttemptsContract,
    CheckpointContract,
    TracebackContract,
    CommitContract,
    HandOverContract,
    CancelContract,
    LateContract,
    RescheduleContract,
    DismissContract,
    RedriveContract,
    StrangerContract,
    LegalityContract,
    ListContract,
    FailedContract,
    DueContract,
    JobRunContract,
    SkipContract,
    RecordContract,
    JobHistoryContract,
    RaceContract,
    IdempotencyContract,
    KeyRedriveContract,
    KeyRaceContract,
    DebounceContract,
    DebounceRaceContract,
    SlotContract,
    LineContract,
    EvictContract,
    SlotRaceContract,
    RateContract,
    BatchContract,
    ReleaseContract,
):
    """The whole contract of `duetime.ports.action_store.ActionStore`: override the fixture `store`.

    `DueOrderContract` is the rest of it, for a store that is set up with ``due_order``.
    """


class JobStoreContract(
    JobRowContract,
    AttendContract,
    JobChangeContract,
    DeadlineReportContract,
    CursorContract,
    CountContract,
    OccurrenceClaimContract,
    LockContract,
    WaitContract,
    OccurrenceSettleContract,
    OccurrenceCommitContract,
    EndPendingContract,
    BackfillContract,
):
    """The whole contract of `duetime.ports.job_store.JobStore`.

    Override the fixtures `store` and `jobs`, two faces of one back end, and the method `remove`.
    """
