"""Whoever asked for it is told, once in each channel and at each address, whatever goes wrong on the way."""

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import instant
from duetime.deliver import masked, plain
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.memory.notifications import notification_ports
from duetime.notification import Channel, DeliveryRefused, NotificationKind, UnreadableEvent
from duetime.notify import Notify
from duetime.preferences import Preferences
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.journeys.words import PlainWords

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FAILING, FAILED = NotificationKind.RECURRING_FAILING, NotificationKind.ACTION_FAILED
DEAD = NotificationKind.DEAD_LETTERED
SETTINGS = Settings()


def job_failing(number=1, *, tenant="acme", job="billing-nightly", deployment="duetime-"):
    """The event of a streak of failures."""
    return event("job.failing", f"{tenant}/{job}/failing/{number}", tenant, deployment, job={"name": job})


def action_failed(number=1, *, tenant="acme"):
    """The event of an action that failed for good."""
    about = {"id": f"a-{number}", "type": "send-receipt", "job": None, "reason": "no paper"}
    return event("action.failed", f"{tenant}/a-{number}/failed/1.1", tenant, action=about)


def event(told, name, tenant, deployment="duetime-", **subject):
    detail = {
        "version": 1, "id": name, "type": told, "at": instant.text(NOON), "deployment": deployment,
        "tenant_id": tenant, "by": None, **subject,
    }  # fmt: skip
    return {"source": "duetime", "detail-type": told, "detail": detail}


class World:
    """The step over memory, and what it sends."""

    def __init__(self, **changes):
        self.clock = TurnedClock(NOON)
        self.ports = replace(notification_ports(self.clock), **changes)
        self.notify = Notify(self.ports, PlainWords(), clock=self.clock, settings=SETTINGS)

    def choose(self, tenant="acme", **chosen):
        seen = self.ports.preferences.get(tenant).revision
        assert self.ports.preferences.put(Preferences(tenant_id=tenant, revision=seen, **chosen))

    def advance(self, **by):
        """Turn the clock; what is due by then is told."""
        until = self.clock.now() + timedelta(**by)
        while (at := self.ports.timer.next_at) is not None and at <= until:
            self.clock.wait_until(at)
            for told in self.ports.timer.take_due():
                self.notify(json.loads(json.dumps(told)))
        self.clock.wait_until(until)

    @property
    def addresses(self):
        return [each.address for each in self.ports.mailer.sent]

    def entries(self, tenant="acme"):
        page = self.ports.inbox.list(tenant, kinds=frozenset(NotificationKind), limit=100, cursor=None)
        return [each.notification for each in page]


@pytest.fixture
def world():
    return World()


class Fails:
    """A mailer or a topic that fails as told, until it is told otherwise."""

    def __init__(self, how, *addresses):
        self.how, self.addresses, self.sent, self.published = how, addresses, [], []

    def send(self, mail):
        if self.how and mail.address in self.addresses:
            raise self.how
        self.sent.append(mail)

    def publish(self, *message):
        if self.how:
            raise self.how
        self.published.append(message)


DOWN = BackendUnavailable("SES", "throttled")
REFUSED = DeliveryRefused("email", "Email address is not verified: ada@example.com")
BOTH = ("ada@example.com", "eve@example.com")


def mails_to_both(mailer):
    world = World(mailer=mailer)
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    return world


def test_a_tenant_that_asked_for_nothing_gets_nothing_of_its_jobs(world):
    world.notify(job_failing())
    assert (world.addresses, world.ports.topic.published, world.entries()) == ([], [], [])
    assert world.ports.windows._places == {}


def test_dead_letters_are_in_the_admins_list_unless_they_say_otherwise(world):
    world.notify(action_failed())
    assert [each.kind for each in world.entries()] == [DEAD]
    world.choose(channels={DEAD: frozenset()}, admin_addresses=BOTH)
    world.notify(action_failed(2))
    assert (len(world.entries()), world.addresses) == (1, [])


