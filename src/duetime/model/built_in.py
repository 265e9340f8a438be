"""The types of duetime's own that workers run beside the app's."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from hashlib import sha256

from duetime import instant
from duetime.errors import InvalidPayload
from duetime.ids import DEFAULT_WORKER, SYSTEM_TENANT, created_at, due_shard_of, new_action_id
from duetime.model.action import Action
from duetime.settings import Settings

RESERVED = "duetime-"
"""The prefix of the system's own names."""

CANARY = "duetime-canary"
"""The type of the canary; see `duetime.wakeups.sweep`."""

DEADLINE = "duetime-deadline"
"""The type of the checks of deadlines, which the system's worker runs; see `duetime.model.deadline`."""


PROBE = "duetime-probe"
"""The probe of the default worker; another worker's has its name after it."""

TARGETS = frozenset(
    {
        "target-batch-job",
        "target-durable-callback",
        "target-durable-execution",
        "target-ecs-task",
        "target-event",
        "target-lambda-invocation",
        "target-sns-message",
        "target-sqs-message",
        "target-state-machine-execution",
        "target-webhook",
    }
)
"""The types that the worker of targets runs; see `duetime.targets`."""

RETENTION = timedelta(hours=1)
"""The retention of their rows once a run has settled them."""


def probe_type(worker: str) -> str:
    """Return the name of a worker's probe type."""
    return PROBE if worker == DEFAULT_WORKER else f"{PROBE}-{worker}"


def is_probe(type_name: str) -> bool:
    """Return whether a type's name is reserved for probes."""
    return type_name == PROBE or type_name.startswith(f"{PROBE}-")


def worker_of(type_name: str) -> str:
    """Return the worker of a probe type."""
    return type_name.removeprefix(PROBE).removeprefix("-") or DEFAULT_WORKER


def is_built_in(type_name: str) -> bool:
    """Return whether the type is one of duetime's own that is no target."""
    return type_name in {CANARY, DEADLINE} or is_probe(type_name)


def check_type(type_name: str) -> None:
    """Check that callers may schedule a type.

    Raises:
        InvalidPayload: duetime alone writes its rows.
    """
    if type_name.startswith(RESERVED) and not is_probe(type_name):
        problem = f"names that begin with {RESERVED!r} are reserved for duetime's own; use another name"
        raise InvalidPayload(type_name, [problem])


def canary_row(begun: datetime, settings: Settings, due_shards: int) -> Action:
    """Return the canary of the interval that has begun."""
    action_id = new_action_id(begun, lambda size: sha256(CANARY.encode()).digest()[:size])
    return Action(
        tenant_id=SYSTEM_TENANT,
        id=action_id,
        type=CANARY,
        due_at=begun + settings.near_limit + settings.sweep_rate,
        due_shard=due_shard_of(action_id, due_shards),
        created_by="duetime",
        payload=None,
    )


def is_forged(row: Action, settings: Settings) -> bool:
    """Return whether a row has a type that duetime alone writes, and duetime has not written it."""
    if row.type != CANARY:
        return row.type == DEADLINE and (row.tenant_id != SYSTEM_TENANT or row.job is not None)
    begun = instant.floor(created_at(row.id), settings.made.canary or timedelta(minutes=1))
    written = canary_row(begun, settings, 1)
    return (row.ref, row.nominal_at) != (written.ref, written.nominal_at)


def retention_of(type_name: str, retention: timedelta) -> timedelta:
    """Return the retention of a settled row; `retention` is the deployment's."""
    return min(retention, RETENTION) if is_built_in(type_name) else retention


def is_counted(row: Action) -> bool:
    """Return whether metrics and lifecycle events include an action: a probe must request it.

    A row that another program wrote may have any payload; such a probe is not counted.
    """
    if not is_built_in(row.type):
        return True
    try:
        payload = json.loads(row.payload or "{}")
    except (ValueError, RecursionError):
        return False
    return is_probe(row.type) and isinstance(payload, dict) and payload.get("notify") is True
