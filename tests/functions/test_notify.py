"""A queue's message becomes a mail, a message to a topic's subscriber and an entry of a tenant's list."""

import copy
import json
from dataclasses import replace

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from duetime.aws import clients
from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, BackendUnavailable
from duetime.lambdas.notify import make_handler
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
from duetime.settings import Settings
from tests.functions.conftest import Context, sample
from tests.journeys.plain_words import PlainWords

FAILED, DEAD = NotificationKind.ACTION_FAILED, NotificationKind.DEAD_LETTERED
NO_FAILURES = {"batchItemFailures": []}
SENDER, ADA, EVE = "duetime@example.com", "ada@example.com", "eve@example.com"
TEMPLATE = "duetime-scheduling-action-failed-fr"


def failures(*events):
    failed = [{"itemIdentifier": event["Records"][0]["messageId"]} for event in events]
    return {"batchItemFailures": failed}


@pytest.fixture
def settings(deployed, monkeypatch):
    """Return the deployment with the resources of notifications: a sender, a topic, a queue."""
    sqs, ses = boto3.client("sqs"), boto3.client("ses")
    ses.verify_email_identity(EmailAddress=SENDER)
    template = {"TemplateName": TEMPLATE, "SubjectPart": "{{about}}", "TextPart": "{{about}}"}
    ses.create_template(Template=template)
    more = replace(
        deployed,
        mail_from=SENDER,
        topic_arn=boto3.client("sns").create_topic(Name="duetime-notifications")["TopicArn"],
        made=replace(
            deployed.made, notification_queue=sqs.create_queue(QueueName="duetime-notifications")["QueueUrl"]
        ),
    )
    for name, value in more.to_env().items():
        monkeypatch.setenv(name, value)
    return more


@pytest.fixture
def ports(settings):
    return AwsBackends(settings, SystemClock()).notifications


@pytest.fixture
def notify(settings):
    """Return a function that handles a message and returns the answer; mails have plain words."""
    return lambda event: make_handler(Settings.from_env(), PlainWords())(event, Context())


@pytest.fixture
def received(settings):
    """Return the messages of a subscriber of the topic."""
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    arn = "arn:aws:sqs:eu-west-1:123456789012:subscriber"
    boto3.client("sns").subscribe(TopicArn=settings.topic_arn, Protocol="sqs", Endpoint=arn)
    queue = {"QueueUrl": url, "MaxNumberOfMessages": 10}
    return lambda: [
        json.loads(message["Body"]) for message in sqs.receive_message(**queue).get("Messages", [])
    ]


def mailed():
    """Return the recipient and the template of each mail that SES has sent."""
    sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-west-1"].sent_messages
    return [(address, mail.template) for mail in sent for address in mail.destinations["ToAddresses"]]


def choose(ports, channels=frozenset(Channel), **chosen):
    chosen = {"addresses": (ADA,), "language": "fr", "channels": {FAILED: channels}} | chosen
    assert ports.preferences.put(Preferences(tenant_id="acme", **chosen))


def entries(ports):
    page = ports.inbox.list("acme", kinds=frozenset(NotificationKind), limit=50, cursor=None)
    return [entry.notification for entry in page]


def failed(number):
    """Return the sample for another action."""
    event = sample("notify")
    body = json.loads(event["Records"][0]["body"])
    body["detail"]["id"] = f"acme/{number}/failed/1.3"
    return with_body(event, json.dumps(body))


def with_body(event, body):
    changed = copy.deepcopy(event)
    changed["Records"][0]["body"] = body
    return changed


def test_a_repeated_event_of_a_failure_is_mailed_published_and_listed_once(notify, ports, received):
    choose(ports)
    for _ in range(2):
        assert notify(sample("notify")) == NO_FAILURES
    assert mailed() == [(ADA, TEMPLATE)]
    [message] = received()
    assert message["Subject"] == "fr: echec apply-plan-change"
    assert {name: attribute["Value"] for name, attribute in message["MessageAttributes"].items()} == {
        "tenant": "acme",
        "notification": "scheduling.action_failed",
        "severity": "warning",
        "deployment": "duetime-",
    }
    assert {entry.kind for entry in entries(ports)} == {FAILED, DEAD}
    assert {entry.facts["reason"] for entry in entries(ports)} == {"ConnectionError: the bank did not answer"}


def test_a_tenant_without_preferences_gets_only_the_notifications_for_admins(notify, ports, received):
    assert notify(sample("notify")) == NO_FAILURES
    assert (mailed(), received()) == ([], [])
    assert [entry.kind for entry in entries(ports)] == [DEAD]


def test_a_deployment_without_sender_and_topic_lists_notifications(notify, settings, ports, monkeypatch):
    choose(ports)
    monkeypatch.delenv("DUETIME_MAIL_FROM")
    monkeypatch.delenv("DUETIME_TOPIC_ARN")
    assert notify(sample("notify")) == NO_FAILURES
    assert mailed() == []
    assert len(entries(ports)) == 2


