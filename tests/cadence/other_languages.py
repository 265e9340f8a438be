"""Cron expressions of other schedulers, drawn and evaluated as their documentation states them.

Nothing here is taken from duetime. Each evaluator rests on:

* Quartz: the Javadoc of ``org.quartz.CronExpression``, and 2.3.2 itself (Debian's ``libquartz2-java``), with
  which it agreed on 1,500 drawn expressions. Weekdays are 1-7 from Sunday. After a
  name Quartz ignores a step, so that no name is drawn with one.
* EventBridge: AWS's *Schedule types in EventBridge Scheduler*, a subset of Quartz without seconds.
* Spring: the Javadoc of ``CronExpression.parse``: all six fields must match, weekdays are 0-7 with Monday 1,
  and ``*/n`` begins with Monday.
* Celery: ``celery.schedules.crontab_parser``, with which it agreed on 800; weekdays are 0-6 from Sunday, and
  both day fields must match.
* APScheduler 3: ``apscheduler.triggers.cron``, with which it agreed on 800; weekdays are 0-6 from Monday.
* Jenkins: *Cron syntax* of its book; both day fields must match, and H stands for one value of its range.
* GitHub Actions: POSIX; weekdays are 0-6 from Sunday, and one of two restricted day fields is enough, unless
  one of them begins with a star.
* Kubernetes: robfig/cron v3, whose ``getRange`` forgets a star that has a step above 1; else as GitHub's.
* crontab: crontab(5); as GitHub's, with 7 for Sunday.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

from hypothesis import strategies as st

MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
FROM_SUNDAY = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
FROM_MONDAY = [*FROM_SUNDAY[1:], "SUN"]
LIMITS = {"second": (0, 59), "minute": (0, 59), "hour": (0, 23), "day": (1, 31), "month": (1, 12)}


@dataclass(frozen=True)
class Tongue:
    """A language.

    Attributes:
        low: the lowest number of a weekday.
        week: the names of the weekdays from that number on.
        star: the numbers of ``*`` in the field of weekdays.
        rule: ``and``, or ``vixie`` for crontab's.
    """

    low: int
    week: list[str]
    star: range
    rule: str = "and"
    wraps: bool = False
    open_steps: bool = True
    names_weekdays: bool = True
    names_months: bool = True
    names_steps: bool = True
    ignores: bool = False
    specials: bool = False


QUARTZ = Tongue(1, FROM_SUNDAY, range(1, 8), wraps=True, names_steps=False, specials=True)
EVENTBRIDGE = Tongue(1, FROM_SUNDAY, range(1, 8), names_steps=False, specials=True)
SPRING = Tongue(0, ["SUN", *FROM_MONDAY], range(1, 8), specials=True)
CELERY = Tongue(0, FROM_SUNDAY, range(7), wraps=True, open_steps=False, names_months=False)
APSCHEDULER = Tongue(0, FROM_MONDAY, range(7), names_steps=False, ignores=True)
JENKINS = Tongue(
    0, [*FROM_SUNDAY, "SUN"], range(8), open_steps=False, names_weekdays=False, names_months=False
)
ACTIONS = Tongue(0, FROM_SUNDAY, range(7), "vixie")
KUBERNETES = Tongue(0, FROM_SUNDAY, range(7), "go")
CRONTAB = Tongue(0, [*FROM_SUNDAY, "SUN"], range(8), "vixie")


@dataclass(frozen=True)
class Written:
    """An expression: a text for each field, and the values that its language reads in it."""

    tongue: Tongue
    fields: dict[str, str]
    years: Collection[int] = range(1970, 2200)

    def times(self) -> list[timedelta]:
        """Return the times of a day."""
        units = [sorted(numbers(self.fields[unit], *LIMITS[unit])) for unit in ("hour", "minute", "second")]
        return [
            timedelta(hours=hour, minutes=minute, seconds=second)
            for hour in units[0]
            for minute in units[1]
            for second in units[2]
        ]

    def has_day(self, day: date) -> bool:
        if day.year not in self.years or day.month not in self.months():
            return False
        dates, week = self.fields["day"], self.fields["weekday"]
        if self.tongue is QUARTZ and dates in ("29W", "30W", "31W"):
            dates = f"{min(int(dates[:-1]), calendar.monthrange(day.year, day.month)[1])}W"
        by_date = any(is_date(item, day) for item in dates.split(","))
        by_week = any(self.is_weekday(item, day) for item in week.split(","))
        restricted = dates not in "*?" and week not in "*?"
        stars = {"vixie": (dates[0], week[0]), "go": [*dates.split(","), *week.split(",")]}
        if restricted and not {"*", "?", "*/1"} & {*stars.get(self.tongue.rule, "*")}:
            return by_date or by_week
        return by_date and by_week

    def months(self) -> set[int]:
        heeded = ",".join(map(self.heeded, self.fields["month"].split(",")))
        return named(heeded, MONTHS, 1, 12)

    def is_weekday(self, item: str, day: date) -> bool:
        shown = FROM_MONDAY[day.weekday()]
        if item == "?":
            return True
        if item == "L":
            return shown == "SAT"
        length = calendar.monthrange(day.year, day.month)[1]
        if item.endswith("L"):
            return self.name(item[:-1]) == shown and day.day + 7 > length
        if "#" in item:
            name, nth = item.split("#")
            return self.name(name) == shown and (day.day + 6) // 7 == int(nth)
        return shown in {self.name(str(n)) for n in self.weekday_numbers(item)}

    def heeded(self, item: str) -> str:
        """Return what the language reads of an item that begins with a name."""
        return re.sub(r"^([A-Z]{3}(?:-[A-Z]{3})?).*", r"\1", item) if self.tongue.ignores else item

    def name(self, text: str) -> str:
        return text if text in FROM_SUNDAY else self.tongue.week[int(text) - self.tongue.low]

    def weekday_numbers(self, item: str) -> list[int]:
        item = self.heeded(item)
        values, _, step = item.partition("/")
        first, dash, last = values.partition("-")
        if first == "*":
            return [*self.tongue.star[:: int(step or 1)]]
        low = self.number(first)
        high = self.number(last) if dash else max(self.tongue.star) if step else low
        if dash and low == 7 and self.tongue is SPRING:
            low = 0  # as in SUN-TUE
        return counted(low, high, int(step or 1), self.tongue.star)

    def number(self, text: str) -> int:
        found = self.tongue.week.index(text) + self.tongue.low if text in FROM_SUNDAY else int(text)
        return 7 if found == 0 and text == "SUN" and self.tongue is SPRING else found


def counted(low: int, high: int, step: int, values: range) -> list[int]:
    """Return every n-th value from the first to the last; a range may wrap."""
    if low <= high:
        return [*range(low, high + 1, step)]
    return [*range(low, values[-1] + 1), *range(values[0], high + 1)][::step]


def numbers(text: str, low: int, high: int) -> set[int]:
    return named(text, [], low, high)


def named(text: str, names: list[str], low: int, high: int) -> set[int]:
    found = set[int]()
    for item in text.split(","):
        values, _, step = item.partition("/")
        first, dash, last = (
            str(names.index(part) + low) if part in names else part for part in values.partition("-")
        )
        start = low if first in "*?" else int(first)
        end = int(last) if dash else high if first in "*?" or step else start
        found |= {*counted(start, end, int(step or 1), range(low, high + 1))}
    return found


def is_date(item: str, day: date) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    if item.startswith("L"):
        number = length - int(item.removesuffix("W")[2:] or 0)
        return day.day == (nearest(day, number, length) if item.endswith("W") else number)
    if item.endswith("W"):
        return int(item[:-1]) <= length and day.day == nearest(day, int(item[:-1]), length)
    return day.day in numbers(item, 1, 31)


def nearest(day: date, number: int, length: int) -> int:
    workdays = [n for n in range(1, length + 1) if day.replace(day=n).weekday() < 5]
    return min(workdays, key=lambda n: (abs(n - number), n))


@st.composite
def items(draw: st.DrawFn, tongue: Tongue, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    """Draw a list of values, ranges and steps."""
    found = []
    for _ in range(draw(st.integers(1, 2))):
        first = draw(st.integers(low, high))
        last = draw(st.integers(low if tongue.wraps else first, high))
        step = draw(st.integers(2, max(2, min(9, high - low))))
        texts = [str(first), f"{first}-{last}", f"{first}-{last}/{step}"]
        texts += [f"{first}/{step}"] if tongue.open_steps else []
        if names:
            one, other = names[first - low], names[last - low]
            texts += [one, f"{one}-{other}"]
            texts += [f"{one}-{last}", f"{one}/{step}", f"{one}-{other}/{step}"] * tongue.ignores
            texts += (
                [f"{one}-{other}/{step}", f"{one}/{step}"] if tongue.names_steps and tongue.open_steps else []
            )
        found.append(draw(st.sampled_from(texts)))
    return ",".join(dict.fromkeys(found))


def times_of_day(tongue: Tongue, unit: str):
    low, high = LIMITS[unit]
    return st.sampled_from(["*", "*/7", "*/20"] if unit == "minute" else ["*", "*/5"]) | items(
        tongue, low, high
    )


@st.composite
def days(draw: st.DrawFn, tongue: Tongue) -> tuple[str, str, str]:
    """Draw the fields of day, month and weekday."""
    names = tuple(tongue.week) if tongue.names_weekdays else ()
    high = tongue.low + len(tongue.week) - 1
    day = st.sampled_from(["*", "*/10", "*/2"]) | items(tongue, 1, 28)
    weekday = st.sampled_from(["*", "*/2", "*/3"]) | items(tongue, tongue.low, high, names)
    if tongue.specials:
        day |= st.sampled_from(["L", "15W", "LW", "1W", "28W"] + ["L-3"] * (tongue is not EVENTBRIDGE))
        day |= st.sampled_from(["29W", "30W", "31W"]) if tongue is QUARTZ else st.nothing()
        weekday |= st.tuples(st.integers(tongue.low, high), st.sampled_from(["L", "#1", "#5"])).map(
            lambda pair: f"{pair[0]}{pair[1]}"
        )
        weekday |= st.sampled_from(["FRIL", "TUE#2"])
    if tongue in (QUARTZ, EVENTBRIDGE):
        weekday |= st.just("L")
    month = st.just("*") | items(tongue, 1, 12, tuple(MONTHS) if tongue.names_months else ())
    if tongue in (QUARTZ, EVENTBRIDGE):
        one = draw(st.sampled_from([(draw(day), "?"), ("?", draw(weekday))]))
        return one[0], draw(month), one[1]
    return draw(day), draw(month), draw(weekday)


@st.composite
def expressions(draw: st.DrawFn, tongue: Tongue, *, seconds: bool = False) -> Written:
    """Draw an expression of a language."""
    day, month, weekday = draw(days(tongue))
    fields = {
        "second": draw(st.sampled_from(["0", "30", "0,20"])) if seconds else "0",
        "minute": draw(times_of_day(tongue, "minute")),
        "hour": draw(times_of_day(tongue, "hour")),
        "day": day,
        "month": month,
        "weekday": weekday,
    }
    return Written(tongue, fields)


def joined(written: Written, *names: str) -> str:
    return " ".join(written.fields[name] for name in names)


FIVE = ("minute", "hour", "day", "month", "weekday")
SIX = ("second", *FIVE)


@st.composite
def with_years(draw: st.DrawFn, tongue: Tongue, *, seconds: bool) -> tuple[Written, str]:
    """Draw an expression, and a field of years that follow each other, or do not."""
    written = draw(expressions(tongue, seconds=seconds))
    year = draw(st.sampled_from(["*", "*", "2027", "2028-2029", "2027,2028", "2027,2029", "2027/2"]))
    years = sorted(named(year, [], 1970, 2199))
    return Written(tongue, written.fields, range(1970, 2200) if year == "*" else years), year


def python_call(written: Written, style: str) -> str:
    """Return the call of Celery or APScheduler."""
    own = {"day": "day_of_month", "month": "month_of_year"} if style == "celery" else {}
    names = {name: own.get(name, "day_of_week" if name == "weekday" else name) for name in SIX}
    shown = FIVE if style == "celery" else SIX
    arguments = ", ".join(f"{names[name]}={written.fields[name].lower()!r}" for name in shown)
    return f"{'crontab' if style == 'celery' else 'CronTrigger'}({arguments})"


def jenkins_values(text: str, bounds: str) -> list[str]:
    """Return a field as each value of Jenkins' hash makes it: one value, or every n-th one from an offset."""
    found = re.fullmatch(r"H(?:\((\d+)-(\d+)\))?(?:/(\d+))?", text)
    if found is None:
        return [text]
    low, high = (int(found[1]), int(found[2])) if found[1] else map(int, bounds.split("-"))
    if not found[3]:
        return [str(n) for n in range(low, high + 1)]
    offsets = range(low, min(low + int(found[3]), high + 1))
    return [",".join(map(str, range(first, high + 1, int(found[3])))) for first in offsets]


