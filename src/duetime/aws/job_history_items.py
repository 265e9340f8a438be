"""The items of a job's past beside it: ended definitions, spans without planned runs, and reports.

`duetime.aws.job_items` lists their sort keys.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime import instant
from duetime.aws.items import to_epoch
from duetime.aws.job_items import (
    EDIT,
    FORMER,
    REPORT,
    SPAN,
    at,
    instant_text,
    job_key,
    read_instant,
    read_text,
)
from duetime.aws.keys import Item
from duetime.ids import SEPARATOR, ActionId
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import Definition, JobRef, JobSpan, SpanKind, StoredDefinition, Version

_OUTLIVES = timedelta(days=400)
"""The retention of ended versions and spans. By default, no action that they explain has a longer one."""


def to_replaced(ref: JobRef, ended: StoredDefinition, since: datetime) -> Item:
    """Return the item of a definition that has ended: of a version, or of an edit within one.

    Args:
        ref: the job.
        ended: the definition.
        since: when its version came into force.
    """
    version, _, revision = ended.id.partition(".")
    name = (
        f"{EDIT}{int(version):06d}{SEPARATOR}{int(revision):010d}"
        if revision
        else f"{FORMER}{int(version):06d}"
    )
    until = ended.until or ended.since
    item = {
        **job_key(ref, name),
        "definition": {"S": ended.definition.to_json()},
        "since": at(since),
        "until": at(until),
        "ttl": {"N": to_epoch(until + _OUTLIVES)},
    }
    if ended.since != since:
        item["registered_at"] = at(ended.since)
    return item | ({"registered_by": {"S": ended.by}} if ended.by else {})


def to_span(ref: JobRef, span: JobSpan) -> Item:
    """Return the item of a span. Its sort key begins with its end."""
    start, end = instant.text(span.start), instant.text(span.end)
    item = {
        **job_key(ref, f"{SPAN}{SEPARATOR.join((end, start, span.kind.value, span.cadence))}"),
        "ttl": {"N": to_epoch(span.end + _OUTLIVES)},
    }
    for name, text in (("by", span.by), ("reason", span.reason)):
        if text:
            item[name] = {"S": text}
    return item | ({"catch_up": {"N": str(span.catch_up)}} if span.catch_up else {})


def to_report(ref: JobRef, report: DeadlineReport) -> Item:
    """Return the item of a report. Its sort key is its kind and nominal time."""
    item = {
        **job_key(ref, report_key(report.kind, report.nominal_at)),
        "deadline_at": at(report.deadline_at),
        "reported_at": at(report.at),
        "ttl": {"N": to_epoch(report.deadline_at + _OUTLIVES)},
    }
    texts = {
        "status": report.status,
        "reason": report.reason,
        "run_id": report.run_id or "",
        "expected_at": instant_text(report.expected_at),
    }
    return item | {name: {"S": text} for name, text in texts.items() if text}


def report_key(kind: ReportKind, nominal_at: datetime) -> str:
    """Return the sort key of a report."""
    return f"{REPORT}{kind.value}{SEPARATOR}{instant.text(nominal_at)}"


def from_report(item: Item) -> DeadlineReport:
    """Return the report of an item."""
    kind, _, nominal_at = item["sk"]["S"].removeprefix(REPORT).partition(SEPARATOR)
    run_id = read_text(item, "run_id")
    return DeadlineReport(
        kind=ReportKind(kind),
        nominal_at=instant.parse(nominal_at),
        deadline_at=instant.parse(item["deadline_at"]["S"]),
        at=instant.parse(item["reported_at"]["S"]),
        status=read_text(item, "status") or "",
        reason=read_text(item, "reason") or "",
        run_id=None if run_id is None else ActionId(run_id),
        expected_at=read_instant(read_text(item, "expected_at")),
    )


def to_version(item: Item) -> Version:
    """Return the ended version of an item."""
    return Version(
        number=int(item["sk"]["S"].removeprefix(FORMER)),
        definition=Definition.from_json(item["definition"]["S"]),
        since=instant.parse(item["since"]["S"]),
        until=instant.parse(item["until"]["S"]),
    )


def to_definition_of(item: Item) -> StoredDefinition:
    """Return the ended definition of an item of `to_replaced`."""
    kind, _, place = item["sk"]["S"].partition(SEPARATOR)
    version, _, revision = place.partition(SEPARATOR)
    return StoredDefinition(
        id=f"{int(version)}.{int(revision)}" if kind + SEPARATOR == EDIT else str(int(version)),
        version=int(version),
        definition=Definition.from_json(item["definition"]["S"]),
        since=instant.parse(read_text(item, "registered_at") or item["since"]["S"]),
        until=instant.parse(item["until"]["S"]),
        by=read_text(item, "registered_by") or "",
    )


def from_span(item: Item) -> JobSpan:
    """Return the span of an item."""
    end, start, kind, cadence = item["sk"]["S"].removeprefix(SPAN).split(SEPARATOR, 3)
    return JobSpan(
        kind=SpanKind(kind),
        start=instant.parse(start),
        end=instant.parse(end),
        cadence=cadence,
        by=read_text(item, "by") or "",
        reason=read_text(item, "reason") or "",
        catch_up=int(item["catch_up"]["N"]) if "catch_up" in item else 0,
    )
