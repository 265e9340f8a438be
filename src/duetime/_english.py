"""English words that depend on a number, and the word that was meant."""

from __future__ import annotations

from collections.abc import Iterable

_ENDS = {1: "st", 2: "nd", 3: "rd"}


def plural(number: float, noun: str) -> str:
    """Return the noun as it stands after a number: ``entry`` after 1, ``entries`` after any other."""
    if number == 1:
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def counted(number: float, noun: str, style: str = "") -> str:
    """Return a number with its noun: ``1 job``, ``2 jobs``; with the style ``,`` also ``1,000 jobs``."""
    return f"{number:{style}} {plural(number, noun)}"


def ordinal(number: int) -> str:
    """Return ``1st``, ``2nd``, ``11th`` or ``21st``."""
    end = "th" if number % 100 in {11, 12, 13} else _ENDS.get(number % 10, "th")
    return f"{number}{end}"


def nearest(written: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like the written one; None if none is close."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    return next(iter(get_close_matches(written, list(known), n=1)), None)
