"""Deliveries of notifications: SES, SNS, and the queue whose delayed messages request digests.

SES and SNS do not deduplicate, so each is called once; the notification queue repeats.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from duetime.aws.faults import code_of, translate_errors
from duetime.aws.queues import SERVICE as SQS
from duetime.errors import BackendMisconfigured
from duetime.model.notification import Channel, DeliveryRejected, DigestWindow
from duetime.ports.notifications import Mail

if TYPE_CHECKING:
    from mypy_boto3_ses import SESClient
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

_MAIL_REFUSED = frozenset({"MessageRejected", "InvalidParameterValue"})
_MESSAGE_REFUSED = frozenset({"InvalidParameter", "InvalidParameterValue"})
_OF_THE_TOPIC = ("TopicArn", "MessageGroupId")
"""Parameters of the topic.

SNS has the same error code for an invalid topic, which is no fault of a message.
"""


class SesMailer:
    """Mails with SES templates.

    See `duetime.ports.notifications.Mailer`.
    """

    def __init__(self, client: SESClient, sender: str) -> None:
        self._client, self._sender = client, sender

    def send(self, mail: Mail) -> None:
        with translate_errors("SES"):
            try:
                self._client.send_templated_email(
                    Source=self._sender,
                    Destination={"ToAddresses": [mail.address]},
                    Template=mail.template,
                    TemplateData=json.dumps(dict(mail.data)),
                )
            except ClientError as error:
                _raise_if_refused(Channel.EMAIL, error, _MAIL_REFUSED)
                raise


class SnsTopic:
    """A topic of SNS. Empty attributes are omitted, because SNS rejects them.

    See `duetime.ports.notifications.Topic`.
    """

    def __init__(self, client: SNSClient, topic_arn: str) -> None:
        self._client, self._topic_arn = client, topic_arn

    def publish(self, subject: str, message: str, attributes: Mapping[str, str]) -> None:
        with translate_errors("SNS"):
            try:
                self._client.publish(
                    TopicArn=self._topic_arn,
                    Subject=subject,
                    Message=message,
                    MessageAttributes={
                        name: {"DataType": "String", "StringValue": value}
                        for name, value in attributes.items()
                        if value
                    },
                )
            except ClientError as error:
                _raise_if_refused(Channel.SNS, error, _MESSAGE_REFUSED)
                raise


def _raise_if_refused(channel: Channel, error: ClientError, codes: frozenset[str]) -> None:
    reason = str(error.response.get("Error", {}).get("Message"))
    if code_of(error) in codes and not any(name in reason for name in _OF_THE_TOPIC):
        raise DeliveryRejected(channel, reason) from error


class SqsDigestTimer:
    """Delayed messages in the notification queue.

    See `duetime.ports.notifications.DigestTimer`.
    """

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client, self._url = client, url

    def at_end_of(self, window: DigestWindow, *, delay: int) -> None:
        if not self._url:
            cure = "Set DUETIME_NOTIFICATION_QUEUE to the URL of the queue"
            raise BackendMisconfigured(SQS, "the notification queue is not set", cure)
        with translate_errors(SQS):
            self._client.send_message(
                QueueUrl=self._url, MessageBody=json.dumps(window.request), DelaySeconds=delay
            )
