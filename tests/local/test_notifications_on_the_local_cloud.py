"""Failures send notifications through the deployed functions; the outbox shows them."""

import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import App, Fatal, Payload, Run
from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.errors import InvalidArgument, SettingsError
from duetime.local import LocalCloud, LocalOptions
from duetime.local.notifications import SENDER
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.model.undelivered import UndeliveredKind
from duetime.settings import Settings
from tests.local.conftest import SHORT, eventually
from tests.local.test_undelivered_on_the_local_cloud import HASTY, undelivered_item

FAILED, DEAD = "scheduling.action_failed", "scheduling.dead_lettered"
TO = "ops@acme.example"


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
    assert AwsBackends(cloud.settings, SystemClock()).preferences.put(preferences)


def fail(cloud, tenant="acme"):
    return cloud.scheduler(tenant_id=tenant).schedule(Doomed(), at=timedelta(0))


def sent(box, count):
    return eventually(lambda: len(box.list()) >= count and box.list(), f"{count} sent")


def listed(cloud, tenant):
    inbox = AwsBackends(cloud.settings, SystemClock()).inbox
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
    doubled = LocalOptions(
        settings=SHORT, timers=SchedulerQuirks(doubles=1.0), message_doubles=1.0, mail_to=TO
    )
    with LocalCloud(app_of(), doubled) as cloud:
        fail(cloud)
        assert len(sent(cloud.outbox.mails, 2)) == 2
        cloud.client("events").put_events(Entries=[report("another")])
        assert len(sent(cloud.outbox.mails, 4)) == 4
        assert len({(row.type, row.subject, row.text) for row in cloud.outbox.mails.list()}) == 4


def test_the_same_event_again_sends_nothing_more(cloud):
    entries = [report("one"), report("one"), report("two")]
    cloud.client("events").put_events(Entries=entries)
    sent(cloud.outbox.mails, 4)
    assert len(cloud.outbox.events.list(type="action.failed")) == 3
    assert sorted(row.number for row in cloud.outbox.mails.list()) == [1, 2, 3, 4]


def test_events_of_another_deployment_on_the_same_bus_send_nothing(cloud):
    cloud.client("events").put_events(Entries=[report("others", deployment="other-"), report("ours")])
    mails = sent(cloud.outbox.mails, 2)
    assert {mail.type for mail in mails} == {FAILED, DEAD}
    assert all("ours" in mail.text for mail in mails)
    assert not any("others" in row.text for row in cloud.outbox.mails.list())


def test_many_notifications_become_one_digest_when_their_window_ends():
    few = replace(SHORT, notification_burst=1)
    with LocalCloud(app_of(), LocalOptions(settings=few, mail_to=TO)) as cloud:
        cloud.client("events").put_events(Entries=[report(f"a-{index}") for index in range(8)])

        def digests():
            return [
                row
                for row in cloud.outbox.mails.list(type=FAILED)
                if "\N{MULTIPLICATION SIGN} doomed" in row.text
            ]

        assert {row.address for row in eventually(digests, "a digest")} == {TO}


def test_a_poison_message_becomes_undelivered_and_a_redrive_sends_it_again():
    with LocalCloud(app_of(), replace(HASTY, mail_to=TO, max_receives=1)) as cloud:
        sqs, url = cloud.client("sqs"), cloud.settings.made.notification_queue
        sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
        sqs.send_message(QueueUrl=url, MessageBody="poison")
        item = undelivered_item(cloud, kind=UndeliveredKind.NOTIFICATION)
        assert (item.source, item.body) == ("notifications", "poison")
        cloud.scheduler().undelivered.redrive(item.id)
        eventually(lambda: not list(cloud.scheduler().undelivered.list()), "the redrive")
        again = undelivered_item(cloud, kind=UndeliveredKind.NOTIFICATION)
        assert (again.body, again.count) == ("poison", 1)


def test_notifications_continue_after_another_deploy(cloud):
    before = cloud.settings
    cloud.redeploy(notification_burst=9)
    assert cloud.settings == replace(before, notification_burst=9)
    fail(cloud)
    assert len(sent(cloud.outbox.mails, 2)) == 2


def test_the_published_events_cannot_change_after_the_start(cloud):
    with pytest.raises(SettingsError, match="events is 'off'; this cloud was started with 'standard'"):
        cloud.redeploy(events="off")
    assert cloud.settings.events == "standard"


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
        assert (cloud.settings.made.notification_queue, cloud.settings.mail_from) == ("", "")
        assert "notifications" not in str(cloud.client("sqs").list_queues()["QueueUrls"])
        assert cloud.client("sns").list_topics()["Topics"] == []
        action = fail(cloud)
        eventually(lambda: cloud.scheduler().get(action.id).status == "failed")
        cloud.invoke("sweep")
        assert cloud.outbox.events.list() == []


def test_mails_of_the_users_code_are_in_the_outbox_without_an_entry(cloud):
    ses = boto3.client("ses", endpoint_url=cloud.url)
    own = {"TemplateName": "own", "SubjectPart": "Hello {{name}}", "TextPart": "…", "HtmlPart": "…"}
    ses.create_template(Template=own)
    ses.send_templated_email(
        Source=SENDER,
        Destination={"ToAddresses": [TO]},
        Template="own",
        TemplateData=json.dumps({"name": "Ada"}),
    )
    assert cloud.outbox.mails.list() == []


def test_mail_to_needs_a_mail_address():
    with pytest.raises(InvalidArgument, match="'unknown' is no mail address"):
        LocalOptions(mail_to="unknown")
