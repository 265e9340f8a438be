"""Debounced actions: how a further call with the same key changes the pending action. Pure.

::

    free ──schedule──> held ──a run begins, or the action is final──> free
                       held ──schedule──> held: another due time and payload, the same action
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from duetime.errors import KeyConflict
from duetime.ids import ActionId
from duetime.model.action import Action, Status
from duetime.model.lease import Applied, Rejected
from duetime.model.row_parts import Act, Debounced

KEPT_CALLS = 8
"""The number of latest calls that a row stores, to recognise one whose response was lost."""

_DIGITS = 12
"""The random end of an action's id, which names a call."""


@dataclass(frozen=True, slots=True)
class DebounceHolder:
    """The latest action of a debounce key."""

    action_id: ActionId
    action: Action | None
    """Its row with its payload; None if the row is gone."""
    until: datetime
    """When the key may be removed."""


def key_of(row: Action) -> str:
    """Return the debounce key of an action; empty without one."""
    return row.debounced.key if row.debounced else ""


def calls_taken(row: Action) -> int:
    """Return how many further calls have changed an action."""
    return row.debounced.calls if row.debounced else 0


def awaits_first_run(row: Action) -> bool:
    """Return whether a further call changes the action; once a run has begun, it never does again."""
    return row.status is Status.PENDING and row.attempt == 0


def due_time_of_call(row: Action, call: Action) -> datetime:
    """Return the due time that a call gives the pending action: never past the first call's bound."""
    until = row.debounced and row.debounced.until
    return min(call.due_at, until) if until else call.due_at


def coalesced(row: Action, call: Action, *, by: str, at: datetime) -> Action:
    """Return the pending action with the payload, due time and expiry of a call.

    An offloaded payload stays offloaded: callers may not delete items.

    Args:
        row: the pending action.
        call: the new action that the call would schedule; its payload is merged already.
        by: the actor of the call.
        at: the time of the call.

    Raises:
        KeyConflict: the pending action has another type.
    """
    check_same_type(row, call)
    is_offloaded = row.payload_size or call.payload_size
    held = row.debounced or Debounced(key_of(call))
    latest = [*(held.latest or "").split(), call.id[-_DIGITS:]]
    return replace(
        row,
        due_at=due_time_of_call(row, call),
        first_due_at=None,
        expires_at=call.expires_at,
        generation=row.generation + 1,
        payload=call.payload,
        payload_version=call.payload_version,
        payload_size=len((call.payload or "").encode()) if is_offloaded else 0,
        rate_key=call.rate_key,
        debounced=replace(held, calls=held.calls + 1, latest=" ".join(latest[-KEPT_CALLS:])),
        changed=Act(at, by),
    )


def applied_if_taken(row: Action | None, changed: Action) -> Applied | Rejected:
    """Return `Applied` if the present row has taken the call that led to `changed`.

    An earlier try of the call changed it without a response; other calls, or a run, may have followed.
    """
    taken, calls = [one.debounced.latest if one and one.debounced else None for one in (row, changed)]
    if row is None or taken is None or calls is None:
        return Rejected(row)
    return Applied(row) if calls.split()[-1] in taken.split() else Rejected(row)


def check_same_type(row: Action, call: Action) -> None:
    """Check that the pending action of a key has the type of the call.

    Raises:
        KeyConflict: it has another.
    """
    if row.type != call.type:
        raise KeyConflict("debounce", key_of(call), row.id, f"the type {row.type!r}")
