"""The two day fields of a cron expression, with Quartz's special items as Cronos reads them.

Day-of-month has ``L``, ``L-3``, ``LW``, ``L-3W`` and ``15W``, day-of-week ``5L`` and ``MON#2``. Fields are in
capitals.
"""

from __future__ import annotations

from typing import NamedTuple

from duetime.cadence.fields import DAY, WEEKDAY, FieldError

_MOST_WEEKS = 5
_FURTHEST_BACK = 30


class MonthDays(NamedTuple):
    """A parsed day-of-month field; see the attributes of the same names of ``DayFields``."""

    days: int
    lasts: tuple[int, ...] = ()
    nearest: tuple[int, ...] = ()
    nearest_lasts: tuple[int, ...] = ()


def month_days(text: str) -> MonthDays:
    """Return a parsed day-of-month field, in capitals.

    Raises:
        FieldError: the field is invalid.
    """
    if "L" not in text and "W" not in text:
        return MonthDays(DAY.mask(text) >> 1)
    plain: list[str] = []
    lasts: list[int] = []
    nearest: list[int] = []
    nearest_lasts: list[int] = []
    for item in text.split(","):
        back = _from_the_end(item.removesuffix("W"))
        if back is not None:
            (nearest_lasts if item.endswith("W") else lasts).append(back)
        elif item.endswith("W"):
            nearest.append(DAY.value(item[:-1]))
        else:
            plain.append(item)
    return MonthDays(
        DAY.listed(plain) >> 1 if plain else 0, tuple(lasts), tuple(nearest), tuple(nearest_lasts)
    )


def _from_the_end(item: str) -> int | None:
    """Return the n of ``L-n``, 0 for ``L``, None for anything else."""
    if item == "L":
        return 0
    if not item.startswith("L-"):
        return None
    back = item[2:]
    if back.isdigit() and len(back) <= len(str(_FURTHEST_BACK)) and int(back) <= _FURTHEST_BACK:
        return int(back)
    raise FieldError(DAY.name, f"{item[:20]} is before the month begins", f"use L-0 to L-{_FURTHEST_BACK}")


def weekdays(text: str) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return a day-of-week field: a mask with Sunday as bit 0, and (weekday, n) of each # or L.

    An n of 0 means the last.

    Raises:
        FieldError: the field is invalid.
    """
    if "L" not in text and "#" not in text:
        return WEEKDAY.mask(text), ()
    plain: list[str] = []
    nth: list[tuple[int, int]] = []
    for item in text.split(","):
        if item.endswith("L"):
            nth.append((_weekday_before(item[:-1], "L"), 0))
        elif "#" in item:
            weekday, _, week = item.partition("#")
            nth.append((_weekday_before(weekday, "#"), _week(week)))
        else:
            plain.append(item)
    return WEEKDAY.listed(plain) if plain else 0, tuple(nth)


def _weekday_before(text: str, sign: str) -> int:
    if not text:
        raise FieldError(
            WEEKDAY.name,
            f"{sign} needs a weekday before it",
            "write FRIL for the last Friday, MON#1 for the first Monday",
        )
    return WEEKDAY.value(text) % 7


def _week(text: str) -> int:
    if text.isdigit() and len(text) == 1 and 1 <= int(text) <= _MOST_WEEKS:
        return int(text)
    raise FieldError(
        WEEKDAY.name, f"{text[:20] or 'nothing'} after # is no week of a month", f"use 1-{_MOST_WEEKS}"
    )
