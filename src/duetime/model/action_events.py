"""Lifecycle events of actions. Facts only; `lifecycle` decides which are published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.model.action import Action, Ending, SkipReason, Status, Trigger
from duetime.model.change import Change
from duetime.model.debounce import calls_taken
from duetime.model.lifecycle import EventName, LifecycleEvent
from duetime.model.manifest import WorkerRoute
from duetime.model.redaction import WHOLE, Redacted, read_payload, redacted


def of_action(change: Change, at: datetime) -> Iterator[LifecycleEvent]:
    """Return the events of a change of a row; a removal has none.

    Args:
        change: the row before and after.
        at: when it was written, for transitions whose instant the row does not store.
    """
    if change.new is None:
        return
    transitions = _first(change.new) if change.old is None else _next(change.old, change.new)
    for word, by, when in transitions:
        yield _of_row(change.new, word, by, when or at)


_Transition = tuple[EventName, str | None, datetime | None]


def _first(new: Action) -> Iterator[_Transition]:
    if new.job is None:
        yield EventName.SCHEDULED, new.created_by, new.created_at
    elif new.trigger in {Trigger.MANUAL, Trigger.EVENT} and new.status is not Status.SKIPPED:
        yield EventName.TRIGGERED, new.created_by, new.created_at
    elif new.status is Status.PENDING:
        yield EventName.PLANNED, None, new.created_at
    if new.status is not Status.PENDING:
        yield from _ended(new)


def _next(old: Action, new: Action) -> Iterator[_Transition]:
    if new.cancel_request is not None and old.cancel_request is None:
        yield EventName.CANCEL_REQUESTED, new.cancel_request.by, new.cancel_request.at
    match old.status, new.status:
        case Status.PENDING, Status.PENDING if calls_taken(new) > calls_taken(old):
            yield EventName.COALESCED, *_changed(new)
        case Status.PENDING, Status.PENDING if new.generation > old.generation:
            if not (new.waits_for_run and old.waits_for_run):  # the first look is the event
                yield _moved(old, new)
        case Status.FAILED, Status.PENDING:
            yield EventName.REDRIVEN, *_changed(new)
        case Status.PROCESSING, Status.PENDING:
            yield EventName.RETRYING, None, new.attempts[-1].finished_at if new.attempts else None
        case Status.PENDING, Status.PROCESSING:
            yield EventName.STARTED, None, new.attempts[-1].started_at if new.attempts else None
        case Status.PROCESSING, Status.PROCESSING:
            yield from _went_on(old, new)
        case before, after if before is not after:
            yield from _ended(new)


def _went_on(old: Action, new: Action) -> Iterator[_Transition]:
    if new.recoveries > old.recoveries:
        yield EventName.RECOVERED, None, new.attempts[-1].started_at if new.attempts else None
    elif new.hand_over is not None and new.hand_over.fence > (old.hand_over.fence if old.hand_over else 0):
        yield EventName.HANDED_OVER, None, new.hand_over.at
        if new.awaits_approval:
            yield EventName.APPROVAL_REQUESTED, None, new.hand_over.at


def _moved(old: Action, new: Action) -> _Transition:
    """Return why a pending row has another due time."""
    if old.is_held and not new.is_held:
        return EventName.RELEASED, None, None
    if new.has_rate_slot or new.waits_for_run:
        return EventName.DEFERRED, None, None
    return EventName.RESCHEDULED, *_changed(new)


def _changed(row: Action) -> tuple[str | None, datetime | None]:
    return (row.changed.by, row.changed.at) if row.changed else (None, None)


def _ended(new: Action) -> Iterator[_Transition]:
    ran_until = new.attempts[-1].finished_at if new.attempts else None
    match new.status:
        case Status.EXECUTED:
            yield EventName.EXECUTED, None, ran_until
        case Status.FAILED:
            yield EventName.FAILED, None, ran_until
        case Status.CANCELLED:
            ended = max((end for end in (ran_until, _changed(new)[1]) if end), default=None)
            yield EventName.CANCELLED, new.cancelled_by, ended
        case Status.SKIPPED if new.skip_reason is SkipReason.MISSED:
            yield EventName.MISSED, None, _changed(new)[1]
        case Status.SKIPPED:
            yield EventName.SKIPPED, *_changed(new)


def _of_row(row: Action, word: EventName, by: str | None, at: datetime) -> LifecycleEvent:
    return LifecycleEvent(
        subject="action" if row.job is None else "run",
        word=word,
        number=f"{row.generation}.{row.fence}",
        at=at,
        tenant_id=row.tenant_id,
        name=row.id,
        by=by,
        about=public_fields(row),
    )


def public_fields(row: Action) -> dict[str, Any]:
    """Return the public fields of an action, without its payload; see `with_payload`."""
    last = row.attempts[-1] if row.attempts else None
    is_its_end = last is not None and (row.status is not Status.CANCELLED or last.ending is Ending.CANCELLED)
    message = last.message if last and is_its_end else None
    return {
        "id": row.id,
        "type": row.type,
        "status": row.status.value,
        "due_at": instant.text(row.due_at),
        "nominal_at": instant.text(row.nominal_at),
        "correlation_id": row.correlation_id,
        "created_by": row.created_by,
        "trigger": row.trigger.value,
        "job": row.job,
        "cadence": row.cadence,
        "attempt": row.attempt,
        "recoveries": row.recoveries,
        "started_at": instant.text(last.started_at) if last else None,
        "finished_at": instant.text(last.finished_at) if last and last.finished_at else None,
        "reason": row.note or (row.skip_reason.value if row.skip_reason else message),
        **_question(row),
        **({"depth": row.depth} if row.depth else {}),
        **({"debounce_key": row.debounced.key, "coalesced": row.debounced.calls} if row.debounced else {}),
    }


def _question(row: Action) -> dict[str, Any]:
    waiting = row.handed_over
    if waiting is None or waiting.question is None:
        return {}
    return {"question": waiting.question, "times_out_at": instant.text(waiting.times_out_at)}


def with_payload(event: LifecycleEvent, row: Action, route: WorkerRoute) -> LifecycleEvent:
    """Return the event with the payload of its action, unless the payload is an item of its own.

    Sensitive fields are redacted. Their paths are known for the payload version in force alone, and this
    function cannot upcast. If a type has sensitive fields, a payload of another version is thus redacted
    entirely.
    """
    if row.payload is None or row.payload_size:
        return event
    public = _public(row.payload, row.payload_version, route)
    about = {**event.about, "payload": public.payload}
    return replace(event, about={**about, "redacted": list(public.paths)} if public.paths else about)


def _public(written: str, version: int, route: WorkerRoute) -> Redacted:
    if version > route.version or (route.sensitive and version != route.version):
        return WHOLE
    return redacted(read_payload(written), route.sensitive)
