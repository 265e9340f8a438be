"""What people type for a cadence, in duetime's spelling: ``every weekday at 9``, ``daily 9:00``, ``PT5M``.

Imported only after a text has been rejected. The text is taken apart into zone, window, times, lengths,
ordinals, weekdays and months. A text with any other word is no guess.
"""

from __future__ import annotations

import re

from duetime.cadence.durations import duration_text
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.foreign_cron import Suggestion, short_names
from duetime.cadence.text import read_text
from duetime.cadence.times import DAY
from duetime.cadence.words import MONTHS, WEEKDAYS, WEEKS

_SIZES = {"s": 1, "m": 60, "h": 3_600}
_ZONE = r"(?<!\S)([A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT)(?!\S)"
_CLOCK = r"(\d{1,2})(?::(\d\d)(?::00)?)?(?: ?([ap]m)|h)?(?!\S)"
_UNIT = r"(s(?:ec(?:ond)?)?|m(?:in(?:ute)?)?|h(?:r|our)?|d(?:ay)?|w(?:eek)?|month|year)s?(?!\S)"
_NAMES, _NTHS = "|".join(WEEKDAYS), "|".join(WEEKS)
# Words that stand for others, in the order in which they are replaced.
_REPLACED = (
    (r"[,;]|\b(?:and|on|the|of|in|runs?|once|past)\b", " "),
    (r"\b(?:each|per|a)\b", "every"),
    (r"\b(?:every )?(?:other|alternate)\b|\bevery second(?= )", "every 2"),
    (r"\bhourly\b", "every hour"),
    (r"\bdaily\b", "every day"),
    (r"\bweekly\b", "every week"),
    (r"\bmonthly\b", "every month"),
    (r"\b(?:yearly|annually)\b", "every year"),
    (r"\b(?:every quarter|quarterly)\b", "every month jan apr jul oct"),
    (r"\bnoon\b", "12:00"),
    (r"\b(?:midnight|nightly)\b", "00:00"),
    (r"\b(?:business|working|work)[ -]?days?\b", "business"),
    (rf"\b({_NTHS}|\d+[a-z]+) weekday\b", r"\1 business"),
    (r"\bweekdays?\b", "mon-fri"),
    (r"\bweekends?\b", "sat-sun"),
    (rf"\b({_NAMES}) ?(?:-|to|through|until) ?({_NAMES})\b", r"\1-\2"),
    (rf"\bevery (\d+) +(?=(?:{_NAMES})\b)", r"every \1 week "),
    (rf"\b({_NTHS})(?= +(?:business|day|{_NTHS}|{_NAMES})\b)", r"nth:\1"),
    (r"\b(\d+)(?:st|nd|rd|th)\b", r"nth:\1"),
    (r"\s+", " "),
)
_FILLERS = {"every", "at", "day", "week", "month", "year"}
_ANCHOR = "anchor=2027-01-04"


class _Words:
    """A text, taken apart."""

    def __init__(self, text: str) -> None:
        self.rest = text
        self.options = "".join(f" tz={name}" for (name,) in self._take(_ZONE))
        self.rest = short_names(self.rest.lower())
        for pattern, written in _REPLACED:
            self.rest = re.sub(pattern, written, self.rest)
        for hours in self._take(rf"\b(?:between|from) {_CLOCK}(?: to| until| -)? {_CLOCK}"):
            self.options += f" window={_clock(*hours[:3])}-{_clock(*hours[3:])}"
        self.nths = [nth for (nth,) in self._take(r"\bnth:(\w+)")]
        self.lengths = [
            (int(count or 1), unit[:2] if unit[:2] == "mo" else unit[0])
            for count, *units in self._take(rf"(?<!\S)(?:every )?(\d+) ?{_UNIT}|(?<!\S)every {_UNIT}")
            for unit in filter(None, units)
        ]
        self.is_business = bool(self._take(r"\b(business)\b"))
        self.days = ",".join(day for (day,) in self._take(rf"(?<!\S)((?:{_NAMES})(?:-(?:{_NAMES}))?)(?!\S)"))
        self.months = ",".join(month for (month,) in self._take(rf"(?<!\S)({'|'.join(MONTHS)})(?!\S)"))
        self.numbers = [number for (number,) in self._take(r"(?<!\S)(?<!at )(\d{1,2})(?!\S)")]
        self.clocks = [_clock(*clock) for clock in self._take(rf"(?<!\S)(?:at )?{_CLOCK}")]

    def _take(self, pattern: str) -> list[tuple[str, ...]]:
        """Return the groups of each match of a pattern, and remove the matches."""
        found = [match.groups("") for match in re.finditer(pattern, self.rest)]
        self.rest = re.sub(pattern, " ", self.rest)
        return found


def typed_suggestion(text: str) -> Suggestion | None:
    """Return the nearest cadence of English words, or of a duration of ISO 8601; None for another text."""
    words, caveat = _Words(text), ""
    is_named = words.nths or words.lengths or words.days or words.clocks or (words.months and words.numbers)
    if re.fullmatch(r"P(?=T?\d)(\d+D)?(T[\dHMS]+)?", text):
        written = f"interval {re.sub('[PT]', '', text).lower()}"
    elif not {*words.rest.split()} <= _FILLERS or not (is_named or words.is_business):
        return None
    elif any(unit in _SIZES for _, unit in words.lengths):
        step = sum(count * _SIZES.get(unit, DAY) for count, unit in words.lengths)
        days = f" days={words.days}" * bool(words.days)
        written = f"{'interval' if step and DAY % step else 'every'} {duration_text(step)}{days}"
    else:
        written, caveat = _of_days(words)
    options = f" months={words.months}" * bool(words.months) + words.options
    try:
        return Suggestion(read_text(written + options).text, caveat)
    except InvalidCadence:
        return None


def _of_days(words: _Words) -> tuple[str, str]:
    """Return a cadence of a time on some days, and what is left to choose."""
    count, unit = next(iter(words.lengths), (1, ""))
    is_dated = bool(words.months) or unit == "mo"
    clocks = words.clocks + ([] if is_dated else [_clock(number, "", "") for number in words.numbers])
    at, cycle = ",".join(clocks or ["09:00"]), f" every={count} {_ANCHOR}" * (count != 1)
    if words.nths and (words.is_business or words.days):
        kind = "business_day" if words.is_business else "nth_weekday"
        written = f"{kind} {','.join(words.nths)} {words.days} {at}"
    elif words.nths or is_dated:
        on = [str(WEEKS.index(nth) + 1) if nth in WEEKS[:-1] else nth for nth in words.nths]
        written = f"monthly {','.join(on or words.numbers or '1')} {at}{cycle}"
    elif words.days or unit == "w":
        written = f"weekly {words.days or 'mon'} {at}{cycle}"
    elif unit == "y":
        written = f"yearly 01-01 {at}{cycle}"
    else:
        written = f"every {count}d at={at} {_ANCHOR}" if cycle else f"daily {at}"
        written += " days=mon-fri" * words.is_business
    caveats = ["its time"] * (not clocks) + ["a date of the cycle as its anchor"] * bool(cycle)
    return written, f"choose {' and '.join(caveats)}" * bool(caveats)


def _clock(hour: str, minute: str, half: str) -> str:
    at = int(hour) % 12 + 12 * (half == "pm") if half else int(hour)
    return f"{at:02}:{minute or '00'}"
