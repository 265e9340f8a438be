"""The handlers of targets: each checks the grant, then sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from duetime.clock import SystemClock
from duetime.declare.handler import Handler
from duetime.errors import BackendMisconfigured
from duetime.model.event_chain import DEPTH_FIELD
from duetime.model.run import Run
from duetime.retry import Fatal, RetryPolicy, exponential
from duetime.targets.executions import EXECUTIONS
from duetime.targets.grants import AnyTarget, Grants
from duetime.targets.http_post import HttpPost
from duetime.targets.payloads import (
    ACTION_ATTRIBUTE,
    DurableCallback,
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    Target,
    Webhook,
    as_text,
)
from duetime.targets.run_execution import NAMED_BY, calls_of, run_execution
from duetime.targets.webhooks import WEBHOOK_RETRY, SendWebhook

if TYPE_CHECKING:
    from duetime.model.hand_over import HandedOver

ACTION_FIELD = "duetime_action"
"""The field of an event's detail with the action's id."""

_RETRY = RetryPolicy(10, backoff=exponential(10))
_RETRIES: dict[type[AnyTarget], RetryPolicy] = {
    Webhook: WEBHOOK_RETRY,
    **dict.fromkeys(EXECUTIONS, RetryPolicy()),
}
_TIMEOUT = timedelta(minutes=1)
_TIMEOUTS: dict[type[AnyTarget], timedelta] = {LambdaInvocation: timedelta(minutes=5)}


class TargetCalls(Protocol):
    """The calls of AWS.

    Each raises `BackendMisconfigured` if a repeat does not help, and `BackendUnavailable` otherwise.
    """

    def send_message(
        self, arn: str, body: str, attributes: dict[str, str], group: str | None, key: str
    ) -> None:
        """Send a message to a queue; a FIFO queue drops repeats of `key`."""

    def publish(
        self,
        arn: str,
        message: str,
        *,
        subject: str | None,
        attributes: dict[str, str],
        group: str | None,
        key: str,
    ) -> None:
        """Publish a message on a topic; a FIFO topic drops repeats of `key`."""

    def put_event(
        self, bus: str, source: str, detail_type: str, detail: dict[str, Any], resources: list[str]
    ) -> None:
        """Put an event on a bus."""

    def invoke(self, arn: str, payload: Any, *, wait: bool) -> str | None:
        """Invoke a function; return the error that it raised, if the call waits for it."""

    def end_callback(self, callback_id: str, result: Any) -> bool:
        """End a callback of a durable function; return False if it has ended, or has expired, already."""

    def secret(self, reference: str) -> str:
        """Return a signing secret."""


class FunctionFailed(Exception):
    """An invoked function raised."""


class SendTargets:
    """Sends the targets of one worker's actions."""

    def __init__(
        self, grants: Grants, calls: Callable[[], TargetCalls], post: HttpPost | None = None
    ) -> None:
        self._grants, self._calls = grants, calls
        self._webhook = SendWebhook(
            post or HttpPost(SystemClock()), lambda reference: calls().secret(reference)
        )

    def handlers(self) -> Iterator[Handler]:
        """Yield the handlers of the granted targets; without any grant, those of all targets."""
        for payload in self._grants.payloads or tuple(_FIELDS):
            yield Handler(
                name=payload.type_name,
                function=self._function_of(payload),
                payload=payload,
                payload_parameter="payload",
                run_parameter="run",
                retry=_RETRIES.get(payload, _RETRY),
                timeout=_TIMEOUTS.get(payload, _TIMEOUT),
            )

    def _function_of(self, payload_type: type[AnyTarget]) -> Callable[..., object]:
        def send(payload: Any, run: Run) -> object:
            return self.send(payload_type, payload, run)

        return send

    def send(self, payload_type: type[AnyTarget], payload: Any, run: Run) -> HandedOver | None:
        """Send the target of an action; return the hand-over of one that waits for its end.

        Raises:
            Fatal: it is not granted, or a repeat does not help.
            Exception: another attempt may succeed.
        """
        grant: Any = self._grants.find(payload_type, getattr(payload, _FIELDS[payload_type]), run.tenant_id)
        try:
            if isinstance(payload, EXECUTIONS):
                return run_execution(payload, grant, run, calls_of(grant))
            self._send(payload, grant, run)
        except BackendMisconfigured as error:
            raise Fatal(str(error)) from error
        return None

    def _send(self, payload: Target, grant: Any, run: Run) -> None:
        match payload:
            case Webhook():
                self._webhook(payload, grant, run)
            case SqsMessage():
                self._calls().send_message(
                    grant.arn, as_text(payload.body), _attributes(payload, run), payload.group, run.id
                )
            case SnsMessage():
                self._calls().publish(
                    grant.arn,
                    as_text(payload.message),
                    subject=payload.subject,
                    attributes=_attributes(payload, run),
                    group=payload.group,
                    key=run.id,
                )
            case EventBridgeEvent():
                detail = {**payload.detail, ACTION_FIELD: run.id, DEPTH_FIELD: run.depth}
                self._calls().put_event(
                    grant.arn, payload.source, payload.detail_type, detail, payload.resources
                )
            case LambdaInvocation():
                error = self._calls().invoke(grant.arn, payload.payload, wait=payload.wait)
                if error is not None:
                    raise FunctionFailed(error)
            case DurableCallback():
                is_repeated = run.fence > 1  # an earlier run may have ended it, and had no response
                if not self._calls().end_callback(payload.callback_id, payload.result) and not is_repeated:
                    raise Fatal("the callback has expired, or was ended by another caller")


_FIELDS: dict[type[AnyTarget], str] = {
    SqsMessage: "queue",
    SnsMessage: "topic",
    EventBridgeEvent: "bus",
    LambdaInvocation: "function",
    DurableCallback: "function",
    Webhook: "url",
    **NAMED_BY,
}
"""The field of each payload that names its target."""


def _attributes(payload: SqsMessage | SnsMessage, run: Run) -> dict[str, str]:
    return {**payload.attributes, ACTION_ATTRIBUTE: run.id}
