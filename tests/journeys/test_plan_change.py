"""The worked example of a plan change: at the end of what was paid, where the customer lives, and once."""

from datetime import UTC, date, datetime, timedelta

import pytest

from duetime.testing import Faults, SimulatedCloud
from examples.plan_change import (
    ChangePlan,
    PlanService,
    Subscription,
    Subscriptions,
    SubscriptionsInMemory,
    app,
)

START = datetime(2026, 4, 20, 12, tzinfo=UTC)


class Shop:
    """A cloud, subscriptions of three customers, and the service where they choose a plan."""

    def __init__(self, faults=None):
        self.subscriptions = SubscriptionsInMemory(
            ada=Subscription("small", date(2026, 4, 30), "Europe/Paris"),
            bob=Subscription("small", date(2026, 4, 30), "America/New_York"),
            nour=Subscription("small", date(2026, 4, 23), "Africa/Cairo"),
        )
        given = {Subscriptions: self.subscriptions}
        self.cloud = SimulatedCloud(app, start=START, resources=given, faults=faults)
        self.plan_service = PlanService(self.subscriptions, self.cloud.scheduler)

    def plan_of(self, customer):
        return self.subscriptions.all[customer].plan

    def until(self, instant):
        self.cloud.advance(instant - self.cloud.now)


@pytest.fixture
def shop():
    return Shop()


@pytest.mark.parametrize(
    ("customer", "ends_at"),
    [
        ("ada", datetime(2026, 4, 30, 22, tzinfo=UTC)),
        ("bob", datetime(2026, 5, 1, 4, tzinfo=UTC)),
        ("nour", datetime(2026, 4, 23, 22, tzinfo=UTC)),  # Cairo's clocks go from midnight to one that night
    ],
)
def test_the_plan_changes_at_the_end_of_the_paid_period_in_the_customers_zone(shop, customer, ends_at):
    shop.plan_service.choose(customer, "large", request="r-1")
    shop.until(ends_at - timedelta(seconds=1))
    assert shop.plan_of(customer) == "small"
    shop.until(ends_at + timedelta(seconds=1))
    assert shop.plan_of(customer) == "large"


def test_a_customer_who_pays_for_longer_changes_later(shop):
    action = shop.plan_service.choose("ada", "large", request="r-1")
    shop.plan_service.prolong("ada", date(2026, 5, 31))
    shop.until(datetime(2026, 5, 30, tzinfo=UTC))
    assert (shop.plan_of("ada"), shop.cloud.scheduler.get(action.id).status) == ("small", "pending")
    shop.until(datetime(2026, 6, 1, tzinfo=UTC))
    assert (shop.plan_of("ada"), shop.cloud.scheduler.get(action.id).status) == ("large", "executed")


def test_a_change_of_mind_cancels_the_first_choice(shop):
    first = shop.plan_service.choose("ada", "large", request="r-1")
    second = shop.plan_service.choose("ada", "medium", request="r-2")
    shop.cloud.advance(days=15)
    assert shop.plan_of("ada") == "medium"
    listed = shop.cloud.scheduler.list(correlation_id="subscription:ada")
    assert {item.id: item.status for item in listed} == {first.id: "cancelled", second.id: "executed"}


def test_a_withdrawn_change_is_cancelled_and_an_applied_one_cannot_be(shop):
    action = shop.plan_service.choose("ada", "large", request="r-1")
    assert shop.plan_service.withdraw("ada")
    shop.plan_service.choose("bob", "large", request="r-2")
    shop.cloud.advance(days=15)
    assert (shop.plan_of("ada"), shop.cloud.scheduler.get(action.id).status) == ("small", "cancelled")
    assert not shop.plan_service.withdraw("bob")
    assert shop.plan_of("bob") == "large"


def test_a_repeated_request_makes_one_change_even_after_it_is_done(shop):
    action = shop.plan_service.choose("ada", "large", request="r-1")
    assert shop.plan_service.choose("ada", "large", request="r-1").id == action.id
    shop.cloud.advance(days=15)
    assert shop.plan_service.choose("ada", "large", request="r-1").id == action.id
    assert [action.status for action in shop.cloud.actions()] == ["executed"]
    assert not shop.plan_service.withdraw("ada")


def test_an_obsolete_action_changes_nothing(shop):
    late = ChangePlan(subscription="ada", plan="large", request="r-lost")
    shop.cloud.scheduler.schedule(late, at=timedelta(hours=1))
    shop.cloud.advance(hours=2)
    assert shop.plan_of("ada") == "small"
    assert len(shop.cloud.actions("executed")) == 1


def test_a_subscription_that_has_ended_is_a_dead_letter_at_once(shop):
    action = shop.plan_service.choose("ada", "large", request="r-1")
    del shop.subscriptions.all["ada"]
    shop.cloud.advance(days=15)
    failed = shop.cloud.scheduler.get(action.id)
    assert failed.failure_reason == "Fatal: the subscription has ended"
    assert len(failed.attempts) == 1


@pytest.mark.parametrize("seed", range(4))
def test_under_faults_every_customer_has_their_last_choice(seed):
    shop = Shop(Faults.only(seed, crash=0.2, drop=0.2, double=0.2))
    for customer in ("ada", "bob", "nour"):
        shop.plan_service.choose(customer, "large", request=f"{customer}-1")
    shop.plan_service.choose("bob", "medium", request="bob-2")
    shop.plan_service.withdraw("nour")
    shop.cloud.advance(days=15)
    shop.cloud.end_faults()
    shop.cloud.advance(days=1)
    assert [shop.plan_of(name) for name in ("ada", "bob", "nour")] == ["large", "medium", "small"]
    shop.cloud.check()
    shop.cloud.close()
