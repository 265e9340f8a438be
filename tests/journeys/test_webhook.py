"""The worked example of a webhook, against a receiver on this machine."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from standardwebhooks.webhooks import Webhook as Verifier

from duetime import App
from duetime.clock import SystemClock
from duetime.targets import with_targets
from duetime.testing import SimulatedCloud
from examples.webhook import PARTNER, Partner
from tests.targets.conftest import Receiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def cloud(receiver, monkeypatch):
    monkeypatch.setenv("PARTNER_SECRET", SECRET)
    host = replace(PARTNER, deliver_to=receiver.url)
    # the receiver checks the age of a signature: the simulation begins an hour ago, and posts about now
    return SimulatedCloud(with_targets(App(), [host]), start=SystemClock().now() - timedelta(hours=1))


def test_the_partner_gets_one_signed_webhook_an_hour_after_the_order(cloud, receiver):
    partner = Partner(cloud.scheduler)
    announcement = partner.announce("o-1", 3)
    assert partner.announce("o-1", 3).id == announcement.id
    cloud.advance(minutes=59)
    assert receiver.requests == []
    cloud.advance(minutes=2)
    [(path, headers, body)] = receiver.requests
    assert path == "/orders"
    assert headers["webhook-id"] == announcement.id
    assert Verifier(SECRET).verify(body, headers) == {"order": "o-1", "items": 3}


def test_a_busy_partner_gets_the_same_webhook_later(cloud, receiver):
    receiver.answers = [(429, {"Retry-After": "120"}, b"")]
    announcement = Partner(cloud.scheduler).announce("o-1", 3)
    cloud.advance(hours=2)
    assert [headers["webhook-id"] for _, headers, _ in receiver.requests] == [announcement.id] * 2
    first, second = cloud.scheduler.get(announcement.id).attempts
    assert second.started_at - first.started_at >= timedelta(seconds=120)


def test_a_partner_that_rejects_it_leaves_a_dead_letter(cloud, receiver):
    receiver.answers = [(400, {}, b"unknown order")]
    announcement = Partner(cloud.scheduler).announce("o-1", 3)
    cloud.advance(hours=2)
    assert cloud.scheduler.get(announcement.id).status == "failed"
    assert json.loads(receiver.requests[0][2])["order"] == "o-1"


def test_an_order_that_is_withdrawn_is_not_announced(cloud, receiver):
    partner = Partner(cloud.scheduler)
    partner.withdraw(partner.announce("o-1", 3).id)
    cloud.advance(hours=2)
    assert receiver.requests == []
