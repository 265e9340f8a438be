"""The rules of actions, of jobs and of each kind of items: duetime's own code over any back end's items.

What a back end can get wrong is in `duetime_contract`.
"""

import pkgutil

import pytest

for _part in pkgutil.iter_modules(__path__, f"{__name__}."):
    pytest.register_assert_rewrite(_part.name)

# ruff: noqa: E402
from tests.contract.rules.backfills import BackfillContract
from tests.contract.rules.changing import (
    CancelContract,
    DismissContract,
    LateContract,
    RedriveContract,
    RescheduleContract,
    StrangerContract,
)
from tests.contract.rules.checkpoints import CheckpointContract
from tests.contract.rules.claiming import ClaimContract, TakeOverContract
from tests.contract.rules.debounce import DebounceContract, DebounceRaceContract
from tests.contract.rules.evicting import EvictContract, SlotRaceContract
from tests.contract.rules.handing_over import HandOverContract
from tests.contract.rules.idempotency import IdempotencyContract, KeyRaceContract, KeyRedriveContract
from tests.contract.rules.job_changes import JobChangeContract
from tests.contract.rules.job_claims import OccurrenceClaimContract
from tests.contract.rules.job_locks import LockContract
from tests.contract.rules.job_reports import DeadlineReportContract
from tests.contract.rules.job_settles import OccurrenceSettleContract
from tests.contract.rules.job_waits import EndPendingContract, WaitContract
from tests.contract.rules.legality import LegalityContract
from tests.contract.rules.rates import RateContract
from tests.contract.rules.regions import EpochContract
from tests.contract.rules.settling import AttemptsContract, LeaseContract, RetryContract, SettleContract
from tests.contract.rules.skipping import SkipContract
from tests.contract.rules.slots import LineContract, SlotContract
from tests.contract.rules.tracebacks import TracebackContract


class ActionRules(
    ClaimContract,
    TakeOverContract,
    EpochContract,
    LeaseContract,
    SettleContract,
    RetryContract,
    AttemptsContract,
    CheckpointContract,
    TracebackContract,
    HandOverContract,
    CancelContract,
    LateContract,
    RescheduleContract,
    DismissContract,
    RedriveContract,
    StrangerContract,
    LegalityContract,
    SkipContract,
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
):
    """The rules of `duetime.ports.action_store.ActionStore`."""


class JobRules(
    JobChangeContract,
    DeadlineReportContract,
    OccurrenceClaimContract,
    LockContract,
    WaitContract,
    OccurrenceSettleContract,
    EndPendingContract,
    BackfillContract,
):
    """The rules of `duetime.ports.job_store.JobStore`."""
