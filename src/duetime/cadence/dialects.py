"""Other schedulers' spellings of cadences, and what people type, as suggestions in duetime's spelling.

Imported only after a text has been rejected, and for notes. It recognises crontab lines, EventBridge, Quartz,
systemd, Celery, APScheduler, Spring, iCalendar, Jenkins, Kubernetes, GitHub Actions and Go, then plain
English. Each suggestion is read before it is offered, so a suggestion is always valid. If a language is known
but its text cannot be translated, the error names the reason.

Of plain English, words are replaced by shorter ones until each is of a known kind; a table has the cadence of
each combination of kinds: ``first monday of the month at 9am`` becomes ``#1 mon 1mo 09:00``. A text with
another word, or of another combination, gets no guess. ``daily 9:00`` and ``PT5M`` are read too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable

from duetime.cadence.errors import InvalidCadence, InvalidText
from duetime.cadence.expression import MONTH, FieldError
from duetime.cadence.foreign_cron import (
    ACTIONS,
    CRONTAB,
    FIVE,
    JENKINS,
    KUBERNETES,
    QUARTZ,
    SIX,
    SPRING,
    Language,
    Suggestion,
    apscheduler,
    celery,
    cron_text,
    short_names,
)
from duetime.cadence.rrule_text import from_rrule, is_rrule
from duetime.cadence.systemd_text import systemd_suggestion
from duetime.cadence.text import read_text
from duetime.cadence.words import MONTHS, WEEKDAYS, duration_text, weekdays_mask, weekdays_text
from duetime.cadence.zone_names import ABBREVIATIONS

_LONGEST = 200
_TYPED_ZONE = (
    rf"(?<!\S)(?:[A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT|EST|MST|HST|[CEMW]ET|{'|'.join(ABBREVIATIONS)})(?!\S)"
)
_NAME, _MONTH = rf"(?:{'|'.join(WEEKDAYS)})", rf"(?:{'|'.join(MONTHS)})"
_DATE, _DAYS = r"\d\d?(?:st|nd|rd|th)?", rf"{_NAME}(?:-{_NAME})?"
_CLOCK = r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?"
_COUNTS = {
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "ninety": 90,
}
_ORDINALS = {"first": 1, "third": 3, "fourth": 4, "fifth": 5, "tenth": 10, "fifteenth": 15, "twentieth": 20}
_UNITS = {
    "s": "sec(?:ond)?",
    "m": "min(?:ute)?",
    "h": "h(?:ou)?r",
    "d": "day",
    "w": "w(?:ee)?k",
    "mo": "month",
}
_UNITS |= {"y": "y(?:ea)?r", "q": "quarter"}
_SMALL = "smh"
_PARTS_OF_DAY = {"morning": "09:00", "afternoon": "14:00", "evening": "18:00", "night": "00:00"}
_NOON = 12


def _window(found: re.Match[str]) -> str:
    """Return a window; ``9 and 5`` ends in the afternoon."""
    opens, shuts = found[1], found[2]
    ends = [end if ":" in end else f"{end.zfill(2)}:00" for end in (opens.zfill(2), shuts)]
    if shuts.isdigit() and ends[1] <= ends[0] < f"{_NOON}":
        ends[1] = f"{int(shuts) + _NOON}:00"
    return f" window={'-'.join(ends)} "


def _others(found: re.Match[str]) -> str:
    """Return the weekdays but the excluded ones."""
    left = weekdays_mask(found[1] or "sun-sat") & ~weekdays_mask(re.findall(_DAYS, found[2]))
    return f" {weekdays_text(left)} ".replace(",", " ") if left else " never "


# Words and the shorter ones that stand for them, in the order in which they are replaced.
_SHORTER: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"^@(?=[a-z])", ""),
    (r"(?:\d(?:st|nd|rd|th)|first|second|third|fourth|fifth|last) and (?:on )?every\b", "never"),
    (r"\b(29|30|31)(?:st|th)? or (?:on )?(?:the )?last(?: day)?\b", r"#\1-or-last"),
    (r"\b(?:penultimate|(?:second|2nd)[- ](?:to[- ])?last)\b", "#last-1"),
    (r"\b(?:third|3rd)[- ](?:to[- ])?last\b", "#last-2"),
    # several days of a month: numbers before a time
    (
        rf"(?<!every )\b(?:days?|on the) ({_DATE}(?: ?(?:,|&|,? ?and\b) ?{_DATE})+)\b(?![:.]| ?[ap]\.?m)",
        lambda found: " ".join(f"#{day}" for day in re.findall(r"\d+", found[1])),
    ),
    (r"[,;&]|(?<=[a-z])[/+](?=[a-z])|\b(?:and|o'?clock|sharp|single)\b|^(?:run|please|start)\b", " "),
    (rf"\b({'|'.join(_PARTS_OF_DAY)})s\b", r"\1"),
    (r"(?<=\d) ?([ap])\.? ?m\b\.?", r"\1m"),
    (r"\b(tues|weds|thur|thurs|sept)\b\.?", lambda found: found[1][:3]),
    (r"\bm-f\b", "mon-fri"),
    *((rf"\b{word}\b", str(number)) for word, number in _COUNTS.items()),
    (r"\b(?:each|per|an?|any|all)\b", "every"),
    (r"\bonce (?=every |in every |daily|weekly|monthly)", ""),
    # lengths and times of day
    (r"\bevery (\d\d?)h(\d\d)\b", r"\1h \2m"),
    (rf"\b((?:{_NAME}|weekdays?|weekends?|(?<!\d )days?|daily|everyday) )(\d\d?)h\b", r"\1\2:00"),
    *((rf"(?<![\d:.])0?{n}(?:[:.](\d\d))?am\b", rf"{n % 12:02}:\1") for n in range(1, 13)),
    *((rf"(?<![\d:.])0?{n}(?:[:.](\d\d))?pm\b", rf"{n % 12 + 12}:\1") for n in range(1, 13)),
    (r"\b(?:at )?(?:noon|midday)\b", " 12:00 "),
    (r"\b(?:at )?midnight\b", " 00:00 "),
    (r"\b(\d\d?)h(\d\d)\b|(?:(?<=\bat )|(?<=@))(\d\d?)h\b", r"\1\3:\2"),
    (r"(?:\bat|@) ?(\d\d?)\.(\d\d)\b|(?:\bat|@) ?(\d\d)(\d\d)\b", r"\1\3:\2\4"),
    # minutes past the hour
    (r"\bhalf past (?=every hour|the hour)", "30 past "),
    (r"\b(?:at )?(\d\d?)(?: min(?:ute)?s?)? (?:past|after) (?:every|the) hour\b", r" 1h :\1 "),
    (r"\b(?:at )?minute (\d\d?)(?: (?:of|past) (?:every|the) hour)?\b", r" 1h :\1 "),
    (r"\b(?:hourly|every hour) (?:at|on) (?:the )?:?(\d\d?)\b(?!:)(?: past)?", r" 1h :\1 "),
    (r"\b(?:hourly|every hour) on the half[- ]hour\b|\bevery hour on the half\b", " 1h :30 "),
    (r"\b(?:every hour )?(?:at the top of|on) (?:the|every) hour\b", " 1h "),
    # lengths
    (r"\b(?:half (?:every )?|half-)hour(?:ly)?\b", "30m"),
    (r"\bquarter (?:of every |every )?hour\b", "15m"),
    (r"\b(\d+)\.5 ?h(?:ours?|rs?)?\b", r"\1h 30m"),
    (r"\b(?:bi-?weekly|fortnightly|fortnight)\b", "2w"),
    (
        r"\b(?:semi-?annual(?:ly)?|bi-?annually|half-?yearly|twice every year|every half year)\b",
        "01-01 07-01",
    ),
    (r"\bsemi-?monthly\b|\b(?:twice|2 times) (?:every month|monthly)\b", "#1 #15"),
    (r"\b(?:twice|2 times) (?:every day|daily)\b", "1d twice"),
    (r"\b(?:twice|2 times) (?:every week|weekly)\b", "mon thu"),
    (r"\b(?:twice|2 times) (?:every hour|hourly)\b", "30m"),
    (r"\b(?:yearly|annually)\b", "1y"),
    (r"\bdaily\b|\beveryday\b", "1d"),
    (r"\bnightly\b", "1d night"),
    (r"\b(minute|hour|week|month|quarter)ly\b", r"1 \1"),
    # days
    (r"\b(?:eom|month[- ]end|(?:the )?end of (?:the |every )?month)\b", "#last 1mo"),
    (r"\b(?:(?:the )?end of (?:the |every )?(year|quarter)|(year|quarter)[- ]end)\b", r"#last 1 \1\2"),
    (r"\b(?:start|beginning) of (?:the |every )?(month|year|quarter)\b", r"#1 1 \1"),
    (r"\b(?:during |in )?(?:business|working|office) hours\b", "window=09:00-17:00 mon-fri"),
    (
        r"\b(?:business|working|work)[ -]?days?\b|(?:(?<=last )|(?<=-\d )|(?<=first ))weekday\b",
        "business",
    ),
    (r"\bweekdays?\b", "mon-fri"),
    (r"\bweekends?\b", "sat-sun"),
    (rf"\b({_NAME}) ?(?:-|to|thru|through|until) ?({_NAME})\b", r"\1-\2"),
    (
        rf"(?:\bevery day |\b1d |\b({_DAYS}) )?\b(?:except|excluding|but)(?: for)?(?: on)?((?: {_DAYS})+)",
        _others,
    ),
    *((rf"\b{word}\b", f"#{number}") for word, number in _ORDINALS.items()),
    (r"(?<!-)\blast\b(?!-)(?<!#last)", "#last"),
    (r"\b(\d+)(?:st|nd|rd|th)\b", r"#\1"),
    (rf"\bsecond(?= (?:business|day|{_NAME})\b.*\b(?:month|quarter|year|{_MONTH})\b)", "#2"),
    (rf"\bevery (?:other|alternate|second|#2)(?= {_NAME}\b(?!.*\b(?:month|quarter|{_MONTH})\b))", "2w"),
    (r"\bevery (?:other|alternate|second|#2)(?= (?:minute|hour|day|week|month|year)\b(?! of))", "2"),
    (r"\bevery #(\d+)(?= (?:minute|hour|day|week|month|year)\b(?! of))", r"\1"),
    (rf"\b(?:every )?second(?= (?:business|day|{_NAME})\b)", "#2"),
    (rf"\b(?:other|alternate)(?= {_NAME}\b)", "2w"),
    (r"\b(?:every|the|on) days? #?(\d+)\b(?!:)|\bday #?(\d+)\b(?!:)", r"#\1\2"),
    (r"(#[\w-]+(?: #[\w-]+)*) days?\b", r"\1"),
    (rf"\bevery (\d+)(?= {_NAME}\b)", r"\1w"),
    # windows, and times again
    (r"\b(?:between|from) (\d[\d:]*) ?(?:to|until|till|-| ) ?(\d[\d:]*)", _window),
    (rf"(?<!\S)({_CLOCK}|\d\d?:) ?(?:-|to|until|till) ?({_CLOCK}|\d\d?:)(?!\S)", _window),
    (r"\bat (?:night|every night)\b", "night"),
    (r"(?:\bat |@ ?)(\d\d?)(?![\d:.])", r"\1:"),
    (r"(?<=:) (\d\d?)$", r" \1:"),
    (r":(?!\d)", ":00"),
    (r"(?<![\d:])(\d):", r"0\1:"),
    *((rf"\b(\d+) ?(?:{word}|{unit})s?\b", rf"\1{unit}") for unit, word in _UNITS.items()),
    *((rf"\b{word}s?\b", f"1{unit}") for unit, word in _UNITS.items()),
    (r"\b(?:every|at|on|the|of|in)\b|@", " "),
)
# The kinds of words.
_KINDS = {
    "period": r"\d+(?:mo|[smhdwyq])",
    "ordinal": r"#(?:\d\d?|last|last-\d|\d\d-or-last)",
    "number": r"\d\d?",
    "business": "business",
    "weekday": _DAYS,
    "month": _MONTH,
    "window": r"window=\S+",
    "time": _CLOCK,
    "minute": r":\d\d?",
    "dated": r"\d\d-\d\d",
    "single": r"\d{4}-\d\d-\d\d",
    "part": "|".join(_PARTS_OF_DAY),
    "twice": "twice",
}
_CYCLE = " every={n} anchor=2027-01-04"
# The cadence of each combination of a period and kinds of words; an `n` stands for several periods.
_FORMS = {
    "(d|) (part |twice )?": "daily {time}",
    "nd ": "every {n}d at={time} anchor=2027-01-04",
    "(d|w|) weekday (part )?": "weekly {weekday} {time}",
    "nw weekday (part )?": "weekly {weekday} {time}" + _CYCLE,
    "w ": "weekly mon {time}",
    "nw ": "weekly mon {time}" + _CYCLE,
    "(mo|) ordinal weekday (part )?": "nth_weekday {ordinal} {weekday} {time}",
    "(mo|) ordinal business ": "business_day {ordinal} {time}",
    "(mo|) ordinal (part )?": "monthly {ordinal} {time}",
    "nmo ordinal ": "monthly {ordinal} {time}" + _CYCLE,
    "mo ": "monthly 1 {time}",
    "nmo ": "monthly 1 {time}" + _CYCLE,
    "(d|) business (part )?": "daily {time} days=mon-fri",
    "y ": "yearly 01-01 {time}",
    "ny ": "yearly 01-01 {time}" + _CYCLE,
    "(y|) dated ": "yearly {dated} {time}",
    " single ": "once {single}T{time}",
}
_MONTHS_OF = {"q": ("jan,apr,jul,oct", "mar,jun,sep,dec"), "y": ("jan", "dec")}
"""The first and the last months of a quarter, and of a year."""
_ISO = re.compile(
    r"(?:R/)?P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?"
)


def typed_suggestion(text: str) -> Suggestion | None:
    """Return the nearest cadence of English words, or of a duration of ISO 8601; None for another text."""
    if iso := _ISO.fullmatch(text.upper()):
        years, months, weeks, days, *clock = (int(number or 0) for number in iso.groups())
        units = zip((days + 7 * weeks, *clock), "dhms", strict=True)
        length = "".join(f"{number}{unit}" for number, unit in units if number)
        if not (years or months):
            return _read(f"interval {length}", [])
        text = f"every {12 * years + months} months" if months or years > 1 else "every year"
        return None if length else typed_suggestion(text)
    if re.fullmatch(r"(?:\d+[dhms]){2,}", text):
        return _read(f"interval {text}", [])
    zone, words = re.search(_TYPED_ZONE, text), short_names(re.sub(_TYPED_ZONE, " ", text).lower())
    if len(text) > _LONGEST or re.search(r"\bin \d+ ?[a-z]|^once at", words):
        return None
    for pattern, shorter in _SHORTER:
        words = " ".join(re.sub(pattern, shorter, words).split())
    slots, order = defaultdict[str, list[str]](list), list[str]()
    for word in words.split():
        kind = next((kind for kind, pattern in _KINDS.items() if re.fullmatch(pattern, word)), "")
        if not kind:
            return None
        slots[kind].append(word)
        order += [kind] * (order[-1:] != [kind])
    # A kind that comes again, or an ordinal apart from its weekday, begins another cadence.
    is_counted = re.search("ordinal (?:weekday|business)", " ".join(order))
    is_apart = "ordinal" in order and slots.keys() & {"weekday", "business"} and not is_counted
    caveats = ["choose its region"] * bool(zone and zone[0] in ABBREVIATIONS)
    written = None if is_apart or len({*order}) < len(order) else _written(slots, caveats)
    place = f" tz={ABBREVIATIONS.get(zone[0], zone[0])}" if zone else ""
    return _read(written + place, caveats) if written else None


def _written(slots: defaultdict[str, list[str]], caveats: list[str]) -> str | None:
    """Return the cadence of words by their kinds; None if they have no combination of a cadence."""
    periods, months = slots.pop("period", []), ",".join(dict.fromkeys(slots.pop("month", [])))
    window, unit = slots.pop("window", []), periods[0].lstrip("0123456789") if periods else ""
    if unit and unit in _SMALL:
        return _within_days(periods, slots, " ".join(["", *window, *[f"months={months}"] * bool(months)]))
    if window or len(periods) > 1 or "minute" in slots or not (unit or slots.keys() - {"number"} or months):
        return None
    n = int(periods[0].removesuffix(unit)) if periods else 1
    of_dates, are_several = bool(months) or unit in ("mo", "y", "q"), "," in months
    if numbers := slots.pop("number", []):
        kind, shown = ("ordinal", "#{}") if of_dates and "ordinal" not in slots else ("time", "{:0>2}:00")
        slots[kind] += map(shown.format, numbers)
    if n == 1 and not months and (unit == "q" or (unit == "y" and "ordinal" in slots)):
        months = _MONTHS_OF[unit]["last" in "".join(slots["ordinal"])]
    if n == 1 and months and unit not in {"d", "w"}:
        unit = ""
        if not slots.keys() & {"weekday", "business"} or "q" in str(periods):
            slots["ordinal"] = slots["ordinal"] or ["#1"]
    times, parts = slots.pop("time", []), slots.get("part", [])
    if not times:
        caveats.append("choose its time")
        # The midnight of a weekday is its morning's.
        at_part = _PARTS_OF_DAY | {"night": _PARTS_OF_DAY["evening" if "weekday" in slots else "night"]}
        times = [at_part[part] for part in parts] or ["09:00", "17:00"][: 1 + ("twice" in slots)]
    else:
        # The midnight of each day is plain; of other days it may be either one, so that they get no time.
        later, twelve = {
            "afternoon": ("00", "12"),
            "evening": ("00", "12"),
            "night": ("06", "24" if slots.keys() - {"part"} else "00"),
        }.get("".join(parts), ("24", "12"))
        times = [
            f"{int(at[:2]) % 12 + 12}{at[2:]}" if later <= at < "12" else re.sub("^12", twelve, at)
            for at in times
        ]
    shape = f"{'n' * (n > 1)}{unit} " + "".join(f"{kind} " for kind in _KINDS if slots.get(kind))
    form = next((form for pattern, form in _FORMS.items() if re.fullmatch(pattern, shape)), None)
    if (
        form is None
        or n < 1
        or len(parts) not in (0, 1, len(times))
        or (len(slots["ordinal"]) > 1 and are_several)
    ):
        return None
    values = {kind: ",".join(words).replace("#", "") for kind, words in slots.items()}
    return form.format(n=n, time=",".join(times), **values) + f" months={months}" * bool(months)


def _within_days(periods: list[str], slots: defaultdict[str, list[str]], options: str) -> str | None:
    """Return the cadence of hours, minutes and seconds, or of a minute of each hour."""
    days, minutes = ",".join(slots.pop("weekday", [])), ",".join(slots.pop("minute", [])).replace(":", "")
    options += f" days={days}" * bool(days)
    if any(slots.values()) or not all(period[-1] in _SMALL for period in periods):
        return None
    if minutes:
        return f"cron {minutes} * * * *{options}" if {*periods} == {"1h"} else None
    number, unit = int(periods[0][:-1]), periods[0][-1]
    is_even = len(periods) == 1 and number and (24 if unit == "h" else 60) % number == 0
    return f"{'every' if is_even else 'interval'} {''.join(periods)}{options}"


def _read(written: str, caveats: list[str]) -> Suggestion | None:
    try:
        cadence = read_text(written)
        cadence.check_can_run()
    except InvalidCadence:
        return None
    if "anchor=" in cadence.text:
        caveats = [*caveats, "choose a date of the cycle as its anchor"]
    return Suggestion(cadence.text.removeprefix("cron "), " and ".join(caveats))


def translate_error(error: InvalidCadence, text: str) -> InvalidCadence:
    """Return the error with the translated cadence as its remedy, or with the reason why there is none.

    The error of a text without a known spelling is returned unchanged.
    """
    blank, options = len(text) - len(text.lstrip()), re.search(_OPTIONS, text)
    foreign = text[: options.start() if options else None].strip()
    for problem, recognise in _SPELLINGS:
        try:
            found = recognise(foreign)
            if found is not None:
                found = found._replace(text=" ".join([found.text, *(options[0].split() if options else ())]))
                read_text(found.text).check_can_run()
                return type(error)(text, problem, found.remedy(), start=found.start and found.start + blank)
        except (FieldError, InvalidText) as refused:
            return type(error)(text, f"{problem}: {refused.problem}", refused.remedy)
    typed = typed_suggestion(foreign) if text.isascii() and not options else None
    remedy = typed.remedy() if typed else _with_short_names(text.strip(), error.remedy)
    return type(error)(text, error.problem, remedy, start=error.start, width=error.width)


def _with_short_names(text: str, remedy: str) -> str:
    """Return the remedy of an expression, with the expression if short names of its words suffice."""
    short = short_names(text)
    try:
        is_enough = short != text and read_text(short).text != ""
    except InvalidText:
        is_enough = False
    return f'{remedy}: write "{short}"' if is_enough else remedy


def eventbridge_text(expression: str) -> str | None:
    """Return the cadence of the six fields of EventBridge; None if they are not EventBridge's."""
    try:
        return (found := _eventbridge(expression)) and read_text(found.text).text.removeprefix("cron ")
    except (FieldError, InvalidText):
        return None