def test_each_mail_goes_to_whom_its_kind_is_for(world):
    email = frozenset({Channel.EMAIL})
    world.choose(channels={FAILED: email}, addresses=BOTH[:1], admin_addresses=BOTH[1:])
    world.notify(action_failed())
    assert [(each.address, each.template) for each in world.ports.mailer.sent] == [
        ("ada@example.com", "duetime-scheduling-action-failed-en"),
        ("eve@example.com", "duetime-scheduling-dead-lettered-en"),
    ]
    assert [each.kind for each in world.entries()] == [DEAD]


@pytest.mark.parametrize("channel", list(Channel))
def test_each_channel_alone_is_used_if_it_alone_is_asked_for(world, channel):
    world.choose(channels={FAILING: frozenset({channel})}, addresses=BOTH[:1])
    world.notify(job_failing())
    used = {
        Channel.EMAIL: world.addresses,
        Channel.SNS: world.ports.topic.published,
        Channel.IN_APP: world.entries(),
    }
    assert {each for each, sent in used.items() if sent} == {channel}
    assert len(used[channel]) == 1


def test_what_is_published_has_a_plain_subject_and_tells_what_subscribers_choose_by(world):
    world.choose(channels={FAILING: frozenset({Channel.SNS})})
    world.notify(job_failing())
    [(subject, text, attributes)] = world.ports.topic.published
    assert (subject, text) == ("en: echec billing-nightly", "jobs.recurring_failing in full")
    assert attributes == {
        "tenant": "acme", "notification": "jobs.recurring_failing", "severity": "warning", "deployment": "duetime-",
    }  # fmt: skip


def test_the_tenants_language_is_passed_on_also_one_that_there_are_no_words_in(world):
    world.choose(language="tlh", channels={FAILING: frozenset({Channel.EMAIL, Channel.SNS})}, addresses=BOTH)
    world.notify(job_failing())
    assert {each.template for each in world.ports.mailer.sent} == {"duetime-jobs-recurring-failing-tlh"}
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


def test_an_address_that_is_refused_is_told_in_the_log_and_not_tried_again(caplog):
    mailer = Fails(REFUSED, "ada@example.com")
    world = mails_to_both(mailer)
    with caplog.at_level(logging.INFO, "duetime"):
        world.notify(job_failing())
    mailer.how = None
    world.notify(job_failing())
    assert world.addresses == ["eve@example.com"]
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert (record.to, record.tenant, record.channel) == ("a…@example.com", "acme", "email")
    assert record.reason == "email refuses it: Email address is not verified: a…@example.com"
    assert "ada@" not in str([vars(each) for each in caplog.records])


@pytest.mark.parametrize("how", [DOWN, BackendMisconfigured("SES", "no template", "Deploy again")])
def test_while_one_mail_cannot_be_sent_all_else_is_and_then_it_alone(how):
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


def test_a_topic_that_is_gone_keeps_no_mail_from_being_sent():
    world = World(topic=Fails(DOWN))
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    with pytest.raises(BackendUnavailable):
        world.notify(job_failing())
    assert (world.addresses, len(world.entries())) == ([*BOTH], 1)


def test_the_trouble_of_one_of_an_events_notifications_is_not_the_others():
    world = World(mailer=Fails(DOWN, "ada@example.com"))
    world.choose(
        channels={FAILED: frozenset({Channel.EMAIL})},
        addresses=("ada@example.com",),
        admin_addresses=("eve@example.com",),
    )
    with pytest.raises(BackendUnavailable):
        world.notify(action_failed())
    assert world.addresses == ["eve@example.com"]


def test_what_another_is_sending_comes_again_and_is_sent_if_that_one_died(world):
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


def test_without_a_sender_or_a_topic_the_rest_is_told_and_the_log_says_what_is_missing(caplog):
    world = World(mailer=None, topic=None)
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    world.notify(job_failing())
    assert len(world.entries()) == 1
    assert sorted(each.channel for each in caplog.records) == ["email", "sns"]
    assert {each.levelname for each in caplog.records} == {"WARNING"}


def test_of_ten_thousand_failures_the_first_few_are_told_and_one_digest_of_all(world):
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
    assert [each.is_digest for each in world.entries()] == [False] * burst
    assert [each.is_digest for each in world.entries("globex")] == [True, *[False] * burst]


