"""The events in the queue of the worker for targets: ends of executions, and of actions that started some."""

from __future__ import annotations

import json
from typing import Any

from duetime.aws.backends import AwsBackends
from duetime.aws.execution_calls import durable_input
from duetime.clock import Clock
from duetime.environment import granted_targets
from duetime.jobs.known_region import KnownRegion
from duetime.lambdas.partial_batch import Event, EventHandler, partial_batch_handler
from duetime.settings import Settings
from duetime.targets.grants import Grants
from duetime.targets.run_execution import calls_of
from duetime.targets.status_events import StatusEvents, is_event


def with_target_events(
    due: EventHandler, backends: AwsBackends, *, clock: Clock, settings: Settings
) -> EventHandler:
    """Return the worker's handler, which also takes events; those that fail come again alone.

    Args:
        due: handles due messages.
        backends: the deployment's.
        clock: the source of the present time.
        settings: the deployment's.
    """
    status = StatusEvents(
        Grants.from_json(granted_targets()),
        calls_of,
        durable_input,
        store=backends.store,
        jobs=lambda: backends.jobs,
        clock=clock,
        settings=settings,
        region=KnownRegion(backends.regions, clock),
    )
    events = partial_batch_handler(lambda record: status(json.loads(record["body"])))

    def handler(event: Event, context: Any) -> Event:
        ours = [record for record in event["Records"] if _is_event(record["body"])]
        if not ours:
            return due(event, context)
        others = [record for record in event["Records"] if record not in ours]
        failed = [*events({"Records": ours}, context)["batchItemFailures"]]
        if others:
            failed += due({**event, "Records": others}, context)["batchItemFailures"]
        return {"batchItemFailures": failed}

    return handler


def _is_event(body: str) -> bool:
    try:
        return is_event(json.loads(body))
    except (ValueError, RecursionError):
        return False
