"""The road of a one-shot action in simulated time."""

from datetime import timedelta

import pytest

from duetime import RetryPolicy, Status
from duetime.errors import InvalidPayload, NotFound, StateConflict
from duetime.model.new_action import PAYLOAD_LIMIT
from duetime.scheduler import Order
from tests.journeys.conftest import NOON, Charge, Flaky, Stubborn


def test_a_near_action_runs_once_at_its_due_time(shop, cloud):
    action = cloud.scheduler.schedule(
        Charge(), at=timedelta(seconds=90.25), precision="millisecond", correlation_id="order:1"
    )
    cloud.advance(seconds=90)
    assert shop.charged == []
    cloud.advance(hours=12)
    assert shop.charged == [("o-1", NOON + timedelta(seconds=90.25))]
    settled = cloud.scheduler.get(action.id)
    assert settled.status is Status.EXECUTED
    assert settled.executed_at == NOON + timedelta(seconds=90.25)


def test_a_far_action_is_woken_early_and_runs_at_its_due_time(shop, cloud):
    cloud.scheduler.schedule(Charge(), at=timedelta(days=60, seconds=0.5), precision="millisecond")
    cloud.advance(days=61)
    assert shop.charged == [("o-1", NOON + timedelta(days=60, seconds=0.5))]


def test_an_action_due_in_the_past_runs_at_once(shop, cloud):
    cloud.scheduler.schedule(Charge(), at=NOON - timedelta(days=3))
    cloud.advance(seconds=1)
    assert shop.charged == [("o-1", NOON)]


def test_a_cancelled_action_does_not_run_and_names_the_caller(shop, cloud):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    cancelled = cloud.scheduler.cancel(action.id)
    assert (cancelled.status, cancelled.cancelled_by) == (Status.CANCELLED, "simulation")
    cloud.advance(hours=24)
    assert shop.charged == []


@pytest.mark.parametrize("hours", [0.05, 1, 48])
def test_a_rescheduled_action_runs_at_its_new_time_only(shop, cloud, hours):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=10))
    cloud.advance(minutes=30)
    cloud.scheduler.reschedule(action.id, timedelta(hours=hours))
    cloud.advance(hours=72)
    assert shop.charged == [("o-1", NOON + timedelta(minutes=30, hours=hours))]


def test_an_action_is_retrying_between_its_attempts_and_not_after_a_redrive(shop, cloud):
    action = cloud.scheduler.schedule(Flaky(fails=9), at=timedelta(0))
    assert cloud.scheduler.get(action.id).is_retrying is False
    cloud.advance(seconds=1)
    assert cloud.scheduler.get(action.id).is_retrying is True
    assert [row.id for row in cloud.scheduler.list(status="retrying")] == [action.id]
    cloud.advance(hours=48)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, failed.is_retrying) == (Status.FAILED, False)
    redriven = cloud.scheduler.redrive(action.id, at=timedelta(hours=1))
    assert (redriven.status, redriven.is_retrying) == (Status.PENDING, False)


def test_a_failing_handler_is_run_again_after_the_policys_back_offs(shop, cloud):
    action = cloud.scheduler.schedule(Flaky(fails=2), at=timedelta(0))
    cloud.advance(hours=3)
    assert shop.tries == [NOON, NOON + timedelta(seconds=60), NOON + timedelta(seconds=3_660)]
    settled = cloud.scheduler.get(action.id)
    assert settled.status is Status.EXECUTED
    assert [(number, item.ending) for number, item in settled.numbered_attempts()] == [
        (1, "failed"),
        (2, "failed"),
        (3, "executed"),
    ]
    assert settled.nominal_at == NOON


def test_the_last_attempt_of_the_policy_decides(shop, cloud):
    action = cloud.scheduler.schedule(Flaky(fails=9), at=timedelta(0))
    cloud.advance(hours=3)
    failed = cloud.scheduler.get(action.id)
    assert (failed.status, len(shop.tries)) == (Status.FAILED, 3)
    assert failed.failure_reason == "ConnectionError: the bank did not answer"


def test_a_redriven_action_has_all_its_attempts_again(shop, cloud):
    action = cloud.scheduler.schedule(Flaky(fails=4), at=timedelta(0))
    cloud.advance(hours=3)
    cloud.scheduler.redrive(action.id)
    cloud.advance(hours=3)
    settled = cloud.scheduler.get(action.id)
    assert (settled.status, settled.attempt, len(shop.tries)) == (Status.EXECUTED, 5, 5)
    assert settled.nominal_at == NOON


