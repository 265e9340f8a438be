"""Cron expressions of other schedulers, and the calls of Celery and APScheduler, in duetime's spelling.

Each field is read in the other language's own ranges and steps. A field that duetime reads in the same way
stays as it is written; another is written by its values.

A call is read as Python, never run. Both libraries run on days that match each of their day fields. Celery's
positional order is minute, hour, day of week, day of month, month of year (``celery.schedules.crontab``). In
APScheduler a weekday's number counts from Monday, 0, and a field less significant than the last given one has
its lowest value (``apscheduler.triggers.cron``).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from duetime.cadence.eventbridge import year_values
from duetime.cadence.expression import (
    DAY,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    CronField,
    FieldError,
    weekdays,
)
from duetime.cadence.words import (
    DATE_LENGTH,
    MONTH_NAMES,
    MONTHS,
    WEEKDAY_NAMES,
    WEEKDAYS,
    bits,
    duration_text,
    seconds_in,
    weekdays_text,
)
from duetime.cadence.zones import zone

FIVE = ("minute", "hour", "day", "month", "weekday")
SIX = ("second", *FIVE)
_FIELDS = {"second": SECOND, "minute": MINUTE, "hour": HOUR, "day": DAY, "month": MONTH}
_FULL_NAMES = frozenset(name.upper() for name in (*WEEKDAY_NAMES, *MONTH_NAMES))


class Suggestion(NamedTuple):
    """A text of another scheduler, in duetime's spelling.

    Attributes:
        text: the cadence's text.
        caveat: what differs, or what else to do; empty for nothing.
        start: where the foreign part begins.
    """

    text: str
    caveat: str = ""
    start: int = 0

    def remedy(self) -> str:
        """Return what to write, and the caveat."""
        return "; ".join(filter(None, (f'write "{self.text}"', self.caveat)))


class Language(CronField):
    """A language, by its day-of-week field.

    Attributes:
        day_rule: how two restricted day fields combine, ``and`` or ``or``; or a pattern of fields that are
            not restricted: with one of them the rule is ``and``, else ``or``.
        wraps: whether a range may run backwards, as in ``FRI-MON``.
        steps: the longest step of a field: ``any``; that of the ``range``; or ``ours``, as duetime reads it.
    """

    def __init__(
        self,
        low: int,
        high: int,
        names: tuple[str, ...],
        *,
        sunday: int = 0,
        day_rule: str = "and",
        wraps: bool = False,
        steps: Literal["any", "range", "ours"] = "any",
    ) -> None:
        self._sunday, self.day_rule, self.wraps, self.steps = sunday, day_rule, wraps, steps
        super().__init__("day-of-week", low, high, names, first_named=min(low, 1) if names[0] != "0" else 0)

    def folded(self, mask: int) -> int:
        """See :meth:`CronField.folded`; ``sunday`` is the number of Sunday."""
        return sum(1 << day for day in {(n - self._sunday) % 7 for n in bits(mask)})


_FROM_MONDAY = (*WEEKDAYS[1:], WEEKDAYS[0])
QUARTZ = Language(1, 7, WEEKDAYS, sunday=1, wraps=True, steps="ours")
SPRING = Language(1, 7, ("0", *_FROM_MONDAY))
CELERY = Language(0, 6, WEEKDAYS, wraps=True)
APSCHEDULER = Language(0, 6, _FROM_MONDAY, sunday=6, steps="range")
APSCHEDULER_EITHER = Language(0, 6, _FROM_MONDAY, sunday=6, day_rule="or", steps="range")
JENKINS = Language(0, 7, WEEKDAYS)
CRONTAB = Language(0, 7, WEEKDAYS, day_rule=r"\*.*", wraps=True)
ACTIONS = Language(0, 6, WEEKDAYS, day_rule=r"\*.*", steps="ours")
# What a language ignores of the names of weekdays and months.
_IGNORED: Mapping[Language, str] = {
    QUARTZ: r"[A-Z]{5}|[A-Z]/",
    **dict.fromkeys((APSCHEDULER, APSCHEDULER_EITHER), r"[A-Z](/|-\d)"),
}
KUBERNETES = Language(0, 6, WEEKDAYS, day_rule=r"(.*,)?[*?](/1)?(,.*)?")
"""Go's cron: a star with a step restricts the field."""


