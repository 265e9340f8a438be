"""Backfills: one item for each, in its job's partition, which every write replaces as a whole.

While the sweep has to look at it, the item is in the index of jobs by their next maintenance. So a pass finds
it by the query that it makes anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from duetime import ids
from duetime.model.backfill import (
    MOST_AT_ONCE,
    MOST_TIMES,
    Backfill,
    BackfillOrder,
    BackfillRef,
    BackfillState,
)
from duetime.model.job import Job, JobRef, maintenance_shard_of
from duetime.ports import job_state
from duetime.ports.job_state import job_ref
from duetime.ports.keyed_items import (
    COUNT_LIMIT,
    EXACT_INSTANT,
    FLAG,
    INSTANT,
    IS_NEW,
    NUMBER,
    TEXT,
    Fields,
    Form,
    Guard,
    Key,
    Keyed,
    Kind,
    Query,
    Write,
    read_strictly,
    unread,
)

PREFIX = "backfill#"
_OUTLIVES = timedelta(days=400)
"""How long the item of an ended backfill stays, as a former version does."""
_COUNTS = ("executed", "failed", "skipped", "cancelled", "left_out")
_SECONDS = Form(
    "S",
    lambda times: " ".join(str(int(at.timestamp())) for at in times),
    lambda text: tuple(datetime.fromtimestamp(int(second), UTC) for second in text.split(" ")),
)
BACKFILL = Kind(
    name="backfill",
    partition="{tenant}#{job}",
    sort="backfill#id",
    fields={
        **dict.fromkeys(("start", "until", "begun_at", "rest_from", "rest_until"), INSTANT),
        **dict.fromkeys(("version", "at_once", "total", "revision"), NUMBER),
        "begun_by": TEXT,
        "order": Form("S", str, BackfillOrder),
        "state": Form("S", str, BackfillState),
    },
    optional={
        **dict.fromkeys(_COUNTS, NUMBER),
        **dict.fromkeys(("changed_at", "ended_at"), EXACT_INSTANT),
        "again": FLAG,
        "open": _SECONDS,
        "changed_by": TEXT,
    },
    index={"maintenance_shard": TEXT, "maintain_at": INSTANT},
    guard=("revision",),
    expires="400 days",
    writers="callers, `maintain`",
)


class Backfills(Keyed):
    """The backfills of jobs: see `duetime.ports.job_store.JobStore`."""

    def begin_backfill(self, job: Job, backfill: Backfill) -> bool:
        """Add a backfill of a job, and increase the job's revision by one, in one transaction.

        Return False if the job's revision is not that of `job`, or it has a backfill of this id. So no two
        calls that read the same revision both succeed. A backfill with the begin and the actor of `backfill`
        was added by an earlier try of this call: return True.
        """
        writes = backfill_put(backfill, guard=IS_NEW), job_state.next_revision(job)
        if self._items.write(*writes).is_written:
            return True
        present, begun = self.find_backfill(backfill.ref), (backfill.begun_at, backfill.begun_by)
        return present is not None and (present.begun_at, present.begun_by) == begun

    def find_backfill(self, ref: BackfillRef) -> Backfill | None:
        """Return a backfill by a consistent read, or None if there is none."""
        place, sort = key_of(ref)
        found = self._items.find(Query(kind=BACKFILL, partition=place, span=(sort, sort)), unread)
        return next((read_strictly(to_backfill, item) for item in found), None)

    def backfills(self, ref: JobRef) -> Sequence[Backfill]:
        """Return a job's backfills by a consistent read, ended ones included, the latest first."""
        place = BACKFILL.key("", tenant=ref.tenant_id, job=ref.name).partition
        found = self._items.find(Query(kind=BACKFILL, partition=place, begin=PREFIX), to_backfill)
        return sorted(found, key=lambda backfill: (backfill.begun_at, backfill.id), reverse=True)

    def change_backfill(self, read: Backfill, changed: Backfill) -> bool:
        """Replace a backfill by `changed`, which has the next revision.

        Return False if the stored revision is not that of `read`. One that is as this call leaves it was
        changed by its first attempt: return True.
        """
        outcome = self._items.write(backfill_put(changed, guard=BACKFILL.as_read(read)))
        return outcome.is_written or outcome.read(to_backfill) == changed


def key_of(ref: BackfillRef) -> Key:
    """Return the key of a backfill."""
    return BACKFILL.key(f"{PREFIX}{ref.id}", tenant=ref.job.tenant_id, job=ref.job.name)


def backfill_put(backfill: Backfill, *, guard: Guard) -> Write:
    """Return the write of a backfill as a whole."""
    put = {**BACKFILL.of(backfill)}
    put |= {name: put[name] or None for name in BACKFILL.optional}
    if backfill.needs_steps:
        shard = maintenance_shard_of(backfill.ref.job)
        put |= {"maintenance_shard": shard, "maintain_at": backfill.begun_at}
    ttl = backfill.ended_at and backfill.ended_at + _OUTLIVES
    return Write(kind=BACKFILL, key=key_of(backfill.ref), guard=guard, put={**put, "ttl": ttl})


def to_backfill(item: Fields) -> Backfill:
    """Return the backfill of an item.

    Raises:
        ValueError: it has a value that duetime does not write.
        LookupError: a field is missing.
    """
    given = BACKFILL.values(item)
    given |= {name: given[name] or 0 for name in _COUNTS}
    given |= {"again": bool(given["again"]), "open": given["open"] or ()}
    backfill = Backfill(ref=ref_of(item["pk"], item["sk"]), **given)
    counts = [getattr(backfill, name) for name in _COUNTS]
    if not ids.is_backfill_id(backfill.id):
        raise ValueError(f"sk names the backfill {backfill.id!r}")
    if not (1 <= backfill.at_once <= MOST_AT_ONCE and len(backfill.open) <= MOST_AT_ONCE):
        raise ValueError(f"at_once is {backfill.at_once}, with {len(backfill.open)} open runs")
    if not (0 <= backfill.total <= MOST_TIMES and all(0 <= count <= COUNT_LIMIT for count in counts)):
        raise ValueError(f"total is {backfill.total}, the counts are {counts}")
    return backfill


def ref_of(partition: str, sort: str) -> BackfillRef:
    """Return the backfill of an item's key."""
    return BackfillRef(job_ref(partition), sort.removeprefix(PREFIX))
