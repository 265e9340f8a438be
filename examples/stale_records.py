"""A worked example: a record without a change for ninety days is removed, at the hour and without a scan.

A nightly scan reads every record to find the few that are stale. Here each record has an action of its own,
due when it would be stale, and each touch moves it. Whether a record is stale is decided where it is
removed, by the condition of that write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import NewType, Protocol

from duetime import Action, App, Payload, RetryPolicy, Run, Scheduler
from duetime.errors import StateConflict

app = App()

STALE_AFTER = timedelta(days=90)

RecordScheduler = NewType("RecordScheduler", Scheduler)


@dataclass(frozen=True, slots=True)
class Record:
    """The last change of a record, and the action that will remove it."""

    touched_at: datetime
    removal: str | None = None


class Records(Protocol):
    """The records, by id. Each method is one conditional write."""

    def touch(self, record: str, at: datetime) -> Record | None:
        """Store a touch unless a later one is stored; return the record, or None without one."""
        ...

    def keep_removal(self, record: str, removal: str) -> None:
        """Store the id of the action that will remove it."""
        ...

    def remove_untouched(self, record: str, since: datetime) -> Record | None:
        """Remove the record unless it was touched after `since`.

        Return the remaining record, or None.
        """
        ...


class RemoveIfStale(Payload):
    """A record that is stale unless it has changed."""

    record: str


class RecordsInMemory:
    """A dict and a lock; a deployment has a table, and conditions."""

    def __init__(self) -> None:
        self.all: dict[str, Record] = {}
        self._lock = Lock()

    def touch(self, record: str, at: datetime) -> Record | None:
        """See `Records`."""
        return self._change(record, lambda old: Record(max(at, old.touched_at), old.removal))

    def keep_removal(self, record: str, removal: str) -> None:
        """See `Records`."""
        self._change(record, lambda old: Record(old.touched_at, removal))

    def remove_untouched(self, record: str, since: datetime) -> Record | None:
        """See `Records`."""
        with self._lock:
            found = self.all.get(record)
            if found is not None and found.touched_at <= since:
                del self.all[record]
                return None
            return found

    def _change(self, record: str, change: Callable[[Record], Record]) -> Record | None:
        with self._lock:
            if record in self.all:
                self.all[record] = change(self.all[record])
            return self.all.get(record)


@app.resource
def records() -> Records:
    """The shop's records."""
    return RecordsInMemory()


@app.resource
def scheduler() -> RecordScheduler:
    """Schedules for the shop."""
    return RecordScheduler(Scheduler.from_env(tenant_id="acme", actor="records"))


def touched(record: str, at: datetime, records: Records, scheduler: Scheduler) -> bool:
    """Move a used record's removal by ninety days; return False if it was removed before."""
    found = records.touch(record, at)
    if found is None:
        return False
    try:
        if found.removal is None:
            _schedule_removal(record, found, records, scheduler)
        else:
            scheduler.reschedule(found.removal, found.touched_at + STALE_AFTER)
    except StateConflict:
        pass  # it is running now: it meets the touch in its own write, and schedules the next
    return True


@app.action(retry=RetryPolicy(attempts=5, backoff=[10, 60, 600]))
def remove_if_stale(payload: RemoveIfStale, run: Run, records: Records, scheduler: RecordScheduler) -> None:
    """Remove the record, unless it has changed meanwhile: then it is stale later."""
    left = records.remove_untouched(payload.record, run.now() - STALE_AFTER)
    if left is None:
        run.log.info("%s was stale, and is gone", payload.record)
    else:
        _schedule_removal(payload.record, left, records, scheduler)


def _schedule_removal(record: str, found: Record, records: Records, scheduler: Scheduler) -> Action:
    """Schedule the removal for when it is stale; repeats for one touch schedule one removal."""
    action = scheduler.schedule(
        RemoveIfStale(record=record),
        at=found.touched_at + STALE_AFTER,
        correlation_id=f"record:{record}",
        idempotency_key=f"stale:{record}:{found.touched_at:%Y%m%dT%H%M%S.%f}",
    )
    records.keep_removal(record, action.id)
    return action
