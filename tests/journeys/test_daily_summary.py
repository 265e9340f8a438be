"""The worked example of a daily mail: at seven where the customer lives, once, whatever goes wrong."""

from datetime import UTC, date, datetime

import pytest

from duetime import Scheduler
from duetime.testing import Faults, SimulatedCloud
from examples.daily_summary import Customers, Mails, app

START = datetime(2026, 3, 27, 12, tzinfo=UTC)
"""Two days before Paris turns its clocks."""


class Shop:
    """Customers in three zones, one of them gone."""

    def __init__(self):
        self.homes = {"ada": "Europe/Paris", "bob": "America/New_York", "eve": "Asia/Tokyo", "gone": "UTC"}

    def zones(self):
        return self.homes.items()

    def orders_on(self, customer, day):
        return [] if customer == "eve" and day == date(2026, 3, 28) else [f"tea for {customer}"]

    def address(self, customer):
        return None if customer == "gone" else f"{customer}@example.com"


class Post:
    """Mails by what makes each of them one; its first answers are errors."""

    def __init__(self, cloud_now, failures=0):
        self.sent, self._now, self._failures = {}, cloud_now, failures

    def send(self, address, subject, text, *, once):
        if self._failures:
            self._failures -= 1
            raise ConnectionError("the mail server did not answer")
        self.sent.setdefault(once, (address, subject, text, self._now()))


def cloud_with(failures=0, faults=None):
    scheduling = []
    post = Post(lambda: cloud.now, failures)
    given = {Customers: Shop(), Mails: post, Scheduler: _Later(scheduling)}
    cloud = SimulatedCloud(app, start=START, tenant_id="shop", resources=given, faults=faults)
    scheduling.append(cloud.scheduler)
    return cloud, post


class _Later(Scheduler):
    """The simulated cloud's scheduler, which is there only when the cloud is."""

    def __init__(self, made):
        self._made = made

    def schedule_many(self, orders):
        return self._made[0].schedule_many(orders)


def test_every_mail_arrives_at_seven_local_time_across_clock_changes():
    cloud, post = cloud_with()
    cloud.advance(days=4)
    ada = [at for address, *_, at in post.sent.values() if address.startswith("ada")]
    assert ada == [
        datetime(2026, 3, 29, 5, tzinfo=UTC),  # the clocks turned that night: seven is two hours ahead
        datetime(2026, 3, 30, 5, tzinfo=UTC),
        datetime(2026, 3, 31, 5, tzinfo=UTC),
    ]
    bob = [at for address, *_, at in post.sent.values() if address.startswith("bob")]
    assert {at.hour for at in bob} == {11}


def test_a_day_without_orders_sends_nothing_and_a_deleted_customer_is_a_dead_letter():
    cloud, post = cloud_with()
    cloud.advance(days=2, hours=12)
    assert sorted((address, subject) for address, subject, *_ in post.sent.values()) == [
        ("ada@example.com", "Your orders of 28 March"),
        ("bob@example.com", "Your orders of 28 March"),
        ("eve@example.com", "Your orders of 29 March"),
    ]
    failed = cloud.actions("failed")
    assert {item.failure_reason for item in failed} == {"Fatal: the customer is gone"}


def test_a_mail_server_that_is_away_delays_a_mail_and_doubles_none():
    cloud, post = cloud_with(failures=3)
    cloud.advance(days=1, hours=23)
    shown = {address: at for address, *_, at in post.sent.values()}
    assert set(shown) == {"ada@example.com", "bob@example.com"}
    assert len(post.sent) == 2


@pytest.mark.parametrize("seed", range(6))
def test_under_faults_every_customer_has_one_mail_a_day(seed):
    cloud, post = cloud_with(faults=Faults.only(seed, crash=0.1, drop=0.1))
    cloud.advance(days=1, hours=6)
    cloud.end_faults()
    cloud.advance(days=1, hours=12)
    days = {(address, subject) for address, subject, *_ in post.sent.values()}
    assert len(days) == len(post.sent)
    assert {address for address, _ in days} == {f"{name}@example.com" for name in ("ada", "bob", "eve")}
    cloud.check()
    cloud.close()
