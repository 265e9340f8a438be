"""The notifications of a deployed stack.

On the bus, by the topic, by mails in the tenant's language, in its list.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from duetime import Action, Order, Scheduler, Status
from duetime.aws.backends import AwsBackends
from duetime.clock import SystemClock
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT
from duetime.lambdas.publish import action_filters
from duetime.model.event_pattern import matches
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.settings import Settings
from tests.e2e import subscribers
from tests.e2e.deployment import BURST, PREFIX, SENDER
from tests.e2e.handlers.errands import Deliver, LoseParcel
from tests.e2e.subscribers import mails_to
from tests.emulated.stream_poller import in_lambda_form

pytestmark = pytest.mark.e2e

SCHEMA = Draft202012Validator(
    json.loads(Path(__file__).parents[2].joinpath("docs/lifecycle-event.schema.json").read_text())
)
FAILED, DEAD = NotificationKind.ACTION_FAILED, NotificationKind.DEAD_LETTERED
FAILING, SUCCEEDING = NotificationKind.RECURRING_FAILING, NotificationKind.RECURRING_SUCCEEDING
LYON, LEEDS, OSLO, BULK = "lyon", "leeds", "oslo", "bulk"
"""Tenants: one reads French, one English, one has chosen nothing, and one has much bad luck."""

DELIVERY = "errands-delivery"
SOON = timedelta(seconds=1)
UNLUCKY = 12
"""More than single notifications of all windows that they can fall into."""

WORDS = {
    LYON: (
        "lyon : échec de lose-parcel",
        "L’action «\u00a0lose-parcel\u00a0» de l’organisation lyon a échoué définitivement",
        "Motif\u00a0: ",
        '<html lang="fr"',
    ),
    LEEDS: (
        "leeds: lose-parcel failed",
        "The action lose-parcel of the tenant leeds failed for good",
        "Reason: ",
        '<html lang="en"',
    ),
}


@pytest.fixture(scope="module")
def backends(bench):
    return AwsBackends(Settings.from_env(), SystemClock())


@pytest.fixture(scope="module")
def on_bus(bench):
    with subscribers.of_bus("follows-duetime", source=EVENT_SOURCE) as subscriber:
        yield subscriber


@pytest.fixture(scope="module")
def on_topic(bench):
    topics = bench.client("sns").list_topics()["Topics"]
    [arn] = [topic["TopicArn"] for topic in topics if topic["TopicArn"].endswith(f":{PREFIX}notifications")]
    only = {"tenant": [LYON, LEEDS, OSLO], "severity": ["warning"], "deployment": [PREFIX]}
    with subscribers.of_topic("follows-topic", topic_arn=arn, only=only) as subscriber:
        yield subscriber


@dataclass(frozen=True)
class Lost:
    """An action of each tenant that fails for good, and whose failure was handled."""

    lyon: Action
    leeds: Action
    oslo: Action


@pytest.fixture(scope="module")
def lost(bench, backends, on_bus, on_topic):
    for tenant, language in ((LYON, "fr"), (LEEDS, "en")):
        opt_in(backends, tenant, FAILED, language=language)
    actions = [
        Scheduler.from_env(tenant_id=row, actor="e2e").schedule(LoseParcel(), at=SOON)
        for row in (LYON, LEEDS, OSLO)
    ]
    for action in actions:
        # of both that an event makes, this is the later one
        bench.eventually(lambda tenant=action.tenant_id: entries(backends, tenant, DEAD), within=120)
    return Lost(*actions)


def opt_in(backends, tenant, *kinds, language="en"):
    everywhere = frozenset(Channel)
    chosen = Preferences(
        tenant_id=tenant,
        language=language,
        channels=dict.fromkeys(kinds, everywhere),
        addresses=(address(tenant),),
    )
    assert backends.preferences.put(chosen)


def address(tenant):
    return f"ada@{tenant}.example.com"


def entries(backends, tenant, *kinds):
    """The notifications in the tenant's list, the oldest first."""
    listed = backends.inbox.list(tenant, kinds=frozenset(kinds), limit=100, cursor=None)
    return [entry.notification for entry in reversed(listed.entries)]


def told_of(subscriber, word, name):
    """The events of that type about the action, or the job, of that name."""
    return [
        row
        for row in subscriber.heard
        if row["detail-type"] == word and name in {subject_of(row).get("id"), subject_of(row).get("name")}
    ]


