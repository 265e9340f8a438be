"""Routes of an action's attempts: their tracebacks, and the lines that their workers logged."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request

from duetime._masking import hiding
from duetime.api.context import ACTIONS, reader_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.routes import RouteGroup, route
from duetime.api.views import Instant, View, shows, trace_url
from duetime.errors import Unsupported, truncate
from duetime.ids import DEFAULT_WORKER
from duetime.model.action import Action, Attempt
from duetime.model.permissions import Permission
from duetime.model.redaction import REDACTED
from duetime.ports.run_logs import LogLine, LogPage

_LONGEST_MESSAGE, _LONGEST_EXCEPTION = 2_000, 16_000
"""Characters."""

_MARGIN, _MILLISECOND = timedelta(seconds=5), timedelta(milliseconds=1)
"""How much later than its attempt's end a line is looked for: the worker logs the end after the settle.

A millisecond before the next attempt's start, all lines are of the former.
"""


class TracebackView(View):
    """Why an attempt failed, as Python prints it."""

    number: int
    """The attempt's."""
    started_at: Instant
    """When the attempt started, which identifies it."""
    text: str
    """The exceptions, the first cause first, without secrets; of a very long one the middle is left out."""


class TracebackList(View):
    """The tracebacks of an action's failed attempts, in order."""

    items: list[TracebackView]
    """None of an attempt whose worker died, or whose traceback could not be stored."""


@shows(LogLine, "at level exception")
class LogLineView(View):
    """One line of a worker's log."""

    message: str
    """The text, without secrets, in at most 2,000 characters; `[redacted]` if its secrets are unknown."""


class LogView(View):
    """The lines of one attempt, the oldest first; at most 200."""

    attempt: int | None
    """The attempt's number; null if no run has begun."""
    items: list[LogLineView]
    """Those that name the action: of ``run.log``, and of duetime's own worker."""
    is_complete: bool
    """Whether there are no further ones, as far as the log has been written."""
    trace_url: str | None
    """Where X-Ray shows the trace of the worker's invocation; null if it was not traced."""


class AttemptRoutes(RouteGroup):
    """Serves the details of attempts, apart from the action: lists and `GET` of one do not read them."""

    tag = "actions"

    @route("listTracebacks", "GET", f"{ACTIONS}/<action_id>/tracebacks", Permission.READ_ACTIONS)
    def tracebacks(self, action_id: str, request: Request) -> TracebackList:
        """Return the tracebacks of the failed attempts that the action lists."""
        action = self.api.scheduler(request).get(action_id)
        numbers = {attempt.started_at: number for number, attempt in action.numbered_attempts()}
        return TracebackList(
            items=[
                TracebackView(number=numbers[found.started_at], started_at=found.started_at, text=found.text)
                for found in (self.api.store.tracebacks(action.ref) if numbers else ())
                if found.started_at in numbers
            ]
        )

    @route("readLog", "GET", f"{ACTIONS}/<action_id>/log", Permission.READ_ACTIONS)
    def log(
        self,
        action_id: str,
        request: Request,
        attempt: Annotated[int | None, Query(description="its number; by default the latest", ge=1)] = None,
    ) -> LogView:
        """Return the lines that the worker logged about one attempt of the action, the oldest first."""
        action = self.api.scheduler(request).get(action_id)
        runs = _chosen(action, attempt)
        page = self._lines(action, runs) if runs else LogPage((), is_complete=True)
        traces = (line.trace_id for line in reversed(page.lines) if line.trace_id)
        secrets = reader_at(self.api, request).secrets_of(action)
        with hiding(lambda: secrets or (), self.api.settings.secret_patterns.values()):
            return LogView(
                attempt=runs[0][0] if runs else None,
                items=[_line_view(line, is_hidden=secrets is None) for line in page.lines],
                is_complete=page.is_complete,
                trace_url=trace_url(next(traces, None)),
            )

    def _lines(self, action: Action, runs: list[tuple[int, Attempt]]) -> LogPage:
        if self.api.run_logs is None:
            raise Unsupported("this API was made without the logs of the workers")
        worker = self.api.jobs.routes.queue_for(action.type) or DEFAULT_WORKER
        number, last = runs[-1]
        until = (last.finished_at or self.api.clock.now()) + _MARGIN
        later = (run.started_at for of, run in action.numbered_attempts() if of > number)
        until = min(until, next(later, until + _MILLISECOND) - _MILLISECOND)
        return self.api.run_logs.lines(action, worker, runs[0][1].started_at, until)


def _chosen(action: Action, number: int | None) -> list[tuple[int, Attempt]]:
    """Return the runs of an attempt with its number: a take-over has that of the run that it replaces.

    Raises:
        InvalidRequest: the action lists attempts, and not that one.
    """
    numbered = action.numbered_attempts()
    if not numbered:
        return []
    first, last = numbered[0][0], numbered[-1][0]
    chosen = [run for run in numbered if run[0] == (last if number is None else number)]
    if not chosen:
        raise InvalidRequest(
            [Flaw("attempt", f"is {number}; the action lists the attempts {first} to {last}")]
        )
    return chosen


def _line_view(line: LogLine, *, is_hidden: bool) -> LogLineView:
    if is_hidden:
        return LogLineView.of(line, message=REDACTED, exception=None)
    exception = None if line.exception is None else truncate(line.exception, _LONGEST_EXCEPTION)
    return LogLineView.of(line, message=truncate(line.message, _LONGEST_MESSAGE), exception=exception)