def _expression(language: Language, text: str, options: str = "") -> Suggestion:
    """Return five fields, or six with the second, or a macro, which all languages have in common."""
    names = {ACTIONS: FIVE, KUBERNETES: FIVE, SPRING: SIX}.get(
        language, SIX if len(text.split()) == len(SIX) else FIVE
    )
    return Suggestion(
        text + options if text[:1] == "@" else cron_text(language, names, text.split(), options)
    )


def _eventbridge(text: str) -> Suggestion | None:
    inside = re.fullmatch(r"cron\((.*)\)", text, re.IGNORECASE)
    fields = (inside[1] if inside else text).split()
    is_bare = len(fields) == len(SIX) and "?" in (fields[2], fields[4]) and re.fullmatch(_YEAR, fields[-1])
    if not inside and not is_bare:
        return None
    return Suggestion(cron_text(QUARTZ, (*FIVE, "year"), fields))


def _quartz(text: str) -> Suggestion | None:
    fields = text.split()
    fields += ["*"] * (len(fields) == len(SIX) and bool(re.fullmatch(_FIELD, fields[-1])))
    if (
        len(fields) != len(SIX) + 1
        or "?" not in (fields[3], fields[5])
        or not re.fullmatch(_YEAR, fields[-1])
    ):
        return None
    # There a day that a month lacks is its last one, and the weekday nearest to it the last weekday.
    if re.fullmatch("(29|30)W", fields[3].upper()) and MONTH.mask(short_names(fields[4]).upper()) & 1 << 2:
        raise FieldError(
            "day",
            f"{fields[3]} of February is its last weekday there",
            "declare a cadence for February, with LW, and one for the other months",
        )
    return Suggestion(
        cron_text(QUARTZ, (*SIX, "year"), [re.sub("(?i)^31W$", "LW", field) for field in fields])
    )


