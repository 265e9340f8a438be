"""*Repair* differences between the jobs' rows and EventBridge: remove unknown wakes, set missing ones.

Reconcile does so on each deploy, the catch-up every six hours. It reads names only, until it finds a
difference. The index of jobs may lag, so each job is read consistently before one of its wakes is removed.
After a removal the job's wakes are set again if it wants the wake by then.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duetime import instant
from duetime.clock import Clock
from duetime.errors import UnreadableRow, truncate
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.desired_wakes import base_of, wakes_of
from duetime.jobs.maintain import Maintain, changed, refs_until
from duetime.model.job import Job, JobRef
from duetime.ports.jobs import JobStore, JobWakes
from duetime.settings import Settings

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The wakes removed and set.

    Attributes:
        removed: names of wakes without a job.
        set: jobs whose wakes were set again.
    """

    removed: tuple[str, ...] = ()
    set: tuple[str, ...] = ()


class Repair:
    """Compares every job with its wakes on EventBridge."""

    def __init__(
        self, jobs: JobStore, wakes: JobWakes, maintain: Maintain, *, clock: Clock, settings: Settings
    ) -> None:
        self._jobs, self._wakes, self._maintain = jobs, wakes, maintain
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> RepairResult:
        """Compare until done, or until `stop_at`.

        Raises:
            BackendUnavailable: some differences are left.
        """
        known = set(self._wakes.known())
        by_base = {base_of(ref, self._settings): ref for ref in refs_until(self._jobs, instant.LATEST)}
        removed = tuple(sorted(name for _, name in self._remove(known, by_base)))
        again = tuple(
            ref.name
            for ref in by_base.values()
            if self._clock.now() < stop_at and self._set_if_readable(ref, known)
        )
        return RepairResult(removed, again)

    def _remove(
        self, known: Iterable[tuple[str, str]], by_base: dict[str, JobRef]
    ) -> Iterator[tuple[str, str]]:
        for kind, name in sorted(known):
            if name not in by_base and _without_number(name) not in by_base:
                owner = self._wakes.owner(kind, name)
                if not self._needs(owner, kind, name):
                    self._wakes.remove(kind, name)
                    yield kind, name
                    if owner is not None and self._needs(owner, kind, name):  # registered meanwhile
                        self._set_again(owner)

    def _needs(self, owner: JobRef | None, kind: str, name: str) -> bool:
        try:
            job = self._jobs.get(owner) if owner else None
        except UnreadableRow as error:
            log.warning("wake of a damaged job kept", extra={"wake": name, "reason": truncate(error)})
            return True
        return job is not None and (kind, name) in self._desired(job)

    def _desired(self, job: Job) -> set[tuple[str, str]]:
        wakes = wakes_of(job, self._clock.now(), self._settings)
        return {(wake.kind, wake.name) for wake in wakes}

    def _set_if_readable(self, ref: JobRef, known: set[tuple[str, str]]) -> bool:
        """Set the wakes of a job. One that is damaged keeps its own, and stops no other."""
        try:
            return self._set(ref, known)
        except UnreadableRow as error:
            log.warning("job not repaired", extra={"job": ref.name, "reason": truncate(error)})
            return False

    def _set(self, ref: JobRef, known: set[tuple[str, str]]) -> bool:
        job = self._jobs.get(ref)
        if job is None:
            return False
        base, desired = base_of(ref, self._settings), self._desired(job)
        existing = {(kind, name) for kind, name in known if base in {name, _without_number(name)}}
        if desired == existing:
            return False
        for kind, name in sorted(existing - desired):
            self._wakes.remove(kind, name)
        self._set_again(ref)
        return True

    def _set_again(self, ref: JobRef) -> None:
        """Mark the job's wakes as stale, after all removals, and set them."""

        def mark() -> Conflict | None:
            job = self._jobs.get(ref)
            is_marked = job is None or self._jobs.change(job, changed(job, self._clock.now()))
            return None if is_marked else CHANGED

        change_with_retry(mark, f"job {ref.name}")
        self._maintain(ref)


def _without_number(name: str) -> str:
    base, _, number = name.rpartition(".")
    return base if number.isdigit() else name
