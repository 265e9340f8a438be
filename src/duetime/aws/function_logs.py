"""What a deployment's functions know and wrote: their settings, and the transitions in their logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from duetime.aws import clients
from duetime.aws.faults import ignoring, translate_errors
from duetime.errors import BackendMisconfigured, InvalidArgument
from duetime.ids import ActionId, TenantId
from duetime.instant import parse
from duetime.model.action import ActionRef
from duetime.model.priority import is_high_queue
from duetime.settings import Settings

_GONE = "ResourceNotFoundException"
_THIS_MACHINE = {"127.0.0.1", "localhost", "::1"}
_PATTERN = "{ $.action = * }"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class LoggedTransition:
    """One transition of an action that a function logged.

    Attributes:
        word: such as ``executed``, ``retried`` or ``scheduled``.
        due_at: of a transition that arm logged: the due time after it.
    """

    ref: ActionRef
    word: str
    at: datetime
    type: str
    due_at: datetime | None = None


def deployed_settings(client: Any, prefix: str) -> Settings:
    """Return the settings of the function `<prefix>arm`, which has those of the tables, queues and timers.

    Raises:
        BackendMisconfigured: there is no such function, or it may not be read.
    """
    name = f"{prefix}arm"
    with translate_errors("Lambda"), ignoring(_GONE):
        found = client.get_function_configuration(FunctionName=name)
        return Settings.from_env(found.get("Environment", {}).get("Variables", {}))
    raise BackendMisconfigured(
        "Lambda",
        f"the function {name} does not exist in this account and region",
        "Name the deployment's prefix with --prefix, and its region with AWS_DEFAULT_REGION",
    )


def settings_of_deployment(prefix: str) -> Settings:
    """Return the settings of a deployment, or on the local cloud, which has no functions, the default ones.

    Raises:
        BackendMisconfigured: as above.
    """
    client = clients.functions()
    try:
        return deployed_settings(client, prefix)
    except BackendMisconfigured:
        if urlsplit(client.meta.endpoint_url).hostname in _THIS_MACHINE:
            return Settings(prefix=prefix)
        raise


def logged_transitions(client: Any, settings: Settings, since: datetime) -> Iterator[LoggedTransition]:
    """Yield the transitions since an instant, in no order, from the logs of the workers and of arm.

    Missing log groups are left out.
    """
    names = [
        "arm",
        *(f"work-{worker}" for worker in sorted(settings.made.queues) if not is_high_queue(worker)),
    ]
    for name in names:
        with translate_errors("CloudWatch Logs"), ignoring(_GONE):
            pages = client.get_paginator("filter_log_events").paginate(
                logGroupName=f"/aws/lambda/{settings.prefix}{name}",
                startTime=int((since - _EPOCH) / _MILLISECOND),
                filterPattern=_PATTERN,
            )
            for page in pages:
                for event in page["events"]:
                    if found := _transition(event):
                        yield found


def _transition(event: Any) -> LoggedTransition | None:
    """Return the transition of a log event; None if its line is none."""
    try:
        line = json.loads(event["message"])
        due_at = line.get("due_at")
        return LoggedTransition(
            ActionRef(TenantId(line["tenant"]), ActionId(line["action"])),
            str(line["message"]),
            _EPOCH + event["timestamp"] * _MILLISECOND,
            str(line["type"]),
            None if due_at is None else parse(due_at),
        )
    except (ValueError, LookupError, TypeError, AttributeError, InvalidArgument):
        return None
