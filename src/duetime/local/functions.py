"""The deployed Lambda functions: handlers of `duetime.lambdas`, called as Lambda calls them."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from duetime.clock import Clock

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
Handler = Callable[[Any, Any], Any]

_MILLISECOND = timedelta(milliseconds=1)


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
    """A deployed handler."""

    handler: Handler
    timeout: timedelta
    runs_in_parallel: bool = False
    """Whether concurrent invocations may share this process; Lambda has one process for each."""
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

        A ``BaseException`` such as ``SystemExit`` simulates a function whose process dies.
        """
        function = self._by_arn[arn]
        context = LocalContext(arn.rpartition(":")[2], arn, self._clock.now() + function.timeout, self._clock)
        try:
            with _turn(function):
                return InvocationOutcome(function.handler(json.loads(json.dumps(event)), context))
        except BaseException as error:  # the invocation ends here, as a Lambda's process would
            log.warning("%s died of %s", context.function_name, repr(error), exc_info=_traced(error))
            return InvocationOutcome(error=error)


@contextmanager
def _turn(function: LocalFunction) -> Iterator[None]:
    if function.runs_in_parallel:
        yield
    else:
        with function.turn:
            yield


def _traced(error: BaseException) -> BaseException | None:
    return error if isinstance(error, Exception) else None
