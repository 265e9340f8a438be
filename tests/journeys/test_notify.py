"""Notifications reach each chosen channel and each address once."""

import pytest

from duetime.errors import UnreadableMessage
from duetime.model.notification import Channel, NotificationKind
from duetime.notifications.deliver import masked, plain
from tests.journeys.notified_tenants import (
    BOTH,
    DEAD,
    FAILED,
    FAILING,
    World,
    action_failed,
    event,
    job_failing,
)
from tests.journeys.notified_tenants import world as world  # noqa: PLC0414 - a fixture


def test_a_tenant_without_preferences_gets_no_notifications_of_its_jobs():
    world = World(windows=None)  # a use would fail
    world.notify(job_failing())
    assert (world.addresses, world.ports.topic.published, world.entries()) == ([], [], [])


def test_dead_letters_are_in_the_admins_list_unless_switched_off(world):
    world.notify(action_failed())
    assert [entry.kind for entry in world.entries()] == [DEAD]
    world.choose(channels={DEAD: frozenset()}, admin_addresses=BOTH)
    world.notify(action_failed(2))
    assert (len(world.entries()), world.addresses) == (1, [])


def test_every_mail_reaches_the_addresses_of_its_kind(world):
    email = frozenset({Channel.EMAIL})
    world.choose(channels={FAILED: email}, addresses=BOTH[:1], admin_addresses=BOTH[1:])
    world.notify(action_failed())
    assert [(mail.address, mail.template) for mail in world.ports.mailer.sent] == [
        ("ada@example.com", "duetime-scheduling-action-failed-en"),
        ("eve@example.com", "duetime-scheduling-dead-lettered-en"),
    ]
    assert [entry.kind for entry in world.entries()] == [DEAD]


@pytest.mark.parametrize("channel", list(Channel))
def test_only_the_chosen_channel_is_used(world, channel):
    world.choose(channels={FAILING: frozenset({channel})}, addresses=BOTH[:1])
    world.notify(job_failing())
    used = {
        Channel.EMAIL: world.addresses,
        Channel.SNS: world.ports.topic.published,
        Channel.IN_APP: world.entries(),
    }
    assert {name for name, sent in used.items() if sent} == {channel}
    assert len(used[channel]) == 1


def test_a_published_notification_has_a_plain_subject_and_filter_attributes(world):
    world.choose(channels={FAILING: frozenset({Channel.SNS})})
    world.notify(job_failing())
    [(subject, text, attributes)] = world.ports.topic.published
    assert (subject, text) == ("en: echec billing-nightly", "jobs.recurring_failing in full")
    assert attributes == {
        "tenant": "acme", "notification": "jobs.recurring_failing", "severity": "warning",
        "deployment": "duetime-",
    }  # fmt: skip


def test_the_tenants_language_is_passed_on_even_without_a_translation(world):
    world.choose(language="tlh", channels={FAILING: frozenset({Channel.EMAIL, Channel.SNS})}, addresses=BOTH)
    world.notify(job_failing())
    assert {mail.template for mail in world.ports.mailer.sent} == {"duetime-jobs-recurring-failing-tlh"}
    [(subject, _, _)] = world.ports.topic.published
    assert subject.startswith("tlh: ")


def test_a_doubled_event_sends_nothing_more_at_once_or_days_later(world):
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    world.notify(job_failing())
    for _ in range(7):
        world.notify(job_failing())
        world.advance(days=1)
    assert (world.addresses, len(world.ports.topic.published), len(world.entries())) == ([*BOTH], 1, 1)


def test_an_address_that_is_named_twice_gets_one_mail(world):
    world.choose(channels={FAILING: frozenset({Channel.EMAIL})}, addresses=BOTH[:1] * 2)
    world.notify(job_failing())
    assert world.addresses == ["ada@example.com"]


@pytest.mark.parametrize(
    "message",
    [
        event("action.executed", "x", "acme", action={"id": "a"}),
        event("moon.landed", "x", "acme", moon={"id": "a"}),
        job_failing(deployment="other-"),
    ],
)
def test_events_of_other_kinds_or_deployments_send_no_notification(world, message):
    world.choose(channels=dict.fromkeys(NotificationKind, frozenset(Channel)), addresses=BOTH)
    world.notify(message)
    assert (world.addresses, world.entries()) == ([], [])


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"detail": None},
        {"detail": {}},
        {"detail": {"type": "job.failing"}},
        event("job.failing", "x", "a#b", job={"name": "billing-nightly"}),
        event("job.failing", "x", "acme"),
        event("job.failing", "x", "acme", job=7),
        event([], "x", "acme"),
        {"digest": None},
        {"digest": {"tenant_id": "acme", "kind": "moon.landed", "since": "x", "until": "y"}},
        {"digest": {"tenant_id": "acme", "kind": "jobs.recurring_failing", "since": 7, "until": 7}},
    ],
)
def test_a_message_of_another_origin_is_rejected(world, message):
    with pytest.raises(UnreadableMessage, match="message of duetime"):
        world.notify(message)


@pytest.mark.parametrize(
    ("subject", "shown"),
    [("à l'été\r\n  x", "a l'ete x"), ("日本", ""), ("x" * 200, "x" * 96 + "..."), ("\x00a\x7f", "a")],
)
def test_a_subject_has_plain_letters(subject, shown):
    assert plain(subject) == shown


def test_addresses_are_masked_anywhere_in_a_text():
    assert masked("<ada@example.com>, eve@x.org: no") == "<a…@example.com>, e…@x.org: no"
