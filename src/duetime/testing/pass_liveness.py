"""Checks that the sweeps reach all that is due, though some of their calls hang."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from duetime.model.job import JobRef

MOST_PASSES = 8
"""The most sweeps in succession that may leave a job unmaintained, though no call about it hangs."""

MOST_TURNS = 25
"""The most sweeps in succession that may leave a shard where it was, while the due index and SQS respond."""

MOST_TIME_OUTS = 3
"""How often Lambda may end arm at its time-out for the same batch: those behind it in its shard wait."""


@dataclass(eq=False, slots=True)
class PassLiveness:
    """Counts the sweeps that did not reach what is due: those that ended, succeeding or at their time-out.

    Sweeps that crash at random do not count: by chance, eight in succession do.
    """

    broken: list[str] = field(default_factory=list)
    _waiting: Counter[tuple[JobRef, datetime]] = field(default_factory=Counter)
    _marks: Counter[tuple[str, str]] = field(default_factory=Counter)

    def swept(self, due: Iterable[tuple[JobRef, datetime]], marks: Mapping[str, str] | None) -> None:
        """Count a sweep.

        Args:
            due: the jobs that were due before it began and still are, and since when; without those about
                which calls hang.
            marks: how far the wheel and each band of the sweep have come, by shard; None while the due index
                or SQS hangs: such a sweep counts for no shard.
        """
        self._waiting = Counter({job: self._waiting[job] + 1 for job in set(due)})
        for (ref, since), passes in self._waiting.items():
            if passes == MOST_PASSES:
                self.broken.append(f"{ref.name} is due since {since:%H:%M:%S}, and {passes} sweeps left it")
        if marks is None:
            return
        self._marks = Counter({item: self._marks[item] + 1 for item in marks.items()})
        for (shard, mark), passes in self._marks.items():
            if passes == MOST_TURNS:
                self.broken.append(f"{shard} is read up to {mark}, and {passes} sweeps left it")
