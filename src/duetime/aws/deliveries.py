"""Deliveries of notifications: SES, SNS, the queue whose delayed messages request digests, and their records.

SES and SNS do not deduplicate, so each is called once; the notification queue repeats.

The record of a delivery is an item of the jobs table: partition ``acme#notified#deliveries``, sort key a hash
of the delivery's id. It has the lease of the sender, or the mark that the delivery was sent. It contains no
address. DynamoDB's time to live removes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable
from duetime.aws.faults import ConditionFailed, code_of, translate_errors
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, notified
from duetime.aws.queues import SERVICE as SQS
from duetime.errors import BackendMisconfigured
from duetime.ids import TenantId
from duetime.model.notification import Channel, DeliveryRejected, DigestWindow
from duetime.ports.notifications import Mail, SendPermit

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

WAS_NOT_SENT = "attribute_not_exists(sent)"
NO_OTHER_LEASE = "attribute_not_exists(pk) OR holder = :me OR lease_until <= :now"
IS_MINE = "holder = :me"


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


class DynamoDeliveries:
    """One item for each delivery.

    See `duetime.ports.notifications.Deliveries`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def begin(
        self,
        tenant_id: TenantId,
        delivery_id: str,
        *,
        holder: str,
        now: datetime,
        until: datetime,
        expires_at: datetime,
    ) -> SendPermit:
        try:
            self._table.update(
                _delivery_key(tenant_id, delivery_id),
                ConditionExpression=f"{WAS_NOT_SENT} AND ({NO_OTHER_LEASE})",
                UpdateExpression="SET holder = :me, lease_until = :until, #ttl = :ttl",
                ExpressionAttributeNames={"#ttl": "ttl"},
                ExpressionAttributeValues={
                    ":me": {"S": holder},
                    ":now": {"S": instant.text(now)},
                    ":until": {"S": instant.text(until)},
                    ":ttl": {"N": to_epoch(expires_at)},
                },
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ConditionFailed as failed:
            return SendPermit.SENT if "sent" in (failed.item or {}) else SendPermit.HELD
        return SendPermit.YES

    def end(self, tenant_id: TenantId, delivery_id: str, *, expires_at: datetime) -> None:
        mark: Item = {"sent": {"BOOL": True}, "ttl": {"N": to_epoch(expires_at)}}
        self._table.put(_delivery_key(tenant_id, delivery_id) | mark)

    def forget(self, tenant_id: TenantId, delivery_id: str, *, holder: str) -> None:
        with suppress(ConditionFailed):
            self._table.delete(
                _delivery_key(tenant_id, delivery_id),
                ConditionExpression=f"{WAS_NOT_SENT} AND {IS_MINE}",
                ExpressionAttributeValues={":me": {"S": holder}},
            )


def _delivery_key(tenant_id: TenantId, delivery_id: str) -> Item:
    digest = sha256(delivery_id.encode()).hexdigest()
    return {"pk": {"S": notified(tenant_id, "deliveries")}, "sk": {"S": digest}}