def _refusal(pattern: str, field: str, problem: str, remedy: str) -> Callable[[str], Suggestion | None]:
    """Return a function that refuses the texts of a pattern, since their own scheduler does."""

    def refuse(text: str) -> None:
        if found := re.fullmatch(pattern, text, re.IGNORECASE | re.DOTALL):
            raise FieldError(found.expand(field), problem, remedy)

    return refuse


def _template(pattern: str, template: str) -> Callable[[str], Suggestion | None]:
    return lambda text: (found := re.fullmatch(pattern, text)) and Suggestion(found.expand(template))


def _spring(text: str) -> Suggestion | None:
    found = re.fullmatch(r"@Scheduled\((.*)\)", text, re.DOTALL)
    if not found:
        return None
    options = dict(re.findall(r'(\w+)\s*=\s*"([^"]*)"', found[1]))
    return _expression(SPRING, options["cron"], f" tz={options['zone']}" if options.get("zone") else "")


def _jenkins(text: str) -> Suggestion | None:
    """Return a spread for the hashes of minutes and hours, and one value for others."""
    fields, spread, unit, caveat = text.split(), 0, 1, ""
    hashes = [re.fullmatch(_HASH, field) for field in fields]
    if len(fields) != len(FIVE) or not any(re.search(rf"(?:^|,){_HASH}(?:,|$)", field) for field in fields):
        return None
    for low, high in re.findall(r"H\((\d+)-(\d+)\)", text):
        if int(high) < int(low):
            raise FieldError(f"H({low}-{high})", "its range runs backwards", "let it ascend, or use two jobs")
    for at, found in enumerate(hashes):
        if found is None:
            fields[at], is_hashed = _one_of_hash(fields[at], _HASHED[at])
            caveat = "or any other number in the place of H" if is_hashed else caveat
            unit = 0
            continue
        first, last = (int(value) for value in (found["values"] or _HASHED[at]).split("-"))
        size, step = last - first + 1, int(found["step"] or 0)
        is_spread = unit and size % (step or size) == 0
        spread = (step or size) * unit if is_spread else spread
        fields[at] = f"{first}-{last}/{step}" if step else str(first if is_spread else min(first + 3, last))
        caveat = caveat if is_spread else "or any other number in the place of H"
        unit = _HOUR if at == 0 and is_spread and size == _HOUR and not step else 0
    options = f" spread={duration_text(spread * 60)}" if spread else ""
    return Suggestion(cron_text(JENKINS, FIVE, fields, options), caveat)


