"""Checks that the sweeps reach all that is due, though some of their calls hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from duetime.model.job import JobRef

MOST_PASSES = 10
"""The most sweeps in succession that may leave a job unmaintained."""


@dataclass(eq=False, slots=True)
class PassLiveness:
    """Counts the complete sweeps for which each job was due and was not reached."""

    broken: list[str] = field(default_factory=list)
    _waiting: Counter[tuple[JobRef, datetime]] = field(default_factory=Counter)

    def swept(self, due: Iterable[tuple[JobRef, datetime]]) -> None:
        """Count a sweep, with the jobs that were due before it began and still are, and since when."""
        still = set(due)
        self._waiting = Counter({job: self._waiting[job] + 1 for job in still})
        for (ref, since), passes in self._waiting.items():
            if passes == MOST_PASSES:
                self.broken.append(f"{ref.name} is due since {since:%H:%M:%S}, and {passes} sweeps left it")
