"""Of many failures the first few are notified one by one, and the rest of each window in one digest."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.model.notification import Channel
from duetime.notifications.notify import Notify
from duetime.testing import TurnedClock
from tests.journeys.notified_tenants import (
    BOTH,
    DOWN,
    FAILING,
    NOON,
    SETTINGS,
    Fails,
    flood,
    job_failing,
    mails_to_both,
)
from tests.journeys.notified_tenants import world as world  # noqa: PLC0414 - a fixture
from tests.journeys.plain_words import PlainWords


def test_ten_thousand_failures_make_a_few_notifications_and_one_digest(world):
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH[:1])
    for number in range(10_000):
        world.notify(job_failing(number, job="billing-nightly" if number % 4 else "kb-reindex"))
    burst = SETTINGS.notification_burst
    assert (len(world.addresses), len(world.ports.topic.published), len(world.entries())) == (burst,) * 3
    world.advance(hours=1)
    assert len(world.addresses) == burst + 1
    digest = world.entries()[0]
    assert digest.is_digest
    assert digest.facts == {
        "total": 10_000,
        "since": "2026-03-01T12:00:00.000000Z",
        "until": "2026-03-01T12:15:00.000000Z",
        "by_name": {"billing-nightly": 7_500, "kb-reindex": 2_500},
        "others": 0,
    }
    assert world.ports.mailer.sent[-1].data["total"] == "10000"


def test_one_more_than_the_burst_makes_a_digest_and_the_burst_makes_none(world):
    burst = SETTINGS.notification_burst
    for tenant, count in (("acme", burst), ("globex", burst + 1)):
        world.choose(tenant, channels={FAILING: frozenset({Channel.IN_APP})})
        for number in range(count):
            world.notify(job_failing(number, tenant=tenant))
    world.advance(hours=1)
    assert [entry.is_digest for entry in world.entries()] == [False] * burst
    assert [entry.is_digest for entry in world.entries("globex")] == [True, *[False] * burst]


def test_a_doubled_request_for_a_digest_sends_nothing_more(world):
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH[:1])
    request = flood(world)
    world.advance(hours=1)
    sent = len(world.addresses)
    for _ in range(3):
        world.notify(request)
        world.notify(job_failing(7))
    assert (len(world.addresses), len(world.entries())) == (sent, SETTINGS.notification_burst + 1)


def test_an_early_request_is_repeated(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    request = flood(world)
    world.notify(request)
    assert not any(entry.is_digest for entry in world.entries())
    world.advance(hours=1)
    assert sum(entry.is_digest for entry in world.entries()) == 1


def test_a_digest_that_could_not_be_sent_comes_again():
    mailer = Fails(None, "ada@example.com")
    world = mails_to_both(mailer)
    request = flood(world)
    mailer.how = DOWN
    world.clock.wait_until(NOON + timedelta(hours=1))
    with pytest.raises(BackendUnavailable):
        world.notify(request)
    mailer.how = None
    world.notify(request)
    totals = [(mail.address, mail.data["total"]) for mail in world.ports.mailer.sent[-2:]]
    assert totals == [("eve@example.com", "8"), ("ada@example.com", "8")]


def test_a_repeated_event_requests_the_digest_whose_timer_was_not_set(world):
    class Gone:
        def at_end_of(self, *_window, **_delay):
            raise BackendUnavailable("SQS", "throttled")

    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    shaky = Notify(replace(world.ports, timer=Gone()), PlainWords(), clock=world.clock, settings=SETTINGS)
    for number in range(SETTINGS.notification_burst):
        shaky(job_failing(number))
    for _ in range(2):
        with pytest.raises(BackendUnavailable):
            shaky(job_failing(99))
    world.notify(job_failing(99))
    world.advance(hours=1)
    assert world.entries()[0].facts["total"] == SETTINGS.notification_burst + 1


def test_a_digest_that_is_requested_too_early_counts_what_comes_later_too(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    request = flood(world)
    world.notify(request)
    world.notify(job_failing(99))
    world.advance(hours=1)
    entries = world.entries()
    assert [entry.is_digest for entry in entries] == [True, *[False] * SETTINGS.notification_burst]
    assert entries[0].facts["total"] == SETTINGS.notification_burst + 4


def test_a_recipient_that_opts_out_before_the_window_ends_gets_no_digest(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    flood(world)
    world.choose(channels={FAILING: frozenset()})
    world.advance(hours=1)
    assert not any(entry.is_digest for entry in world.entries())


def test_an_event_after_its_window_was_closed_counts_in_the_next_window(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    request = flood(world)
    slow = Notify(world.ports, PlainWords(), clock=TurnedClock(NOON), settings=SETTINGS)
    world.advance(hours=1)
    slow(job_failing(99))
    assert [entry.id for entry in world.entries()].count(
        "acme/billing-nightly/failing/99:jobs.recurring_failing"
    ) == 1
    world.notify(request)
    assert [entry.facts["total"] for entry in world.entries() if entry.is_digest] == [8]


def test_tenants_have_windows_lists_and_addresses_of_their_own(world):
    for tenant, address in (("acme", "ada@example.com"), ("globex", "eve@example.com")):
        world.choose(tenant, channels={FAILING: frozenset(Channel)}, addresses=(address,))
    flood(world)
    world.notify(job_failing(tenant="globex"))
    world.advance(hours=1)
    assert world.addresses.count("eve@example.com") == 1
    assert len(world.entries("globex")) == 1
    assert len(world.entries()) == SETTINGS.notification_burst + 1


def test_a_digest_names_the_most_frequent_and_counts_the_rest(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    for number in range(120):
        world.notify(job_failing(number, job=f"job-{min(number, 60)}"))
    world.advance(hours=1)
    facts = world.entries()[0].facts
    assert len(facts["by_name"]) == 50
    assert facts["by_name"]["job-60"] == 60
    assert sum(facts["by_name"].values()) + facts["others"] == facts["total"] == 120


def test_a_deploy_that_lowers_the_burst_within_a_window_loses_no_notification(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    for number in range(SETTINGS.notification_burst):
        world.notify(job_failing(number))
    lowered = replace(SETTINGS, notification_burst=1)
    deployed = Notify(world.ports, PlainWords(), clock=world.clock, settings=lowered)
    deployed(job_failing(99))
    world.advance(hours=1)
    assert world.entries()[0].is_digest
    assert world.entries()[0].facts["total"] == SETTINGS.notification_burst + 1
