"""The Lambda on the streams of both tables: passes changes to `duetime.events.publish`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from duetime.aws import clients, unreadable_items
from duetime.aws.backends import AwsBackends
from duetime.aws.damaged_rows import DamagedRows
from duetime.aws.streams import subject_of
from duetime.errors import BackendUnavailable, UnreadableRow, truncate
from duetime.events.count_runs import CountRuns, CountUsage
from duetime.events.publish import EventSelection, Publish, PublishedFact
from duetime.jobs.trusted_reading import KnownRegion
from duetime.lambdas.frame import HANDLED, Event, EventHandler, from_first, unless_standby
from duetime.model.action import Status
from duetime.model.lifecycle import RARE, EventName
from duetime.model.quota import has_quotas
from duetime.ports.undelivered import UNDELIVERED
from duetime.ports.work_pauses import PAUSE
from duetime.settings import Settings
from duetime.wakeups.system_jobs import SYSTEM_JOBS

log = logging.getLogger(__name__)

Filter = Mapping[str, Any]

_WRITTEN = ["INSERT", "MODIFY"]
_IS_THERE = [{"exists": True}]
_NO_PASS = {"pk": {"S": [{"anything-but": [f"system#{name}" for name in SYSTEM_JOBS]}]}}
"""Sweeps record themselves each minute."""


_OF_QUOTAS = frozenset({EventName.SCHEDULED, EventName.EXECUTED, *RARE})
"""The events of one-shots whose writes quotas need: those that make one pending, and those that settle it."""

_MARKS: Mapping[EventName, Sequence[tuple[Status, str]]] = {
    EventName.SCHEDULED: [(Status.PENDING, "")],
    EventName.COALESCED: [(Status.PENDING, "changed_at")],
    EventName.RESCHEDULED: [(Status.PENDING, "changed_at")],
    EventName.REDRIVEN: [(Status.PENDING, "changed_at")],
    EventName.DEFERRED: [(Status.PENDING, "rate_slot"), (Status.PENDING, "waits_for")],
    EventName.RELEASED: [(Status.PENDING, "")],
    EventName.RETRYING: [(Status.PENDING, "")],
    EventName.STARTED: [(Status.PROCESSING, "")],
    EventName.RECOVERED: [(Status.PROCESSING, "recoveries")],
    EventName.HANDED_OVER: [(Status.PROCESSING, "")],
    EventName.APPROVAL_REQUESTED: [(Status.PROCESSING, "question")],
    EventName.CANCEL_REQUESTED: [(Status.PROCESSING, "cancel_requested_at")],
    EventName.EXECUTED: [(Status.EXECUTED, "")],
    EventName.FAILED: [(Status.FAILED, "")],
    EventName.CANCELLED: [(Status.CANCELLED, "")],
    EventName.SKIPPED: [(Status.SKIPPED, "")],
}
"""The row of a one-shot after each of its events: its status, and an attribute that it then has, if any."""


def _new(**attributes: Any) -> Filter:
    return {"eventName": _WRITTEN, "dynamodb": {"NewImage": attributes}}


def action_filters(settings: Settings) -> Sequence[Filter]:
    """Return the filters of the actions table's event source: published changes, and few others.

    They are derived from the published events; quotas need more writes. The second filter passes the failures
    of the system's own passes.
    """
    words = EventName if settings.events == "all" else _OF_QUOTAS if has_quotas(settings) else RARE
    marks = dict.fromkeys(mark for word in words for mark in _MARKS.get(word, ()))
    plain = [status.value for status, attribute in marks if not attribute]
    marked = [
        {"status": {"S": [status.value]}, attribute: {"N" if attribute == "recoveries" else "S": _IS_THERE}}
        for status, attribute in marks
        if attribute and status.value not in plain
    ]
    rows = [{"planned_at": {"S": _IS_THERE}}, {"status": {"S": sorted(plain)}}, *sorted(marked, key=str)]
    return (
        {"eventName": _WRITTEN, "dynamodb": {"Keys": _NO_PASS, "NewImage": {"$or": rows}}},
        _new(status={"S": [Status.FAILED.value]}),
    )


_BACKFILLS = {"prefix": "backfill#"}
_PUT_ONCE = [{"prefix": "span#"}, {"prefix": "late#"}]
"""The items of a job that never change."""


def job_filters(settings: Settings) -> Sequence[Filter]:
    """Return the filters of the jobs table's event source: jobs, backfills, undelivered inputs, pauses."""
    filters: tuple[Filter, ...] = (
        {"eventName": _WRITTEN, "dynamodb": {"Keys": {"sk": {"S": ["current#state", _BACKFILLS]}}}},
        {
            "eventName": ["INSERT"],
            "dynamodb": {"Keys": {"sk": {"S": _PUT_ONCE}}},
        },
        {
            "eventName": _WRITTEN,
            "dynamodb": {"Keys": {"pk": {"S": [UNDELIVERED.partition, PAUSE.partition]}}},
        },
    )
    return (*filters, _new(audit_of={"S": _IS_THERE})) if settings.events == "all" else filters


def make_handler(settings: Settings) -> EventHandler:
    """Return the handler of stream events; it returns a partial batch response."""
    backends = AwsBackends(settings, calls=clients.BRIEF)
    publish = Publish(EventSelection(backends.jobs, backends.routes, settings=settings), backends.event_bus)
    prompt = AwsBackends(settings, calls=clients.PROMPT)
    counters = list(_counters(prompt, settings))  # else a hanging count would have the events published again

    def handler(event: Event, _context: object) -> Event:
        records = event["Records"]
        try:
            changes = list(_changes(records))
            published = publish(changes)
        except BackendUnavailable as error:
            log.warning("batch not published, it will come again", extra={"reason": truncate(error)})
            return from_first(records)
        for count in counters:
            count(changes)
        if published:
            log.info("published", extra={"events": published})
        return HANDLED

    region = KnownRegion(backends.regions, backends.clock)
    active = unless_standby(region, handler, HANDLED)
    return DamagedRows(settings, "publish").around(active)


def _counters(backends: AwsBackends, settings: Settings) -> Iterator[CountRuns | CountUsage]:
    if settings.made.run_counts:
        all_one_shots = settings.events == "all" or not has_quotas(settings)
        yield CountRuns(backends.run_counts, all_one_shots=all_one_shots)
    if has_quotas(settings):
        yield CountUsage(backends.usage_counts)


def _changes(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[PublishedFact, datetime]]:
    """Note and skip an unreadable record: in a stream it would block all later ones."""
    for record in records:
        images = record["dynamodb"]
        try:
            fact = subject_of(images)
        except UnreadableRow as error:
            unreadable_items.note("item", images["Keys"], error)
            continue
        if fact is not None:
            yield fact, datetime.fromtimestamp(float(images["ApproximateCreationDateTime"]), UTC)