def flood(world, tenant="acme"):
    """More than the burst, and the request for the digest."""
    for number in range(SETTINGS.notification_burst + 3):
        world.notify(job_failing(number, tenant=tenant))
    (window,) = world.ports.timer._due
    return window.request


def test_a_doubled_request_for_a_digest_sends_nothing_more(world):
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH[:1])
    request = flood(world)
    world.advance(hours=1)
    sent = len(world.addresses)
    for _ in range(3):
        world.notify(request)
        world.notify(job_failing(7))
    assert (len(world.addresses), len(world.entries())) == (sent, SETTINGS.notification_burst + 1)


def test_a_request_that_comes_too_early_is_made_again(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    request = flood(world)
    world.notify(request)
    assert not any(each.is_digest for each in world.entries())
    world.advance(hours=1)
    assert sum(each.is_digest for each in world.entries()) == 1


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
    totals = [(each.address, each.data["total"]) for each in world.ports.mailer.sent[-2:]]
    assert totals == [("eve@example.com", "8"), ("ada@example.com", "8")]


def test_a_digest_whose_timer_could_not_be_set_is_asked_for_when_the_event_comes_again(world):
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


def test_who_opts_out_before_the_window_is_over_gets_no_digest(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    flood(world)
    world.choose(channels={FAILING: frozenset()})
    world.advance(hours=1)
    assert not any(each.is_digest for each in world.entries())


def test_what_comes_when_its_window_was_closed_already_is_told_in_the_next(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    request = flood(world)
    slow = Notify(world.ports, PlainWords(), clock=TurnedClock(NOON), settings=SETTINGS)
    world.advance(hours=1)
    slow(job_failing(99))
    assert [each.id for each in world.entries()].count(
        "acme/billing-nightly/failing/99:jobs.recurring_failing"
    ) == 1
    world.notify(request)
    assert [each.facts["total"] for each in world.entries() if each.is_digest] == [8]


def test_tenants_have_windows_lists_and_addresses_of_their_own(world):
    for tenant, address in (("acme", "ada@example.com"), ("globex", "eve@example.com")):
        world.choose(tenant, channels={FAILING: frozenset(Channel)}, addresses=(address,))
    flood(world)
    world.notify(job_failing(tenant="globex"))
    world.advance(hours=1)
    assert world.addresses.count("eve@example.com") == 1
    assert len(world.entries("globex")) == 1
    assert len(world.entries()) == SETTINGS.notification_burst + 1


@pytest.mark.parametrize(
    "told",
    [
        event("action.executed", "x", "acme", action={"id": "a"}),
        event("moon.landed", "x", "acme", moon={"id": "a"}),
        job_failing(deployment="other-"),
    ],
)
def test_what_is_no_notification_or_another_deployments_is_nothing_to_do(world, told):
    world.choose(channels=dict.fromkeys(NotificationKind, frozenset(Channel)), addresses=BOTH)
    world.notify(told)
    assert (world.addresses, world.entries()) == ([], [])


@pytest.mark.parametrize(
    "told",
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
def test_what_duetime_did_not_write_is_refused(world, told):
    with pytest.raises(UnreadableEvent):
        world.notify(told)


def test_a_digest_names_what_came_most_often_and_counts_the_rest(world):
    world.choose(channels={FAILING: frozenset({Channel.IN_APP})})
    for number in range(120):
        world.notify(job_failing(number, job=f"job-{min(number, 60)}"))
    world.advance(hours=1)
    facts = world.entries()[0].facts
    assert len(facts["by_name"]) == 50
    assert facts["by_name"]["job-60"] == 60
    assert sum(facts["by_name"].values()) + facts["others"] == facts["total"] == 120


@pytest.mark.parametrize(
    ("subject", "shown"),
    [("à l'été\r\n  x", "a l'ete x"), ("日本", ""), ("x" * 200, "x" * 96 + "..."), ("\x00a\x7f", "a")],
)
def test_a_subject_is_told_in_plain_letters(subject, shown):
    assert plain(subject) == shown


def test_addresses_are_masked_wherever_they_stand():
    assert masked("<ada@example.com>, eve@x.org: no") == "<a…@example.com>, e…@x.org: no"
