"""The worked example of an approval: a refund is paid after a manager's decision, once."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.errors import HandOverEnded
from duetime.testing import Faults, SimulatedCloud
from examples.approval import Bank, BankInMemory, Refunds, app

START = datetime(2026, 6, 1, 9, tzinfo=UTC)


class Shop:
    def __init__(self, faults=None):
        self.bank = BankInMemory()
        self.cloud = SimulatedCloud(app, start=START, resources={Bank: self.bank}, faults=faults)
        self.refunds = Refunds(self.cloud.scheduler)
        self.manager = self.cloud.scheduler

    @property
    def paid(self):
        return list(self.bank.paid.values())

    @property
    def questions(self):
        return [row.hand_over.question for row in self.cloud.actions() if row.awaits_approval]

    @property
    def requested(self):
        (row,) = [row for row in self.cloud.actions() if row.type == "ask-manager"]
        return row

    def status_of(self, type_):
        return [row.status.value for row in self.cloud.actions() if row.type == type_]


@pytest.fixture
def shop():
    shop = Shop()
    yield shop
    shop.cloud.check()
    shop.cloud.close()


def test_a_small_refund_is_paid_at_once(shop):
    shop.refunds.request("o-1", 20)
    shop.cloud.advance(minutes=1)
    assert (shop.paid, shop.questions) == ([20], [])


def test_a_large_refund_waits_for_the_approval_and_is_paid_once(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=5)
    assert (shop.paid, shop.questions) == ([], ["Refund 900 € for o-1?"])
    shop.manager.approve(shop.requested.id)
    shop.cloud.advance(minutes=1)
    assert shop.paid == [900]
    with pytest.raises(HandOverEnded):
        shop.manager.approve(shop.requested.id)
    shop.cloud.advance(hours=5)
    assert shop.paid == [900]


def test_a_rejected_refund_is_not_paid(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=1)
    shop.manager.reject(shop.requested.id, reason="the parcel is not back")
    shop.cloud.advance(hours=1)
    assert (shop.paid, shop.status_of("pay-refund")) == ([], ["failed"])


def test_a_question_without_a_decision_is_asked_again(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(timedelta(hours=8, minutes=5))
    assert (shop.requested.attempt, len(shop.questions)) == (2, 1)
    shop.manager.approve(shop.requested.id)
    shop.cloud.advance(minutes=1)
    assert shop.paid == [900]


def test_a_question_without_an_answer_ends_the_refund(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=17)
    assert (shop.requested.attempt, shop.paid) == (2, [])
    assert (shop.status_of("ask-manager"), shop.status_of("pay-refund")) == (["failed"], ["failed"])


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_wrong_the_refund_is_paid_once(seed):
    shop = Shop(Faults(seed))
    shop.refunds.request("o-1", 900)
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=2)
    shop.cloud.end_faults()
    shop.manager.approve(shop.requested.id)
    shop.cloud.advance(hours=7)
    shop.cloud.check()
    assert shop.paid == [900]
    shop.cloud.close()
