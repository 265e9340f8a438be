"""The contract of the ports, to be run against a back end of your own; it needs pytest.

::

    from duetime.testing.contract import ActionStoreContract

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
from duetime.testing.contract.access import AuditTrailContract, GrantsContract
from duetime.testing.contract.backfills import BackfillContract
from duetime.testing.contract.batches import BatchContract, ReleaseContract
from duetime.testing.contract.changing import (
    CancelContract,
    DismissContract,
    LateContract,
    RedriveContract,
    RescheduleContract,
    StrangerContract,
)
from duetime.testing.contract.checkpoints import CheckpointContract
from duetime.testing.contract.claiming import ClaimContract, TakeOverContract
from duetime.testing.contract.committing import CommitContract, OccurrenceCommitContract
from duetime.testing.contract.debounce import DebounceContract, DebounceRaceContract
from duetime.testing.contract.due import DueContract, DueOrderContract
from duetime.testing.contract.evicting import EvictContract, SlotRaceContract
from duetime.testing.contract.handing_over import HandOverContract
from duetime.testing.contract.idempotency import IdempotencyContract, KeyRaceContract, KeyRedriveContract
from duetime.testing.contract.job_changes import JobChangeContract
from duetime.testing.contract.job_claims import OccurrenceClaimContract
from duetime.testing.contract.job_history import JobHistoryContract
from duetime.testing.contract.job_locks import LockContract
from duetime.testing.contract.job_reports import DeadlineReportContract
from duetime.testing.contract.job_runs import JobRunContract, RecordContract, SkipContract
from duetime.testing.contract.job_settles import OccurrenceSettleContract
from duetime.testing.contract.job_waits import EndPendingContract, WaitContract
from duetime.testing.contract.job_wakes import JobWakesContract
from duetime.testing.contract.jobs import AttendContract, CountContract, CursorContract, JobRowContract
from duetime.testing.contract.legality import LegalityContract
from duetime.testing.contract.lists import FailedContract, ListContract
from duetime.testing.contract.notifications import InboxContract, PreferencesContract
from duetime.testing.contract.notified import DeliveriesContract, WindowsContract
from duetime.testing.contract.races import RaceContract
from duetime.testing.contract.rate_limits import SetLimitsContract
from duetime.testing.contract.rates import RateContract
from duetime.testing.contract.regions import EpochContract, RegionsContract
from duetime.testing.contract.run_counts import RunCountsContract
from duetime.testing.contract.scheduling import PayloadContract, SchedulingContract
from duetime.testing.contract.settling import AttemptsContract, LeaseContract, RetryContract, SettleContract
from duetime.testing.contract.slots import LineContract, SlotContract
from duetime.testing.contract.tracebacks import TracebackContract
from duetime.testing.contract.undelivered import UndeliveredContract
from duetime.testing.contract.usage import UsageCountsContract
from duetime.testing.contract.wakes import (
    BookmarksContract,
    DueQueuesContract,
    RoutesContract,
    TimersContract,
)
from duetime.testing.contract.work_pauses import WorkPausesContract

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
    """The whole contract of `duetime.ports.actions.ActionStore`: override the fixture `store`.

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
    """The whole contract of `duetime.ports.jobs.JobStore`.

    Override the fixtures `store` and `jobs`, two faces of one back end, and the method `remove`.
    """
