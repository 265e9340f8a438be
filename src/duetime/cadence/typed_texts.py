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

_ANCHOR = "2027-01-04"
_SIZES = {"s": 1, "m": 60, "h": 3_600, "d": DAY, "w": 7 * DAY}
_ISO = r"P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
_ZONE = r"(?<!\S)([A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT)(?!\S)"
_CLOCK = r"(\d{1,2})(?::(\d\d)(?::00)?)?(?: ?([ap]m)|h)?(?!\S)"
_UNIT = r"(s(?:ec(?:ond)?)?|m(?:in(?:ute)?)?|h(?:r|our)?|d(?:ay)?|w(?:eek)?|month|year)s?(?!\S)"
_WITHIN_A_DAY = ("s", "m", "h")
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
_NO_TIME = "it names no time, so choose one"
_SOME_TIME = "09:00"
_NO_ANCHOR = "choose a date of the cycle as the anchor"


class _Words:
    """A text, taken apart."""

    def __init__(self, text: str) -> None:
        self._rest = text
        self.options = "".join(f" tz={name}" for (name,) in self._take(_ZONE))
        self._rest = short_names(self._rest.lower())
        for pattern, written in _REPLACED:
            self._rest = re.sub(pattern, written, self._rest)
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

    def is_cadence(self) -> bool:
        """Return whether it names times or days, and nothing else."""
        dated = self.months and self.numbers
        found = self.nths or self.lengths or self.days or self.clocks or self.is_business or dated
        return bool(found) and all(count for count, _ in self.lengths) and {*self._rest.split()} <= _FILLERS

    def _take(self, pattern: str) -> list[tuple[str, ...]]:
        """Return the groups of each match of a pattern, and remove the matches."""
        found = [match.groups("") for match in re.finditer(pattern, self._rest)]
        self._rest = re.sub(pattern, " ", self._rest)
        return found


def typed_suggestion(text: str) -> Suggestion | None:
    """Return the nearest cadence of English words, or of a duration of ISO 8601; None for another text."""
    if iso := re.fullmatch(_ISO, text, re.IGNORECASE):
        counts = zip(iso.groups("0"), "wdhms", strict=True)
        return Suggestion(f"interval {duration_text(sum(int(n) * _SIZES[unit] for n, unit in counts))}")
    words = _Words(text)
    if not words.is_cadence():
        return None
    months = f" months={words.months}" * bool(words.months)
    small = sum(count * _SIZES[unit] for count, unit in words.lengths if unit in _WITHIN_A_DAY)
    if small:
        days = f" days={words.days}" * bool(words.days)
        caveats: list[str] = []
        head = f"{'interval' if DAY % small else 'every'} {duration_text(small)}{days}"
    else:
        head, caveats = _of_days(words)
    try:
        return Suggestion(read_text(head + months + words.options).text, "; ".join(caveats))
    except InvalidCadence:
        return None


def _of_days(words: _Words) -> tuple[str, list[str]]:
    """Return a cadence of a time on some days, and what is left to choose."""
    count, unit = next(iter(words.lengths), (1, ""))
    is_dated = bool(words.months) or unit == "mo"
    hours = [] if is_dated else [_clock(number, "", "") for number in words.numbers]
    at = ",".join([*words.clocks, *hours] or [_SOME_TIME])
    cycle = f" every={count} anchor={_ANCHOR}" * (count > 1)
    if words.nths and (words.is_business or words.days):
        kind = "business_day" if words.is_business else "nth_weekday"
        head = f"{kind} {','.join(words.nths)} {words.days} {at}"
    elif words.nths or is_dated:
        on = [str(WEEKS.index(nth) + 1) if nth in WEEKS[:-1] else nth for nth in words.nths]
        head = f"monthly {','.join(on or words.numbers or '1')} {at}{cycle}"
    elif words.days or unit == "w":
        head = f"weekly {words.days or 'mon'} {at}{cycle}"
    elif unit == "y":
        head = f"yearly 01-01 {at}{cycle}"
    else:
        head = f"every {count}d at={at} anchor={_ANCHOR}" if cycle else f"daily {at}"
        head += " days=mon-fri" * words.is_business
    return head, [_NO_TIME] * (not (words.clocks or hours)) + [_NO_ANCHOR] * bool(cycle)


def _clock(hour: str, minute: str, half: str) -> str:
    at = int(hour) % 12 + 12 * (half == "pm") if half else int(hour)
    return f"{at:02}:{minute or '00'}"