def cron_text(language: Language, names: Sequence[str], texts: Sequence[str], options: str = "") -> str:
    """Return the cadence of the fields of these names, which are those of :data:`SIX` and ``year``.

    Raises:
        FieldError: the language has no such field.
        InvalidExpression: there is no such year.
    """
    if len(names) != len(texts):
        raise FieldError(
            "fields", f"there must be {len(names)}, and this has {len(texts)}", "write all of them"
        )
    fields = {"year": "*", **dict(zip(names, texts, strict=True))}
    named = {*re.split("[ ,]", f"{fields['month']} {fields['weekday']}".upper())} - _FULL_NAMES
    if (ignored := _IGNORED.get(language)) and re.search(ignored, " ".join(named)):
        raise FieldError(
            "name", "what follows its three letters is ignored there", "use numbers, or list names"
        )
    if language is QUARTZ and any(
        re.search(r"^(?=.*,).*(#|[LW](,|-|$))", fields[name].upper()) for name in ("day", "weekday")
    ):
        raise FieldError(
            "list", "its documentation has no L, W or # in a list", "declare a cadence for each item"
        )
    is_starred = any(re.fullmatch(language.day_rule, fields[name]) for name in ("day", "weekday"))
    rule = language.day_rule if language.day_rule in {"and", "or"} else "and" if is_starred else "or"
    fields |= {
        name: _ascending(language, field, fields[name]) for name, field in _FIELDS.items() if name in fields
    }
    fields["weekday"] = _weekday(language, short_names(fields["weekday"]))
    is_both = not {fields["day"], fields["weekday"]} & {"*", "?"}
    text = " ".join(fields[name] for name in SIX if name in fields)
    return f"{text}{f' day_rule={rule}' * is_both}{_years(fields['year'])}{options}"


def _ascending(language: Language, field: CronField, text: str) -> str:
    """Return a field with the first value alone of each step that is longer than its range.

    Raises:
        FieldError: the language rejects one of the ranges or steps.
    """
    items = short_names(re.sub(r"(?:^|(?<=,))/", "*/", text) if language is QUARTZ else text).split(",")
    for at, item in enumerate(items):
        if found := re.fullmatch(r"([*?]|\d+|[A-Z]{3})(?:-(\d+|[A-Z]{3}))?(?:/(\d+))?", item.upper()):
            low = field.low if found[1] in "*?" else field.value(found[1])
            high = field.value(found[2]) if found[2] else field.high
            if low > high and not language.wraps:
                parts = f"{low}-{field.high},{min(field.low, high)}-{high}"
                raise FieldError(
                    field.name,
                    f"{item} is a range that runs backwards, which is rejected there",
                    f"use {parts}",
                )
            is_strict = language.steps == "range"
            # APScheduler takes a last value of 0 for a missing one.
            last = (high or field.high) if is_strict else high
            is_long = int(found[3] or 0) > (last - low) % (field.high - field.low + 1)
            if is_long and is_strict:
                raise FieldError(
                    field.name,
                    f"the step of {item} is longer than its range, which is rejected there",
                    f"use {low}",
                )
            items[at] = str(low) if is_long and language.steps == "any" else item
    return ",".join(items)


def short_names(text: str) -> str:
    """Return a text with the first three letters of the full names of weekdays and months."""
    return re.sub(
        r"[A-Za-z]{4,10}",
        lambda name: name[0][:3] if name[0].upper().removesuffix("S") in _FULL_NAMES else name[0],
        text,
    )