def subject_of(event):
    return event["detail"].get("action") or event["detail"].get("job") or {}


def messages_of(subscriber, tenant):
    heard = subscriber.heard
    return [row for row in heard if row["MessageAttributes"]["tenant"]["Value"] == tenant]


def test_a_permanent_failure_is_an_event_in_the_published_form(bench, on_bus, lost):
    [event] = bench.eventually(lambda: told_of(on_bus, "action.failed", lost.oslo.id), within=60)
    SCHEMA.validate(event["detail"])
    assert (event["source"], event["detail"]["deployment"]) == (EVENT_SOURCE, PREFIX)
    assert (event["detail"]["tenant_id"], event["detail"]["action"]["status"]) == (OSLO, "failed")
    assert "parcel 1 is <lost>" in event["detail"]["action"]["reason"]


@pytest.mark.parametrize("tenant", [LYON, LEEDS])
def test_a_subscribed_address_gets_a_mail_in_the_tenants_language_as_text_and_html(lost, tenant):
    [mail] = mails_to(address(tenant))
    subject, sentence, label, begin = WORDS[tenant]
    assert (mail.sender, mail.subject) == (SENDER, subject)
    assert sentence in mail.text
    assert sentence in unescape(mail.html).replace("<bdi>", "").replace("</bdi>", "")
    assert label in mail.text
    assert "parcel 1 is <lost>" in mail.text
    assert begin in mail.html
    assert "parcel 1 is &lt;lost&gt;" in mail.html
    assert getattr(lost, tenant).id in mail.text
    assert getattr(lost, tenant).id in mail.html
    assert "{{" not in mail.subject + mail.text + mail.html


@pytest.mark.parametrize("tenant", [LYON, LEEDS])
def test_a_subscriber_of_the_topic_gets_the_message_by_its_attributes(bench, on_topic, lost, tenant):
    [message] = bench.eventually(lambda: messages_of(on_topic, tenant), within=30)
    assert {name: row["Value"] for name, row in message["MessageAttributes"].items()} == {
        "tenant": tenant,
        "notification": FAILED.value,
        "severity": "warning",
        "deployment": PREFIX,
    }
    assert WORDS[tenant][1] in message["Message"]
    assert "parcel 1 is <lost>" in message["Message"]
    assert message["Subject"].isascii()


def test_the_tenants_list_has_an_entry(backends, lost):
    [entry] = entries(backends, LYON, FAILED)
    assert (entry.facts["id"], entry.about, entry.is_digest) == (lost.lyon.id, "lose-parcel", False)


def test_without_a_subscription_there_is_no_mail_and_admins_have_it_in_their_list(backends, on_topic, lost):
    [entry] = entries(backends, OSLO, *NotificationKind)
    assert (entry.kind, entry.facts["id"]) == (DEAD, lost.oslo.id)
    assert not mails_to(address(OSLO))
    assert not messages_of(on_topic, OSLO)


def test_a_doubled_event_has_the_same_id_and_sends_nothing_more(bench, backends, on_bus, on_topic, lost):
    [first] = told_of(on_bus, "action.failed", lost.lyon.id)
    answer = bench.client("lambda").invoke(
        FunctionName=f"{PREFIX}publish", Payload=json.dumps({"Records": records_of(bench, lost.lyon)})
    )
    assert json.loads(answer["Payload"].read()) == {"batchItemFailures": []}
    bench.eventually(lambda: told_of(on_bus, "action.failed", lost.lyon.id)[1:], within=60)
    all_are_told(bench)
    assert {row["detail"]["id"] for row in told_of(on_bus, "action.failed", lost.lyon.id)} == {
        first["detail"]["id"]
    }
    assert len(entries(backends, LYON, FAILED)) == 1
    assert len(mails_to(address(LYON))) == len(messages_of(on_topic, LYON)) == 1


