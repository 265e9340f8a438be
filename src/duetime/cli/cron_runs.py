"""The runs that cron itself would start: an evaluator that shares no code with duetime's cadences.

It follows Debian's cron(8) and crontab(5). A command whose minute or hour begins with a star follows the wall
clock. Any other that the clocks skip, by up to three hours, runs right after the gap, and runs once in a
repeated hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NAMES = {
    **{name: n for n, name in enumerate(_MONTHS, start=1)},
    **{name: n for n, name in enumerate(_WEEKDAYS)},
}
_YEARS = 30


def cron_runs(schedule: str, tz: str, after: datetime, *, day_rule: str = "cron") -> Iterator[datetime]:
    """Yield the runs after an instant, in UTC, for thirty years.

    Args:
        schedule: five fields, or a macro.
        tz: the machine's zone.
        after: an aware instant.
        day_rule: ``and`` or ``or`` in place of cron's own rule.
    """
    fields = _MACROS.get(schedule.lower(), schedule).lower().split()
    minutes, hours, days, months, weekdays = (
        _values(text, *bounds) for text, bounds in zip(fields, _RANGES, strict=True)
    )
    weekdays = {number % 7 for number in weekdays}
    must_match_both = "*" in (fields[2][0], fields[4][0]) if day_rule == "cron" else day_rule == "and"
    if "*" in (fields[2], fields[4]):
        must_match_both = True
    zone, follows_clock = ZoneInfo(tz), fields[0][0] == "*" or fields[1][0] == "*"
    times = [time(hour, minute) for hour in sorted(hours) for minute in sorted(minutes)]
    day = after.astimezone(zone).date() - timedelta(days=1)
    for _ in range(_YEARS * 366):
        in_date, in_week = day.day in days, day.isoweekday() % 7 in weekdays
        is_day = in_date and in_week if must_match_both else in_date or in_week
        if is_day and day.month in months:
            runs = {run for at in times for run in _instants(day, at, zone, follows_clock=follows_clock)}
            yield from (run for run in sorted(runs) if run > after)
        day += timedelta(days=1)


def _instants(day: date, at: time, zone: ZoneInfo, *, follows_clock: bool) -> Iterator[datetime]:
    local = datetime.combine(day, at)
    first, second = (local.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        yield first
    elif first < second:  # the time comes twice
        yield first
        if follows_clock:
            yield second
    elif not follows_clock:  # the clocks skip it: `second` has the offset after the gap
        yield _end_of_gap(second, first, zone)


def _end_of_gap(low: datetime, high: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant between two at which the offset changes."""
    before = low.astimezone(zone).utcoffset()
    while high - low > timedelta(seconds=1):
        middle = low + (high - low) / 2
        low, high = (middle, high) if middle.astimezone(zone).utcoffset() == before else (low, middle)
    return high.replace(microsecond=0)


def _values(text: str, low: int, high: int) -> set[int]:
    found = set[int]()
    for item in text.split(","):
        values, _, step = item.partition("/")
        first, _, last = (f"{low}-{high}" if values == "*" else values).partition("-")
        begin = _number(first)
        end = _number(last) if last else high if step else begin
        found |= set(range(begin, end + 1, int(step or 1)))
    return found


def _number(text: str) -> int:
    return _NAMES[text] if text in _NAMES else int(text)