def _one_of_hash(field: str, values: str) -> tuple[str, bool]:
    """Return a list of values with one for each hash, and whether there are any hashes."""
    items = field.split(",")
    for at, found in enumerate(re.fullmatch(_HASH, item) for item in items):
        if found:
            first, last = (int(value) for value in (found["values"] or values).split("-"))
            items[at] = f"{first}-{last}/{found['step']}" if found["step"] else str(min(first + 3, last))
    return ",".join(items), items != field.split(",")


def _yaml(text: str) -> Suggestion | None:
    """Return the cadence of a line, and of a line with its zone below it."""
    line = r"""(?:-\s*)?(cron|schedule):\s*(["']?)([^"'\n]+?)\2\s*(?:\s#.*)?"""
    found = re.fullmatch(rf"""{line}(?:\n\s*(?i:timezone):\s*["']?([\w/+-]+)["']?\s*)?""", text)
    if not found:
        return None
    if found[1] == "cron":
        inner = _expression(ACTIONS, found[3])
    else:
        inner = _go(found[3]) or _zone_before(found[3]) or _expression(KUBERNETES, found[3])
    return inner._replace(text=f"{inner.text} tz={found[4]}") if found[4] else inner


def _zone_before(text: str) -> Suggestion | None:
    found = re.fullmatch(r"(?:CRON_)?TZ=(\S+)\s+(.+)", text)
    if not found:
        return None
    inner = _go(found[2]) or _jenkins(found[2]) or _expression(KUBERNETES, found[2])
    return inner._replace(text=f"{inner.text} tz={found[1]}")


