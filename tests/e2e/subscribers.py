"""Who hears of what happens.

Queues that subscribe to the bus and to the topic, and the mails that SES sent.
"""

import contextlib
import json
import os
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field

import boto3

from duetime.rehearsal.emulator import ACCOUNT

AT_ONCE = 10


@dataclass(frozen=True)
class Subscriber:
    """A queue, and what was taken from it."""

    url: str
    _heard: list[dict] = field(default_factory=list)

    @property
    def heard(self) -> list[dict]:
        """All that came up to now."""
        sqs = boto3.client("sqs")
        while found := sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=AT_ONCE).get("Messages"):
            for row in found:
                self._heard.append(json.loads(row["Body"]))
                sqs.delete_message(QueueUrl=self.url, ReceiptHandle=row["ReceiptHandle"])
        return list(self._heard)


@dataclass(frozen=True)
class SentMail:
    """One mail, as it was sent."""

    sender: str
    to: tuple[str, ...]
    subject: str
    text: str
    html: str


@contextlib.contextmanager
def of_bus(name: str, *, source: str) -> Iterator[Subscriber]:
    """Hears what `source` puts on the default bus."""
    events = boto3.client("events")
    with _queue(name) as (subscriber, arn):
        events.put_rule(Name=name, EventPattern=json.dumps({"source": [source]}))
        events.put_targets(Rule=name, Targets=[{"Id": name, "Arn": arn}])
        yield subscriber
        events.remove_targets(Rule=name, Ids=[name])
        events.delete_rule(Name=name)


@contextlib.contextmanager
def of_topic(name: str, *, topic_arn: str, only: dict[str, list[str]]) -> Iterator[Subscriber]:
    """Hears the topic's messages that have these attributes."""
    sns = boto3.client("sns")
    with _queue(name) as (subscriber, arn):
        made = sns.subscribe(
            TopicArn=topic_arn,
            Protocol="sqs",
            Endpoint=arn,
            Attributes={"FilterPolicy": json.dumps(only)},
            ReturnSubscriptionArn=True,
        )
        yield subscriber
        sns.unsubscribe(SubscriptionArn=made["SubscriptionArn"])


@contextlib.contextmanager
def _queue(name: str) -> Iterator[tuple[Subscriber, str]]:
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName=name)["QueueUrl"]
    report = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    yield Subscriber(url), report["Attributes"]["QueueArn"]
    sqs.delete_queue(QueueUrl=url)


def mails_to(address: str) -> list[SentMail]:
    """Return the mails that SES sent there, the oldest first, as the emulator lists them."""
    endpoint = os.environ["AWS_ENDPOINT_URL"]  # noqa: TID251 - where these tests have put the emulator
    with urllib.request.urlopen(f"{endpoint}/_ministack/ses/messages?account={ACCOUNT}") as answer:  # noqa: S310
        report = json.load(answer)["messages"].get(ACCOUNT, [])
    sent = (
        SentMail(row["Source"], tuple(row["To"]), row["Subject"], row["BodyText"], row["BodyHtml"])
        for row in report
    )
    return [row for row in sent if address in row.to]
