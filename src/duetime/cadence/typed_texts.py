"""What people type for a cadence, in duetime's spelling: ``every weekday at 9``, ``daily 9:00``, ``PT5M``.

Imported only after a text has been rejected. Words are replaced by shorter ones until the text has one
of the forms of a table: ``first monday of the month at 9am`` becomes ``#1 mon 09:00``. A text of another form
gets no guess.
"""

from __future__ import annotations

import re

from duetime.cadence.errors import InvalidCadence
from duetime.cadence.foreign_cron import Suggestion, short_names
from duetime.cadence.text import read_text
from duetime.cadence.words import MONTHS, WEEKDAYS

_ZONE = r"(?<!\S)(?:[A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT)(?!\S)"
_NAME = rf"(?:{'|'.join(WEEKDAYS)})"
_TIME = r"\d\d:\d\d"
_UNITS = (("s", "sec(?:ond)?"), ("m", "min(?:ute)?"), ("h", "h(?:ou)?r"), ("d", "day"), ("w", "week"))
# Words and the shorter ones that stand for them, in the order in which they are replaced.
_SHORTER = (
    (r"\b(?:between|from) (\d[\d:]*) ?(?:and|to|until|-) ?(\d[\d:]*)", r"window=@\1-@\2"),
    (r"[,;]|\b(?:and|on|the|of|in|runs?|once|past)\b", " "),
    (r"\b(?:each|per|a)\b", "every"),
    (r"\b(?:every )?(?:other|alternate)\b|\bevery second(?= )", "2"),
    (r"\b(?:every )?quarter(?:ly)?\b", "quarter"),
    (r"\b(?:yearly|annually)\b", "1 year"),
    (r"\bdaily\b", "1 day"),
    (r"\b(hour|week|month)ly\b|\bevery (year|month|week|day|hour|minute|second)\b", r"1 \1\2"),
    (r"\bnoon\b", "12:00"),
    (r"\b(?:midnight|nightly)\b", "00:00"),
    (r"\b(?:business|working|work)[ -]?days?\b|(?<=last )weekday\b|(?<=first )weekday\b", "business"),
    (r"\bweekdays?\b", "mon-fri"),
    (r"\bweekends?\b", "sat-sun"),
    (rf"\b({_NAME}) ?(?:-|to|through|until) ?({_NAME})\b", r"\1-\2"),
    *((rf"\b{word}\b", f"#{n}") for word, n in (("first", 1), ("third", 3), ("fourth", 4), ("fifth", 5))),
    (rf"\bsecond(?= +(?:business|day|{_NAME})\b)", "#2"),
    (r"\blast\b", "#last"),
    (r"\b(\d+)(?:st|nd|rd|th)\b", r"#\1"),
    *((rf"\b(\d+) ?(?:{word}|{unit})s?\b", rf"\1{unit}") for unit, word in _UNITS),
    (r"\b(\d+) (mo|y)(?:nth|ear)s?\b", r"\1\2"),
    (rf"(?<!#)\b(\d+) +(?={_NAME}\b)", r"\1w "),
    *((rf"(?<![\d:]){n}(?::(\d\d))? ?am\b", rf"{n % 12}:\1") for n in range(1, 13)),
    *((rf"(?<![\d:]){n}(?::(\d\d))? ?pm\b", rf"{n % 12 + 12}:\1") for n in range(1, 13)),
    (r"(?:\bat |@)(\d+)(?![\d:])", r"\1:"),
    (r":(?!\d)", ":00"),
    (r"\b(?:every|at|month|day)\b|@", " "),
    (r"\s+", " "),
    (r"(?<![\d:])(\d):", r"0\1:"),
    (r"(:\d\d):00\b", r"\1"),
    (r"(?<=[=-]) (?=\d\d:)", ""),
    (rf"({_TIME}) (\d\d)(?!\S)", r"\1 \2:00"),
    (rf"^(.*?) ?((?<![=\d-]){_TIME}(?!-)(?: {_TIME})*) ?(.*)$", r"\1 \3 \2"),
    (rf"({_TIME}) (?={_TIME})", r"\1,"),
    (rf"({_NAME}) (?={_NAME}\b)", r"\1,"),
    (r"#(\w+) #", r"#\1,"),
)
_AT = rf" ({_TIME}(?:,{_TIME})*)"
_DAYS, _DATE_OF = rf"((?:{_NAME}[,-]?)+)", rf"({'|'.join(MONTHS)})"
_SMALL = rf"(?: {_DAYS})?(?: (window=\S+))?"
_CYCLE = "anchor=2027-01-04"
# The forms of a text, and the cadence of each.
_FORMS = (
    (rf" ((?:[1-6]|1[025]|[23]0)[sm]|(?:[123468]|12)h){_SMALL}", r"every \1 days=\2 \3"),
    (rf" (\d+[smh]){_SMALL}", r"interval \1 days=\2 \3"),
    (r" p(\d+d)?(?:t(\d+h)?(\d+m)?(\d+s)?)?", r"interval \1\2\3\4"),
    (rf"(?: 1mo)? #(\S+) business(?: 1mo)?{_AT}", r"business_day \1 \2"),
    (rf" #(\S+) {_DAYS}(?: 1mo)?{_AT}", r"nth_weekday \1 \2 \3"),
    (rf"(?: 1mo)? #(\S+)(?: 1mo)?{_AT}", r"monthly \1 \2"),
    (rf" (\d+)mo{_AT}", rf"monthly 1 \2 every=\1 {_CYCLE}"),
    (rf" quarter{_AT}", r"monthly 1 \1 months=jan,apr,jul,oct"),
    (rf" #?(\d+) {_DATE_OF}(?: 1y)?{_AT}", r"monthly \1 \3 months=\2"),
    (rf" {_DATE_OF} #?(\d+)(?: 1y)?{_AT}", r"monthly \2 \3 months=\1"),
    (rf" (\d+)y{_AT}", rf"yearly 01-01 \2 every=\1 {_CYCLE}"),
    (rf"(?: (\d+)w)? {_DAYS}{_AT}", rf"weekly \2 \3 every=\1 {_CYCLE}"),
    (rf" (\d+)w{_AT}", rf"weekly mon \2 every=\1 {_CYCLE}"),
    (rf" business{_AT}", r"daily \1 days=mon-fri"),
    (rf"(?: 1d)?{_AT}", r"daily \1"),
    (rf" (\d+)d{_AT}", rf"every \1d at=\2 {_CYCLE}"),
)


def typed_suggestion(text: str) -> Suggestion | None:
    """Return the nearest cadence of English words, or of a duration of ISO 8601; None for another text."""
    zone, words = re.search(_ZONE, text), short_names(re.sub(_ZONE, "", text).lower())
    for pattern, shorter in _SHORTER:
        words = re.sub(pattern, shorter, words)
    for ending, caveat in (("", ""), (" 09:00", "choose its time")):
        for pattern, form in _FORMS:
            if found := re.fullmatch(pattern, " " + " ".join(words.split()) + ending):
                options = f" tz={zone[0]}" if zone else ""
                written = re.sub(r" \w+=(?!\S)", "", found.expand(form)) + options
                try:
                    cadence = read_text(written).text
                except InvalidCadence:
                    return None
                anchor = "choose a date of the cycle as its anchor" * ("anchor=" in cadence)
                return Suggestion(cadence, " and ".join(filter(None, (caveat, anchor))))
    return None
