"""Recurrence rules of iCalendar (RFC 5545, section 3.3.10), as cadences of duetime.

``from_rrule`` reads ``DTSTART``, ``RRULE`` and ``EXDATE``. :mod:`duetime.cadence.exports` writes them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, NoReturn
from zoneinfo import ZoneInfo

from duetime.cadence.bounds import MOST_EXCLUDED
from duetime.cadence.cadence import Cadence
from duetime.cadence.errors import InvalidCadence
from duetime.cadence.text import read_translated
from duetime.cadence.weeks_and_months import MOST
from duetime.cadence.words import DATE_LENGTH, WEEKS, as_text, duration_text
from duetime.cadence.zone_names import iana_name
from duetime.cadence.zones import zone

WEEKDAYS = {"SU": "SUN", "MO": "MON", "TU": "TUE", "WE": "WED", "TH": "THU", "FR": "FRI", "SA": "SAT"}
_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKWEEK = {"MO", "TU", "WE", "TH", "FR"}
FREQUENCIES = ("SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_HOURLY, _DAILY, _WEEKLY, _MONTHLY, _YEARLY = 2, 3, 4, 5, 6
_PARTS = {"FREQ", "INTERVAL", "WKST", "BYSECOND", "BYMINUTE", "BYHOUR", "BYDAY", "BYMONTHDAY", "BYMONTH"}
_PARTS |= {"BYSETPOS", "COUNT", "UNTIL"}
_OPTION = r';([\w-]+)=("[^"]*"|\((?:UTC|GMT)[+-][\d:]+\)[^";:]*|[^";:]*)'
_LINE = re.compile(rf"(?P<name>[A-Z-]+)(?P<options>(?:{_OPTION})*):(?P<value>.*)", re.IGNORECASE)
# The parts with one value: its pattern, its kind and an example.
_SINGLE = {
    "INTERVAL": (r"\+?0*[1-9]\d{0,4}", "number from 1 on", "2"),
    "COUNT": (r"\d+", "number", "10"),
    "UNTIL": (r"\d{8}(?:T\d{6}Z?)?", "date", "20271231T235959Z"),
    "WKST": ("|".join(_CODES), "weekday", "MO"),
}
_UNITS = (1, 60, 3_600)
_SHORTEST_MONTH = 28
_DAYS_OF_WEEKS = {
    **{name: {*range(7 * n + 1, min(7 * n + 8, 32))} for n, name in enumerate(WEEKS[:-1])},
    WEEKS[-1]: {*range(-7, 0)},
}
_LEAST_CONTENT = re.compile(
    r"\s*(?:DTSTART|RRULE|EXDATE|RDATE|EXRULE|RECURRENCE-ID|FREQ=|BEGIN:V|STATUS:CANCELLED)", re.IGNORECASE
)
_LONGEST_MONTH, _MOST_WEEKS = 31, 5


class _Start(NamedTuple):
    """The line ``DTSTART``: a local time, and its zone if it names one."""

    at: datetime
    tz: str | None


def is_rrule(text: str) -> bool:
    """Return whether a text begins as a recurrence rule."""
    return bool(_LEAST_CONTENT.match(text))


def from_rrule(text: str, *, tz: str | None = None) -> Cadence:
    """Return the cadence of a recurrence rule of iCalendar, with its ``DTSTART`` and ``EXDATE`` lines.

    At a clock change the cadence's rule applies. RFC 5545 (section 3.3.5) differs in a gap: it moves the time
    by the length of the gap, where duetime runs at the gap's end.

    Args:
        text: the lines, ``FREQ=…`` alone, or a ``VEVENT``. ``DTSTART`` alone is one time. Without it, the
            rule must name its times of day. A date as ``UNTIL`` or ``EXDATE`` means all of its day.
        tz: the zone of a ``DTSTART`` without one.

    Raises:
        InvalidCadence: the text is no rule, or names what no cadence can express.
    """
    return _Rule(text, tz).cadence()


class _Rule:
    """One text, while it is read."""

    _start: _Start | None = None

    def __init__(self, text: str, tz: str | None) -> None:
        self._text, self._tz = as_text(text, "FREQ=DAILY;BYHOUR=9;BYMINUTE=0"), tz
        self._excluded: list[str] = []
        events, lines = _lines(text)
        if events > 1:
            is_moved = "RECURRENCE-ID" in text.upper()
            other = "; RECURRENCE-ID moves one time of another: exclude it by EXDATE, and declare once(...)"
            self._fail(
                "VEVENT", "occurs several times", f"declare one cadence for each event{other * is_moved}"
            )
        rules = [rule for line in lines if (rule := self._read_line(line)) is not None]
        if len(rules) > 1:
            self._fail("RRULE", "occurs twice", "declare one cadence for each rule")
        if not rules and self._start is None:
            self._fail("", "there is no FREQ", "write it as in FREQ=DAILY;BYHOUR=9;BYMINUTE=0")
        self._is_once = not rules and not self._excluded
        pairs = [pair.partition("=") for pair in (rules or ["FREQ=DAILY;COUNT=1"])[0].split(";")]
        self._parts = {name: value for name, _, value in pairs}
        if self._parts.get("FREQ") not in FREQUENCIES:
            self._fail("FREQ", "is not one of its words", f"use {', '.join(FREQUENCIES)}")
        for name in self._parts:
            if name not in _PARTS:
                self._fail(name, "has no equivalent", "use BYMONTH, BYMONTHDAY and BYDAY")
            if sum(other == name for other, _, _ in pairs) > 1:
                self._fail(name, "is given twice", "leave one of them out")
        for name, (pattern, kind, example) in _SINGLE.items():
            if not re.fullmatch(pattern, self._parts.get(name, example), re.ASCII):
                self._fail(name, f"is not one {kind}", f"write it as in {name}={example}")
        self._rank = FREQUENCIES.index(self._parts["FREQ"])
        self._interval = int(self._parts.get("INTERVAL", "1"))

    def _read_line(self, line: str) -> str | None:
        """Read one line; return the rule, or None for another line."""
        found = _LINE.fullmatch(line)
        name = found["name"].upper() if found else ""
        if found is None or name == "RRULE":
            if not (found or line.upper().startswith("FREQ=")):
                self._fail(line, "is no line of a rule", "write it as in FREQ=DAILY;BYHOUR=9;BYMINUTE=0")
            return (found["value"] if found else line).upper().strip(";")
        if name == "DTSTART":
            if self._start is not None:
                self._fail(line, "occurs twice", "declare one cadence for each")
            self._start = self._moment(found)
        elif name == "EXDATE":
            self._excluded += self._exceptions(found)
        else:
            self._fail(
                line,
                "has no equivalent",
                "leave a cancelled event out"
                if name == "STATUS"
                else "declare a further cadence, as in once(...)",
            )
        return None

    def cadence(self) -> Cadence:
        """Return the cadence of the rule, or of the start alone."""
        head = self._positions() or self._repeated() or f"cron {self._cron()}"
        text = head + self._bounds(is_interval=head.startswith("interval "))
        if self._is_once and self._start is not None:
            tz = self._start.tz or self._tz
            text = f"once {self._start.at.isoformat()}" + f" tz={tz}" * bool(tz)
        return read_translated(text, self._text, "RRULE")

    def _fail(self, part: str, problem: str, remedy: str) -> NoReturn:
        at = max(0, self._text.upper().find(part.upper())) if part else 0
        label = part.partition(":")[0].partition(";")[0]
        shown = f"RRULE: {label} {problem}" if part else f"RRULE: {problem}"
        width = len(part) if part and part.upper() in self._text.upper() else None
        raise InvalidCadence(self._text, shown, remedy, start=at, width=width)

    def _numbers(self, name: str) -> list[int]:
        values = self._parts.get(name)
        if values is None:
            return []
        if not re.fullmatch(r"[+-]?\d{1,5}(?:,[+-]?\d{1,5})*", values, re.ASCII):
            self._fail(name, "is no list of numbers", f"write it as in {name}=1")
        return sorted({int(value) for value in values.split(",")})

    def _moment(self, line: re.Match[str]) -> _Start:
        options = {name.upper(): option.strip('"') for name, option in re.findall(_OPTION, line["options"])}
        names = [name.upper() for name, _ in re.findall(_OPTION, line["options"])]
        if repeated := [name for name in options if names.count(name) > 1]:
            self._fail(repeated[0], "is given twice", "leave one of them out")
        value = line["value"].upper()
        digits = value.removesuffix("Z")
        try:
            at = datetime.strptime(digits if "T" in digits else f"{digits}T000000", "%Y%m%dT%H%M%S")  # noqa: DTZ007 - a local time
        except ValueError:
            self._fail(line[0], "has no date and time", "write it as in DTSTART:20270104T090000Z")
        tz = options.get("TZID") or ("UTC" if value.endswith("Z") else None)
        if tz is not None:
            tz = iana_name(tz)
            zone(tz)
        return _Start(at, tz)

    def _exceptions(self, line: re.Match[str]) -> list[str]:
        found = []
        for value in line["value"].split(","):
            one = _LINE.fullmatch(f"{line['name']}{line['options']}:{value}")
            if one is None:
                self._fail(line[0], "has no date", "write it as in EXDATE:20270104T090000Z")
            at, tz = self._moment(one)
            if "T" not in value.upper():
                found.append(f"{at.date()}")
            elif tz is None:
                found.append(at.isoformat())
            else:
                found.append(at.replace(tzinfo=ZoneInfo(tz)).astimezone(UTC).isoformat())
        return found

    def _bounds(self, *, is_interval: bool) -> str:
        """Return the options for zone, start, end, count and exceptions."""
        options = []
        start, tz = self._start, (self._start and self._start.tz) or self._tz
        if "COUNT" in self._parts:
            self._begin("COUNT")
            options.append(f"count={self._parts['COUNT']}")
        if start is not None and not is_interval:
            options.append(f"start={start.at.isoformat()}")
        if until := self._parts.get("UNTIL"):
            form = "%Y%m%dT%H%M%S" if "T" in until else "%Y%m%d"
            try:
                end = datetime.strptime(until.removesuffix("Z"), form)  # noqa: DTZ007 - with its own zone
            except ValueError:
                self._fail("UNTIL", "has no date", "write it as in UNTIL=20271231T235959Z")
            last = f"{end.isoformat()}{'Z' * until.endswith('Z')}" if "T" in until else f"{end.date()}"
            options.append(f"end={last}")
        if self._excluded:
            options += self._exceptions_of(tz or "UTC")
        if tz is not None:
            options.append(f"tz={tz}")
        return "".join(f" {option}" for option in options)

    def _exceptions_of(self, tz: str) -> list[str]:
        """Return the option ``except_at``; or ``calendar`` for whole days of more times than it may have."""
        dates = {text for text in self._excluded if len(text) == DATE_LENGTH}
        single = {text: _local_time(text, tz) for text in self._excluded if text not in dates}
        clocks = self._clocks()
        if len(dates) * len(clocks) + len(single) > MOST_EXCLUDED and "COUNT" not in self._parts:
            excluded_on = defaultdict[str, set[str]](set)
            for day, clock in single.values():
                excluded_on[day].add(clock)
            dates |= {day for day, found in excluded_on.items() if {*clocks} <= found}
            single = {text: (day, clock) for text, (day, clock) in single.items() if day not in dates}
            days = [f"calendar=exclude:{','.join(sorted(dates))}"] * bool(dates)
            return days + [f"except_at={','.join(single)}"] * bool(single)
        excluded = [f"{day}T{clock}" for day in sorted(dates) for clock in clocks]
        return [f"except_at={','.join([*excluded, *single])}"]

    def _times(self) -> tuple[list[int], list[int] | None, list[int] | None]:
        """Return seconds, minutes and hours; None for all of them."""
        start = self._start.at if self._start else None
        second, minute, hour = map(self._numbers, ("BYSECOND", "BYMINUTE", "BYHOUR"))
        if not second:
            second = [start.second if start else 0] if self._rank > 0 else [*range(60)]
        if not minute and self._rank > 1:
            minute = [start.minute if start else self._no_time("BYMINUTE")]
        if not hour and self._rank > _HOURLY:
            hour = [start.hour if start else self._no_time("BYHOUR")]
        return second, minute or None, hour or None

    def _no_time(self, name: str) -> NoReturn:
        self._fail(
            self._parts["FREQ"], f"needs {name}, or DTSTART", "add them, as in FREQ=DAILY;BYHOUR=9;BYMINUTE=0"
        )

    def _clocks(self) -> list[str]:
        """Return the times of day, as texts."""
        second, minute, hour = self._times()
        every_hour, every_minute = hour or range(24), minute or range(60)
        return [f"{h:02}:{m:02}:{s:02}" for h in every_hour for m in every_minute for s in second]

    def _by_day(self) -> tuple[set[str], set[int]]:
        """Return the codes of the weekdays, and their ordinals, each of which applies to each weekday.

        The ordinals are empty without any; 0 stands for weekdays without one beside others with one.
        """
        if "BYDAY" not in self._parts:
            return set(), set()
        found = set[tuple[str, int]]()
        for entry in self._parts["BYDAY"].split(","):
            match = re.fullmatch(r"([+-]?0?[1-9]\d?)?([A-Z]{2})", entry)
            if not match or match[2] not in WEEKDAYS:
                self._fail("BYDAY", f"has no weekday {entry!r}", "use SU, MO, TU, WE, TH, FR and SA, or 1MO")
            found.add((match[2], int(match[1] or 0)))
        codes, ordinals = {code for code, _ in found}, {nth for _, nth in found}
        if ordinals == {0}:
            return codes, set()
        if self._rank < _MONTHLY or (self._rank == _YEARLY and "BYMONTH" not in self._parts):
            self._fail(
                "BYDAY", "counts weekdays, which only months have here", "use FREQ=MONTHLY, or add BYMONTH"
            )
        if max(map(abs, ordinals)) > _MOST_WEEKS:
            self._fail(
                "BYDAY", "counts further than five, as no month does", "use 1MO to 5MO, or -1MO to -5MO"
            )
        if len(found) != len(codes) * len(ordinals) or 0 in ordinals:
            self._fail("BYDAY", "counts its weekdays differently", "declare one cadence for each")
        return codes, ordinals

    def _month_days(self) -> list[int]:
        """Return the days of the month, those from the end negative; DTSTART's if it has none."""
        days = self._numbers("BYMONTHDAY")
        if days or "BYDAY" in self._parts or self._rank < _MONTHLY:
            return days
        return [
            self._begin(
                self._parts["FREQ"], "needs BYMONTHDAY, BYDAY or DTSTART", "add BYMONTHDAY=1 or another"
            ).day
        ]

    def _months(self) -> list[int]:
        months = self._numbers("BYMONTH")
        if months or not (self._rank == _YEARLY and not {"BYMONTHDAY", "BYDAY"} & {*self._parts}):
            return months
        return [self._begin("YEARLY", "needs BYMONTH or DTSTART", "add BYMONTH=1 or another").month]

    def _cron(self) -> str:
        second, minute, hour = self._times()
        days = [str(day) if day >= 0 else "L" if day == -1 else f"L-{-day - 1}" for day in self._month_days()]
        codes, ordinals = self._by_day()
        if not codes and not days and self._rank == _WEEKLY:
            codes = {self._code_of_start()}
        weekdays = _named(codes)
        if ordinals:
            if ordinals & {*range(-9, -1)}:
                days = self._in_ordinals(days, ordinals)
            else:
                ends = ["L" if nth < 0 else f"#{nth}" for nth in sorted(ordinals)]
                weekdays = [f"{name}{end}" for name in weekdays for end in ends]
        fields = [_listed(minute), _listed(hour), ",".join(days) or "*", _listed(self._months() or None)]
        text = " ".join([*fields, ",".join(weekdays) or "*"])
        rule = " day_rule=and" if days and weekdays else ""
        return f"{'' if second == [0] else _listed(second) + ' '}{text}{rule}"

    def _in_ordinals(self, days: list[str], ordinals: set[int]) -> list[str]:
        if days:
            self._fail("BYMONTHDAY", "stands beside counted weekdays", "leave one of them out")
        return [day for nth in sorted(ordinals) for day in _ordinal_days(nth, "L-{}", "L")]

    def _code_of_start(self) -> str:
        return _CODES[
            self._begin(self._parts["FREQ"], "needs BYDAY or DTSTART", "add BYDAY=MO or another").weekday()
        ]

    def _positions(self) -> str | None:
        """Return the cadence of BYSETPOS, which chooses business days or one weekday; None without it."""
        if "BYSETPOS" not in self._parts:
            return None
        chosen, (codes, ordinals) = self._numbers("BYSETPOS"), self._by_day()
        months, dates = self._numbers("BYMONTH"), self._numbers("BYMONTHDAY")
        is_of_months = self._rank == _MONTHLY or (
            self._rank == _YEARLY and len(months) == self._interval == 1
        )
        last = max(dates, default=0)
        is_capped = last and dates == [*range(_SHORTEST_MONTH, last + 1)] and chosen == [-1]
        most = _MOST_WEEKS if len(codes) == 1 else MOST if len(codes) < len(_CODES) else _LONGEST_MONTH
        only = f"chooses a position that is none of 1 to {most}, or of -1 to -{most}"
        for is_wrong, problem, remedy in (
            (
                not is_of_months,
                "chooses only from a month here",
                "use FREQ=MONTHLY, or YEARLY with one BYMONTH",
            ),
            (ordinals, "stands beside weekdays that BYDAY counts", "leave BYSETPOS out"),
            (dates and codes, "stands beside both BYDAY and BYMONTHDAY", "leave one of these out"),
            (not (codes or dates), "has no days to choose from", "add BYDAY=MO,TU,WE,TH,FR or another"),
            (
                dates and not is_capped,
                "chooses neither weekdays nor the last of dates",
                "list the days",
            ),
            (0 in chosen or max(map(abs, chosen)) > most, only, "leave such positions out"),
            (len(clocks := self._clocks()) > 1, "has several times of day", "declare one cadence for each"),
        ):
            if is_wrong:
                self._fail("BYSETPOS", problem, remedy)
        clock, filtered = clocks[0], f" months={','.join(map(str, months))}" * bool(months)
        ends = [str(n) if n > 0 else f"last{n + 1}" if n < -1 else "last" for n in chosen]
        if 1 < len(codes) < len(_CODES):
            free = ",".join(code for code in _named({*_CODES} - codes)).lower()
            calendar = "" if codes == _WORKWEEK else f" calendar=exclude:{free};weekend:{free}"
            return f"business_day {','.join(ends)} {clock}{self._cycle()}{filtered}{calendar}"
        if len(codes) == 1:
            ends = [day for nth in chosen for day in _ordinal_days(nth, "last-{}", "last")]
            filtered += f" days={','.join(_named(codes))}"
        if is_capped:
            ends = [f"{last}-or-last"]
        return f"monthly {','.join(ends)} {clock}{self._cycle()}{filtered}"

    def _cycle(self) -> str:
        """Return the options of an INTERVAL of more than one."""
        return f" every={self._interval} anchor={self._begin().date()}" if self._interval > 1 else ""

    def _begin(
        self,
        part: str = "INTERVAL",
        problem: str = "has no DTSTART to count from",
        remedy: str = "add a line as in DTSTART:20270104T090000Z",
    ) -> datetime:
        """Return the local time of the start, which a part needs; by default an INTERVAL counts from it."""
        if self._start is None:
            self._fail(part, problem, remedy)
        return self._start.at

    def _repeated(self) -> str | None:
        """Return the cadence of an INTERVAL of more than one; None without it."""
        if self._interval == 1:
            return None
        if self._rank < _DAILY:
            return self._within_days(self._begin())
        months = self._months()
        codes, ordinals = self._by_day()
        filtered = f" months={','.join(map(str, months))}" * bool(months)
        cycle, clocks, weekdays = (
            self._cycle(),
            ",".join(self._clocks()),
            f" days={','.join(_named(codes))}" * bool(codes),
        )
        if self._rank == _WEEKLY:
            self._check_week_start(codes or {self._code_of_start()})
            on = ",".join(_named(codes or {self._code_of_start()}))
            self._refuse("BYMONTHDAY")
            return f"weekly {on} {clocks}{cycle}{filtered}"
        if self._rank == _DAILY:
            return (
                f"every {self._interval}d at={clocks} anchor={self._begin().date()}"
                f"{filtered}{weekdays}{self._weeks()}"
            )
        days = [
            f"last-{-day - 1}" if day < -1 else "last" if day < 0 else str(day) for day in self._month_days()
        ]
        if self._rank == _YEARLY:
            if days and not ordinals and all(map(str.isdigit, days)):
                return self._dated(months, days, f"{clocks}{cycle}{weekdays}")
            if len(months) != 1:
                self._fail("INTERVAL", "of years has no fixed dates", "use BYMONTH with BYMONTHDAY from 1 on")
            cycle = f" every={12 * self._interval} anchor={self._begin().year}-{months[0]:02}-01"
        if ordinals or not days:
            if days:
                self._in_ordinals(days, ordinals)
            days = [day for nth in sorted(ordinals) for day in _ordinal_days(nth, "last-{}", "last")]
        days = days or [str(day) for day in range(1, 32)]
        return f"monthly {','.join(days)} {clocks}{cycle}{filtered}{weekdays}"

    def _dated(self, months: list[int], days: list[str], options: str) -> str:
        """Return the cadence of dates that a leap year has."""
        dates = [f"{month:02}-{int(day):02}" for month in months or range(1, 13) for day in days]
        if not (dates := [day for day in dates if not re.fullmatch(r"02-3\d|(?:04|06|09|11)-31", day)]):
            self._fail("INTERVAL", "of years has no date that exists", "use BYMONTH with BYMONTHDAY")
        return f"yearly {','.join(dates)} {options}"

    def _weeks(self) -> str:
        """Return the filter of the weeks of the month that have the days of BYMONTHDAY."""
        days = {*self._numbers("BYMONTHDAY")}
        weeks = [name for name, of_week in _DAYS_OF_WEEKS.items() if of_week <= days]
        if days != {day for name in weeks for day in _DAYS_OF_WEEKS[name]}:
            self._refuse("BYMONTHDAY")
        return f" weeks={','.join(weeks)}" * bool(weeks)

    def _refuse(self, name: str) -> None:
        if name in self._parts:
            self._fail(name, f"stands beside INTERVAL={self._interval}", "leave one of them out")

    def _check_week_start(self, codes: set[str]) -> None:
        """Reject another first day of the week than Monday, where it changes which weeks are chosen."""
        before = {*_CODES[: _CODES.index(self._parts.get("WKST", "MO"))]}
        if len({code in before for code in {*codes, self._code_of_start()}}) > 1:
            self._fail("WKST", "differs from Monday, on which weeks begin here", "use WKST=MO")

    def _within_days(self, start: datetime) -> str | None:
        """Return an interval of hours, minutes or seconds: a list of them, or elapsed time in UTC."""
        unit = _UNITS[self._rank]
        name, size = (("BYSECOND", 60), ("BYMINUTE", 60), ("BYHOUR", 24))[self._rank]
        if size % self._interval == 0 and name not in self._parts:
            first = (start.second, start.minute, start.hour)[self._rank] % self._interval
            self._parts[name] = ",".join(map(str, range(first, size, self._interval)))
            return None
        restricted = sorted(part for part in self._parts if part.startswith("BY"))
        if ((self._start and self._start.tz) or self._tz or "UTC") != "UTC" or restricted:
            part = restricted[0] if restricted else "INTERVAL"
            self._fail(
                part,
                "is no elapsed time in UTC, and does not divide an hour or a day",
                "use DTSTART in UTC without BY parts, or an interval that divides it",
            )
        step = self._interval * unit
        begin = start - timedelta(seconds=step)
        return f"interval {duration_text(step)} start={begin.isoformat()}Z"


