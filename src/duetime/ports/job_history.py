"""The items of a job's past beside it: ended definitions, spans without planned runs, and reports."""

from __future__ import annotations

from datetime import datetime, timedelta

from duetime import instant
from duetime.ids import SEPARATOR
from duetime.model.deadline_report import DeadlineReport, ReportKind
from duetime.model.job import JobRef, JobSpan, SpanKind, StoredDefinition, Version
from duetime.ports.job_state import DEFINED
from duetime.ports.keyed_items import INSTANT, IS_NEW, NUMBER, TEXT, Fields, Kind, Write

EDIT, FORMER, REPORTED, SPANNED = "edit#", "former#", "late#", "span#"
_OUTLIVES = timedelta(days=400)
"""The retention of ended versions and spans. By default, no action that they explain has a longer one."""

_OF_A_JOB = "{tenant}#{job}"
ENDED = Kind(
    name="ended definition",
    partition=_OF_A_JOB,
    sort="former#version",
    fields={"definition": DEFINED, "since": INSTANT, "until": INSTANT},
    optional={"registered_at": INSTANT, "registered_by": TEXT},
    expires="400 days",
    writers="callers",
)
SPAN = Kind(
    name="span",
    partition=_OF_A_JOB,
    sort="span#end#start#kind#cadence",
    optional={"by": TEXT, "reason": TEXT, "catch_up": NUMBER},
    expires="400 days",
    writers="callers, `plan`",
)
REPORT = Kind(
    name="deadline report",
    partition=_OF_A_JOB,
    sort="late#kind#nominal time",
    fields={"deadline_at": INSTANT, "reported_at": INSTANT},
    optional={"expected_at": INSTANT, **dict.fromkeys(("status", "reason", "run_id"), TEXT)},
    expires="400 days",
    writers="workers, `sweep`",
)


def put_ended(ref: JobRef, ended: StoredDefinition, since: datetime) -> Write:
    """Return the write of a definition that has ended; its version came into force at `since`."""
    version, _, revision = ended.id.partition(".")
    name = f"{FORMER}{int(version):06d}"
    if revision:
        name = f"{EDIT}{int(version):06d}{SEPARATOR}{int(revision):010d}"
    until = ended.until or ended.since
    put = {
        "definition": ended.definition,
        "since": since,
        "until": until,
        "registered_at": None if ended.since == since else ended.since,
        "registered_by": ended.by or None,
        "ttl": until + _OUTLIVES,
    }
    return Write(kind=ENDED, key=ENDED.key(name, tenant=ref.tenant_id, job=ref.name), put=put)


def to_version(item: Fields) -> Version:
    """Return the ended version of an item."""
    number = int(item["sk"].removeprefix(FORMER))
    return Version(number=number, definition=item["definition"], since=item["since"], until=item["until"])


def to_definition_of(item: Fields) -> StoredDefinition:
    """Return the ended definition of an item."""
    kind, _, place = item["sk"].partition(SEPARATOR)
    version, _, revision = place.partition(SEPARATOR)
    return StoredDefinition(
        id=f"{int(version)}.{int(revision)}" if kind + SEPARATOR == EDIT else str(int(version)),
        version=int(version),
        definition=item["definition"],
        since=item.get("registered_at") or item["since"],
        until=item["until"],
        by=item.get("registered_by") or "",
    )


def put_span(ref: JobRef, span: JobSpan) -> Write:
    """Return the write of a span. Its sort key begins with its end."""
    parts = instant.text(span.end), instant.text(span.start), span.kind.value, span.cadence
    put = {name: getattr(span, name) or None for name in SPAN.optional} | {"ttl": span.end + _OUTLIVES}
    key = SPAN.key(SPANNED + SEPARATOR.join(parts), tenant=ref.tenant_id, job=ref.name)
    return Write(kind=SPAN, key=key, put=put)


def to_span(item: Fields) -> JobSpan:
    """Return the span of an item."""
    end, start, kind, cadence = item["sk"].removeprefix(SPANNED).split(SEPARATOR, 3)
    return JobSpan(
        kind=SpanKind(kind),
        start=instant.parse(start),
        end=instant.parse(end),
        cadence=cadence,
        by=item.get("by") or "",
        reason=item.get("reason") or "",
        catch_up=item.get("catch_up") or 0,
    )


def put_report(ref: JobRef, report: DeadlineReport) -> Write:
    """Return the write of a report, unless there is one."""
    put = {name: getattr(report, name) or None for name in REPORT.optional} | {
        "deadline_at": report.deadline_at,
        "reported_at": report.at,
        "ttl": report.deadline_at + _OUTLIVES,
    }
    key = REPORT.key(report_place(report.kind, report.nominal_at), tenant=ref.tenant_id, job=ref.name)
    return Write(kind=REPORT, key=key, guard=IS_NEW, put=put)


def report_place(kind: ReportKind, nominal_at: datetime) -> str:
    """Return the sort key of a report."""
    return f"{REPORTED}{kind.value}{SEPARATOR}{instant.text(nominal_at)}"


def to_report(item: Fields) -> DeadlineReport:
    """Return the report of an item."""
    kind, _, nominal_at = item["sk"].removeprefix(REPORTED).partition(SEPARATOR)
    texts = {name: item.get(name) or "" for name in ("status", "reason")}
    return DeadlineReport(
        kind=ReportKind(kind),
        nominal_at=instant.parse(nominal_at),
        deadline_at=item["deadline_at"],
        at=item["reported_at"],
        run_id=item.get("run_id"),
        expected_at=item.get("expected_at"),
        **texts,
    )
