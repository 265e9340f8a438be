"""Notifications, from the queue's message, as `events/` has it, to a mail, a topic's subscriber and a tenant's list."""

import copy
import json
import sys
from dataclasses import replace

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.model.notification import (
    Channel,
    DeliveryRejected,
    DigestWindow,
    NotificationKind,
    of_event,
    requested_in,
)
from duetime.model.preferences import Preferences
from duetime.ports.notifications import Mail
from tests.functions.conftest import Context, sample
from tests.journeys.plain_words import PlainWords

FAILED, DEAD = NotificationKind.ACTION_FAILED, NotificationKind.DEAD_LETTERED
TAKEN = {"batchItemFailures": []}
SENDER, ADA, EVE = "duetime@example.com", "ada@example.com", "eve@example.com"
TEMPLATE = "duetime-scheduling-action-failed-fr"


def refused(*events):
    failed = [{"itemIdentifier": event["Records"][0]["messageId"]} for event in events]
    return {"batchItemFailures": failed}


@pytest.fixture
def settings(deployed, monkeypatch):
    """The deployment with what notifications need: a sender, a topic, a queue."""
    sqs, ses = boto3.client("sqs"), boto3.client("ses")
    ses.verify_email_identity(EmailAddress=SENDER)
    template = {"TemplateName": TEMPLATE, "SubjectPart": "{{about}}", "TextPart": "{{about}}"}
    ses.create_template(Template=template)
    more = replace(
        deployed,
        mail_from=SENDER,
        topic_arn=boto3.client("sns").create_topic(Name="duetime-notifications")["TopicArn"],
        notification_queue=sqs.create_queue(QueueName="duetime-notifications")["QueueUrl"],
    )
    for name, value in more.to_env().items():
        monkeypatch.setenv(name, value)
    return more


@pytest.fixture
def ports(settings):
    return AwsBackends(settings, SystemClock()).notifications


@pytest.fixture
def notify(function, settings, monkeypatch):
    """Hand the function a message; returns its answer."""
    monkeypatch.setitem(sys.modules, "duetime.notifications.mail", PlainWords())
    return lambda event: function("notify")(event, Context())


@pytest.fixture
def heard(settings):
    """The messages that a subscriber of the topic has got."""
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    arn = "arn:aws:sqs:eu-west-1:123456789012:subscriber"
    boto3.client("sns").subscribe(TopicArn=settings.topic_arn, Protocol="sqs", Endpoint=arn)
    queue = {"QueueUrl": url, "MaxNumberOfMessages": 10}
    return lambda: [json.loads(each["Body"]) for each in sqs.receive_message(**queue).get("Messages", [])]


def mailed():
    """To whom SES has sent mails, and of which template."""
    sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].sent_messages
    return [(address, each.template) for each in sent for address in each.destinations["ToAddresses"]]


def choose(ports, channels=frozenset(Channel), **chosen):
    chosen = {"addresses": (ADA,), "language": "fr", "channels": {FAILED: channels}} | chosen
    assert ports.preferences.put(Preferences(tenant_id="acme", **chosen))


def entries(ports):
    page = ports.inbox.list("acme", kinds=frozenset(NotificationKind), limit=50, cursor=None)
    return [each.notification for each in page]


def failed(number):
    """The sample, of another action."""
    event = sample("notify")
    body = json.loads(event["Records"][0]["body"])
    body["detail"]["id"] = f"acme/{number}/failed/1.3"
    return with_body(event, json.dumps(body))


def with_body(event, body):
    changed = copy.deepcopy(event)
    changed["Records"][0]["body"] = body
    return changed


def test_a_failure_is_mailed_published_and_listed_once_however_often_its_event_comes(notify, ports, heard):
    choose(ports)
    for _ in range(2):
        assert notify(sample("notify")) == TAKEN
    assert mailed() == [(ADA, TEMPLATE)]
    [message] = heard()
    assert message["Subject"] == "fr: echec apply-plan-change"
    assert {name: each["Value"] for name, each in message["MessageAttributes"].items()} == {
        "tenant": "acme", "notification": "scheduling.action_failed", "severity": "warning", "deployment": "duetime-",
    }  # fmt: skip
    assert {entry.kind for entry in entries(ports)} == {FAILED, DEAD}
    assert {entry.facts["reason"] for entry in entries(ports)} == {"ConnectionError: the bank did not answer"}


def test_who_asked_for_nothing_gets_what_is_for_admins_alone(notify, ports, heard):
    assert notify(sample("notify")) == TAKEN
    assert (mailed(), heard()) == ([], [])
    assert [entry.kind for entry in entries(ports)] == [DEAD]


def test_a_deployment_without_sender_and_topic_has_lists(notify, settings, ports, monkeypatch):
    choose(ports)
    monkeypatch.delenv("DUETIME_MAIL_FROM")
    monkeypatch.delenv("DUETIME_TOPIC_ARN")
    assert notify(sample("notify")) == TAKEN
    assert mailed() == []
    assert len(entries(ports)) == 2