def _lines(text: str) -> tuple[int, list[str]]:
    """Return the number of events, and the lines of the last of them, or those of the text."""
    text = re.sub(r"\r?\n[ \t]", "", text.strip())
    begin = r"^" if "\n" in text else r"\b"  # else it is pasted into a shell
    events: list[str] = re.findall(rf"(?ims){begin}BEGIN:VEVENT\s(.*?)\sEND:VEVENT\b", text)
    if events:
        text = re.sub(rf"(?ims){begin}BEGIN:(\w+)\s.*?\sEND:\1\b", "", events[-1])
    words = r"\s+(?=[A-Z][A-Z-]{4,}[;:]|FREQ=)"
    lines = re.split(r"\s*[\r\n]+\s*" + f"|{words}" * (not events or begin != "^"), text)
    return len(events), [line for line in lines if not events or _LEAST_CONTENT.match(line)]


def _listed(values: list[int] | None) -> str:
    if values is None or (values == [*range(60)]):
        return "*"
    return ",".join(map(str, values))


def _named(codes: set[str]) -> list[str]:
    return [WEEKDAYS[code] for code in _CODES if code in codes]


def _ordinal_days(nth: int, before: str, last: str) -> list[str]:
    """Return the days of a month that can be the n-th of a weekday; the first seven for 1."""
    if nth > 0:
        return [str(day) for day in range(7 * nth - 6, 7 * nth + 1) if day <= _LONGEST_MONTH]
    return [
        before.format(back) if back else last for back in range(7 * (-nth - 1), min(7 * -nth, _LONGEST_MONTH))
    ]


def _local_time(text: str, tz: str) -> tuple[str, str]:
    """Return the date and the time of day of a local time, or of an instant, in a zone."""
    at = datetime.fromisoformat(text)
    at = at if at.tzinfo is None else at.astimezone(ZoneInfo(tz))
    return f"{at.date()}", f"{at:%H:%M:%S}"
