"""The calls that send targets: to SQS, SNS, EventBridge and Lambda, and to the stores of secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from botocore.config import Config
from botocore.exceptions import ClientError

from duetime.aws import clients
from duetime.aws.faults import code_of, translate_calls
from duetime.clock import Clock, SystemClock
from duetime.environment import variable
from duetime.errors import BackendMisconfigured, BackendUnavailable, truncate

_SECRETS_KEPT = 300.0
"""Seconds; a rotation of a secret takes effect within them."""
_FOR_A_RESULT = Config(
    retries={"mode": "standard", "total_max_attempts": 1}, connect_timeout=5, read_timeout=240
)
"""For a call that waits for a function: the client never sends it twice."""
_PASSING = frozenset({"InternalFailure", "InternalException", "ThrottlingException"})
"""EventBridge's codes of entries that may succeed later."""


class AwsTargetCalls:
    """The calls that send targets. Safe to call from several threads.

    Each raises `BackendMisconfigured` if a repeat does not help, and `BackendUnavailable` otherwise. FIFO
    queues and topics drop repeats of a key. `invoke` returns the error that the function raised, if the call
    waits for it. `end_callback` returns False if the callback has ended, or has expired, already.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._urls: dict[tuple[int, str], str] = {}
        self._secrets: dict[str, tuple[float, str]] = {}

    def send_message(
        self, arn: str, body: str, attributes: Mapping[str, str], group: str | None, key: str
    ) -> None:
        client: Any = clients.sqs()
        with translate_calls("SQS"):
            client.send_message(
                QueueUrl=self._url(client, arn),
                MessageBody=body,
                MessageAttributes=_attributes(attributes),
                **_fifo(arn, group, key),
            )

    def _url(self, client: Any, arn: str) -> str:
        known = (id(client), arn)
        if known not in self._urls:
            *_, account, name = arn.split(":")
            answer = client.get_queue_url(QueueName=name, QueueOwnerAWSAccountId=account)
            self._urls[known] = answer["QueueUrl"]
        return self._urls[known]

    def publish(
        self,
        arn: str,
        message: str,
        *,
        subject: str | None,
        attributes: Mapping[str, str],
        group: str | None,
        key: str,
    ) -> None:
        client: Any = clients.sns()
        with translate_calls("SNS"):
            client.publish(
                TopicArn=arn,
                Message=message,
                MessageAttributes=_attributes(attributes),
                **({"Subject": subject} if subject else {}),
                **_fifo(arn, group, key),
            )

    def put_event(
        self, bus: str, source: str, detail_type: str, detail: Mapping[str, Any], resources: Sequence[str]
    ) -> None:
        entry: Any = {
            "EventBusName": bus,
            "Source": source,
            "DetailType": detail_type,
            "Detail": json.dumps(detail, ensure_ascii=False),
            "Resources": list(resources),
        }
        with translate_calls("EventBridge"):
            [result] = clients.events().put_events(Entries=[entry])["Entries"]
        if code := result.get("ErrorCode"):
            reason = f"{code}: {result.get('ErrorMessage')}"
            if code in _PASSING:
                raise BackendUnavailable("EventBridge", reason)
            raise BackendMisconfigured("EventBridge", reason, "Change the event")

    def invoke(self, arn: str, payload: Any, *, wait: bool) -> str | None:
        client = clients.functions(_FOR_A_RESULT) if wait else clients.functions()
        kind = "RequestResponse" if wait else "Event"
        with translate_calls("Lambda"):
            answer = client.invoke(
                FunctionName=arn, InvocationType=kind, Payload=json.dumps(payload).encode()
            )
            if not answer.get("FunctionError"):
                return None
            return _error_of(answer["Payload"].read())

    def end_callback(self, callback_id: str, result: Any) -> bool:
        client = clients.functions(clients.ONCE)  # the client's own repeat would find its first one's end
        with translate_calls("Lambda"):
            try:
                client.send_durable_execution_callback_success(
                    CallbackId=callback_id, Result=json.dumps(result).encode()
                )
            except ClientError as error:
                if code_of(error) != "CallbackTimeoutException":
                    raise
                return False
        return True

    def secret(self, reference: str) -> str:
        """Return a secret; one of AWS is read again after five minutes."""
        if reference.startswith("env:"):
            name = reference.removeprefix("env:")
            if found := variable(name):
                return found
            raise BackendMisconfigured("the environment", f"{name} is unset", "Set it to the signing secret")
        read_at, secret = self._secrets.get(reference, (-_SECRETS_KEPT, ""))
        if self._clock.elapsed() - read_at >= _SECRETS_KEPT or not secret:
            secret = _read(reference)
            self._secrets[reference] = (self._clock.elapsed(), secret)
        return secret


def _read(arn: str) -> str:
    if ":ssm:" in arn:
        with translate_calls("SSM"):
            answer = clients.of("ssm").get_parameter(Name=arn, WithDecryption=True)
        return str(answer["Parameter"]["Value"])
    with translate_calls("Secrets Manager"):
        answer = clients.of("secretsmanager").get_secret_value(SecretId=arn)
    return str(answer.get("SecretString", ""))


def _attributes(attributes: Mapping[str, str]) -> dict[str, Any]:
    return {name: {"DataType": "String", "StringValue": value} for name, value in attributes.items()}


def _fifo(arn: str, group: str | None, key: str) -> dict[str, str]:
    found = {"MessageGroupId": group} if group else {}
    return {**found, "MessageDeduplicationId": key} if arn.endswith(".fifo") else found


def _error_of(payload: bytes) -> str:
    try:
        error = json.loads(payload)
    except ValueError:
        return truncate(payload.decode(errors="replace"))
    if not isinstance(error, dict):
        return truncate(str(error))
    return truncate(f"{error.get('errorType', 'Error')}: {error.get('errorMessage', '')}")
