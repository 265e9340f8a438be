"""The check of a whole app: what can be seen only when all of it is declared, and what would surprise later.

``duetime check --app module:name`` prints it; a test of one's own is ``assert not problems(app)``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

from duetime.app import App
from duetime.clock import SystemClock
from duetime.declare.handler import Handler, Signature
from duetime.declare.job_rules import read_cadences, refusals
from duetime.declare.resources import Factory
from duetime.errors import DuetimeError
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.job import Definition
from duetime.payload import Payload

if TYPE_CHECKING:
    from duetime.cadence import Cadence

LOOKED_AHEAD = 3
"""A cadence of times must be due as often again, or it will surprise somebody by its silence."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """A job as the check sees it."""

    definition: Definition
    where: str
    cadences: Mapping[str, str]
    """Each cadence's text, and what it says in words; empty if one cannot be read."""
    next: DueTime | None
    """None for a job that no time makes due any more."""
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    """What is worth a look, and may well be right."""


@dataclass(frozen=True, slots=True)
class TypeReport:
    """A payload type's handler as the check sees it."""

    name: str
    version: int
    where: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResourceReport:
    """A resource as the check sees it; it is not made for that."""

    name: str
    where: str
    needed_by: tuple[str, ...]
    """The functions that take it: handlers, and factories of other resources."""
    problems: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """As a job's."""
        return () if self.needed_by else ("nothing takes it",)


@dataclass(frozen=True, slots=True)
class Report:
    """All of an app's jobs, payload types and resources, by name."""

    jobs: tuple[JobReport, ...]
    types: tuple[TypeReport, ...]
    resources: tuple[ResourceReport, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """Each begins with the name that it is about."""
        return (
            *(f"{job.definition.name}: {problem}" for job in self.jobs for problem in job.problems),
            *(f"{type_.name}: {problem}" for type_ in self.types for problem in type_.problems),
            *(f"{resource.name}: {problem}" for resource in self.resources for problem in resource.problems),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """As `problems`."""
        return (
            *(f"{job.definition.name}: {note}" for job in self.jobs for note in job.notes),
            *(f"{resource.name}: {note}" for resource in self.resources for note in resource.notes),
        )


def problems(app: App, *, now: datetime | None = None) -> list[str]:
    """What is wrong with an app: one text each, with the name that it is about; empty if nothing is.

    Args:
        app: all of it, with whatever it includes.
        now: from when its cadences must be due again; this instant by default.
    """
    return list(report(app, now=now).problems)


def report(app: App, *, now: datetime | None = None) -> Report:
    """Look at every job and every payload type of an app; arguments as of `problems`."""
    at = now or SystemClock().now()
    handlers = [each for _, each in sorted(app.handlers.items())]
    return Report(
        jobs=tuple(_job(app, handler, handler.job, at) for handler in handlers if handler.job),
        types=tuple(
            TypeReport(handler.name, handler.version, handler.where, tuple(_of_handler(app, handler)))
            for handler in handlers
            if handler.payload and not handler.job
        ),
        resources=tuple(
            ResourceReport(each.name, each.where, _needing(app, each), tuple(app.unmet(each)))
            for each in sorted(app.resources.values(), key=lambda resource: resource.name)
        ),
    )


def _needing(app: App, resource: Factory) -> tuple[str, ...]:
    functions: list[Handler | Factory] = [*app.handlers.values(), *app.resources.values()]
    wanted = ((function.where, [want.annotation for want in function.wants]) for function in functions)
    return tuple(sorted(where for where, annotations in wanted if resource.makes in annotations))


def _job(app: App, handler: Handler, job: Definition, now: datetime) -> JobReport:
    try:
        cadences = read_cadences(job.cadences)
    except DuetimeError as refused:  # a definition that no decorator made
        return JobReport(job, handler.where, {}, None, (str(refused),), ())
    stacked = CadenceSet.of(tuple(cadence.text for cadence in cadences), now)
    return JobReport(
        definition=job,
        where=handler.where,
        cadences={cadence.text: cadence.describe() for cadence in cadences},
        next=next(stacked.after(now), None),
        problems=(
            *refusals(job, cadences),
            *(problem for cadence in stacked.cadences for problem in _silent(cadence, now)),
            *_of_handler(app, handler),
        ),
        notes=tuple(note for cadence in stacked.cadences for note in _notes(cadence, now)),
    )


def _silent(cadence: Cadence, now: datetime) -> Iterator[str]:
    """A cadence that runs out: its calendar ends, or its year is over. One that is due once does so as it should."""
    if _is_endless(cadence):
        left = len(list(islice(_after(cadence, now), LOOKED_AHEAD)))
        if left < LOOKED_AHEAD:
            yield f"{cadence.text!r} is due {left} more time{'' if left == 1 else 's'}, then never again"


def _notes(cadence: Cadence, now: datetime) -> Iterator[str]:
    from duetime.cadence import Cron, cadence_warnings, compare_with_croniter  # noqa: PLC0415 - croniter is for who checks, no worker

    yield from (f"{cadence.text!r}: {surprise}" for surprise in cadence_warnings(cadence))
    if isinstance(cadence, Cron):
        yield from (f"{cadence.text!r}: {each}" for each in islice(compare_with_croniter(cadence), 1))
    elif _is_once(cadence) and cadence.next_after(now) is None:
        yield f"{cadence.text!r} is over: it is due no more"


def _after(cadence: Cadence, now: datetime) -> Iterator[datetime]:
    at = cadence.next_after(now)
    while at is not None:
        yield at
        at = cadence.next_after(at)


def _is_endless(cadence: Cadence) -> bool:
    from duetime.cadence.triggers import TriggerCadence  # noqa: PLC0415 - as above

    return not isinstance(cadence, TriggerCadence) and not _is_once(cadence)


def _is_once(cadence: Cadence) -> bool:
    from duetime.cadence._once import Once  # noqa: PLC0415 - as above

    return isinstance(cadence, Once)


def _of_handler(app: App, handler: Handler) -> Iterator[str]:
    """What a function takes, as it reads now that all its module is defined; and the payloads that it would be given."""
    takes = Signature.of(handler.function)
    if takes.payload is not handler.payload or takes.wants != handler.wants or not takes.are_few:
        yield f"{handler.where} takes other parameters than when it was registered"
    yield from app.unmet(handler)
    if handler.payload is None:
        return
    yield from _unreadable("its example", handler, _examples(handler.payload))
    if handler.job and handler.job.payload is not None:
        yield from _unreadable("its payload", handler, [handler.job.payload])


def _examples(payload: type[Payload]) -> list[str]:
    """The examples that a model gives in its JSON schema."""
    return [json.dumps(each) for each in payload.model_json_schema().get("examples", ())]


def _unreadable(what: str, handler: Handler, written: Iterable[str]) -> Iterator[str]:
    for each in written:
        try:
            handler.read(each)
        except DuetimeError as refused:
            yield f"{what} is not what {handler.where} takes: {refused}"
