"""A preview of a cadence: its next occurrences, and what the occurrences alone do not show.

``duetime preview`` and the admin API both use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from duetime.cadence.cadence import Cadence
from duetime.cadence.croniter_check import compare_with_croniter, incomparable_reason
from duetime.cadence.crontab import Cron
from duetime.cadence.explain import LocalOccurrence
from duetime.cadence.warnings import cadence_warnings, upcoming_clock_changes


@dataclass(frozen=True, slots=True)
class Preview:
    """A cadence's occurrences after a start, with warnings.

    Attributes:
        cadence: the cadence.
        until: the end of the preview; None for a number of occurrences.
        occurrences: the occurrences shown, and the clock changes that skip some.
        changes: effects of clock changes within a year of the last occurrence shown; empty if ``until`` is
            set.
        notes: warnings, a sentence each.
        disagreements: where croniter computes other occurrences of a cron expression, a sentence each.
        second_opinion: croniter's result, or why it is not compared; None unless the cadence is a cron
            expression.
    """

    cadence: Cadence
    until: datetime | None
    occurrences: tuple[LocalOccurrence, ...]
    changes: tuple[LocalOccurrence, ...]
    notes: tuple[str, ...]
    disagreements: tuple[str, ...]
    second_opinion: str | None

    @classmethod
    def from_occurrences(
        cls, cadence: Cadence, occurrences: Iterable[LocalOccurrence], start: datetime, until: datetime | None
    ) -> Self:
        """Return the preview that shows these occurrences of (start, until].

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        shown = tuple(occurrences)
        disagreements: tuple[str, ...] = ()
        opinion = None
        if isinstance(cadence, Cron):
            disagreements = tuple(map(str, compare_with_croniter(cadence)))
            opinion = _second_opinion(cadence, disagreements)
        return cls(
            cadence=cadence,
            until=until,
            occurrences=shown,
            changes=() if until is not None else _changes(cadence, shown, start),
            notes=tuple(
                cadence_warnings(cadence, start, max((row.at for row in shown if row.at), default=start))
            ),
            disagreements=disagreements,
            second_opinion=opinion,
        )


def _changes(
    cadence: Cadence, shown: tuple[LocalOccurrence, ...], start: datetime
) -> tuple[LocalOccurrence, ...]:
    last = max((row.at for row in shown if row.at is not None), default=start)
    return tuple(row for row in upcoming_clock_changes(cadence, last) if row not in shown)


def _second_opinion(cadence: Cron, disagreements: tuple[str, ...]) -> str:
    """Return the result as a sentence; the console translates it by its wording."""
    reason = incomparable_reason(cadence)
    if reason is not None:
        return f"not asked, since {reason}"
    return "croniter disagrees" if disagreements else "croniter agrees, changes of the clocks aside"