def _zone_after(text: str) -> Suggestion | None:
    found = re.fullmatch(rf"({_TIME})\s+(?:in\s+)?({_ZONE})(?:\s+#.*)?", text)
    place = found and {"Z": "UTC"}.get(found[2], found[2])
    return found and _expression(CRONTAB, found[1], f" tz={place}")._replace(start=found.start(2))


def _crontab_line(text: str) -> Suggestion | None:
    found = re.match(rf"({_TIME})\s+(?![A-Za-z]+$)(?=[/~.\w])(?=[^\s=]*[A-Za-z])(?!\w+=)", text)
    if not found or re.match(rf"(?:{_NAMES}|{_ZONE}|{_WORDS})(?:$|\s)", short_names(text[found.end() :])):
        return None
    caveat = "the command becomes the job's function"
    return _expression(CRONTAB, found[1])._replace(caveat=caveat, start=found.end())


def _spaced(text: str) -> Suggestion | None:
    """Return the cadence of fields that have ``to`` or ``and`` between their values."""
    value = rf"(?:\d+|{_NAME}|{_MONTH})\b"
    joined = re.sub(
        rf"(?i)\b({value})\s*(?:(-|to|thru|through|until)|,|,?\s*and|or)\s+(?={value})",
        lambda found: f"{found[1]}{'-' if found[2] else ','}",
        short_names(text),
    )
    return (
        _expression(CRONTAB, joined) if joined != short_names(text) and re.fullmatch(_TIME, joined) else None
    )


