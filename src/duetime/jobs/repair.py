"""*Mend* strays between the jobs' rows and EventBridge, both ways: what no job wants is removed, what is missing is set.

Reconcile does it on each deploy, the catch-up every six hours. It reads names only, until it finds something.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duetime import instant
from duetime.clock import Clock
from duetime.jobs.desired_wakes import base_of, wakes_of
from duetime.jobs.maintain import Maintain, changed
from duetime.model.job import JobRef
from duetime.ports.jobs import JobStore, JobWakes
from duetime.settings import Settings

_PAGE = 200


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What was done."""

    removed: tuple[str, ...] = ()
    """Names that no job wanted."""
    set: tuple[str, ...] = ()
    """Jobs whose wakes were set again."""


class Repair:
    """Compares every job with what wakes it."""

    def __init__(
        self, jobs: JobStore, wakes: JobWakes, attend: Maintain, *, clock: Clock, settings: Settings
    ) -> None:
        self._jobs, self._wakes, self._attend = jobs, wakes, attend
        self._clock, self._settings = clock, settings

    def __call__(self, *, stop_at: datetime) -> RepairResult:
        """Compare until done, or until `stop_at`.

        Raises:
            BackendUnavailable: not all was mended.
        """
        known = set(self._wakes.known())
        by_base = {base_of(ref, self._settings): ref for ref in self._all()}
        removed = tuple(sorted(name for _, name in self._remove(known, by_base)))
        again = tuple(
            ref.name for ref in by_base.values() if self._clock.now() < stop_at and self._set(ref, known)
        )
        return RepairResult(removed, again)

    def _all(self) -> Iterator[JobRef]:
        cursor = None
        while True:
            refs, cursor = self._jobs.to_attend(instant.LATEST, limit=_PAGE, cursor=cursor)
            yield from refs
            if cursor is None:
                return

    def _remove(
        self, known: Iterable[tuple[str, str]], by_base: dict[str, JobRef]
    ) -> Iterator[tuple[str, str]]:
        for kind, name in sorted(known):
            if name not in by_base and _without_number(name) not in by_base:
                self._wakes.remove(kind, name)
                yield kind, name

    def _set(self, ref: JobRef, known: set[tuple[str, str]]) -> bool:
        """Have a job's wakes set again if one is missing, or one too many."""
        job, now = self._jobs.get(ref), self._clock.now()
        if job is None:
            return False
        wanted = {(each.kind, each.name) for each in wakes_of(job, now, self._settings)}
        there = {
            each
            for each in known
            if each[1] == base_of(ref, self._settings)
            or _without_number(each[1]) == base_of(ref, self._settings)
        }
        if wanted == there:
            return False
        for kind, name in sorted(there - wanted):
            self._wakes.remove(kind, name)
        if self._jobs.change(job, changed(job, now)):
            self._attend(ref)
        return True


def _without_number(name: str) -> str:
    base, _, number = name.rpartition(".")
    return base if number.isdigit() else name
