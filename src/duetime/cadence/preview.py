"""What a preview tells of a cadence: the occurrences that it shows, and what nobody who looks at them would see.

``duetime preview`` and the admin API both take it from here, so that they tell the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from duetime.cadence.croniter_check import not_comparable, second_opinion
from duetime.cadence.crontab import Cron
from duetime.cadence.warnings import changed_ahead, surprises

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Self

    from duetime.cadence.cadence import Cadence
    from duetime.cadence.explain import Explained


@dataclass(frozen=True, slots=True)
class Preview:
    """A cadence's occurrences after a start, and what is to be said of the cadence.

    Attributes:
        cadence: whose they are.
        until: where the preview ends, if somebody said so.
        occurrences: those that are shown, and the gaps that swallowed some.
        changes: what changes of the clocks do within a year of the last one that is shown; none where ``until`` was said.
        notes: what may surprise, a sentence each.
        disagreements: where croniter sees a cron expression's occurrences otherwise, a sentence each.
        second_opinion: what croniter thinks, or why it is not asked; None for what is no cron expression.
    """

    cadence: Cadence
    until: datetime | None
    occurrences: tuple[Explained, ...]
    changes: tuple[Explained, ...]
    notes: tuple[str, ...]
    disagreements: tuple[str, ...]
    second_opinion: str | None

    @classmethod
    def of(
        cls, cadence: Cadence, occurrences: Iterable[Explained], start: datetime, until: datetime | None
    ) -> Self:
        """The preview that shows these occurrences of (start, until].

        Raises:
            NaiveInstant: a datetime without a zone.
        """
        shown = tuple(occurrences)
        disagreements = _disagreements(cadence)
        return cls(
            cadence=cadence,
            until=until,
            occurrences=shown,
            changes=() if until is not None else _changes(cadence, shown, start),
            notes=tuple(surprises(cadence)),
            disagreements=disagreements,
            second_opinion=_opinion(cadence, disagreements),
        )


def _changes(cadence: Cadence, shown: tuple[Explained, ...], start: datetime) -> tuple[Explained, ...]:
    last = max((row.at for row in shown if row.at is not None), default=start)
    return tuple(row for row in changed_ahead(cadence, last) if row not in shown)


def _disagreements(cadence: Cadence) -> tuple[str, ...]:
    return tuple(str(each) for each in second_opinion(cadence)) if isinstance(cadence, Cron) else ()


def _opinion(cadence: Cadence, disagreements: tuple[str, ...]) -> str | None:
    if not isinstance(cadence, Cron):
        return None
    reason = not_comparable(cadence)
    if reason is not None:
        return f"not asked, since {reason}"
    return "croniter disagrees" if disagreements else "croniter agrees, changes of the clocks aside"
