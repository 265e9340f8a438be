"""Two nights in Paris: the run times of each contender's own cron class, computed without waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from rivals.cell import Cell
from rivals.contender import NOTHING, Contender, Settings
from rivals.process import Process, Refused

PARIS = "Europe/Paris"
NIGHTS = (datetime(2027, 3, 28), datetime(2027, 10, 31))  # noqa: DTZ001 - in Paris
DAILY, HALF_HOURLY, NEVER = "30 2 * * *", "*/30 * * * *", "0 0 31 2 *"
HALF_AN_HOUR = timedelta(minutes=30)


def nights(contender: Contender, settings: Settings = NOTHING, suffix: str = "") -> Iterator[Cell]:
    """Yield the cells of both days, from midnight to midnight."""
    with contender.alone("cron", settings) as process:

        def runs(expression: str, day: datetime, days: int = 1) -> list[datetime]:
            start, end = (
                midnight.replace(tzinfo=ZoneInfo(PARIS)) for midnight in (day, day + timedelta(days=days))
            )
            span = {"start": _utc(start), "end": _utc(end)}
            times = process.request("runs", expression=expression, tz=PARIS, **span)
            return [datetime.fromisoformat(run) for run in times]

        for day in NIGHTS:
            yield Cell(f"{DAILY} in Paris, {day:%d %b %Y}, runs at{suffix}", words=_times(runs(DAILY, day)))
        for day in NIGHTS:
            yield Cell(
                f"{HALF_HOURLY} in Paris, {day:%d %b %Y}: runs{suffix}",
                words=_counted(runs(HALF_HOURLY, day), day),
            )
        yield Cell(
            f"{NEVER}, which never comes{suffix}", words=_of_never(process, lambda: runs(NEVER, NIGHTS[0]))
        )


def _utc(at: datetime) -> str:
    return at.astimezone(ZoneInfo("UTC")).isoformat()


def _times(runs: list[datetime]) -> str:
    return ", ".join(f"{run.astimezone(ZoneInfo(PARIS)):%H:%M %Z}" for run in runs) or "left out"


def _counted(runs: list[datetime], day: datetime) -> str:
    """Return the number of runs, and of the day's half hours."""
    start, end = (
        midnight.replace(tzinfo=ZoneInfo(PARIS)).astimezone(ZoneInfo("UTC"))
        for midnight in (day, day + timedelta(days=1))
    )
    due = (end - start) // HALF_AN_HOUR
    doubled = sum(count - 1 for count in Counter(runs).values())
    longest = max((b - a for a, b in pairwise([start - HALF_AN_HOUR, *runs, end])), default=timedelta(0))
    gap = f", a gap of {longest.total_seconds() / 3_600:g} h" if longest > HALF_AN_HOUR else ""
    return f"{len(runs)} of {due}{f', {doubled} doubled' if doubled else ''}{gap}"


def _of_never(process: Process, runs: Callable[[], object]) -> str:
    """Return whether it is rejected when declared, when computed, or never."""
    when = "refused"
    try:
        process.request("declare", expression=NEVER, tz=PARIS)
        when = "accepted, then"
        return "runs" if runs() else "accepted, never runs"
    except Refused as refused:
        return f"{when} {refused.kind}"
