"""One check with its probes: scheduled, followed and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from duetime import instant
from duetime._english import counted
from duetime.errors import DuetimeError
from duetime.model.built_in import worker_of
from duetime.verify.lab import FINAL, Json, Lab

State = Literal["ok", "failed", "skipped"]

SECOND = timedelta(seconds=1)
PATIENCE = 90 * SECOND
"""How late a probe may end. A wake that the sweep must repeat comes later than this."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_LEAD = 8 * SECOND
"""Probes are due this long after they are scheduled, so that they wait in a queue."""


class Result(NamedTuple):
    """The result of one check."""

    name: str
    state: State
    expected: str
    actual: str
    remedy: str = ""


class Failed(Exception):
    """The rows of a check are not as expected; the message is the actual result."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check: what it schedules, what follows, and the judgement of its rows, which may raise `Failed`."""

    name: str
    expected: str
    start: Callable[[Trial], object]
    judge: Callable[[Trial], str]
    step: Callable[[Trial], object] = lambda trial: trial
    is_over: Callable[[Trial], bool] = lambda trial: all(row["status"] in FINAL for row in trial.rows)
    remedy: str = "duetime doctor"


@dataclass(slots=True)
class Trial:
    """One check with the probes of one worker."""

    lab: Lab
    check: Check
    type: str
    ids: list[str] = field(default_factory=list)
    until: datetime = _LONG_AGO
    """When it ends at the latest, by the API's clock."""
    has_acted: bool = False
    """Whether `Check.step` has done its part."""
    problem: str = ""
    """Why it could not be started or followed."""

    @property
    def rows(self) -> list[Json]:
        """The newest rows of its probes."""
        return [self.lab.rows[probe_id] for probe_id in self.ids]

    @property
    def name(self) -> str:
        """The check's name, with the worker."""
        return f"{self.check.name} ({worker_of(self.type)})"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen, or its time is over."""
        return bool(self.problem) or self.lab.now() >= self.until or self.check.is_over(self)

    def start(self) -> None:
        """Schedule its probes."""
        self._run(self.check.start)

    def step(self) -> None:
        """Do what follows the newest rows."""
        self._run(self.check.step)

    def result(self) -> Result:
        """Return the result; a probe that has not ended in time fails the check."""
        check, problem = self.check, self.problem
        if not problem:
            try:
                return Result(self.name, "ok", check.expected, check.judge(self))
            except Failed as failed:
                problem = str(failed)
        return Result(self.name, "failed", check.expected, problem, check.remedy)

    def schedule(self, due_at: datetime, *, key: str | None = None, **payload: Any) -> Json:
        """Schedule a probe; `key` is its concurrency key."""
        row = self.lab.schedule(self.type, due_at, key=key, **payload)
        self.ids.append(row["id"])
        self.waits_for(due_at)
        return row

    def waits_for(self, due_at: datetime) -> None:
        """Give probes due at `due_at` their time to end."""
        self.until = max(self.until, due_at + PATIENCE)

    def soon(self) -> datetime:
        """Return a whole second, a few seconds ahead."""
        return instant.floor(self.lab.now() + _LEAD, SECOND) + SECOND

    def between_seconds(self) -> datetime:
        """Return half a second after `soon`: a message in phase shows whether its delay ends exactly."""
        return self.soon() + SECOND / 2

    def _run(self, act: Callable[[Trial], object]) -> None:
        try:
            act(self)
        except DuetimeError as error:
            self.problem = str(error)


def settled(row: Json, status: str) -> None:
    """Check the final status of a row.

    Raises:
        Failed: it has another.
    """
    if row["status"] not in FINAL:
        raise Failed(f"{row['id']} is still {row['status']}, due {row['due_at']}")
    if row["status"] != status:
        raise Failed(f"{row['id']} is {row['status']}: {row['failure_reason'] or row['note'] or '-'}")


def executed_once(rows: Iterable[Json]) -> None:
    """Check that each ran once, and not before it was due.

    Raises:
        Failed: one did not.
    """
    for row in rows:
        settled(row, "executed")
        if len(row["attempts"]) != 1:
            raise Failed(f"{counted(len(row['attempts']), 'run')} of {row['id']}")
        if lateness(row) < timedelta(0):
            raise Failed(f"{row['id']} ran {-milliseconds(lateness(row)):.0f} ms before it was due")


def outcomes(row: Json, expected: Sequence[str]) -> str:
    """Return the outcomes of a row's runs.

    Raises:
        Failed: they are others.
    """
    found = [attempt["outcome"] for attempt in row["attempts"]]
    actual = f"{counted(len(found), 'run')}: {', '.join(found)}"
    if found != [*expected]:
        raise Failed(actual)
    return actual


def lateness(row: Json) -> timedelta:
    """Return how long after its due time the last run began."""
    return instant.parse(row["attempts"][-1]["started_at"]) - instant.parse(row["due_at"])


def milliseconds(span: timedelta) -> float:
    """Return a time span in milliseconds."""
    return span / timedelta(milliseconds=1)
