"""Compares the statistics in each job's row with the ends of its runs, as they were written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from duetime.model.action import Status, Trigger
from duetime.model.change import Change
from duetime.model.job import JobRef, job_ref_of
from duetime.ports.job_store import JobStore


@dataclass(eq=False, slots=True)
class RunTallies:
    """Counts the runs of each job that ended as executed or failed."""

    jobs: JobStore
    _ended: Counter[tuple[JobRef, Status]] = field(default_factory=Counter)

    def check(self, change: Change) -> None:
        """Count the change if it ends a run of a job. A backfill counts its own runs."""
        old, new = change.old, change.new
        if old is None or new is None or old.status is not Status.PROCESSING:
            return
        owner = job_ref_of(new)
        if owner is None or new.trigger is Trigger.BACKFILL:
            return
        if new.status in {Status.EXECUTED, Status.FAILED}:
            self._ended[owner, new.status] += 1

    def broken(self) -> Iterator[str]:
        """Yield a line for each count that is wrong: all failures count, and no run counts twice.

        A run that an event or an operator starts counts only as a failure, if runs may overlap.
        """
        for ref in {ref for ref, _ in self._ended}:
            job = self.jobs.get(ref)
            if job is None:
                continue
            failed, executed = self._ended[ref, Status.FAILED], self._ended[ref, Status.EXECUTED]
            if job.tally.failed != failed:
                yield f"{ref.name} counts {job.tally.failed} failed runs, and has {failed}"
            if job.tally.executed > executed:
                yield f"{ref.name} counts {job.tally.executed} executed runs, and has {executed}"
