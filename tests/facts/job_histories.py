"""Job histories, rows and timelines for the tests of occurrence statuses."""

from datetime import UTC, datetime, timedelta

from duetime import ids
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs import explain, timeline
from duetime.jobs.occurrence_status import JobHistory
from duetime.model.action import Action, Status
from duetime.model.job import Definition, Job, JobRef, Origin, Version
from duetime.model.row_parts import RunPlan

NOON = datetime(2026, 3, 27, 12, tzinfo=UTC)
NAME = JobName("billing-nightly")
SECOND, MINUTE, HOUR, DAY = (timedelta(**{name: 1}) for name in ("seconds", "minutes", "hours", "days"))


class Rows:
    """Rows by id, given as a store gives them."""

    def __init__(self, rows=()):
        self.by_id = {row.id: row for row in rows}

    def of_version(self, number, after, until):
        return self._sorted(lambda row: ids.version_of(row.id) == number, after, until)

    def of_events(self, after, until):
        return self._sorted(lambda row: ids.is_event_run(row.id), after, until)

    def _sorted(self, expected, after, until):
        rows = [
            row for row in self.by_id.values() if expected(row) and after < ids.nominal_at(row.id) <= until
        ]
        return iter(sorted(rows, key=lambda row: row.id))


def version(number, cadences, since, until=None, **more):
    definition = Definition(name=NAME, type="Bill", cadences=tuple(cadences), **more)
    return Version(number=number, definition=definition, since=since, until=until)


def history_of(*versions, spans=(), now=NOON, **job):
    last, first = versions[-1], versions[0]
    facts = {
        "ref": JobRef(SYSTEM_TENANT, NAME),
        "definition": last.definition,
        "origin": Origin.CODE,
        "version": last.number,
        "since": last.since,
        "anchor": first.since.replace(microsecond=0),
        "cursor": now,
        "maintain_at": now,
    }
    return JobHistory(
        job=Job(**facts | job),
        versions=versions,
        spans=spans,
        now=now,
        job_grace=10 * MINUTE,
        retention=30 * DAY,
    )


def row(at, status=Status.EXECUTED, *, number=1, **more):
    facts = {
        "tenant_id": SYSTEM_TENANT,
        "id": ids.occurrence_id(NAME, number, at),
        "type": "Bill",
        "due_at": at,
        "due_shard": "0",
        "created_by": "duetime",
        "payload": None,
        "status": status,
    }
    of_plan = {name: more.pop(name) for name in ("cadence", "catches_up") if name in more}
    if of_plan:
        facts["planned"] = RunPlan(ids.nominal_at(facts["id"]), **of_plan)
    return Action(**facts | more)


def daily(*texts, since=NOON - 10 * DAY, **more):
    return history_of(version(1, texts or ("daily 09:00",), since), **more)


def explained_entries(
    facts, rows=(), *, start, end, limit=500, counted=timeline.MANY, most_looks=explain.MOST_LOOKS
):
    found = timeline.timeline(facts, Rows(rows), start, end, counted=counted)
    return explain.explanation(found, limit, most_looks=most_looks)


def only_entry(facts, *rows, at=NOON - 3 * HOUR):
    (entry,) = explained_entries(facts, rows, start=at - SECOND, end=at)
    return entry


NINE = NOON - 3 * HOUR
"""Of the day."""
PARIS_SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
PARIS_AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)
