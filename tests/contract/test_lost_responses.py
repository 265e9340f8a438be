"""What holds of the actions table when an answer is lost: by a caller's repeat, and by botocore's own."""

import pytest

from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.model.lease import Applied, Claimed, SettleResult
from duetime_contract.job_runs import JobRunContract, RecordContract
from duetime_contract.scheduling import LARGE, PayloadContract, SchedulingContract
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    HOUR,
    LEASE_END,
    MINUTE,
    NOON,
    ORPHANED_AT,
    claim,
    end,
    fresh,
    running,
    scheduled,
    stored_row,
    terms,
)
from tests.contract.networks import LosesAnAnswer, SendsTwice
from tests.contract.rules.changing import (
    CancelContract,
    DismissContract,
    LateContract,
    RedriveContract,
    RescheduleContract,
)
from tests.contract.rules.claiming import ClaimContract, TakeOverContract
from tests.contract.rules.legality import LegalityContract
from tests.contract.rules.settling import AttemptsContract, LeaseContract, RetryContract, SettleContract
from tests.contract.rules.skipping import SkipContract


class TestAStoreWhoseWritesAreSentTwice(
    SchedulingContract,
    PayloadContract,
    ClaimContract,
    TakeOverContract,
    LeaseContract,
    SettleContract,
    RetryContract,
    AttemptsContract,
    CancelContract,
    DismissContract,
    RedriveContract,
    RescheduleContract,
    LateContract,
    LegalityContract,
    JobRunContract,
    SkipContract,
    RecordContract,
):
    @pytest.fixture
    def store(self, any_table):
        return any_table.store(SendsTwice(any_table.client))


@pytest.fixture
def losing(table):
    """A store that loses the answer of the first call of an operation."""
    return lambda operation, meanwhile=lambda: None: table.store(
        LosesAnAnswer(table.client, operation, meanwhile)
    )


@pytest.fixture
def steady(table):
    """A store over the same table, which loses nothing."""
    return table.store()


def test_a_put_whose_response_was_lost_can_be_repeated_even_after_the_action_has_run(losing, steady):
    action = fresh(steady)
    caller = losing("put_item", lambda: steady.settle(claim(steady, action.ref), end(Status.EXECUTED)))
    with pytest.raises(BackendUnavailable):
        caller.put(action)
    caller.put(action)
    assert stored_row(steady, action.ref).status is Status.EXECUTED


def test_a_payload_whose_response_was_lost_is_put_again_with_its_row(losing, steady):
    action = fresh(steady, payload=LARGE, payload_offloaded=True)
    caller = losing("put_item")
    with pytest.raises(BackendUnavailable):
        caller.put(action)
    assert steady.get(action.ref) is None
    caller.put(action)
    assert steady.get(action.ref) == action


def test_a_claim_whose_response_was_lost_succeeds_when_repeated_with_its_nonce(losing, steady):
    action, claim_terms, worker = scheduled(steady), terms(), losing("update_item")
    with pytest.raises(BackendUnavailable):
        worker.claim(action, claim_terms)
    assert worker.claim(action, claim_terms) == Claimed(stored_row(steady, action.ref))
    assert stored_row(steady, action.ref).fence == 1


def test_a_claim_whose_response_was_lost_is_taken_over_if_no_worker_repeats_it(losing, steady):
    action, worker = scheduled(steady), losing("update_item")
    with pytest.raises(BackendUnavailable):
        worker.claim(action, terms())
    assert claim(steady, action.ref, ORPHANED_AT).recoveries == 1


def test_a_claim_whose_payload_was_not_read_returns_it_when_repeated(losing, steady):
    action = fresh(steady, payload=LARGE, payload_offloaded=True)
    steady.put(action)
    worker, claim_terms = losing("get_item"), terms()
    with pytest.raises(BackendUnavailable):
        worker.claim(action, claim_terms)
    claimed = worker.claim(action, claim_terms)
    assert isinstance(claimed, Claimed)
    assert (claimed.action.payload, claimed.action.fence) == (LARGE, 1)


def test_a_heartbeat_whose_response_was_lost_may_be_repeated(losing, steady):
    claimed, worker = running(steady), losing("update_item")
    with pytest.raises(BackendUnavailable):
        worker.renew(claimed, LEASE_END + MINUTE)
    assert worker.renew(claimed, LEASE_END + 2 * MINUTE) is not None
    assert stored_row(steady, claimed.ref).lease_until == LEASE_END + 2 * MINUTE


@pytest.mark.parametrize("status", [Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
def test_a_settle_whose_response_was_lost_succeeds_when_repeated(losing, steady, status):
    claimed, worker = running(steady), losing("update_item")
    with pytest.raises(BackendUnavailable):
        worker.settle(claimed, end(status))
    before = steady.get(claimed.ref)
    assert worker.settle(claimed, end(status)) is SettleResult.SETTLED
    assert steady.get(claimed.ref) == before


def test_a_settle_for_retry_whose_response_was_lost_does_not_change_the_next_run(losing, steady):
    claimed = running(steady)
    worker = losing("update_item", lambda: claim(steady, claimed.ref, NOON + 2 * HOUR))
    with pytest.raises(BackendUnavailable):
        worker.settle(claimed, end(Status.PENDING))
    following = steady.get(claimed.ref)
    assert worker.settle(claimed, end(Status.PENDING)) is SettleResult.LEASE_LOST
    assert steady.get(claimed.ref) == following


def test_a_cancel_whose_response_was_lost_returns_its_result_when_repeated(losing, steady):
    action, caller = scheduled(steady), losing("update_item")
    with pytest.raises(BackendUnavailable):
        caller.cancel(action, by=CALLER, at=NOON, kept_until=EXPIRY)
    repeated = caller.cancel(action, by=CALLER, at=NOON, kept_until=EXPIRY)
    assert repeated == Applied(stored_row(steady, action.ref))


def test_a_redrive_whose_response_was_lost_returns_its_result_when_repeated(losing, steady):
    claimed = running(steady)
    steady.settle(claimed, end(Status.FAILED))
    failed, caller = stored_row(steady, claimed.ref), losing("update_item")
    with pytest.raises(BackendUnavailable):
        caller.redrive(failed, NOON + HOUR, by=CALLER, at=NOON + HOUR)
    repeated = caller.redrive(failed, NOON + HOUR, by=CALLER, at=NOON + HOUR)
    assert repeated == Applied(stored_row(steady, claimed.ref))
    assert stored_row(steady, claimed.ref).generation == 2


def test_a_reschedule_whose_response_was_lost_leaves_the_action_at_its_new_time_when_repeated(losing, steady):
    action, caller = scheduled(steady), losing("update_item")
    with pytest.raises(BackendUnavailable):
        caller.reschedule(action, NOON + HOUR, by=CALLER, at=NOON)
    assert isinstance(caller.reschedule(action, NOON + HOUR, by=CALLER, at=NOON), Applied)
    assert [row.due_at for row in steady.of_tenant(ACME, limit=5, cursor=None)] == [NOON + HOUR]
