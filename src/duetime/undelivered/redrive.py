"""Redrive.

Repeat an undelivered input on request; one that fails again stays, with the new reason.
"""

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
from duetime.wakeups.due_messages import message_of, send_wakes

log = logging.getLogger(__name__)

Dispatch = Callable[[Mapping[str, Any]], object]
"""Does what a wake's or an event's JSON says, as the dispatch function does."""


class BodyWasTruncated(DuetimeError, ValueError):
    """Only the beginning of the thing was kept, and half of it must not be done."""

    code = "body-was-cut"

    def __init__(self) -> None:
        super().__init__("it was too long to be kept whole, so it cannot be done again from what was kept")


class Redrive:
    """Does one undelivered thing again."""

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
        """Do it again, and forget it if that went well; one that is not there any more needs nothing.

        Raises:
            BackendUnavailable: it could not be read, kept or forgotten; the request may be repeated.
        """
        thing = self._ports.undelivered.get(undelivered_id)
        if thing is None:
            log.info("nothing to redrive", extra={"undelivered": undelivered_id})
            return
        try:
            self._again(thing)
        except Exception as error:
            log.exception("redriven in vain", extra=told_of(thing))
            self._keep(thing, f"redriven in vain: {type(error).__name__}: {error}")
            return
        self._ports.undelivered.remove(thing)
        log.info("redriven", extra=told_of(thing))

    def _keep(self, thing: Undelivered, reason: str) -> None:
        now = self._clock.now()
        self._ports.undelivered.keep(
            replace(thing, reason=bounded(truncate(reason))[0], last_at=now),
            expires_at=now + self._settings.retention,
        )

    def _again(self, thing: Undelivered) -> None:
        match thing.kind, thing.action:
            case (UndeliveredKind.MESSAGE, None) | (UndeliveredKind.NOTIFICATION, _):
                self._ports.bodies.put(thing.source, _whole(thing))
            case UndeliveredKind.MESSAGE, ActionRef() as ref:
                self._wake(self._ports.actions.get(ref))
            case UndeliveredKind.RECORD, ActionRef() as ref:
                self._arm_row(ref, thing)
            case UndeliveredKind.LIFECYCLE, _:
                self._ports.bus.put([_event_of(thing)])
            case UndeliveredKind.WAKE | UndeliveredKind.EVENT, _:
                self._dispatch(json.loads(_whole(thing)))
            case _:
                log.info("there is nothing left to do of it", extra=told_of(thing))

    def _wake(self, row: Action | None) -> None:
        """A row that is settled, or gone, needs no wake any more."""
        if row is not None and not row.status.is_final:
            send_wakes([message_of(row)], self._ports.queues, self._ports.routes, self._clock)

    def _arm_row(self, ref: ActionRef, thing: Undelivered) -> None:
        """Only a pending row needs a wake; one that is gone may have left something behind."""
        row = self._ports.actions.get(ref)
        if row is None:
            self._ports.actions.remove_payload(ref)
            if key := json.loads(_whole(thing)).get("idempotency_key"):
                self._ports.actions.remove_key(ref, key)
        elif row.status is Status.PENDING:
            self._arm([Change(None, row)])


def _event_of(thing: Undelivered) -> LifecycleEvent:
    return LifecycleEvent.from_json(_whole(thing))


def told_of(thing: Undelivered) -> dict[str, object]:
    """What logs say of a thing."""
    return {
        "undelivered": thing.id,
        "kind": thing.kind.value,
        "source": thing.source,
        "reason": thing.reason,
        "action": thing.action.id if thing.action else None,
    }


def _whole(thing: Undelivered) -> str:
    if thing.is_cut:
        raise BodyWasTruncated
    return thing.body
