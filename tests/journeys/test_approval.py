"""The worked example of an approval: a refund is paid after a manager's decision, once."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime.model.hand_over import HandOverEnded
from duetime.testing import Faults, SimulatedCloud
from examples.approval import Bank, BankInMemory, Mail, Refunds, app

START = datetime(2026, 6, 1, 9, tzinfo=UTC)


class Inbox:
    """The managers' mails."""

    def __init__(self):
        self.mails = []

    def send(self, subject, link):
        self.mails.append((subject, link))

    @property
    def token(self):
        return self.mails[-1][1].partition("token=")[2]


class Shop:
    def __init__(self, faults=None):
        self.inbox, self.bank = Inbox(), BankInMemory()
        given = {Mail: self.inbox, Bank: self.bank}
        self.cloud = SimulatedCloud(app, start=START, resources=given, faults=faults)
        self.refunds = Refunds(self.cloud.scheduler)

    @property
    def paid(self):
        return list(self.bank.paid.values())

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
    assert (shop.paid, shop.inbox.mails) == ([20], [])


def test_a_large_refund_waits_for_the_approval_and_is_paid_once(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=5)
    assert (shop.paid, len(shop.inbox.mails)) == ([], 1)
    shop.refunds.approve(shop.inbox.token, "ada")
    shop.cloud.advance(minutes=1)
    assert shop.paid == [900]
    with pytest.raises(HandOverEnded):
        shop.refunds.approve(shop.inbox.token, "ada")
    shop.cloud.advance(hours=5)
    assert shop.paid == [900]


def test_a_rejected_refund_is_not_paid(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=1)
    shop.refunds.reject(shop.inbox.token, "ada", "the parcel is not back")
    shop.cloud.advance(hours=1)
    assert (shop.paid, shop.status_of("pay-refund")) == ([], ["failed"])


def test_a_question_without_a_decision_is_asked_again_with_another_link(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(timedelta(hours=8, minutes=5))
    first, second = (link for _, link in shop.inbox.mails)
    assert first != second
    with pytest.raises(HandOverEnded):
        shop.refunds.approve(first.partition("token=")[2], "ada")
    shop.refunds.approve(shop.inbox.token, "ada")
    shop.cloud.advance(minutes=1)
    assert shop.paid == [900]


def test_a_question_without_an_answer_ends_the_refund(shop):
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=17)
    assert (len(shop.inbox.mails), shop.paid) == (2, [])
    assert (shop.status_of("ask-manager"), shop.status_of("pay-refund")) == (["failed"], ["failed"])


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_wrong_the_refund_is_paid_once(seed):
    shop = Shop(Faults(seed))
    shop.refunds.request("o-1", 900)
    shop.refunds.request("o-1", 900)
    shop.cloud.advance(hours=2)
    shop.cloud.end_faults()
    shop.refunds.approve(shop.inbox.token, "ada")
    shop.cloud.advance(hours=7)
    shop.cloud.check()
    assert shop.paid == [900]
    shop.cloud.close()