def texts() -> dict[str, st.SearchStrategy[tuple[str, Written]]]:
    """Return, for each scheduler, texts as its users write them, with what they mean."""
    command = " /usr/bin/backup --now"
    return {
        "EventBridge": with_years(EVENTBRIDGE, seconds=False).map(
            lambda pair: (f"cron({joined(pair[0], *FIVE)} {pair[1]})", pair[0])
        ),
        "EventBridge, bare": with_years(EVENTBRIDGE, seconds=False).map(
            lambda pair: (f"{joined(pair[0], *FIVE)} {pair[1]}", pair[0])
        ),
        "Quartz": with_years(QUARTZ, seconds=True).map(
            lambda pair: (f"{joined(pair[0], *SIX)} {pair[1]}", pair[0])
        ),
        "Quartz, without a year": expressions(QUARTZ, seconds=True).map(lambda one: (joined(one, *SIX), one)),
        "Spring": expressions(SPRING, seconds=True).map(
            lambda one: (f'@Scheduled(cron = "{joined(one, *SIX)}", zone = "UTC")', one)
        ),
        "Celery": expressions(CELERY).map(lambda one: (python_call(one, "celery"), one)),
        "APScheduler": expressions(APSCHEDULER, seconds=True).map(
            lambda one: (python_call(one, "apscheduler"), one)
        ),
        "Kubernetes": expressions(KUBERNETES).map(lambda one: (f'schedule: "{joined(one, *FIVE)}"', one)),
        "GitHub Actions": expressions(ACTIONS).map(lambda one: (f"- cron: '{joined(one, *FIVE)}'", one)),
        "crontab": expressions(CRONTAB).map(lambda one: (joined(one, *FIVE) + command, one)),
        "CRON_TZ": expressions(KUBERNETES).map(lambda one: (f"CRON_TZ=UTC {joined(one, *FIVE)}", one)),
    }
