"""The check of a complete app: problems that only show after all declarations, and warnings.

``duetime app check --app module:name`` prints it. In your own tests, use ``assert not problems(app)``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any

from pydantic.errors import PydanticUserError

from duetime._english import plural
from duetime.app import App
from duetime.cadence import Cadence, Cron, cadence_warnings, compare_with_croniter, parse
from duetime.cadence._daily import Once
from duetime.cadence.triggers import TriggerCadence
from duetime.cadence.words import duration_words
from duetime.clock import SystemClock
from duetime.declare.after_rules import chain_refusals
from duetime.declare.example_payload import example_of
from duetime.declare.handler import Handler
from duetime.declare.job_rules import refusals
from duetime.declare.resources import Factory
from duetime.declare.signature import Signature
from duetime.errors import DuetimeError, InvalidPayload
from duetime.ids import SYSTEM_TENANT
from duetime.model.cadence_set import CadenceSet, DueTime
from duetime.model.deadline import deadline_at
from duetime.model.job import Definition, JobRef, delay_key
from duetime.payload import Payload

LOOKED_AHEAD, _NO_MORE = 3, "it has no further due time"
"""Further occurrences of a recurring cadence that the check requires."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """The findings on a job.

    Attributes:
        where: the location of its function.
        cadences: each cadence's text, with its description.
        next: None for a job without further due times.
        notes: warnings that may be harmless.
    """

    definition: Definition
    where: str
    cadences: Mapping[str, str]
    next: DueTime | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def deadline(self) -> str:
        """The deadline of its next due time, and the longest time without a success; empty without both."""
        definition, words = self.definition, list[str]()
        tz = {cadence.name: cadence.tz for cadence in map(parse, self.cadences)}
        at = self.next and deadline_at(definition, self.next.at, tz[self.next.cadences[0]])
        if at:
            words.append(f"{at:%Y-%m-%dT%H:%M:%SZ}")
        if definition.every_success_within is not None:
            words.append(f"a success every {duration_words(definition.every_success_within)}")
        return "; ".join(words)


@dataclass(frozen=True, slots=True)
class TypeReport:
    """The findings on a payload type's handler."""

    name: str
    version: int
    where: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResourceReport:
    """The findings on a resource, which the check does not create.

    Attributes:
        needed_by: the handlers and factories with a parameter of its type.
    """

    name: str
    where: str
    needed_by: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings that may be harmless."""
        return () if self.needed_by else ("no function uses it",)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings on all of an app's jobs, payload types and resources, by name."""

    jobs: tuple[JobReport, ...]
    types: tuple[TypeReport, ...]
    resources: tuple[ResourceReport, ...] = ()

    @property
    def problems(self) -> tuple[str, ...]:
        """All problems, each after the name of its subject."""
        return (
            *(f"{job.definition.name}: {problem}" for job in self.jobs for problem in job.problems),
            *(f"{type_.name}: {problem}" for type_ in self.types for problem in type_.problems),
            *(f"{resource.name}: {problem}" for resource in self.resources for problem in resource.problems),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """All notes, each after the name of its subject."""
        return (
            *(f"{job.definition.name}: {note}" for job in self.jobs for note in job.notes),
            *(f"{resource.name}: {note}" for resource in self.resources for note in resource.notes),
        )


def problems(app: App, *, now: datetime | None = None) -> list[str]:
    """Return the problems of an app, each after the name of its subject; empty without any.

    Args:
        app: the complete app, with all that it includes.
        now: its cadences must be due after this instant; by default the current time.
    """
    return list(report(app, now=now).problems)


def report(app: App, *, now: datetime | None = None) -> Report:
    """Return the findings on every job, payload type and resource of an app; arguments as of `problems`."""
    at = now or SystemClock().now()
    handlers = [handler for _, handler in sorted(app.handlers.items())]
    return Report(
        jobs=tuple(_job(app, handler, handler.job, at) for handler in handlers if handler.job),
        types=tuple(
            TypeReport(handler.name, handler.version, handler.where, tuple(_of_handler(app, handler)))
            for handler in handlers
            if handler.payload and not handler.job
        ),
        resources=tuple(
            ResourceReport(
                resource.name, resource.where, _needing(app, resource), tuple(app.missing(resource))
            )
            for resource in sorted(app.resources.values(), key=lambda resource: resource.name)
        ),
    )


def _needing(app: App, resource: Factory) -> tuple[str, ...]:
    functions: list[Handler | Factory] = [*app.handlers.values(), *app.resources.values()]
    return tuple(
        sorted(
            function.where
            for function in functions
            if resource.makes in [want.annotation for want in function.wants]
        )
    )


def _job(app: App, handler: Handler, job: Definition, now: datetime) -> JobReport:
    cadence_set = CadenceSet.anchored(handler.cadences, now, delay_key(JobRef(SYSTEM_TENANT, job.name)))
    return JobReport(
        definition=job,
        where=handler.where,
        cadences={cadence.text: cadence.describe() for cadence in handler.cadences},
        next=next(cadence_set.after(now), None),
        problems=(
            *refusals(job, handler.cadences),
            *chain_refusals(job, partial(_definition_of, app), _job_names(app)),
            *(problem for cadence in cadence_set.cadences for problem in _ending(cadence, now)),
            *_of_handler(app, handler),
        ),
        notes=tuple(note for cadence in cadence_set.cadences for note in _notes(cadence, now)),
    )


def _definition_of(app: App, name: str) -> Definition | None:
    handler = app.handlers.get(name)
    return None if handler is None else handler.job


def _job_names(app: App) -> list[str]:
    return [handler.name for handler in app.handlers.values() if handler.job]


def _ending(cadence: Cadence, now: datetime) -> Iterator[str]:
    """Yield the problem of a recurring cadence that ends, though it names no end: its calendar is over."""
    if not _names_its_end(cadence) and not isinstance(cadence, TriggerCadence):
        left = len(list(islice(CadenceSet((cadence,)).after(now), LOOKED_AHEAD)))
        if left < LOOKED_AHEAD:
            yield f"{cadence.text!r} is due {left} more {plural(left, 'time')}, then never again"


def _names_its_end(cadence: Cadence) -> bool:
    bounds = cadence.modifiers.bounds
    return isinstance(cadence, Once) or (bounds is not None and bool(bounds.end or bounds.count))


def _notes(cadence: Cadence, now: datetime) -> Iterator[str]:
    yield from (f"{cadence.text!r}: {warning}" for warning in cadence_warnings(cadence, now))
    if isinstance(cadence, Cron):
        yield from (
            f"{cadence.text!r}: {disagreement}" for disagreement in islice(compare_with_croniter(cadence), 1)
        )
    if _names_its_end(cadence) and cadence.next_after(now) is None:
        yield f"{cadence.text!r} is over: {CadenceSet((cadence,)).used_up(now) or _NO_MORE}"


def _of_handler(app: App, handler: Handler) -> Iterator[str]:
    """Yield problems of a function's parameters, read again now, and of its payloads."""
    signature = Signature.from_function(handler.function)
    is_valid = signature.takes_many if handler.takes_many else signature.is_valid
    if signature.payload is not handler.payload or signature.wants != handler.wants or not is_valid:
        yield f"{handler.where} has other parameters than at its registration"
    yield from app.missing(handler)
    if handler.payload is None:
        return
    try:
        schema = handler.payload.model_json_schema()
    except PydanticUserError as error:
        yield f"{handler.payload.__name__} has no JSON schema, which the API needs: {error.message}"
        return
    yield from _unreadable(handler, handler.payload, schema.get("examples", ()))
    if handler.job and handler.job.payload is not None:
        try:
            handler.read(handler.job.payload)
        except DuetimeError as error:
            yield f"its payload is not what {handler.where} takes: {error}"
    yield from list(_lost(handler.payload, schema)) or dict.fromkeys(_changed(handler.payload))


def _unreadable(handler: Handler, payload: type[Payload], examples: Iterable[object]) -> Iterator[str]:
    for example in examples:
        try:
            payload.from_json(json.dumps(example), by_alias=True).to_json()
        except DuetimeError as error:
            yield f"its example is not what {handler.where} takes: {error}"


def _lost(payload: type[Payload], schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield a problem for each field with values that are not stored, or are read back as others."""
    for name, field in payload.model_fields.items():
        if field.exclude:
            yield f"{payload.__name__}.{name} is excluded when a payload is written, so its values are lost"
    for model in (schema, *schema.get("$defs", {}).values()):
        for name, field in model.get("properties", {}).items():
            if '"writeOnly": true' in json.dumps(field):
                yield (
                    f"{model.get('title')}.{name} holds a secret, which is written as asterisks: use a text,"
                    " and declare the field as sensitive"
                )


def _changed(payload: type[Payload]) -> Iterator[str]:
    """Yield the problems of examples that cannot be scheduled."""
    for is_full in (False, True):
        try:
            if example := example_of(payload, is_full=is_full):
                payload.from_json(example, by_alias=True).to_json()
        except InvalidPayload as error:
            yield from (f"{payload.__name__}.{problem}" for problem in error.problems)