def records_of(bench, action):
    """What the table's stream says of the action, as Lambda hands it over."""
    table = bench.client("dynamodb").describe_table(TableName=f"{PREFIX}actions")["Table"]
    streams = bench.client("dynamodbstreams")
    shown = streams.describe_stream(StreamArn=table["LatestStreamArn"])["StreamDescription"]
    found = []
    for shard in shown["Shards"]:
        request = {"StreamArn": table["LatestStreamArn"], "ShardId": shard["ShardId"]}
        iterator = streams.get_shard_iterator(**request, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        while iterator:
            read = streams.get_records(ShardIterator=iterator)
            found += [row for row in read["Records"] if action.id in str(row["dynamodb"]["Keys"])]
            iterator = read["Records"] and read.get("NextShardIterator")
    records = (in_lambda_form(row, table["LatestStreamArn"]) for row in found)
    return [
        row
        for row in records
        if any(matches(pattern, row) for pattern in action_filters(Settings(prefix=PREFIX)))
    ]


def all_are_told(bench):
    """Wait until no message is on its way to `notify`, but those that will ask for a digest."""
    bench.eventually(lambda: not waiting(bench), within=60)


def waiting(bench):
    sqs = bench.client("sqs")
    counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
    report = sqs.get_queue_attributes(
        QueueUrl=sqs.get_queue_url(QueueName=f"{PREFIX}notifications")["QueueUrl"], AttributeNames=counts
    )
    return sum(int(report["Attributes"][count]) for count in counts)


def test_a_jobs_streak_is_reported_once_at_its_threshold_and_once_at_its_end(bench, backends, on_bus):
    opt_in(backends, SYSTEM_TENANT, FAILING, SUCCEEDING)
    jobs = bench.scheduler.jobs
    ended = []
    for arrives in (False, False, False, True):
        run = jobs.trigger(DELIVERY, payload=Deliver(arrives=arrives))
        ended.append(bench.settled(run.id, within=60))
    assert [row.status for row in ended] == [Status.FAILED] * 3 + [Status.EXECUTED]
    bench.eventually(lambda: entries(backends, SYSTEM_TENANT, SUCCEEDING), within=60)
    all_are_told(bench)
    [failing, succeeding] = entries(backends, SYSTEM_TENANT, FAILING, SUCCEEDING)
    assert (failing.kind, succeeding.kind) == (FAILING, SUCCEEDING)
    assert (failing.about, failing.facts["consecutive_failures"]) == (DELIVERY, 2)
    assert failing.facts["last_id"] == ended[1].id
    for word in ("job.failing", "job.succeeding"):
        [event_id] = {row["detail"]["id"] for row in told_of(on_bus, word, DELIVERY)}
        assert DELIVERY in event_id
    assert len(mails_to(address(SYSTEM_TENANT))) == 2


def test_a_pause_is_an_event_with_its_actor_and_reason(bench, on_bus):
    bench.scheduler.jobs.pause(DELIVERY, reason="a holiday")
    [paused] = bench.eventually(lambda: told_of(on_bus, "job.paused", DELIVERY), within=60)
    bench.scheduler.jobs.resume(DELIVERY)
    [resumed] = bench.eventually(lambda: told_of(on_bus, "job.resumed", DELIVERY), within=60)
    SCHEMA.validate(paused["detail"])
    SCHEMA.validate(resumed["detail"])
    assert (paused["detail"]["by"], paused["detail"]["job"]["reason"]) == ("e2e", "a holiday")
    assert paused["detail"]["tenant_id"] == SYSTEM_TENANT


def test_a_few_of_many_failures_are_reported_singly_and_the_rest_in_a_digest(bench, backends):
    opt_in(backends, BULK, FAILED)
    orders = [Order(payload=LoseParcel(number=index), at=SOON) for index in range(UNLUCKY)]
    Scheduler.from_env(tenant_id=BULK, actor="e2e").schedule_many(orders)
    bench.eventually(lambda: accounted_for(entries(backends, BULK, FAILED)) == UNLUCKY, within=180)
    all_are_told(bench)
    report = entries(backends, BULK, FAILED)
    digests = [row for row in report if row.is_digest]
    assert digests
    assert len({digest.facts["since"] for digest in digests}) == len(digests)
    assert all(digest.facts["by_name"] == {"lose-parcel": digest.facts["total"]} for digest in digests)
    mails = mails_to(address(BULK))
    assert len(mails) == len(report) < UNLUCKY
    assert {mail.subject for mail in mails} == {
        "bulk: lose-parcel failed",
        *(f"bulk: {digest.facts['total']} actions failed" for digest in digests),
    }
    assert "{{" not in "".join(mail.text + mail.html for mail in mails)


def accounted_for(report):
    """Count the failures; a digest's total includes those of its window with their own notifications."""
    return sum(row.facts["total"] - BURST if row.is_digest else 1 for row in report)
