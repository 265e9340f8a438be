"""Step 7, *undelivered*: repeat inputs that a queue, a stream or EventBridge gave up on, or store them.

======================  ======================================================================================
the input               result
======================  ======================================================================================
a due message           stored if its action still waits. The sweep and the catch-up send it again at growing
                        intervals; an immediate repeat could crash its worker in an endless loop
a damaged row           stored, once
a batch, by arm         each record is read and armed once more; failed ones are stored
a batch, by publish     its events are published once more; events that the bus rejects are stored
a notification          stored
an input of dispatch    dispatched once more; stored if that fails
a sweep, a catch-up     stored, one an hour: the next one does its work
an unreadable message   stored, with its body
======================  ======================================================================================

After any error the message comes again. So an input is lost only after it was repeated or stored.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from duetime import ids, instant
from duetime.clock import Clock
from duetime.errors import InvalidArgument, OperationFailed, UnreadableRow, truncate
from duetime.events.publish import EventSelection
from duetime.model.action import Action, ActionRef, Status
from duetime.model.change import Change
from duetime.model.lifecycle import LifecycleEvent
from duetime.model.metric import Metric
from duetime.model.undelivered import Undelivered, UndeliveredId, UndeliveredKind, bounded, undelivered_id
from duetime.ports.actions import DamagedItem
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.undelivered import RowRecord, UndeliveredHandlerPorts
from duetime.ports.wakeups import DueMessage
from duetime.settings import Settings
from duetime.telemetry.transition_log import TransitionLog
from duetime.undelivered.failed_inputs import (
    DamagedInput,
    DeadMessage,
    DeadNotification,
    FailedBatch,
    FailedInput,
    FailedPass,
    RedriveMessage,
    UndeliveredInput,
)
from duetime.wakeups.arm import Arm
from duetime.wakeups.due_messages import message_of, send_wake

Dispatch = Callable[[Mapping[str, Any]], object]
"""Dispatches the JSON of a wake or an event, as the dispatch function does."""


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
        raise OperationFailed("the input was too long to be stored completely, so it cannot be redriven")
    return thing.body


log = logging.getLogger(__name__)


class UndeliveredHandler:
    """Handles one undelivered input, or one request to redrive."""

    def __init__(
        self,
        ports: UndeliveredHandlerPorts,
        arm: Arm,
        dispatch: Dispatch,
        selection: EventSelection,
        *,
        clock: Clock,
        settings: Settings,
        meter: Meter = UNMETERED,
    ) -> None:
        self._ports, self._arm, self._dispatch, self._selection = ports, arm, dispatch, selection
        self._clock, self._settings, self._meter = clock, settings, meter
        self._transition_log = TransitionLog(meter)
        self._redrive = Redrive(ports, arm, dispatch, clock=clock, settings=settings)

    def __call__(self, given: UndeliveredInput | RedriveMessage) -> None:
        """Handle it; its message may be deleted when this returns.

        Raises:
            BackendUnavailable: the message must come again.
        """
        match given:
            case RedriveMessage():
                self._redrive(given.undelivered_id)
            case DeadMessage():
                self._keep_if_waiting(given)
            case DamagedInput():
                self._keep_damaged(given)
            case FailedBatch(source="publish"):
                self._publish_again(given)
            case FailedBatch():
                self._arm_again(given)
            case FailedInput():
                self._dispatch_again(given)
            case DeadNotification():
                thing_id = undelivered_id(given.at, UndeliveredKind.NOTIFICATION, given.number)
                self._keep(given, UndeliveredKind.NOTIFICATION, thing_id)
            case FailedPass():
                hour = given.at.replace(minute=0, second=0, microsecond=0)
                self._keep(
                    given, UndeliveredKind.PASS, undelivered_id(hour, UndeliveredKind.PASS, given.source)
                )
            case _:
                thing_id = undelivered_id(given.at, UndeliveredKind.MESSAGE, given.source, given.number)
                self._keep(given, UndeliveredKind.MESSAGE, thing_id)

    def _keep_if_waiting(self, given: DeadMessage) -> None:
        message = given.message
        try:
            row = self._ports.actions.get(message.ref)
        except UnreadableRow as error:
            self._keep_message(given, str(error))
            return
        if row is None or row.status.is_final or row.generation > message.generation:
            log.info(
                "dead message without consequence",
                extra={"action": message.ref.id, "generation": message.generation},
            )
        else:
            self._keep_message(given, given.reason)

    def _keep_message(self, given: DeadMessage, reason: str) -> None:
        thing_id = _id_of_generation(UndeliveredKind.MESSAGE, given.message)
        self._keep(given, UndeliveredKind.MESSAGE, thing_id, reason=reason, action=given.message.ref)

    def _keep_damaged(self, given: DamagedInput) -> None:
        """Store an item once, however often it is found; its body is its key, and has no payload."""
        damaged = given.damaged
        if isinstance(damaged, DamagedItem):
            thing_id = undelivered_id(instant.EARLIEST, UndeliveredKind.RECORD, damaged.pk, damaged.sk)
            body = json.dumps({"item": damaged.kind, "pk": damaged.pk, "sk": damaged.sk})
            self._keep(given, UndeliveredKind.RECORD, thing_id, body=body)
            return
        ref = damaged.ref
        try:
            at = ids.created_at(ref.id) if ids.is_action_id(ref.id) else instant.EARLIEST
        except (ValueError, OverflowError):
            at = instant.EARLIEST
        thing_id = undelivered_id(at, UndeliveredKind.RECORD, ref.tenant_id, ref.id)
        body = json.dumps({"tenant": ref.tenant_id, "id": ref.id})
        self._keep(given, UndeliveredKind.RECORD, thing_id, action=ref, body=body)

    def _arm_again(self, given: FailedBatch) -> None:
        """Arm each record; the sweep finds the rows of failed ones when they are overdue."""
        records = self._ports.stream.read(given.batch)
        if records is None:
            self._keep_gone(given)
            return
        for record in records:
            self._arm_one(given, record)
        log.info("batch armed once more", extra={"records": len(records)})

    def _publish_again(self, given: FailedBatch) -> None:
        records = self._ports.stream.read_all(given.batch)
        if records is None:
            self._keep_gone(given)
            return
        for record in records:
            for event in self._selection(record.subject, record.at) if record.subject else ():
                self._publish_one(given, event)
        log.info("batch published once more", extra={"records": len(records)})

    def _keep_gone(self, given: FailedBatch) -> None:
        batch = given.batch
        thing_id = undelivered_id(
            given.at, UndeliveredKind.RECORD, batch.stream, batch.shard, batch.first, batch.last
        )
        self._keep(given, UndeliveredKind.RECORD, thing_id, reason="its records are no longer in the stream")

    def _publish_one(self, given: FailedBatch, event: LifecycleEvent) -> None:
        try:
            self._ports.bus.put([event])
        except Exception as error:  # noqa: BLE001 - after any error the event is stored and the next one published
            thing_id = undelivered_id(event.at, UndeliveredKind.LIFECYCLE, event.id)
            reason = f"{type(error).__name__}: {error}"
            self._keep(given, UndeliveredKind.LIFECYCLE, thing_id, reason=reason, body=event.to_json())

    def _arm_one(self, given: FailedBatch, record: RowRecord) -> None:
        reason = "the record cannot be read"
        if record.change is not None:
            try:
                self._arm([record.change])
            except Exception as error:  # noqa: BLE001 - after any error the record is stored and the next one armed
                reason = f"{type(error).__name__}: {error}"
            else:
                self._transition_log([record.change])
                return
        thing_id = undelivered_id(record.at, UndeliveredKind.RECORD, given.batch.shard, record.number)
        self._keep(
            given, UndeliveredKind.RECORD, thing_id, reason=reason, action=record.ref, body=_body_of(record)
        )

    def _dispatch_again(self, given: FailedInput) -> None:
        try:
            self._dispatch(given.content)
        except Exception as error:  # noqa: BLE001 - after any error the wake or the event is stored
            kind = UndeliveredKind.EVENT if "event" in given.content else UndeliveredKind.WAKE
            self._keep(
                given,
                kind,
                _id_of_input(given, kind),
                reason=f"{type(error).__name__}: {error}",
                action=given.message.ref if given.message else None,
            )
        else:
            log.info("dispatched once more", extra={"source": given.source, "number": given.number})

    def _keep(
        self,
        given: UndeliveredInput,
        kind: UndeliveredKind,
        thing_id: UndeliveredId,
        *,
        reason: str | None = None,
        action: ActionRef | None = None,
        body: str | None = None,
    ) -> None:
        now = self._clock.now()
        stored, is_cut = bounded(given.body if body is None else body)
        thing = Undelivered(
            id=thing_id,
            kind=kind,
            source=given.source,
            reason=bounded(truncate(reason or given.reason))[0],
            body=stored,
            is_cut=is_cut,
            first_at=now,
            last_at=now,
            action=action,
        )
        self._ports.undelivered.keep(thing, expires_at=now + self._settings.retention)
        self._meter.add(Metric.UNDELIVERED)
        log.error(Metric.UNDELIVERED.value, extra=log_fields(thing))


def _id_of_generation(kind: UndeliveredKind, message: DueMessage) -> UndeliveredId:
    """Return one id for each generation of an action: all its dead messages are one input."""
    ref = message.ref
    return undelivered_id(message.due_at, kind, ref.tenant_id, ref.id, str(message.generation))


def _id_of_input(given: FailedInput, kind: UndeliveredKind) -> UndeliveredId:
    """Return an id from the action or the event; else from the number of the message."""
    if given.message is not None:
        return _id_of_generation(kind, given.message)
    event = given.content.get("event")
    try:
        at, name = instant.parse(event["time"]), str(event["id"])  # type: ignore[index]
    except (LookupError, TypeError, InvalidArgument, OverflowError):
        return undelivered_id(given.at, kind, given.number)
    target = {name: value for name, value in given.content.items() if name != "event"}
    return undelivered_id(at, kind, json.dumps(target, sort_keys=True), name)


def _body_of(record: RowRecord) -> str:
    """Return the keys of the row and of what it may leave behind, without its payload."""
    content: dict[str, Any] = {"tenant": record.ref.tenant_id, "id": record.ref.id, "record": record.number}
    gone = record.change.old if record.change and record.change.new is None else None
    if gone is not None and gone.idempotency_key is not None:
        content["idempotency_key"] = gone.idempotency_key
    return json.dumps(content)