def _weekday(language: Language, text: str) -> str:
    """Return a day-of-week field as duetime reads it."""
    written = "7" if language is QUARTZ and text.upper() == "L" else text.upper()
    if language is SPRING:  # where a range that begins with Sunday begins with 0
        written = re.sub(r"\b(?:7|SUN)-", "0-", written)
    mask, nth = theirs = weekdays(_ascending(language, language, written), language)
    with suppress(FieldError):
        if weekdays(text.upper()) == theirs:
            return text
    texts = [weekdays_text(mask)] * bool(mask)
    texts += [f"{WEEKDAYS[day]}{f'#{n}' if n else 'L'}" for day, n in nth]
    return ",".join(texts).upper()


def _years(text: str) -> str:
    """Return the options of a field of years."""
    if text in ("*", "?"):
        return ""
    years = year_values(text)
    if years[-1] - years[0] >= len(years):
        raise FieldError("year", "the years do not follow each other", "declare a cadence for each")
    return f" start={years[0]}-01-01 end={years[-1]}-12-31"


_CELERY = {
    "minute": "minute",
    "hour": "hour",
    "day_of_week": "weekday",
    "day_of_month": "day",
    "month_of_year": "month",
}
_APSCHEDULER = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
_LOWEST = {"month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0"}
_MOMENTS = ("datetime", "date")
_UNITS = ("weeks", "days", "hours", "minutes", "seconds")
_LONG_NAMES = rf"(?i)\b({'|'.join((*WEEKDAYS, *MONTHS))})[a-z]+\b"
_ORDINALS = {"1st": "#1", "2nd": "#2", "3rd": "#3", "4th": "#4", "5th": "#5", "last": "L"}


class _Call(NamedTuple):
    name: str
    arguments: Sequence[str]
    named: Mapping[str, str]

    def given(self, names: Sequence[str]) -> dict[str, str]:
        """Return the arguments by their names.

        Raises:
            FieldError: one has no such name.
        """
        found = {**dict(zip(names, self.arguments, strict=False)), **self.named}
        if len(self.arguments) > len(names) or not {*found} <= {*names}:
            unknown = next((name for name in found if name not in names), "arguments")
            raise FieldError(unknown, "no cadence has this option", f"use {', '.join(names)}")
        return found


def celery(text: str) -> Suggestion | None:
    """Return the cadence of ``crontab(...)``; None for another text.

    Raises:
        FieldError: no cadence is like it.
    """
    call = _call(text)
    if call is None or call.name.rpartition(".")[2].lower() != "crontab":
        return None
    given = call.given([*_CELERY])
    caveat = "" if "minute" in given else "Celery runs it in each minute, since minute is missing"
    # Celery reads the first three letters of a name.
    fields = [re.sub(_LONG_NAMES, r"\1", given.get(name, "*")) for name in _CELERY]
    return Suggestion(cron_text(CELERY, [*_CELERY.values()], fields), caveat)


def apscheduler(text: str) -> Suggestion | None:
    """Return the cadence of ``CronTrigger(...)`` or ``IntervalTrigger(...)``; None for another text.

    Raises:
        FieldError: no cadence is like it.
    """
    call = _call(text)
    if call is None:
        return None
    for ending, read in _TRIGGERS:
        if f".{call.name}".endswith(ending):
            others = dict(call.named)
            options = {option: others.pop(name, "").replace(" ", "T") for name, option in _OPTIONS}
            # A date alone is its midnight there, and its end here, which sorts as T24; no end sorts as "?".
            options["end"] += "T00:00" * (len(options["end"]) == DATE_LENGTH)
            head, *years = re.split(" (?:start|end)=", read(call._replace(named=others)))
            if years:
                last = min(options["end"] or "?", f"{years[1]}T24").removesuffix("T24")
                options |= {"start": max(years[0], options["start"]), "end": last}
            first = options["start"] * (read is _interval_trigger)
            is_local = first and not options["tz"] and not re.search(r"T.*[+-]|Z$", first)
            if first:
                options["start"] = _begin(first, options["tz"] or "UTC", head.split()[1])
            text = head + "".join(f" {name}={value}" for name, value in options.items() if value)
            return Suggestion(text, "its start is read in UTC" if is_local else "")
    return None