def test_a_fatal_failure_is_not_tried_again(shop, cloud):
    action = cloud.scheduler.schedule(Stubborn(says="fatal"), at=timedelta(0))
    cloud.advance(hours=12)
    assert len(shop.tries) == 1
    assert cloud.scheduler.get(action.id).failure_reason == "Fatal: this card was stolen"


def test_a_handler_can_set_the_time_of_its_retry(shop, cloud):
    cloud.scheduler.schedule(Stubborn(says="later"), at=timedelta(0))
    cloud.advance(hours=12)
    assert shop.tries == [NOON, NOON + timedelta(hours=2), NOON + timedelta(hours=4)]


def test_many_are_scheduled_with_one_call_and_each_runs_at_its_own_time(shop, cloud):
    orders = [Order(payload=Charge(order=f"o-{index}"), at=timedelta(minutes=index)) for index in range(100)]
    cloud.scheduler.schedule_many(orders)
    cloud.advance(hours=2)
    assert shop.charged == [(f"o-{index}", NOON + timedelta(minutes=index)) for index in range(100)]


def test_actions_are_found_by_their_correlation_id_oldest_first(cloud):
    for note in ("first", "second"):
        cloud.scheduler.schedule(Charge(note=note), at=timedelta(days=1), correlation_id="order:7")
        cloud.advance(seconds=1)
    cloud.scheduler.schedule(Charge(), at=timedelta(days=1), correlation_id="order:8")
    found = cloud.scheduler.list(correlation_id="order:7")
    assert [action.due_at for action in found] == [
        NOON + timedelta(days=1, seconds=number) for number in (0, 1)
    ]


def test_settled_actions_are_deleted_after_the_retention(cloud):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(0))
    cloud.advance(days=29, hours=12)
    assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    cloud.advance(days=1)
    with pytest.raises(NotFound, match="no action"):
        cloud.scheduler.get(action.id)


def test_a_large_payload_reaches_its_handler(cloud, shop):
    cloud.scheduler.schedule(Charge(order="big", note="x" * 100_000), at=timedelta(seconds=5))
    cloud.advance(seconds=6)
    assert [order for order, _ in shop.charged] == ["big"]


def test_a_payload_too_large_for_an_item_is_rejected_with_both_sizes(cloud):
    with pytest.raises(InvalidPayload, match=rf"is 500,0\d\d bytes; at most {PAYLOAD_LIMIT:,} fit"):
        cloud.scheduler.schedule(Charge(note="x" * 500_000), at=timedelta(0))
    assert cloud.actions() == ()


def test_a_settled_action_can_be_neither_cancelled_nor_rescheduled(cloud):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(0))
    cloud.advance(seconds=1)
    with pytest.raises(StateConflict, match=r"cannot cancel action .* it is executed"):
        cloud.scheduler.cancel(action.id)
    with pytest.raises(StateConflict, match=r"cannot reschedule action .* only a pending one can be"):
        cloud.scheduler.reschedule(action.id, timedelta(hours=1))
    with pytest.raises(StateConflict, match=r"cannot redrive action .* only a failed one can be"):
        cloud.scheduler.redrive(action.id)


@pytest.mark.parametrize("whose", ["another tenant's", "unknown"])
def test_an_unknown_action_and_another_tenants_look_the_same(cloud, whose):
    theirs = cloud.scheduler_for("globex").schedule(Charge(), at=timedelta(hours=1))
    requested = theirs.id if whose == "another tenant's" else "019b76da-a800-735e-a389-6f2fb6b5d775"
    for call in (
        cloud.scheduler.get,
        cloud.scheduler.cancel,
        cloud.scheduler.redrive,
        lambda action_id: cloud.scheduler.reschedule(action_id, timedelta(hours=1)),
    ):
        with pytest.raises(NotFound, match=f"^there is no action '{requested}'$"):
            call(requested)
    assert cloud.scheduler_for("globex").get(theirs.id).status is Status.PENDING
    assert len(cloud.scheduler.list()) == 0


def test_the_policy_is_the_one_of_the_first_claim(shop, cloud):
    action = cloud.scheduler.schedule(Flaky(fails=9), at=timedelta(0))
    cloud.advance(seconds=1)
    snapshot = cloud.scheduler.get(action.id).retry
    assert RetryPolicy.parse(snapshot) == RetryPolicy(attempts=3, backoff=[60, 3_600], jitter=0)