def test_a_repeat_after_a_missing_template_sends_only_the_mail(notify, ports, received):
    choose(ports)
    ses = boto3.client("ses")
    template = ses.get_template(TemplateName=TEMPLATE)["Template"]
    ses.delete_template(TemplateName=TEMPLATE)
    assert notify(sample("notify")) == failures(sample("notify"))
    assert mailed() == []
    ses.create_template(Template=template)
    assert notify(sample("notify")) == NO_FAILURES
    assert mailed() == [(ADA, TEMPLATE)]
    assert (len(received()), len(entries(ports))) == (1, 2)


def test_an_unverified_sender_stops_no_other_channel(notify, ports, received):
    choose(ports)
    boto3.client("ses").delete_identity(Identity=SENDER)
    for _ in range(2):
        assert notify(sample("notify")) == NO_FAILURES
    assert (mailed(), len(received()), len(entries(ports))) == ([], 1, 2)


@pytest.mark.parametrize("body", ["]", "[]", "null", "{}", '{"digest": 7}', "[" * 100_000])
def test_an_unreadable_message_is_reported_as_failed_until_it_is_a_dead_letter(
    function, settings, ports, body
):
    event = with_body(sample("notify"), body)
    good = failed(1)["Records"][0] | {"messageId": "good"}
    event["Records"].append(good)
    assert function("notify")(event, Context()) == failures(event)
    assert len(entries(ports)) == 1


def test_only_the_message_whose_text_cannot_be_rendered_is_repeated(settings, ports):
    class FailingWords(PlainWords):
        def mail_of(self, notification, **about):
            if "acme/1/" in notification.id:
                raise KeyError("about")
            return super().mail_of(notification, **about)

    choose(ports)
    bad, good = failed(1), failed(2)
    bad["Records"].append(good["Records"][0] | {"messageId": "good"})
    assert make_handler(settings, FailingWords())(bad, Context()) == failures(bad)
    assert mailed() == [(ADA, TEMPLATE)]


def test_notifications_beyond_the_burst_become_one_digest_at_the_windows_end(notify, ports):
    choose(ports, frozenset({Channel.IN_APP}))
    window = DigestWindow("acme", FAILED, *_quarter())
    for number in range(3):
        ports.windows.count(_notification(number), window, expires_at=window.until)
    request = with_body(sample("notify-digest"), json.dumps(window.request))
    for _ in range(2):
        assert notify(request) == NO_FAILURES
    [digest] = entries(ports)
    assert (digest.is_digest, digest.facts["total"]) == (True, 3)
    assert digest.facts["by_name"] == {"apply-plan-change": 3}


def _quarter():
    window = requested_in(json.loads(sample("notify-digest")["Records"][0]["body"]))
    return window.since, window.until


def _notification(number):
    return next(of_event(json.loads(failed(number)["Records"][0]["body"])["detail"]))


def test_the_first_notification_beyond_the_burst_requests_the_digest(notify, ports, settings, monkeypatch):
    monkeypatch.setenv("DUETIME_NOTIFICATION_BURST", "1")
    choose(ports, channels={FAILED: frozenset({Channel.IN_APP}), DEAD: frozenset()})
    for number in range(4):
        assert notify(failed(number)) == NO_FAILURES
    assert len(entries(ports)) == 1
    about = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"]
    answer = boto3.client("sqs").get_queue_attributes(
        QueueUrl=settings.made.notification_queue, AttributeNames=about
    )
    assert sum(map(int, answer["Attributes"].values())) in {1, 2}  # two if a window ended meanwhile


def test_a_request_for_a_digest_of_an_empty_window_is_ignored(notify, ports):
    assert notify(sample("notify-digest")) == NO_FAILURES
    assert entries(ports) == []


def test_the_error_of_a_digest_without_its_queue_names_the_missing_setting(settings):
    timer = AwsBackends(settings.with_made(notification_queue=""), SystemClock()).notifications.timer
    with pytest.raises(BackendMisconfigured, match="DUETIME_NOTIFICATION_QUEUE"):
        timer.at_end_of(DigestWindow("acme", FAILED, *_quarter()), delay=1)


def test_the_error_of_a_missing_topic_names_its_remedy(settings, ports):
    boto3.client("sns").delete_topic(TopicArn=settings.topic_arn)
    with pytest.raises(BackendMisconfigured, match="DUETIME_TOPIC_ARN"):
        ports.topic.publish("subject", "text", {})


def test_an_empty_attribute_is_omitted(ports, received):
    ports.topic.publish("subject", "text", {"tenant": "acme", "deployment": ""})
    [message] = received()
    assert message["MessageAttributes"].keys() == {"tenant"}


def test_the_error_of_an_address_that_ses_rejects_has_the_reason(ports):
    with pytest.raises(DeliveryRejected, match="email rejects it"):
        ports.mailer.send(Mail(address="no-address", template=TEMPLATE, data={}))


def test_an_unreachable_mail_service_is_unavailable(ports):
    def refuse(**_request):
        raise EndpointConnectionError(endpoint_url="https://email.eu-west-1.amazonaws.com")

    clients.ses().meta.events.register("before-send.ses", refuse)
    with pytest.raises(BackendUnavailable, match="SES"):
        ports.mailer.send(Mail(address=ADA, template=TEMPLATE, data={}))
