"""The notification step over memory.

Tenants who choose, what is sent to them, and what fails on the way.
"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import instant
from duetime.errors import BackendUnavailable
from duetime.memory.notifications import notification_ports
from duetime.model.notification import Channel, DeliveryRejected, NotificationKind
from duetime.model.preferences import Preferences
from duetime.notifications.notify import Notify
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.journeys.plain_words import PlainWords

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


def event(kind, name, tenant, deployment="duetime-", **subject):
    detail = {
        "version": 1, "id": name, "type": kind, "at": instant.text(NOON), "deployment": deployment,
        "tenant_id": tenant, "by": None, **subject,
    }  # fmt: skip
    return {"source": "duetime", "detail-type": kind, "detail": detail}


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
        """Turn the clock, and send the notifications that are due by then."""
        until = self.clock.now() + timedelta(**by)
        while (at := self.ports.timer.next_at) is not None and at <= until:
            self.clock.wait_until(at)
            for message in self.ports.timer.take_due():
                self.notify(json.loads(json.dumps(message)))
        self.clock.wait_until(until)

    @property
    def addresses(self):
        return [mail.address for mail in self.ports.mailer.sent]

    def entries(self, tenant="acme"):
        page = self.ports.inbox.list(tenant, kinds=frozenset(NotificationKind), limit=100, cursor=None)
        return [entry.notification for entry in page]


@pytest.fixture
def world():
    return World()


class Fails:
    """A mailer or topic that raises `how` while it is set."""

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
REFUSED = DeliveryRejected("email", "Email address is not verified: ada@example.com")
BOTH = ("ada@example.com", "eve@example.com")


def mails_to_both(mailer):
    world = World(mailer=mailer)
    world.choose(channels={FAILING: frozenset(Channel)}, addresses=BOTH)
    return world


def flood(world, tenant="acme"):
    """More than the burst, and the request for the digest."""
    for number in range(SETTINGS.notification_burst + 3):
        world.notify(job_failing(number, tenant=tenant))
    (window,) = world.ports.timer.due
    return window.request
