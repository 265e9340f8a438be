"""While a channel or an address fails, all else is sent, and what failed comes again."""

import logging
from datetime import timedelta

import pytest

from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.model.notification import Channel
from duetime.ports.circuit_breaker import PAUSE
from tests.journeys.notified_tenants import (
    BOTH,
    DOWN,
    FAILED,
    FAILING,
    NOON,
    REFUSED,
    Fails,
    World,
    action_failed,
    job_failing,
    mails_to_both,
)
from tests.journeys.notified_tenants import world as world  # noqa: PLC0414 - a fixture


def test_a_rejected_address_is_logged_and_not_retried(caplog):
    mailer = Fails(REFUSED, "ada@example.com")
    world = mails_to_both(mailer)
    with caplog.at_level(logging.INFO, "duetime"):
        world.notify(job_failing())
    mailer.how = None
    world.notify(job_failing())
    assert world.addresses == ["eve@example.com"]
    [record] = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (record.to, record.tenant, record.channel) == ("a…@example.com", "acme", "email")
    assert record.reason == "email rejects it: Email address is not verified: a…@example.com"
    assert "ada@" not in str([vars(record) for record in caplog.records])


@pytest.mark.parametrize("how", [DOWN, BackendMisconfigured("SES", "no template", "Deploy again")])
def test_a_failed_mail_does_not_stop_other_deliveries_and_only_it_is_retried(how):
    mailer = Fails(how, "ada@example.com")
    world = mails_to_both(mailer)
    for _ in range(3):
        with pytest.raises(type(how)):
            world.notify(job_failing())
        world.advance(hours=1)
    assert world.addresses == ["eve@example.com"]
    mailer.how = None
    for _ in range(2):
        world.notify(job_failing())
    assert world.addresses == ["eve@example.com", "ada@example.com"]
    assert (len(world.ports.topic.published), len(world.entries())) == (1, 1)


class Hangs(Fails):
    """A mailer whose calls take their time-out, then fail, while it is set."""

    def send(self, mail):
        self.clock.wait_until(self.clock.now() + timedelta(seconds=7 if self.how else 0))
        super().send(mail)


def test_a_hanging_mail_service_is_tried_thrice_and_all_else_of_the_messages_is_sent():
    addresses = [f"a{number}@example.com" for number in range(10)]
    mailer = Hangs(DOWN, *addresses)
    world = World(mailer=mailer)
    mailer.clock = world.clock
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=tuple(addresses))
    messages = [job_failing(number) for number in range(5)]
    for message in messages:
        with pytest.raises(BackendUnavailable):
            world.notify(message)
    assert world.clock.now() - NOON == timedelta(seconds=21)
    assert (len(world.ports.topic.published), len(world.entries())) == (5, 5)
    mailer.how = None
    world.clock.wait_until(world.clock.now() + PAUSE)
    for message in messages:
        world.notify(message)
    assert len(world.addresses) == 50


def test_a_deleted_topic_does_not_prevent_mails():
    world = World(topic=Fails(DOWN))
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    with pytest.raises(BackendUnavailable):
        world.notify(job_failing())
    assert (world.addresses, len(world.entries())) == ([*BOTH], 1)


def test_a_failing_notification_does_not_affect_others_of_the_same_event():
    world = World(mailer=Fails(DOWN, "ada@example.com"))
    world.choose(
        channels={FAILED: frozenset({Channel.EMAIL})},
        addresses=("ada@example.com",),
        admin_addresses=("eve@example.com",),
    )
    with pytest.raises(BackendUnavailable):
        world.notify(action_failed())
    assert world.addresses == ["eve@example.com"]


def test_a_message_is_redelivered_and_sent_if_its_first_sender_died(world):
    world.choose(channels={FAILING: frozenset({Channel.EMAIL})}, addresses=BOTH)
    delivery = "acme/billing-nightly/failing/1:jobs.recurring_failing:email:ada@example.com"
    held = {"until": NOON + timedelta(minutes=2), "expires_at": NOON + timedelta(days=1)}
    world.ports.deliveries.begin("acme", delivery, holder="dead", now=NOON, **held)
    with pytest.raises(BackendUnavailable, match="another is sending acme/"):
        world.notify(job_failing())
    assert world.addresses == ["eve@example.com"]
    world.advance(minutes=2)
    world.notify(job_failing())
    assert world.addresses == ["eve@example.com", "ada@example.com"]


def test_without_a_sender_or_a_topic_the_other_channels_send_and_the_log_names_the_missing_one(caplog):
    world = World(mailer=None, topic=None)
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    world.notify(job_failing())
    assert len(world.entries()) == 1
    assert sorted(record.channel for record in caplog.records) == ["email", "sns"]
    assert {record.levelname for record in caplog.records} == {"WARNING"}
