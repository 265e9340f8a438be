"""What a change of an app's jobs would change: the jobs, and their runs in a span of time.

``duetime app diff --app module:name`` prints it. It compares the declarations alone: pauses and settings of
operators are in neither side.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby, islice
from typing import Any, Literal
from zoneinfo import ZoneInfo

from duetime.app import App
from duetime.cadence import Cadence, parse
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.model.cadence_set import CadenceSet
from duetime.model.job import JobRef, delay_key
from duetime.simulate import MOST

Kind = Literal["added", "removed", "changed"]

_FIELDS = (
    *("type", "overlap", "catch_up", "precision", "failure_threshold", "worker"),
    *("title", "category", "description", "payload"),
    *("deadline", "within", "every_success_within", "after", "after_timeout"),
)


@dataclass(frozen=True, slots=True)
class DeclaredJob:
    """A job as one side declares it.

    Attributes:
        fields: what is declared beside the cadences, by name; a name that one side does not know is not
            compared.
    """

    name: JobName
    cadences: tuple[Cadence, ...]
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tz(self) -> str:
        """The zone of its first cadence."""
        return next((cadence.tz for cadence in self.cadences), "UTC")


@dataclass(frozen=True, slots=True)
class JobDifference:
    """A job that differs.

    Attributes:
        changes: the name of what is declared otherwise, with the old and the new value.
        gained: the instants at which only the new one runs.
        lost: the instants at which only the old one runs.
        moved: pairs of a lost and a gained run of the same day.
        is_cut: whether a side has more runs than `duetime.simulate.MOST`.
        tz: the zone of the new one, in which its days are counted.
    """

    name: JobName
    kind: Kind
    changes: tuple[tuple[str, str, str], ...]
    gained: tuple[datetime, ...]
    lost: tuple[datetime, ...]
    moved: tuple[tuple[datetime, datetime], ...]
    is_cut: bool
    tz: str


def declared_by(app: App) -> dict[JobName, DeclaredJob]:
    """Return an app's jobs."""
    return {
        handler.job.name: DeclaredJob(
            handler.job.name,
            handler.cadences,
            {name: _value(name, getattr(handler.job, name)) for name in _FIELDS},
        )
        for handler in app.handlers.values()
        if handler.job
    }


def declared_in(view: Mapping[str, Any]) -> DeclaredJob:
    """Return a job as the admin API shows it.

    Raises:
        InvalidCadence: a cadence is of a newer release.
    """
    fields = {name: _value(name, view[name]) for name in _FIELDS if name in view}
    if view.get("redacted"):
        del fields["payload"]
    cadences = tuple(parse(cadence["text"]) for cadence in view["cadences"])
    return DeclaredJob(JobName(view["name"]), cadences, fields)


def differences(
    old: Mapping[JobName, DeclaredJob], new: Mapping[JobName, DeclaredJob], start: datetime, until: datetime
) -> Iterator[JobDifference]:
    """Yield the jobs that differ, by name, with their runs in (start, until]; intervals begin at `start`."""
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        changes = tuple(_changes(before, after)) if before and after else ()
        if before and after and not changes:
            continue
        old_runs, new_runs = (_runs(job, start, until) for job in (before, after))
        tz = (after or before or DeclaredJob(name, ())).tz
        gained, lost, moved = _paired(set(new_runs) - set(old_runs), set(old_runs) - set(new_runs), tz)
        kind: Kind = "added" if before is None else "removed" if after is None else "changed"
        is_cut = MOST in (len(old_runs), len(new_runs))
        yield JobDifference(name, kind, changes, gained, lost, moved, is_cut, tz)


def differences_of_runs(
    jobs: Mapping[JobName, DeclaredJob],
    old: Mapping[str, Sequence[datetime]],
    new: Mapping[str, Sequence[datetime]],
) -> Iterator[JobDifference]:
    """Yield the jobs whose runs differ, though their declarations are the same; `old` and `new` by job."""
    for name, job in sorted(jobs.items()):
        before, after = set(old.get(name, ())), set(new.get(name, ()))
        if before != after:
            gained, lost, moved = _paired(after - before, before - after, job.tz)
            is_cut = MOST in (len(before), len(after))
            yield JobDifference(name, "changed", (), gained, lost, moved, is_cut, job.tz)


def _value(name: str, value: Any) -> Any:
    if name == "payload" and isinstance(value, str):
        return json.loads(value)
    return str(value) if name == "overlap" else value


def _changes(old: DeclaredJob, new: DeclaredJob) -> Iterator[tuple[str, str, str]]:
    before, after = (" · ".join(cadence.text for cadence in job.cadences) for job in (old, new))
    if before != after:
        yield "cadences", before, after
    for name in _FIELDS:
        if name in old.fields and name in new.fields and old.fields[name] != new.fields[name]:
            yield name, _shown(old.fields[name]), _shown(new.fields[name])


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _runs(job: DeclaredJob | None, start: datetime, until: datetime) -> Sequence[datetime]:
    if job is None:
        return ()
    found = CadenceSet.anchored(job.cadences, start, delay_key(JobRef(SYSTEM_TENANT, job.name)))
    return [due.at for due in islice(found.between(start, until), MOST)]


def _paired(
    gained: set[datetime], lost: set[datetime], tz: str
) -> tuple[tuple[datetime, ...], tuple[datetime, ...], tuple[tuple[datetime, datetime], ...]]:
    """Return what is gained, lost and moved: of one day's, the first lost is paired with the first gained."""
    zone, pairs = ZoneInfo(tz), list[tuple[datetime, datetime]]()

    def day(at: datetime) -> date:
        return at.astimezone(zone).date()

    gained_by_day = {on: [*runs] for on, runs in groupby(sorted(gained), day)}
    for on, runs in groupby(sorted(lost), day):
        pairs += zip(runs, gained_by_day.get(on, ()), strict=False)
    moved_from, moved_to = {old for old, _ in pairs}, {new for _, new in pairs}
    return tuple(sorted(gained - moved_to)), tuple(sorted(lost - moved_from)), tuple(pairs)
