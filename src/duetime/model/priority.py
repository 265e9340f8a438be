"""The priority of actions: each worker has a queue for high ones if its types or the settings need it.

Facts only. A high action has its row's priority, or that of its type.
"""

from __future__ import annotations

from typing import Literal, TypeGuard, get_args

from duetime.errors import DeclarationError, InvalidArgument

Priority = Literal["normal", "high"]
_PRIORITIES = get_args(Priority)

_SUFFIX = "_high"
"""No worker's name has an underscore."""


def high_queue_of(worker: str) -> str:
    """Return the name of a worker's queue for high actions."""
    return f"{worker}{_SUFFIX}"


def is_high_queue(name: str) -> bool:
    """Return whether a due queue, by its name or its ARN, is for high actions."""
    return name.endswith(_SUFFIX)


def is_priority(value: object) -> TypeGuard[Priority]:
    """Return whether the value is a priority."""
    return value in _PRIORITIES


def declared_priority(priority: object) -> Priority:
    """Return the declared priority of a type.

    Raises:
        DeclarationError: there is no such priority.
    """
    if not is_priority(priority):
        raise DeclarationError(f"priority is {priority!r}; use 'normal' or 'high'")
    return priority


def check_priority(priority: object, *, enabled: bool) -> Priority:
    """Return the priority that a caller gives an action.

    Args:
        priority: what the caller gives.
        enabled: whether the deployment has a high queue for each worker.

    Raises:
        InvalidArgument: there is no such priority; or it is high, and the deployment does not enable that.
    """
    if not is_priority(priority):
        raise InvalidArgument("is no priority; use 'normal' or 'high'", field="priority", value=priority)
    if priority == "high" and not enabled:
        raise InvalidArgument(
            "priority is 'high', but this deployment does not enable it for single actions: set"
            ' high_priority=true and deploy, or declare the type with @app.action(priority="high")',
            field="priority",
        )
    return priority
