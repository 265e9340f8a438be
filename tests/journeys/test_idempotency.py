"""Idempotency keys in simulated time."""

from datetime import timedelta

import pytest

from duetime import App, Order, Payload, Status
from duetime.errors import InvalidArgument, KeyConflict, StateConflict
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON, Charge, Stubborn

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
KEY = "order-17"


def schedule(cloud, payload=None, at=HOUR, **more):
    return cloud.scheduler.schedule(payload or Charge(), at=at, idempotency_key=KEY, **more)


def test_the_same_call_twice_runs_once(shop, cloud):
    first = schedule(cloud)
    assert schedule(cloud, at=2 * HOUR) == first
    cloud.advance(days=2)
    assert shop.charged == [("o-1", NOON + HOUR)]


def test_a_repeat_after_the_run_returns_its_result(cloud):
    first = schedule(cloud)
    cloud.advance(hours=2)
    assert (schedule(cloud).id, schedule(cloud).status) == (first.id, Status.EXECUTED)


def test_a_key_holds_as_long_as_the_setting_or_the_call_states(shop):
    cloud = SimulatedCloud(shop.app, start=NOON, settings=Settings(idempotency_ttl=2 * HOUR))
    schedule(cloud, at=timedelta(0))
    cloud.advance(hours=3)
    second = schedule(cloud, at=timedelta(0), idempotency_ttl=5 * DAY)
    cloud.advance(days=4)
    assert schedule(cloud).id == second.id
    assert len(shop.charged) == 2


def test_the_key_of_an_action_that_is_due_after_its_time_to_live_holds_until_it_has_run(shop, cloud):
    first = schedule(cloud, at=45 * DAY)
    cloud.advance(days=44)
    assert schedule(cloud).id == first.id
    cloud.advance(days=2)
    assert schedule(cloud).id != first.id


def test_a_key_is_removed_with_its_row(cloud):
    first = schedule(cloud, idempotency_ttl=30 * DAY)
    cloud.advance(days=31)
    assert cloud.actions() == ()
    assert schedule(cloud, Charge(order="o-2")).id != first.id


def test_a_key_of_another_action_is_a_conflict_that_names_it(cloud):
    first = schedule(cloud)
    with pytest.raises(KeyConflict, match=f"'{KEY}' stands for action {first.id}") as conflict:
        schedule(cloud, Charge(order="o-2"))
    assert conflict.value.action_id == first.id
    with pytest.raises(KeyConflict, match="idempotency key"):
        schedule(cloud, Stubborn(says="fatal"))
    assert [action.id for action in cloud.actions()] == [first.id]


def test_a_key_of_a_payload_with_other_undeclared_names_is_a_conflict():
    class Parcel(Payload, extra="allow"):
        n: int = 1

    app = App()

    @app.action
    def send(payload: Parcel) -> None: ...

    cloud = SimulatedCloud(app, start=NOON)
    schedule(cloud, Parcel(a=1))
    with pytest.raises(KeyConflict, match="idempotency key"):
        schedule(cloud, Parcel(b=1))


def test_each_tenant_has_its_own_keys(cloud):
    schedule(cloud)
    cloud.scheduler_for("globex").schedule(Charge(order="o-2"), at=HOUR, idempotency_key=KEY)
    assert len(cloud.actions()) == 2


def test_many_are_returned_in_order_with_the_first_actions_of_taken_keys(cloud):
    first = schedule(cloud)
    keys = [None, KEY, "order-18", None, "order-18"]
    actions = cloud.scheduler.schedule_many(
        [Order(payload=Charge(), at=HOUR, idempotency_key=key) for key in keys]
    )
    assert [action.idempotency_key for action in actions] == keys
    assert actions[1] == first
    assert actions[2] == actions[4]
    assert len(cloud.actions()) == 4


def test_a_conflict_among_many_schedules_none_of_those_without_a_key(cloud):
    first = schedule(cloud)
    orders = [
        Order(payload=Charge(), at=HOUR),
        Order(payload=Charge(order="o-2"), at=HOUR, idempotency_key=KEY),
    ]
    with pytest.raises(KeyConflict, match="idempotency key"):
        cloud.scheduler.schedule_many(orders)
    assert cloud.actions() == (first,)


def test_a_redriven_action_has_its_key_again_unless_another_has_it(cloud):
    failed = schedule(cloud, Stubborn(says="fatal"))
    cloud.advance(days=2)
    cloud.scheduler.redrive(failed.id, at=HOUR)
    assert schedule(cloud, Stubborn(says="fatal")).id == failed.id
    cloud.advance(days=2)
    second = schedule(cloud, Charge())
    with pytest.raises(StateConflict, match=rf"still has its idempotency key \(action {second.id} has it"):
        cloud.scheduler.redrive(failed.id)
    assert cloud.scheduler.get(failed.id).status is Status.FAILED


@pytest.mark.parametrize("ttl", [timedelta(seconds=59), 31 * DAY, -DAY, timedelta(0)])
def test_an_invalid_time_to_live_is_rejected(cloud, ttl):
    with pytest.raises(InvalidArgument, match="allowed is a timedelta of 0:01:00 to 30 days"):
        schedule(cloud, idempotency_ttl=ttl)
    assert cloud.actions() == ()


def test_a_key_cannot_outlive_its_actions_row(shop):
    cloud = SimulatedCloud(shop.app, start=NOON, settings=Settings(retention=2 * DAY))
    with pytest.raises(InvalidArgument, match="to 2 days"):
        schedule(cloud, idempotency_ttl=3 * DAY)


def test_a_time_to_live_without_a_key_is_rejected(cloud):
    with pytest.raises(InvalidArgument, match="pass idempotency_key as well"):
        cloud.scheduler.schedule(Charge(), at=HOUR, idempotency_ttl=HOUR)


@pytest.mark.parametrize("key", ["", "a#b", "x" * 129, "tab\tbed", 7])
def test_an_invalid_key_is_rejected(cloud, key):
    with pytest.raises(InvalidArgument, match="idempotency_key"):
        cloud.scheduler.schedule(Charge(), at=HOUR, idempotency_key=key)
    assert cloud.actions() == ()
