"""Step 6, *publish*: what changed in the tables is told on the event bus, after the fact and at least once.

It reads the streams of both tables, so nothing that happens waits for it, and a bus that is away holds up
nothing else: what it does not take comes again, in order, and what it has not taken for hours is kept by
`salvage`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from duetime.declare.job_rules import RESERVED
from duetime.errors import UnreadableRow
from duetime.model.action import Action
from duetime.model.action_events import of_action, with_payload
from duetime.model.audit import AuditEntry
from duetime.model.change import Change
from duetime.model.job import Definition, JobRef
from duetime.model.job_events import JobChange, SpanKept, of_job, of_span
from duetime.model.lifecycle import LifecycleEvent, is_told, of_audit, of_undelivered
from duetime.model.undelivered import Undelivered
from duetime.ports.jobs import JobStore
from duetime.ports.wakeups import EventBus, Routes
from duetime.settings import Settings

log = logging.getLogger(__name__)

Told = Change | JobChange | SpanKept | Undelivered | AuditEntry
"""Whatever a record of one of the two tables' streams speaks of."""


class EventSelection:
    """Says which events a change makes, as the deployment has chosen."""

    def __init__(self, jobs: JobStore, routes: Routes, *, settings: Settings) -> None:
        self._jobs, self._routes, self._settings = jobs, routes, settings

    def __call__(self, told: Told, at: datetime) -> list[LifecycleEvent]:
        """The events of one change, in order.

        None of one that cannot be read: it would hold up all behind it.

        Args:
            told: what changed.
            at: when it was written.

        Raises:
            BackendUnavailable: what they need besides cannot be read; it may be asked again.
        """
        if self._settings.events == "off":
            return []
        try:
            return list(self._events_of(told, at))
        except UnreadableRow:
            log.exception("change cannot be told")
            return []

    def _events_of(self, told: Told, at: datetime) -> Iterable[LifecycleEvent]:
        match told:
            case Change():
                return self._of_action(told, at)
            case JobChange():
                return self._of_job(told, at)
            case SpanKept():
                return of_span(told)
            case Undelivered():
                return of_undelivered(told)
            case AuditEntry():
                return of_audit(told) if self._settings.audit_events else ()
            case _:
                assert_never(told)

    def _of_action(self, change: Change, at: datetime) -> Iterator[LifecycleEvent]:
        is_pass = change.new is not None and (change.new.job or "").startswith(RESERVED)
        for event in of_action(change, at):
            if change.new is not None and is_told(event, self._settings.events, is_pass=is_pass):
                yield self._with_payload(event, change.new)

    def _with_payload(self, event: LifecycleEvent, row: Action) -> LifecycleEvent:
        route = self._routes.told_route(row.type)
        return event if route is None else with_payload(event, row, route)

    def _of_job(self, change: JobChange, at: datetime) -> Iterator[LifecycleEvent]:
        """The streams speak of a job's state; its definition, where that is needed, is the one of now."""
        if change.may_tell and not change.new.name.startswith(RESERVED):
            definition = self._definition(change.new.ref) or change.new.definition
            old = None if change.old is None else replace(change.old, definition=definition)
            new = replace(change.new, definition=definition)
            yield from of_job(JobChange(old, new, change.is_redefined), at)

    def _definition(self, ref: JobRef) -> Definition | None:
        job = self._jobs.get(ref)
        return None if job is None else job.definition


class Publish:
    """Tells of a batch of changes."""

    def __init__(self, tell: EventSelection, bus: EventBus) -> None:
        self._tell, self._bus = tell, bus

    def __call__(self, changes: Iterable[tuple[Told, datetime]]) -> int:
        """Publish what the changes tell; each comes with when it was written.

        Returns how many events that were.

        Raises:
            BackendUnavailable: the bus took not all; the batch may be given again whole, and its events are
                the same.
        """
        events = [event for told, at in changes for event in self._tell(told, at)]
        if events:
            self._bus.put(events)
        return len(events)
