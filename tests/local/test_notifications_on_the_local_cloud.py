"""Failures send notifications; the outbox shows them."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from duetime import App, Fatal, Payload, Run
from duetime.embedded.cloud import CloudPorts
from duetime.errors import InvalidArgument
from duetime.local import LocalCloud, LocalOptions
from duetime.local.notifications import LocalNotifications, choose_everything
from duetime.local.outbox import Outbox
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.settings import Settings
from duetime.testing import TurnedClock
from tests.local.conftest import SHORT, eventually

FAILED, DEAD = "scheduling.action_failed", "scheduling.dead_lettered"
TO = "ops@acme.example"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Doomed(Payload):
    card: str = ""


def app_of():
    app = App()

    @app.action
    def doomed(payload: Doomed, run: Run) -> None:
        raise Fatal("the card was stolen")

    return app


@pytest.fixture
def cloud():
    with LocalCloud(app_of(), LocalOptions(settings=SHORT, mail_to=TO)) as cloud:
        yield cloud


def choose(cloud, tenant, **chosen):
    kinds = dict.fromkeys(NotificationKind, frozenset(Channel))
    preferences = Preferences(tenant_id=tenant, channels=kinds, **chosen)
    assert cloud._engine.cloud.ports.preferences.put(preferences)


def fail(cloud, tenant="acme"):
    return cloud.scheduler(tenant_id=tenant).schedule(Doomed(), at=timedelta(0))


def sent(box, count):
    return eventually(lambda: len(box.list()) >= count and box.list(), f"{count} sent")


def listed(cloud, tenant):
    inbox = cloud._engine.cloud.ports.inbox
    return [*inbox.list(tenant, kinds=frozenset(NotificationKind), limit=20, cursor=None)]


def report(action, word="failed", *, deployment="duetime-", number="1.1"):
    """Return an event of the bus as publish puts it there."""
    detail = {
        "version": 1,
        "id": f"acme/{action}/{word}/{number}",
        "type": f"action.{word}",
        "at": "2026-03-01T12:00:00.000000Z",
        "deployment": deployment,
        "tenant_id": "acme",
        "by": None,
        "action": {"id": action, "type": "doomed", "reason": "no"},
    }
    return {"Source": "duetime", "DetailType": f"action.{word}", "Detail": json.dumps(detail)}


def test_a_failure_is_an_event_mails_messages_and_entries_in_the_list(cloud):
    action = fail(cloud)
    mails, messages = sent(cloud.outbox.mails, 2), sent(cloud.outbox.messages, 2)
    (event,) = cloud.outbox.events.list(type="action.failed")
    assert (event.detail["action"]["id"], event.detail["deployment"]) == (action.id, "duetime-")
    assert {mail.type for mail in mails} == {message.type for message in messages} == {FAILED, DEAD}
    assert {(mail.address, mail.language) for mail in mails} == {(TO, "en")}
    (mail,) = cloud.outbox.mails.list(type=FAILED)
    assert "doomed failed" in mail.subject
    assert "the card was stolen" in mail.text
    assert mail.html.startswith("<!doctype html>")
    assert {message.attributes["tenant"] for message in messages} == {"acme"}
    assert {row.notification.kind for row in listed(cloud, "acme")} == {FAILED, DEAD}


def test_a_mail_links_to_the_console_of_this_cloud(cloud):
    if not cloud.has_console:
        pytest.skip("the console is not built")
    action = fail(cloud)
    (mail, *_) = sent(cloud.outbox.mails, 2)
    assert f"{cloud.url}/#/" in mail.text
    assert action.id in mail.text


def test_each_tenant_gets_mails_in_its_language(cloud):
    choose(cloud, "globex", language="fr", addresses=("ada@globex.example",))
    fail(cloud, "globex")
    (mail,) = sent(cloud.outbox.mails, 1)
    assert (mail.language, mail.address) == ("fr", "ada@globex.example")
    assert "échoué" in mail.text
    fail(cloud)
    assert {row.language for row in sent(cloud.outbox.mails, 3)[:2]} == {"en"}


def test_a_doubled_event_sends_one_mail():
    doubled = LocalOptions(settings=SHORT, message_doubles=1.0, mail_to=TO)
    with LocalCloud(app_of(), doubled) as cloud:
        fail(cloud)
        assert len(sent(cloud.outbox.mails, 2)) == 2
        boto3.client("events").put_events(Entries=[report("another")])
        assert len(sent(cloud.outbox.mails, 4)) == 4
        assert len({(row.type, row.subject, row.text) for row in cloud.outbox.mails.list()}) == 4


def test_the_same_event_again_sends_nothing_more(cloud):
    entries = [report("one"), report("one"), report("two")]
    boto3.client("events").put_events(Entries=entries)
    sent(cloud.outbox.mails, 4)
    assert len(cloud.outbox.events.list(type="action.failed")) == 3
    assert sorted(row.number for row in cloud.outbox.mails.list()) == [1, 2, 3, 4]


def test_events_of_another_deployment_on_the_same_bus_send_nothing(cloud):
    boto3.client("events").put_events(Entries=[report("others", deployment="other-"), report("ours")])
    mails = sent(cloud.outbox.mails, 2)
    assert {mail.type for mail in mails} == {FAILED, DEAD}
    assert all("ours" in mail.text for mail in mails)
    assert not any("others" in row.text for row in cloud.outbox.mails.list())


def test_many_notifications_become_one_digest_when_their_window_ends():
    clock, outbox, store = TurnedClock(NOON), Outbox(), MemoryStore(due_shards=1)
    ports = CloudPorts(MemoryItems(), store, MemoryJobStore(store), clock)
    choose_everything(TO, ports, clock)
    settings = Settings(notification_burst=1, near_limit=timedelta(minutes=5))
    notifications = LocalNotifications(ports, outbox, clock, lambda: settings)
    for number in range(8):
        entry = report(f"a-{number}")
        notifications.take(
            {
                "id": str(number),
                "source": entry["Source"],
                "detail-type": entry["DetailType"],
                "detail": json.loads(entry["Detail"]),
            }
        )
    clock.wait_until(eventually(lambda: notifications.next_at, "the request of a digest"))
    notifications.take_digests()
    notifications.stop()
    digests = [row for row in outbox.mails.list(type=FAILED) if "\N{MULTIPLICATION SIGN} doomed" in row.text]
    assert {row.address for row in digests} == {TO}


def test_notifications_continue_after_another_deploy(cloud):
    before = cloud.settings
    cloud.redeploy(notification_burst=9)
    assert cloud.settings == replace(before, notification_burst=9)
    fail(cloud)
    assert len(sent(cloud.outbox.mails, 2)) == 2


def test_the_settings_may_name_the_sender_and_the_topic():
    output = Settings(mail_from="Bills@acme.example", topic_arn="arn:aws:sns:eu-west-1:210987654321:bills")
    with LocalCloud(app_of(), LocalOptions(settings=output, mail_to=TO)) as cloud:
        assert cloud.settings.mail_from == output.mail_from
        assert cloud.settings.topic_arn.endswith(":bills")
        fail(cloud)
        sent(cloud.outbox.mails, 2)
        sent(cloud.outbox.messages, 2)


def test_a_cloud_without_events_creates_and_sends_nothing():
    with LocalCloud(app_of(), LocalOptions(settings=replace(SHORT, events="off"), mail_to=TO)) as cloud:
        assert (cloud.settings.topic_arn, cloud.settings.mail_from) == ("", "")
        action = fail(cloud)
        eventually(lambda: cloud.scheduler().get(action.id).status == "failed")
        assert cloud.outbox.events.list() == []


def test_mail_to_needs_a_mail_address():
    with pytest.raises(InvalidArgument, match="'unknown' is no mail address"):
        LocalOptions(mail_to="unknown")
