"""Step 6, *publish*: publish changes of the tables as events, after each write and at least once.

The step reads the streams of both tables, so no write waits for it. An unavailable bus delays nothing else.
Events that it rejects come again, in order; after hours the undelivered handler stores them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from duetime.errors import UnreadableRow
from duetime.model.action import Action
from duetime.model.action_events import of_action, with_payload
from duetime.model.audit import AuditEntry
from duetime.model.built_in import RESERVED, is_counted
from duetime.model.change import Change
from duetime.model.job import Definition, JobRef
from duetime.model.job_events import (
    BackfillChange,
    JobChange,
    ReportKept,
    SpanKept,
    of_backfill,
    of_job,
    of_report,
    of_span,
)
from duetime.model.lifecycle import LifecycleEvent, is_in_events, of_audit, of_undelivered, of_work_pause
from duetime.model.undelivered import Undelivered
from duetime.model.work_pause import WorkPauseChange
from duetime.ports.job_store import JobStore
from duetime.ports.wakeups import EventBus, Routes
from duetime.settings import Settings

log = logging.getLogger(__name__)

PublishedFact = (
    Change | JobChange | BackfillChange | SpanKept | ReportKept | Undelivered | AuditEntry | WorkPauseChange
)
"""The change in a record of one of the two tables' streams."""


class EventSelection:
    """Selects the events of a change by the deployment's settings."""

    def __init__(self, jobs: JobStore, routes: Routes, *, settings: Settings) -> None:
        self._jobs, self._routes, self._settings = jobs, routes, settings

    def __call__(self, fact: PublishedFact, at: datetime) -> list[LifecycleEvent]:
        """Return the events of one change, in order; none of an unreadable one, which would block the others.

        Args:
            fact: what changed.
            at: when it was written.

        Raises:
            BackendUnavailable: a row that they need cannot be read; call again.
        """
        if self._settings.events == "off":
            return []
        try:
            return list(self._events_of(fact, at))
        except UnreadableRow:
            log.exception("change cannot be published")
            return []

    def _events_of(self, fact: PublishedFact, at: datetime) -> Iterable[LifecycleEvent]:
        match fact:
            case Change():
                return self._of_action(fact, at)
            case JobChange():
                return self._of_job(fact, at)
            case BackfillChange() | SpanKept() | ReportKept():
                return _of_item_beside_a_job(fact)
            case Undelivered():
                return of_undelivered(fact)
            case AuditEntry():
                return of_audit(fact) if self._settings.events == "all" else ()
            case WorkPauseChange():
                return of_work_pause(fact)
            case _:
                assert_never(fact)

    def _of_action(self, change: Change, at: datetime) -> Iterator[LifecycleEvent]:
        if change.new is None or not is_counted(change.new):
            return
        is_pass = (change.new.job or change.new.type).startswith(RESERVED)
        for event in of_action(change, at):
            if is_in_events(event, self._settings.events, is_pass=is_pass):
                yield self._with_payload(event, change.new)

    def _with_payload(self, event: LifecycleEvent, row: Action) -> LifecycleEvent:
        route = self._routes.event_route(row.type)
        return event if route is None else with_payload(event, row, route)

    def _of_job(self, change: JobChange, at: datetime) -> Iterator[LifecycleEvent]:
        """Yield the events of a job with its present definition: the streams hold its state alone."""
        if change.may_have_event and not change.new.name.startswith(RESERVED):
            definition = self._definition(change.new.ref) or change.new.definition
            old = None if change.old is None else replace(change.old, definition=definition)
            new = replace(change.new, definition=definition)
            yield from of_job(JobChange(old, new, change.is_redefined), at)

    def _definition(self, ref: JobRef) -> Definition | None:
        job = self._jobs.get(ref)
        return None if job is None else job.definition


def _of_item_beside_a_job(fact: BackfillChange | SpanKept | ReportKept) -> Iterator[LifecycleEvent]:
    match fact:
        case BackfillChange():
            return of_backfill(fact)
        case SpanKept():
            return of_span(fact)
        case ReportKept():
            return of_report(fact)


class Publish:
    """Publishes a batch of changes."""

    def __init__(self, selection: EventSelection, bus: EventBus) -> None:
        self._selection, self._bus = selection, bus

    def __call__(self, changes: Iterable[tuple[PublishedFact, datetime]]) -> int:
        """Publish the events of the changes; each comes with the time of its write.

        Returns how many events that were.

        Raises:
            BackendUnavailable: the bus took not all; the batch may be given again whole, and its events are
                the same.
        """
        events = [event for fact, at in changes for event in self._selection(fact, at)]
        if events:
            self._bus.put(events)
        return len(events)