_go = _template(r"(?i)@every\s+(\S+)", r"interval \1")
_HOUR = 60
_YEAR = r"(?:[*?]|\d{4})(?:[-,/]\d+)*"
_FIELD = r"[\w*?,/#-]+"
# Minutes, and hours or seconds, have no letters, unlike the words of "2nd friday of every month".
_NUMBERS = r"[\d*?][\d*?,/-]*"
_TIME = rf"@\w+|{_NUMBERS}\s+{_NUMBERS}(?:\s+{_FIELD}){{3,4}}?"
_HASH = r"H(?:\((?P<values>\d+-\d+)\))?(?:/(?P<step>[1-9]\d*))?"
_HASHED = ("0-59", "0-23", "1-28", "1-12", "0-6")
# Match a day-of-week field, a zone, and English words, and no command.
_NAMES = r"(?i:(?:[A-Z]{3}|mo|tu|we|th|fr|sa|su|\d+|(?:\d*L|\d*L?W))(?:[-,/#L][\w,#/-]*)?$)"
_ZONE = (
    r"[A-Z][A-Za-z_]+(?:/[\w+-]+)+|(?:UTC|GMT)(?:[+-][\d:]+)?|Z|[A-Z]{3}\d[A-Z]{3}"
    rf"|{'|'.join(ABBREVIATIONS)}"
)
_WORDS = (
    r"(?i:at|on|in|from|between|every|until|to|thru|through|and|or|but|only|for|the|with|without|local"
    r"|except|excluding|including|excl|incl|starting|ending|after|before|not|if|unless|when|while)"
)
# Match times with a comma between them, and a range of hours, which systemd reads as minutes and as a date.
_HOURS = (
    r"(?i)(?:[a-z,-]+\s+)?\d\d?:\d\d(?:,\d\d?:\d\d)+"
    r"|(?:\d|[a-z,.-]+\s+\d\d?)-(?:0?\d|1\d|2[0-4])"
)
_OPTIONS = (
    r"(?:\s+(?:tz|dst|day_rule|days|months|weeks|window|calendar|start|end|count|spread)=[^\s()\"]+)+\s*$"
)
# The problem of a text, and the function that recognises it; a text that several recognise is the first's.
_SPELLINGS: tuple[tuple[str, Callable[[str], Suggestion | None]], ...] = (
    (
        "this is EventBridge's cron",
        _refusal(
            r"cron\((?!.*\?)\s*\S+(?:\s+\S+){5}\s*\)",
            "days",
            "one of the two day fields must be ?",
            "write ? in the day field that does not count",
        ),
    ),
    (
        "this is EventBridge's rate",
        _refusal(
            r"rate\(\s*(?:0*1\s+(?:minute|hour|day)s|(?!0*1\s)\d+\s+(?:minute|hour|day))\s*\)",
            "unit",
            "it is singular after 1, and plural after another number",
            "write it as in rate(1 minute) or rate(5 minutes)",
        ),
    ),
    (
        "this is Go's spelling of an interval",
        _refusal(
            r"(?:(?:-\s*)?(?:cron|schedule):\s*[\"']?|(?:CRON_)?TZ=\S+\s+)?@every\s+[\d.hms]*\d[dw].*",
            "unit",
            "Go has no days and weeks",
            "write hours, as in @every 24h",
        ),
    ),
    (
        "this is a line of YAML, as of Kubernetes and GitHub Actions",
        _refusal(
            r"(?:-\s*)?(?:cron|schedule):[^#\n]*(?:(?<![a-z])[lw](?![a-z])|\d[lw]\b|[a-z\d]#\d).*",
            "days",
            "L, W and # mean nothing there",
            "list the days, or use the cadences monthly, business_day and nth_weekday",
        ),
    ),
    (
        "this is Celery's crontab",
        _refusal(
            r"(?:\w+\.)*crontab\(.*['\",(\[]\s*(\w+/\d+).*\)",
            r"\1",
            "a step needs * or a range there",
            "write it as in 5-59/10",
        ),
    ),
    (
        "this is Spring's annotation",
        _refusal(
            r'@Scheduled\((?!.*\bcron\s*=\s*").*\)',
            "cron",
            "there is none",
            "use interval(...) for a fixed rate or delay, manual() for none",
        ),
    ),
    (
        "this is Spring's annotation",
        _refusal(
            r'@Scheduled\(.*\bcron\s*=\s*"-".*\)',
            "cron",
            "there is none, since - disables it",
            "use interval(...) for a fixed rate or delay, manual() for none",
        ),
    ),
    (
        "this is Spring's annotation",
        _refusal(
            r'@Scheduled\(.*?([$#]\{[^}"]*\}?).*\)',
            r"\1",
            "it stands for a value that is not known here",
            "write its value instead",
        ),
    ),
    (
        "this is a line of GitHub Actions",
        _refusal(
            r"(?:-\s*)?cron:\s*[\"']?@.*",
            "macro",
            "GitHub has none",
            "write its five fields, as in 0 0 * * *",
        ),
    ),
    ("this is EventBridge's cron, which begins with the minute and ends with the year", _eventbridge),
    (
        "a cron expression has 5 or 6 fields, and this has 7: it ends with Quartz' year",
        lambda text: _quartz(text) if len(text.split()) > len(SIX) else None,
    ),
    ("this is Quartz' cron, which counts weekdays from Sunday, 1", _quartz),
    (
        "this is EventBridge's rate",
        _template(r"(?i)rate\(\s*(\d+)\s+(m|h|d)(?:inute|our|ay)s?\s*\)", r"interval \1\2"),
    ),
    ("this is EventBridge's single time", _template(r"(?i)at\(\s*(\S+?)\s*\)", r"once \1")),
    ("this is a single time", _template(r"(\d{4}-\d\d-\d\d[Tt]\S+)", r"once \1")),
    ("this is Go's spelling of an interval", _go),
    ("this is Celery's crontab", celery),
    ("this is APScheduler's trigger", apscheduler),
    ("this is Spring's annotation", _spring),
    (
        "this is iCalendar's RRULE",
        lambda text: Suggestion(from_rrule(text).text.removeprefix("cron ")) if is_rrule(text) else None,
    ),
    (
        "this is systemd's word",
        lambda text: systemd_suggestion(text) if text.replace("-", "").isalpha() else None,
    ),
    (
        "this is systemd's OnCalendar",
        lambda text: None if re.fullmatch(_HOURS, text) else systemd_suggestion(text),
    ),
    ("H is Jenkins' hash of the job's name", _jenkins),
    ("this is a line of YAML, as of Kubernetes and GitHub Actions", _yaml),
    ("the zone comes before the expression", _zone_before),
    ("the zone follows the expression", _zone_after),
    ("a list or a range has no spaces", _spaced),
    ("a command follows the time", _crontab_line),
    (
        "a cadence has whole seconds",
        _template(
            r"(?is).*?\b([\d.]+)\s?((?:[munµ]|milli|micro|nano)s(?:ec(?:ond)?s?)?|millis)\b.*",
            r"interval \1\2",
        ),
    ),
)
