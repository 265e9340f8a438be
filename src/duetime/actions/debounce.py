"""Schedule with a debounce key: change the pending action of the key, or schedule a new one."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duetime.clock import PAUSES
from duetime.errors import BackendUnavailable
from duetime.model.action import Action
from duetime.model.debounce import awaits_first_run, check_same_type, coalesced, due_time_of_call, key_of
from duetime.model.lease import Applied
from duetime.model.new_action import offloaded, rate_key_of, written_payload
from duetime.ports.action_store import ActionStore

if TYPE_CHECKING:
    from duetime.payload import Payload

_RACES = 20
_FIRST_WAIT = timedelta(milliseconds=10)
_LONGEST_DOUBLING = 5


def place_debounced(
    store: ActionStore,
    call: Action,
    payload: Payload,
    *,
    by: str,
    at: datetime,
    expiry_from: Callable[[datetime], datetime | None],
    count_new: Callable[[], object],
) -> Action:
    """Return the pending action of the call's key, changed by the call, or the call's own action.

    Two consistent reads, then one write: of the pending row, or of the key and a new row.

    Args:
        store: holds the rows.
        call: the action that the call would schedule.
        payload: the payload of the call.
        by: the actor of the call.
        at: the time of the call.
        expiry_from: returns the expiry that the call gives for a due time.
        count_new: is called before a new action is scheduled; it may raise.

    Raises:
        KeyConflict: the pending action has another type.
        InvalidPayload: the payloads cannot be merged; or the merged payload does not fit into one DynamoDB
            item.
        BackendUnavailable: other callers changed the action each time; nothing was scheduled.
    """
    key, is_counted = key_of(call), False
    for race in range(_RACES):
        holder = store.find_debounced(call.tenant_id, key)
        row = None if holder is None else holder.action
        if holder is not None and row is not None and awaits_first_run(row):
            changed = coalesced(row, _merged(row, call, payload, expiry_from), by=by, at=at)
            outcome = store.coalesce(row, changed, holder)
            if isinstance(outcome, Applied):
                return outcome.action
        else:
            if not is_counted:
                count_new()
                is_counted = True
            if store.put_debounced(call, holder):
                return call
        _pause(race)
    raise BackendUnavailable(
        "the actions table", f"the debounce key {key!r} changed during each of {_RACES} attempts"
    )


def _merged(
    row: Action, call: Action, payload: Payload, expiry_from: Callable[[datetime], datetime | None]
) -> Action:
    """Return the call with the merged payload, and the expiry for the due time that it gives."""
    check_same_type(row, call)
    expires_at = expiry_from(due_time_of_call(row, call))
    if payload.type_merge is None or row.payload is None:
        return replace(call, expires_at=expires_at)
    merged = payload.merged_into(row.payload, row.payload_version)
    written, size = written_payload(merged)
    is_of_payload = call.rate_key == rate_key_of(payload, None)
    return replace(
        call,
        payload=written,
        payload_size=offloaded(size),
        rate_key=rate_key_of(merged, None) if is_of_payload else call.rate_key,
        expires_at=expires_at,
    )


def _pause(race: int) -> None:
    share = random.random()  # noqa: S311 - separates rivals, guards nothing
    clock = PAUSES.get()
    clock.wait_until(clock.now() + _FIRST_WAIT * 2 ** min(race, _LONGEST_DOUBLING) * share)
