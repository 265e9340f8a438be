"""Other schedulers' spellings of cadences, and what people type, as suggestions in duetime's spelling.

Imported only after a text has been rejected, and for notes. It recognises crontab lines, EventBridge, Quartz,
systemd, Celery, APScheduler, Spring, iCalendar, Jenkins, Kubernetes, GitHub Actions and Go, then plain
English. Each suggestion is read before it is offered, so a suggestion is always valid. If a language is known
but its text cannot be translated, the error names the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from duetime.cadence.durations import duration_text
from duetime.cadence.errors import InvalidCadence, InvalidText
from duetime.cadence.fields import FieldError
from duetime.cadence.foreign_calls import apscheduler, celery
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
    cron_text,
    short_names,
)
from duetime.cadence.rrule_text import from_rrule, is_rrule
from duetime.cadence.systemd_text import systemd_suggestion
from duetime.cadence.text import read_text
from duetime.cadence.typed_texts import typed_suggestion


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
        found = _eventbridge(expression)
        return None if found is None else read_text(found.text).text.removeprefix("cron ")
    except (FieldError, InvalidText):
        return None


def _expression(language: Language, text: str, options: str = "") -> Suggestion:
    """Return five fields, or six with the second, or a macro, which all languages have in common."""
    fields = text.split()
    names = SIX if len(fields) == len(SIX) else FIVE
    return Suggestion(text + options if text[:1] == "@" else cron_text(language, names, fields, options))


def _eventbridge(text: str) -> Suggestion | None:
    inside = re.fullmatch(r"cron\((.*)\)", text, re.IGNORECASE)
    fields = (inside[1] if inside else text).split()
    is_bare = len(fields) == len(SIX) and "?" in (fields[2], fields[4]) and re.fullmatch(_YEAR, fields[-1])
    if not inside and not is_bare:
        return None
    return Suggestion(cron_text(QUARTZ, (*FIVE, "year"), fields))


def _quartz(text: str) -> Suggestion | None:
    fields = text.split()
    is_long = len(fields) == len(SIX) + 1 and "?" in (fields[3], fields[5])
    if not is_long or not re.fullmatch(_YEAR, fields[-1]):
        return None
    return Suggestion(cron_text(QUARTZ, (*SIX, "year"), fields))


def _template(pattern: str, template: str) -> Callable[[str], Suggestion | None]:
    def recognise(text: str) -> Suggestion | None:
        found = re.fullmatch(pattern, text)
        return found and Suggestion(found.expand(template))

    return recognise


def _spring(text: str) -> Suggestion | None:
    found = re.fullmatch(r"@Scheduled\((.*)\)", text, re.DOTALL)
    if not found:
        return None
    options = dict(re.findall(r'(\w+)\s*=\s*"([^"]*)"', found[1]))
    if "cron" not in options:
        raise FieldError("cron", "there is none", "use interval(...) for a fixed rate or delay")
    return _expression(SPRING, options["cron"], f" tz={options['zone']}" if options.get("zone") else "")


def _rrule(text: str) -> Suggestion | None:
    return Suggestion(from_rrule(text).text.removeprefix("cron ")) if is_rrule(text) else None


def _jenkins(text: str) -> Suggestion | None:
    """Return a spread for the hashes of minutes and hours, and one value for others."""
    fields, spread, unit, caveat = text.split(), 0, 1, ""
    hashes = [re.fullmatch(_HASH, field) for field in fields]
    if len(fields) != len(FIVE) or not any(re.search(rf"(?:^|,){_HASH}(?:,|$)", field) for field in fields):
        return None
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
    found = re.fullmatch(rf"({_TIME})\s+({_ZONE})", text)
    return found and _expression(CRONTAB, found[1], f" tz={found[2]}")._replace(start=found.start(2))


def _crontab_line(text: str) -> Suggestion | None:
    found = re.match(rf"({_TIME})\s+(?=[/~.\w])(?=[^\s=]*[A-Za-z])(?!\w+=)", text)
    if not found or re.fullmatch(rf"{_NAMES}|{_ZONE}", short_names(text[found.end() :])):
        return None
    caveat = "the command becomes the job's function"
    return _expression(CRONTAB, found[1])._replace(caveat=caveat, start=found.end())


_go = _template(r"(?i)@every\s+(\S+)", r"interval \1")
_HOUR = 60
_YEAR = r"(?:[*?]|\d{4})(?:[-,/]\d+)*"
_FIELD = r"[\w*?,/#-]+"
# Minutes, and hours or seconds, have no letters, unlike the words of "2nd friday of every month".
_NUMBERS = r"[\d*?][\d*?,/-]*"
_TIME = rf"@\w+|{_NUMBERS}\s+{_NUMBERS}(?:\s+{_FIELD}){{3,4}}?"
_HASH = r"H(?:\((?P<values>\d+-\d+)\))?(?:/(?P<step>[1-9]\d*))?"
_HASHED = ("0-59", "0-23", "1-28", "1-12", "0-6")
# Matches a day-of-week field, and no command.
_NAMES = r"(?i:[A-Z]{3}(?:[-,/#L][\w,#/-]*)?)"
_ZONE = r"[A-Z][A-Za-z_]+(?:/[\w+-]+)+|UTC|GMT"
_OPTIONS = (
    r"(?:\s+(?:tz|dst|day_rule|days|months|weeks|window|calendar|start|end|count|spread)=[^\s()\"]+)+\s*$"
)
# The problem of a text, and the function that recognises it; a text that several recognise is the first's.
_SPELLINGS: tuple[tuple[str, Callable[[str], Suggestion | None]], ...] = (
    ("this is EventBridge's cron, which begins with the minute and ends with the year", _eventbridge),
    ("a cron expression has 5 or 6 fields, and this has 7: it ends with Quartz' year", _quartz),
    (
        "this is EventBridge's rate",
        _template(r"(?i)rate\(\s*(\d+)\s+(m|h|d)(?:inute|our|ay)s?\s*\)", r"interval \1\2"),
    ),
    ("this is EventBridge's single time", _template(r"(?i)at\(\s*(\S+?)\s*\)", r"once \1")),
    ("this is Go's spelling of an interval", _go),
    ("this is Celery's crontab", celery),
    ("this is APScheduler's trigger", apscheduler),
    ("this is Spring's annotation", _spring),
    ("this is iCalendar's RRULE", _rrule),
    (
        "this is systemd's word",
        lambda text: systemd_suggestion(text) if text.replace("-", "").isalpha() else None,
    ),
    ("this is systemd's OnCalendar", systemd_suggestion),
    ("H is Jenkins' hash of the job's name", _jenkins),
    ("this is a line of YAML, as of Kubernetes and GitHub Actions", _yaml),
    ("the zone comes before the expression", _zone_before),
    ("the zone follows the expression", _zone_after),
    ("a command follows the time", _crontab_line),
)
