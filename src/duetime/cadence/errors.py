"""What a cadence refuses, shown under the text that was refused.

Every refusal carries the text, the place in it, what is wrong there and what would be right, and draws a caret::

    minute: 61 is out of range; use 0-59
        61 * * * *
        ^^
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from duetime.errors import DuetimeError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 120
"""Characters of a refused text that a message repeats: enough for any sane one, and no ten-thousand-item list."""


class InvalidText(DuetimeError, ValueError):
    """A text that is refused, with a caret under the part at fault.

    Attributes:
        text: what was given.
        problem: what is wrong, naming the field or option.
        remedy: what would be right.
        start: where the part at fault begins in ``text``.
        width: how many characters it has, at least one.
    """

    code = "invalid-text"

    def __init__(
        self, text: str, problem: str, remedy: str, *, start: int = 0, width: int | None = None
    ) -> None:
        self.text = text
        self.problem = problem
        self.remedy = remedy
        self.start = start
        self.width = max(1, len(text) - start if width is None else width)
        super().__init__(f"{problem}; {remedy}\n{_pointed_at(text, self.start, self.width)}")


class InvalidCadence(InvalidText):
    """A cadence that cannot be: mistyped, out of range, or against itself."""

    code = "invalid-cadence"


class InvalidCron(InvalidCadence):
    """A cron expression with a field that the cron language forbids."""

    code = "invalid-cron"


class AmbiguousDays(InvalidCron):
    """Day-of-month and day-of-week are both restricted, and nobody said whether both or either must match."""

    code = "ambiguous-days"


class NeverFires(InvalidCadence):
    """A cadence of which no date or no time of day can ever come."""

    code = "never-fires"


class UnknownZone(InvalidCadence):
    """A time zone that the IANA database does not have."""

    code = "unknown-zone"


class InvalidExpression(InvalidText):
    """An expression that EventBridge Scheduler, as AWS documents it, would refuse."""

    code = "invalid-expression"


class NaiveInstant(DuetimeError, ValueError):
    """A datetime without a zone where an instant is needed: it names no moment."""

    code = "naive-instant"

    def __init__(self, given: object) -> None:
        self.given = given
        super().__init__(f"{given} names no moment; give an aware datetime, as in datetime(..., tzinfo=UTC)")


def nearest(written: str, known: Iterable[str]) -> str:
    """A remedy that names what was probably meant, whatever its case; empty where nothing is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    words = {each.lower(): each for each in known}
    near = get_close_matches(written.lower()[:_SHOWN], words, n=1, cutoff=0.65)
    return f"did you mean {words[near[0]]}?" if near else ""


def _pointed_at(text: str, start: int, width: int) -> str:
    cut = max(0, start - _SHOWN // 2) if len(text) > _SHOWN else 0
    shown = text[cut : cut + _SHOWN]
    before, after = ("…" if cut else ""), ("…" if cut + _SHOWN < len(text) else "")
    carets = "^" * max(1, min(width, len(shown) - (start - cut)))
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + start - cut)}{carets}"
