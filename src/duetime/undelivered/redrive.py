"""Redrive an undelivered input on request; one that fails again stays, with the new reason."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from duetime.clock import Clock
from duetime.errors import DuetimeError, truncate
from duetime.model.action import Action, ActionRef, Status
from duetime.model.change import Change
from duetime.model.lifecycle import LifecycleEvent
from duetime.model.undelivered import Undelivered, UndeliveredKind, bounded
from duetime.ports.undelivered import UndeliveredHandlerPorts
from duetime.settings import Settings
from duetime.wakeups.arm import Arm
from duetime.wakeups.due_messages import message_of, send_wake

log = logging.getLogger(__name__)

Dispatch = Callable[[Mapping[str, Any]], object]
"""Dispatches the JSON of a wake or an event, as the dispatch function does."""


class BodyWasTruncated(DuetimeError, ValueError):
    """Only the beginning of the input was stored, and a part of it must not be repeated."""

    code = "body-was-cut"

    def __init__(self) -> None:
        super().__init__("the input was too long to be stored completely, so it cannot be redriven")


class Redrive:
    """Redrives one undelivered input."""

    def __init__(
        self,
        ports: UndeliveredHandlerPorts,
        arm: Arm,
        dispatch: Dispatch,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._ports, self._arm, self._dispatch = ports, arm, dispatch
        self._clock, self._settings = clock, settings

    def __call__(self, undelivered_id: str) -> None:
        """Repeat the input, and remove it after a success; ignore an unknown id.

        Raises:
            BackendUnavailable: the input could not be read, stored or removed; the request may be repeated.
        """
        thing = self._ports.undelivered.get(undelivered_id)
        if thing is None:
            log.info("nothing to redrive", extra={"undelivered": undelivered_id})
            return
        try:
            self._repeat(thing)
        except Exception as error:
            log.exception("redriven in vain", extra=log_fields(thing))
            now, reason = self._clock.now(), f"redriven in vain: {type(error).__name__}: {error}"
            self._ports.undelivered.keep(
                replace(thing, reason=bounded(truncate(reason))[0], last_at=now),
                expires_at=now + self._settings.retention,
            )
            return
        self._ports.undelivered.remove(thing)
        log.info("redriven", extra=log_fields(thing))

    def _repeat(self, thing: Undelivered) -> None:
        match thing.kind, thing.action:
            case (UndeliveredKind.MESSAGE, None) | (UndeliveredKind.NOTIFICATION, _):
                self._ports.bodies.put(thing.source, _complete_body(thing))
            case UndeliveredKind.MESSAGE, ActionRef() as ref:
                self._wake(self._ports.actions.get(ref))
            case UndeliveredKind.RECORD, ActionRef() as ref:
                self._arm_row(ref, thing)
            case UndeliveredKind.LIFECYCLE, _:
                self._ports.bus.put([LifecycleEvent.from_json(_complete_body(thing))])
            case UndeliveredKind.WAKE | UndeliveredKind.EVENT, _:
                self._dispatch(json.loads(_complete_body(thing)))
            case _:
                log.info("nothing is left to do for it", extra=log_fields(thing))

    def _wake(self, row: Action | None) -> None:
        if row is not None and not row.status.is_final:
            send_wake(message_of(row), self._ports.queues, self._ports.routes, self._clock)

    def _arm_row(self, ref: ActionRef, thing: Undelivered) -> None:
        row = self._ports.actions.get(ref)
        if row is None:
            self._ports.actions.remove_payload(ref)
            if key := json.loads(_complete_body(thing)).get("idempotency_key"):
                self._ports.actions.remove_key(ref, key)
        elif row.status is Status.PENDING:
            self._arm([Change(None, row)])


def log_fields(thing: Undelivered) -> dict[str, object]:
    """Return the log fields of an undelivered input."""
    return {
        "undelivered": thing.id,
        "kind": thing.kind.value,
        "source": thing.source,
        "reason": thing.reason,
        "action": thing.action.id if thing.action else None,
    }


def _complete_body(thing: Undelivered) -> str:
    if thing.is_cut:
        raise BodyWasTruncated
    return thing.body
