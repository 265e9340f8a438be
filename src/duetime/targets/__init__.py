"""Targets: actions that need no handler of yours. A worker of duetime's own sends them.

Schedule one of these payloads. The target must be granted: in CDK by ``scheduler.grant_target(…)``, on the
local cloud and embedded by `with_targets`.
"""

from __future__ import annotations

from duetime.targets.grants import TargetGrant, WebhookHost
from duetime.targets.handlers import with_targets
from duetime.targets.payloads import (
    BatchJob,
    DurableCallback,
    DurableExecution,
    EcsTask,
    EventBridgeEvent,
    LambdaInvocation,
    SnsMessage,
    SqsMessage,
    StateMachineExecution,
    Webhook,
)

__all__ = [
    "BatchJob",
    "DurableCallback",
    "DurableExecution",
    "EcsTask",
    "EventBridgeEvent",
    "LambdaInvocation",
    "SnsMessage",
    "SqsMessage",
    "StateMachineExecution",
    "TargetGrant",
    "Webhook",
    "WebhookHost",
    "with_targets",
]