def _begin(first: str, tz: str, length: str) -> str:
    """Return the start of an interval with its first time at a date and time of a zone: a length before."""
    zone(tz)
    try:
        at = datetime.fromisoformat(first)
        at = (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(tz))).astimezone(UTC)
        return f"{(at - timedelta(seconds=seconds_in(length))).replace(tzinfo=None).isoformat()}Z"
    except (ValueError, OverflowError):
        raise FieldError(
            "start_date", f"{first[:40]} is no date and time", "write it as in 2027-01-04 09:00"
        ) from None


def _from_crontab(call: _Call) -> str:
    return cron_text(APSCHEDULER, FIVE, call.given(["expr"]).get("expr", "").split())


def _interval_trigger(call: _Call) -> str:
    lengths = call.given(_UNITS)
    if not lengths or not all(map(str.isdigit, lengths.values())):
        raise FieldError("interval", "it has no whole numbers", "write it as in interval 90m")
    seconds = sum(timedelta(**{unit: int(n)}) // timedelta(seconds=1) for unit, n in lengths.items())
    return f"interval {duration_text(seconds)}"


def _cron_trigger(call: _Call) -> str:
    given = call.given(_APSCHEDULER)
    last = max((_APSCHEDULER.index(name) for name in given), default=len(_APSCHEDULER))
    fields = {
        "weekday" if name == "day_of_week" else name: given.get(
            name, _LOWEST.get(name, "*") if at > last else "*"
        )
        for at, name in enumerate(_APSCHEDULER)
    }
    if fields.pop("week") != "*":
        raise FieldError("week", "no cadence has the weeks of a year", "list the dates")
    if fields["second"] == "0":
        del fields["second"]
    items = [item.split() for item in fields["day"].lower().split(",")]
    counted = [f"{name.upper()}{_ORDINALS.get(which, '#')}" for which, *names in items for name in names]
    plain = ["L" if which == "last" else which for which, *names in items if not names]
    if counted and (fields["weekday"] != "*" or "*" in plain):
        raise FieldError("day", "it counts weekdays beside other days", "declare a cadence for each")
    fields |= {"day": ",".join(plain) or "*", "weekday": ",".join(counted) or fields["weekday"]}
    return cron_text(APSCHEDULER_EITHER if counted else APSCHEDULER, [*fields], [*fields.values()])


_OPTIONS = (("start_date", "start"), ("end_date", "end"), ("timezone", "tz"))
"""The options that all triggers share."""
_TRIGGERS = (
    (".CronTrigger.from_crontab", _from_crontab),
    (".IntervalTrigger", _interval_trigger),
    (".CronTrigger", _cron_trigger),
)


def _call(text: str) -> _Call | None:
    """Return a call with literal arguments; None for anything else."""
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call):
            return None
        # None is as if it were missing.
        given = {str(word.arg): word.value for word in node.keywords if ast.unparse(word.value) != "None"}
        named = {name: _literal(value) for name, value in given.items()}
        return _Call(ast.unparse(node.func), [_literal(argument) for argument in node.args], named)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> str:
    """Return a number, a text, a moment, the name of a zone, or the items of a list with commas between them.

    Another value, as that of a variable, is returned as its expression, which no field reads.
    """
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("ZoneInfo", "timezone", "gettz")):
        node = node.args[0] if node.args else node
    if ast.unparse(node).rpartition(".")[2].upper() == "UTC":
        return "UTC"
    try:
        if isinstance(node, ast.Call) and not node.keywords and ast.unparse(node.func).endswith(_MOMENTS):
            value: object = datetime(*map(ast.literal_eval, node.args))  # noqa: DTZ001 - a local time
        else:
            value = ast.literal_eval(node)
    except (TypeError, ValueError):
        value = f"({ast.unparse(node)})"
    items = value if isinstance(value, list | tuple | set) else str(value).split(",")
    return "UTC" if str(value).upper() == "UTC" else ",".join(str(item).strip() for item in items)
