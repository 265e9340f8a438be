"""Write spans through OpenTelemetry's API if it is configured; otherwise load and store nothing.

A process that configures tracing has imported OpenTelemetry, so this module looks for it among the loaded
modules and never imports it first. A row carries the trace of its caller as a W3C ``traceparent``; a run
continues that trace.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from duetime.errors import truncate
from duetime.model.action import Action, Ending, Status, Trigger
from duetime.model.lease import Settlement

if TYPE_CHECKING:
    from opentelemetry import trace as api

SCHEDULE, CANCEL, RESCHEDULE, REDRIVE = "Schedule", "Cancel", "Reschedule", "Redrive"
DISMISS = "Dismiss"
TRIGGER, EXECUTE, CATCH_UP = "Trigger", "Execute", "CatchUp"

ACTION_ID, ACTION_TYPE = "duetime.action.id", "duetime.action.type"
TENANT, CORRELATION_ID = "duetime.tenant", "duetime.correlation_id"
JOB, CADENCE = "duetime.job", "duetime.cadence"
MADE_DUE_BY = "duetime.trigger"
TRIGGERED_BY = "duetime.triggered_by"
ATTEMPT, LATE_MS = "duetime.attempt", "duetime.late_ms"
OUTCOME, STATUS = "duetime.outcome", "duetime.status"
COUNT, SENT = "duetime.count", "duetime.sent"
ERROR_TYPE = "error.type"

LOST, IN_DOUBT, HANDED_OVER = "lost", "in doubt", "handed over"
"""Outcomes of a run that did not settle itself."""

SYSTEM = "system"
"""The author of a run that no caller triggered."""

Attributes = Mapping[str, str | int | float | None]
"""The attributes of a span, by the names above; those that are None are left out."""

_API = "opentelemetry.trace"
_SCOPE = "duetime"
_KINDS = {SCHEDULE: "PRODUCER", TRIGGER: "PRODUCER", EXECUTE: "CONSUMER"}
_TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")


class TraceSpan:
    """An open span; without tracing it stores nothing."""

    __slots__ = ("_begun",)

    def __init__(self, begun: api.Span | None = None) -> None:
        self._begun = begun

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""
        if self._begun is not None:
            self._begun.set_attributes(_without_none(attributes))

    def about(self, action: Action) -> None:
        """Add the attributes of an action, and link the span to the trace of the action's caller."""
        if self._begun is not None:
            self.set(of_action(action))
            caller = _read(action.trace)
            if caller is not None and caller.trace_id != self._begun.get_span_context().trace_id:
                self._begun.add_link(caller)

    def raised(self, error: BaseException) -> None:
        """Record an exception: its type and the beginning of its message, and no traceback."""
        if self._begun is not None:
            kind = type(error).__name__
            self.set({ERROR_TYPE: kind})
            self._begun.add_event("exception", {"exception.type": kind, "exception.message": truncate(error)})

    def current(self) -> AbstractContextManager[object]:
        """Make it the current span within a block, also in another context."""
        if self._begun is None:
            return nullcontext()
        from opentelemetry import trace as api  # noqa: PLC0415 - loaded already

        return api.use_span(
            self._begun, end_on_exit=False, record_exception=False, set_status_on_exception=False
        )

    def failed(self, reason: object) -> None:
        """Mark it as an error."""
        if self._begun is not None:
            from opentelemetry.trace import Status as Mark  # noqa: PLC0415 - loaded already
            from opentelemetry.trace import StatusCode  # noqa: PLC0415 - as above

            self._begun.set_status(Mark(StatusCode.ERROR, truncate(reason)))

    def ended(self, settled: Settlement | None) -> None:
        """Add the result of a run and the status of its action; None means that another run took it over."""
        if settled is None:
            self.set({OUTCOME: LOST})
            return
        self.set({OUTCOME: settled.ending.value, STATUS: settled.status.value})
        if settled.ending is Ending.FAILED or settled.status is Status.FAILED:
            self.failed(settled.message or "")


def span(
    name: str, attributes: Callable[[], Attributes] = dict, *, parent: str | None = None
) -> AbstractContextManager[TraceSpan]:
    """Return a span around a block: a child of `parent` with a link to the current span, or its child.

    An exception of the block is recorded and marks the span as an error. `attributes` is called only if
    tracing is configured.
    """
    return _UNTRACED if sys.modules.get(_API) is None else _traced(name, attributes, parent)


def executing(action: Action) -> AbstractContextManager[TraceSpan]:
    """Return the span of one run, in the trace of its action's caller."""
    return span(EXECUTE, partial(of_run, action), parent=action.trace)


def carried() -> str | None:
    """Return the current span as a ``traceparent``, for a row; None without a span."""
    if sys.modules.get(_API) is None:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415 - loaded already

    here = api.get_current_span().get_span_context()
    if not here.is_valid:
        return None
    return f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"


def of_action(action: Action) -> Attributes:
    """Return the attributes of an action, without any part of its payload."""
    attributes: dict[str, str | None] = {
        ACTION_ID: action.id,
        ACTION_TYPE: action.type,
        TENANT: action.tenant_id,
        CORRELATION_ID: action.correlation_id,
        MADE_DUE_BY: action.trigger.value,
    }
    if action.job is None:
        return attributes
    by = action.created_by if action.trigger is Trigger.MANUAL else SYSTEM
    return {**attributes, JOB: action.job, CADENCE: action.cadence, TRIGGERED_BY: by}


def of_run(action: Action) -> Attributes:
    """Return the attributes of a run at its beginning."""
    late = action.attempts[-1].started_at - action.due_at
    return {
        **of_action(action),
        ATTEMPT: action.attempt,
        LATE_MS: round(late.total_seconds() * 1000, 1),
    }


@contextmanager
def _traced(name: str, attributes: Callable[[], Attributes], parent: str | None) -> Iterator[TraceSpan]:
    from opentelemetry import trace as api  # noqa: PLC0415 - waits for an import that has only begun

    from_there = _read(parent)
    here = api.get_current_span().get_span_context()
    begun = _tracer(api.get_tracer_provider()).start_span(
        name,
        context=None if from_there is None else api.set_span_in_context(api.NonRecordingSpan(from_there)),
        kind=api.SpanKind[_KINDS.get(name, "INTERNAL")],
        attributes=_without_none(attributes()),
        links=[api.Link(here)] if from_there is not None and here.is_valid else None,
    )
    if not begun.get_span_context().is_valid:  # without a provider, an older API drops the caller's span
        begun = api.NonRecordingSpan(here if from_there is None else from_there)
    span_ = TraceSpan(begun)
    with api.use_span(begun, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield span_
        except Exception as error:
            span_.raised(error)
            span_.failed(f"{type(error).__name__}: {truncate(error)}")
            raise


@lru_cache(maxsize=1)
def _tracer(provider: api.TracerProvider) -> api.Tracer:
    return provider.get_tracer(_SCOPE)


def _read(carried: str | None) -> api.SpanContext | None:
    found = _TRACEPARENT.fullmatch(carried) if isinstance(carried, str) else None
    if found is None:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415 - loaded already

    trace_id, span_id, flags = (int(group, 16) for group in found.groups())
    there = api.SpanContext(trace_id, span_id, is_remote=True, trace_flags=api.TraceFlags(flags))
    return there if there.is_valid else None


def _without_none(attributes: Attributes) -> dict[str, str | int | float]:
    return {name: value for name, value in attributes.items() if value is not None}


_UNTRACED = nullcontext(TraceSpan())
