"""The handlers of targets, and the apps that host them: each checks the grant, then sends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime.app import App
from duetime.clock import SystemClock
from duetime.declare.handler import Handler
from duetime.errors import BackendMisconfigured
from duetime.ids import TARGET_WORKER
from duetime.model.event_chain import DEPTH_FIELD
from duetime.model.run import Run
from duetime.retry import Fatal, RetryPolicy, exponential
from duetime.targets.executions import TargetFailed, calls_of, run_execution
from duetime.targets.grants import Grant, Grants
from duetime.targets.payloads import (
    ACTION_ATTRIBUTE,
    EXECUTIONS,
    NAMED_BY,
    DurableCallback,
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    Target,
    Webhook,
    as_text,
)
from duetime.targets.webhooks import WEBHOOK_RETRY, HttpPost, send_webhook

if TYPE_CHECKING:
    from duetime.aws.target_calls import AwsTargetCalls
    from duetime.model.hand_over import HandedOver

ACTION_FIELD = "duetime_action"
"""The field of an event's detail with the action's id."""

_RETRY = RetryPolicy(10, backoff=exponential(10))
_RETRIES: Mapping[type[Target], RetryPolicy] = {
    Webhook: WEBHOOK_RETRY,
    **dict.fromkeys(EXECUTIONS, RetryPolicy()),
}
_TIMEOUT = timedelta(minutes=1)
_TIMEOUTS: Mapping[type[Target], timedelta] = {LambdaInvocation: timedelta(minutes=5)}


def with_targets(app: App, targets: Iterable[Grant | str]) -> App:
    """Return the app with the handlers of granted targets: for the local cloud, embedded, and simulations.

    A stack grants them by ``scheduler.grant_target(…)`` instead: a worker of their own sends them there.

    Args:
        app: stays as it is.
        targets: ARNs, ``https://`` and a host for webhooks, or grants with options.

    Raises:
        DeclarationError: a target is none of these.
    """
    grants = Grants.of_all(targets)
    return app.extended(target_app(grants, worker=app.worker)) if grants.granted else app


def target_app(grants: Grants, *, worker: str = TARGET_WORKER, post: HttpPost | None = None) -> App:
    """Return the app of the worker that sends targets; without any grant, it reads the payloads of all."""
    app, post = App(worker=worker), post or HttpPost(SystemClock())

    def send(payload: Any, run: Run) -> HandedOver | None:
        return _send_granted(payload, grants.find(payload, run.tenant_id), run, post)

    for payload in grants.payloads or NAMED_BY:
        app.add(
            Handler(
                name=payload.type_name,
                function=send,
                payload=payload,
                payload_parameter="payload",
                run_parameter="run",
                retry=_RETRIES.get(payload, _RETRY),
                timeout=_TIMEOUTS.get(payload, _TIMEOUT),
            )
        )
    return app


def _send_granted(payload: Target, grant: Any, run: Run, post: HttpPost) -> HandedOver | None:
    """Send a target; return the hand-over of one that waits for its end.

    Raises:
        Fatal: a repeat does not help.
        Exception: another attempt may succeed.
    """
    try:
        if isinstance(payload, EXECUTIONS):
            return run_execution(payload, grant, run, calls_of(grant))
        _send(payload, grant, run, post)
    except BackendMisconfigured as error:
        raise Fatal(str(error)) from error
    return None


def _send(payload: Target, grant: Any, run: Run, post: HttpPost) -> None:
    attributes = {**getattr(payload, "attributes", {}), ACTION_ATTRIBUTE: run.id}
    match payload:
        case Webhook():
            send_webhook(payload, grant, run, post, lambda reference: _aws().secret(reference))
        case SqsMessage():
            _aws().send_message(grant.arn, as_text(payload.body), attributes, payload.group, run.id)
        case SnsMessage():
            _aws().publish(
                grant.arn,
                as_text(payload.message),
                subject=payload.subject,
                attributes=attributes,
                group=payload.group,
                key=run.id,
            )
        case EventBridgeEvent():
            detail = {**payload.detail, ACTION_FIELD: run.id, DEPTH_FIELD: run.depth}
            _aws().put_event(grant.arn, payload.source, payload.detail_type, detail, payload.resources)
        case LambdaInvocation():
            error = _aws().invoke(grant.arn, payload.payload, wait=payload.wait)
            if error is not None:
                raise TargetFailed(error)
        case DurableCallback():
            is_repeated = run.fence > 1  # an earlier run may have ended it, and had no response
            if not _aws().end_callback(payload.callback_id, payload.result) and not is_repeated:
                raise Fatal("the callback has expired, or was ended by another caller")


def _aws() -> AwsTargetCalls:
    from duetime.aws.target_calls import AwsTargetCalls  # noqa: PLC0415 - only where a target is sent

    return AwsTargetCalls()
