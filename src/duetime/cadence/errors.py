"""Errors of cadences, with a caret under the mistake.

Each error has the text, the position of the mistake, the problem and the remedy::

    minute: 61 is out of range; use 0-59
        61 * * * *
        ^^
"""

from __future__ import annotations

from collections.abc import Iterable

from duetime.errors import DuetimeError

# Characters of an invalid text that a message repeats at most.
_SHOWN = 120


class InvalidText(DuetimeError, ValueError):
    """An invalid text, with a caret under the mistake.

    Attributes:
        text: the invalid text.
        problem: what is wrong, with the name of the field or option.
        remedy: what to write instead.
        start: where the mistake begins in ``text``.
        width: its number of characters, at least one.
    """

    code = "invalid-text"

    def __init__(
        self, text: str, problem: str, remedy: str, *, start: int = 0, width: int | None = None
    ) -> None:
        self.text = text = str(text)
        self.problem = problem
        self.remedy = remedy
        self.start = start
        self.width = max(1, len(text) - start if width is None else width)
        super().__init__(f"{problem}; {remedy}\n{_pointed_at(text, self.start, self.width)}")


class InvalidCadence(InvalidText):
    """An invalid cadence: mistyped, out of range, or contradictory."""

    code = "invalid-cadence"


class InvalidCron(InvalidCadence):
    """A cron expression with an invalid field."""

    code = "invalid-cron"


class AmbiguousDays(InvalidCron):
    """Day-of-month and day-of-week are both restricted, and ``day_rule`` is missing."""

    code = "ambiguous-days"


class NeverFires(InvalidCadence):
    """A cadence without any occurrence."""

    code = "never-fires"


class UnknownZone(InvalidCadence):
    """A time zone that is not in the IANA database."""

    code = "unknown-zone"


class InvalidExpression(InvalidText):
    """An expression that EventBridge Scheduler, as AWS documents it, would reject."""

    code = "invalid-expression"


class NaiveInstant(DuetimeError, ValueError):
    """A datetime without a zone where an instant is required."""

    code = "naive-instant"

    def __init__(self, given: object) -> None:
        self.given = given
        super().__init__(f"{given} has no time zone; give an aware datetime, as in datetime(..., tzinfo=UTC)")


def did_you_mean(written: str, known: Iterable[str]) -> str:
    """Return a remedy with the most similar known word, ignoring case; empty if none is similar."""
    from difflib import get_close_matches  # noqa: PLC0415 - only needed for mistakes

    words = {word.lower(): word for word in known}
    near = get_close_matches(written.lower()[:_SHOWN], words, n=1, cutoff=0.65)
    return f"did you mean {words[near[0]]}?" if near else ""


def _pointed_at(text: str, start: int, width: int) -> str:
    cut = max(0, start - _SHOWN // 2) if len(text) > _SHOWN else 0
    shown = text[cut : cut + _SHOWN]
    before, after = ("…" if cut else ""), ("…" if cut + _SHOWN < len(text) else "")
    carets = "^" * max(1, min(width, len(shown) - (start - cut)))
    return f"    {before}{shown}{after}\n    {' ' * (len(before) + start - cut)}{carets}"
