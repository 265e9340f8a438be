"""The deployed Lambda functions: handlers of `duetime.lambdas`, called as Lambda calls them."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from duetime.app import App
from duetime.clock import Clock
from duetime.declare.handler import LONGEST_RUN
from duetime.environment import instance_name
from duetime.errors import truncate
from duetime.lambdas import api, arm, dispatch, notify, passes, publish, undelivered, work
from duetime.lambdas.metrics_buffer import WriteMetrics
from duetime.ports.run_logs import RunLogs
from duetime.settings import Settings
from tests.emulated.addresses import ResourceNames

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
Handler = Callable[[Any, Any], Any]

_MILLISECOND = timedelta(milliseconds=1)
_SHORT, _PASS = timedelta(minutes=1), timedelta(minutes=5)
UNDELIVERED_TIMEOUT = NOTIFY_TIMEOUT = _SHORT


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The context that Lambda passes to a handler."""

    function_name: str
    invoked_function_arn: str
    ends_at: datetime
    clock: Clock
    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    function_version: str = "$LATEST"
    memory_limit_in_mb: int = 512

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the function's timeout."""
        return max(0, (self.ends_at - self.clock.now()) // _MILLISECOND)


@dataclass(frozen=True, slots=True)
class InvocationOutcome:
    """The result of an invocation: the handler's answer, or its error."""

    answer: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A deployed handler; Lambda runs one process for each concurrent invocation.

    Attributes:
        runs_in_parallel: whether concurrent invocations may share this process.
    """

    handler: Handler
    timeout: timedelta
    runs_in_parallel: bool = False
    turn: threading.Lock = field(default_factory=threading.Lock)


class LocalFunctions:
    """The functions by ARN. A new deploy applies to later invocations only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_arn: Mapping[str, LocalFunction] = {}

    def deploy(self, functions: Mapping[str, LocalFunction]) -> None:
        """Replace all functions."""
        self._by_arn = dict(functions)

    def __contains__(self, arn: str) -> bool:
        return arn in self._by_arn

    def invoke(self, arn: str, event: Event) -> InvocationOutcome:
        """Call a handler with a JSON copy of `event`; return its answer or its error.

        A ``BaseException`` such as `WorkerDied` simulates a function whose process dies.
        """
        function = self._by_arn[arn]
        context = LocalContext(arn.rpartition(":")[2], arn, self._clock.now() + function.timeout, self._clock)
        try:
            with nullcontext() if function.runs_in_parallel else function.turn:
                return InvocationOutcome(function.handler(json.loads(json.dumps(event)), context))
        except BaseException as error:  # the invocation ends here, as a Lambda's process would
            trace = error if isinstance(error, Exception) else None
            why = f"{type(error).__name__}: {truncate(error)}"
            log.warning("%s died of %s", context.function_name, why, exc_info=trace)
            return InvocationOutcome(error=error)


def functions_of(
    app: App,
    settings: Settings,
    names: ResourceNames,
    metrics: WriteMetrics,
    *,
    console_url: str,
    run_logs: RunLogs,
    concurrency: int,
) -> Mapping[str, LocalFunction]:
    """Return the functions by ARN, with handlers for these settings; `metrics` receives their measurements.

    The API reads `run_logs`, and shows `concurrency`, the handlers at once. Mails link to `console_url`,
    unless the settings have another.
    """
    instance = instance_name()
    worker = work.make_handler(settings, app.handler_set, instance=instance, metrics=metrics)
    sweep = passes.make_sweep_handler(settings, instance=instance, metrics=metrics)
    catch_up = passes.make_catch_up_handler(settings, instance=instance, metrics=metrics)
    functions = {
        "arm": LocalFunction(arm.make_handler(settings, metrics=metrics), _SHORT),
        "dispatch": LocalFunction(dispatch.make_handler(settings, metrics=metrics), _SHORT),
        "sweep": LocalFunction(sweep, _SHORT),
        "catch-up": LocalFunction(catch_up, _PASS),
        "publish": LocalFunction(publish.make_handler(settings), _SHORT),
        "undelivered": LocalFunction(
            undelivered.make_handler(settings, metrics=metrics), UNDELIVERED_TIMEOUT
        ),
        "api": LocalFunction(
            api.make_handler(settings, app, run_logs=run_logs, worker_concurrency=concurrency), _SHORT
        ),
    }
    if settings.events != "off":
        linked = replace(settings, console_url=settings.console_url or console_url)
        functions["notify"] = LocalFunction(notify.make_handler(linked), NOTIFY_TIMEOUT)
    by_arn = {names.function(name): function for name, function in functions.items()}
    return {**by_arn, names.work_function: LocalFunction(worker, LONGEST_RUN, runs_in_parallel=True)}