def test_a_template_that_is_missing_makes_the_message_come_again_and_the_mail_alone_is_sent_then(
    notify, ports, heard
):
    choose(ports)
    ses = boto3.client("ses")
    template = ses.get_template(TemplateName=TEMPLATE)["Template"]
    ses.delete_template(TemplateName=TEMPLATE)
    assert notify(sample("notify")) == refused(sample("notify"))
    assert mailed() == []
    ses.create_template(Template=template)
    assert notify(sample("notify")) == TAKEN
    assert mailed() == [(ADA, TEMPLATE)]
    assert (len(heard()), len(entries(ports))) == (1, 2)


def test_a_sender_that_nobody_verified_is_refused_and_the_rest_is_told(notify, ports, heard):
    choose(ports)
    boto3.client("ses").delete_identity(Identity=SENDER)
    for _ in range(2):
        assert notify(sample("notify")) == TAKEN
    assert (mailed(), len(heard()), len(entries(ports))) == ([], 1, 2)


@pytest.mark.parametrize("body", ["]", "[]", "null", "{}", '{"digest": 7}', "[" * 100_000])
def test_what_nobody_can_read_comes_again_until_it_is_a_dead_letter(notify, ports, body):
    event = with_body(sample("notify"), body)
    good = failed(1)["Records"][0] | {"messageId": "good"}
    event["Records"].append(good)
    assert notify(event) == refused(event)
    assert len(entries(ports)) == 1


def test_what_words_stumble_over_comes_again_alone(function, settings, ports, monkeypatch):
    class Stumbles(PlainWords):
        def mail_of(self, notification, **about):
            if "acme/1/" in notification.id:
                raise KeyError("about")
            return super().mail_of(notification, **about)

    choose(ports)
    monkeypatch.setitem(sys.modules, "duetime.notifications.mail", Stumbles())
    bad, good = failed(1), failed(2)
    bad["Records"].append(good["Records"][0] | {"messageId": "good"})
    assert function("notify")(bad, Context()) == refused(bad)
    assert mailed() == [(ADA, TEMPLATE)]


def test_more_than_a_burst_is_told_together_when_the_window_is_over(notify, ports):
    choose(ports, frozenset({Channel.IN_APP}))
    window = DigestWindow("acme", FAILED, *_quarter())
    for number in range(3):
        ports.windows.count(_notification(number), window, expires_at=window.until)
    asked = with_body(sample("notify-digest"), json.dumps(window.request))
    for _ in range(2):
        assert notify(asked) == TAKEN
    [digest] = entries(ports)
    assert (digest.is_digest, digest.facts["total"]) == (True, 3)
    assert digest.facts["by_name"] == {"apply-plan-change": 3}


def _quarter():
    window = requested_in(json.loads(sample("notify-digest")["Records"][0]["body"]))
    return window.since, window.until


def _notification(number):
    return next(of_event(json.loads(failed(number)["Records"][0]["body"])["detail"]))


def test_one_beyond_the_burst_asks_for_the_digest_at_the_windows_end(notify, ports, settings, monkeypatch):
    monkeypatch.setenv("DUETIME_NOTIFICATION_BURST", "1")
    choose(ports, channels={FAILED: frozenset({Channel.IN_APP}), DEAD: frozenset()})
    for number in range(4):
        assert notify(failed(number)) == TAKEN
    assert len(entries(ports)) == 1
    about = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    told = boto3.client("sqs").get_queue_attributes(
        QueueUrl=settings.notification_queue, AttributeNames=about
    )
    assert sum(int(told["Attributes"][each]) for each in about) in {1, 2}  # two, if a window ended meanwhile


def test_the_sample_of_a_request_for_a_window_that_counted_nothing_is_nothing_to_do(notify, ports):
    assert notify(sample("notify-digest")) == TAKEN
    assert entries(ports) == []


def test_without_its_queue_a_digest_says_what_is_missing(settings):
    timer = AwsBackends(replace(settings, notification_queue=""), SystemClock()).notifications.timer
    with pytest.raises(BackendMisconfigured, match="DUETIME_NOTIFICATION_QUEUE"):
        timer.at_end_of(DigestWindow("acme", FAILED, *_quarter()), delay=1)


def test_a_topic_that_is_gone_is_told_with_its_cure(settings, ports):
    boto3.client("sns").delete_topic(TopicArn=settings.topic_arn)
    with pytest.raises(BackendMisconfigured, match="DUETIME_TOPIC_ARN"):
        ports.topic.publish("subject", "text", {})


def test_an_attribute_that_says_nothing_is_left_out(ports, heard):
    ports.topic.publish("subject", "text", {"tenant": "acme", "deployment": ""})
    [message] = heard()
    assert message["MessageAttributes"].keys() == {"tenant"}


def test_an_address_that_ses_does_not_take_is_refused_with_its_reason(ports):
    with pytest.raises(DeliveryRejected, match="email refuses it"):
        ports.mailer.send(Mail(address="nobody", template=TEMPLATE, data={}))


def test_a_mail_service_that_does_not_answer_may_be_asked_again(settings, ports, monkeypatch):
    monkeypatch.setattr(ports.mailer._client, "_endpoint", _Unreachable(), raising=True)
    with pytest.raises(BackendUnavailable, match="SES"):
        ports.mailer.send(Mail(address=ADA, template=TEMPLATE, data={}))


class _Unreachable:
    """An endpoint that nothing reaches."""

    host = "https://email.eu-west-1.amazonaws.com"

    def make_request(self, *_about):
        raise EndpointConnectionError(endpoint_url=self.host)
