"""Declaring a job: a function, its cadences and what else its decorator says become a handler with a definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from duetime.cadence.errors import InvalidCadence, nearest
from duetime.declare.handler import Function, Handler, Signature, where_of
from duetime.declare.job_options import JobOptions
from duetime.declare.job_rules import has_times, overlap_of, read_cadences, refusals
from duetime.errors import DeclarationError, InvalidIdentifier, InvalidPayload
from duetime.ids import JobName, job_name
from duetime.model.job import Definition
from duetime.payload import Payload, kebab
from duetime.retry import policy

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence


def options_of(function: Function, timeout: timedelta, said: Mapping[str, Any]) -> JobOptions:
    """The options that a decorator was given.

    Raises:
        DeclarationError: a job has no such option.
    """
    known = [field.name for field in fields(JobOptions)]
    for name in said:
        if name not in known:
            remedy = (
                'say it of a cadence, as in cron(…, tz="Europe/Paris"), or of all: App(default_tz="Europe/Paris")'
                if name in ("tz", "timezone", "default_tz")
                else nearest(name, known) or f"its options are {', '.join(known)}"
            )
            raise DeclarationError(f"{where_of(function)}: a job takes no {name}=; {remedy}")
    return JobOptions(timeout=timeout, **said)


@dataclass(frozen=True, slots=True)
class JobDefaults:
    """What an app gives to each job that it declares."""

    worker: str
    default_tz: str | None


def job_handler_of(
    function: Function, cadences: Iterable[Cadence | str], options: JobOptions, home: JobDefaults
) -> Handler:
    """The handler of a job, with its definition.

    Raises:
        DeclarationError: it cannot work as it is said.
        InvalidCadence: a cadence's text is mistyped, or says one that never fires.
    """
    takes = _takes(function)
    try:
        read = read_cadences(cadences, default_tz=home.default_tz)
        definition = _definition(function, takes, read, options, home)
    except InvalidCadence as refused:
        raise type(refused)(
            refused.text,
            f"{where_of(function)}: {refused.problem}",
            refused.remedy,
            start=refused.start,
            width=refused.width,
        ) from None
    except (DeclarationError, InvalidPayload) as refused:
        raise DeclarationError(f"{where_of(function)}: {refused}") from None
    return Handler(
        name=definition.name,
        function=function,
        payload=takes.payload,
        payload_parameter=next(iter(takes.payloads), None),
        run_parameter=next(iter(takes.runs), None),
        retry=policy(options.retry),
        timeout=options.timeout,
        job=definition,
        options=options,
        wants=takes.wants,
    )


def stacked_on(
    standing: Handler, cadences: Iterable[Cadence | str], options: JobOptions, home: JobDefaults
) -> Handler:
    """The handler of a job that one more decorator gives cadences to.

    Raises:
        DeclarationError: it says more than cadences: which of two decorators would be right?
        InvalidCadence: as above.
    """
    if options != JobOptions() or standing.job is None or standing.options is None:
        raise DeclarationError(
            f"{standing.where} is the job {standing.name!r} already: say its options in the lowest decorator;"
            " those above it add cadences and no more"
        )
    return job_handler_of(standing.function, (*standing.job.cadences, *cadences), standing.options, home)


def _takes(function: Function) -> Signature:
    if (function.__module__ or "").startswith("duetime.cadence"):
        raise DeclarationError(
            f"{where_of(function)} is no job; call it to say a cadence: @app.job(manual())"
        )
    takes = Signature.from_function(function)
    if not takes.is_valid:
        raise DeclarationError(
            f"{where_of(function)} may take one parameter annotated with a subclass of Payload, one annotated with Run,"
            f" some with the types of resources, and no other without a default: say (run: Run){takes.problem}"
        )
    return takes


def _definition(
    function: Function, takes: Signature, cadences: Sequence[Cadence], options: JobOptions, home: JobDefaults
) -> Definition:
    name = _name_of(function) if options.name is None else JobName(options.name)
    definition = Definition(
        name=name,
        type=name,
        cadences=tuple(cadence.text for cadence in cadences),
        payload=_payload(takes, cadences, options.payload),
        payload_version=takes.payload.type_version if takes.payload else 1,
        retry=policy(options.retry).text(),
        overlap=overlap_of(options.overlap, cadences),
        catch_up=options.catch_up,
        precision=options.precision,
        failure_threshold=options.failure_threshold,
        title=options.title,
        category=options.category,
        description=options.description,
        worker=home.worker,
    )
    if problems := list(refusals(definition, cadences)):
        raise DeclarationError("; ".join(problems))
    return definition


def _name_of(function: Function) -> JobName:
    """Made of the last part of the module and the function: ``billing.nightly.cleanup_old`` is ``nightly-cleanup-old``."""
    module, name = function.__module__.rpartition(".")[2], getattr(function, "__name__", "")
    made = "-".join(part for part in kebab(f"{module}_{name}").replace("_", "-").split("-") if part)
    try:
        return job_name(made)
    except InvalidIdentifier as refused:
        raise DeclarationError(f"{refused}; say name='billing-nightly-cleanup' or another") from None


def _payload(takes: Signature, cadences: Sequence[Cadence], given: Payload | None) -> str | None:
    """What its occurrences are given, as JSON."""
    if takes.payload is None:
        if given is not None:
            raise DeclarationError("payload= is given, but it takes none: annotate a parameter with its type")
        return None
    wanted = takes.payload.__name__
    if given is None:
        if has_times(cadences):
            raise DeclarationError(
                f"it takes a {wanted}, and times make it due: say payload={wanted}(…), which each run is given"
            )
        return None
    if type(given) is not takes.payload:
        raise DeclarationError(f"payload is a {type(given).__name__}, but it takes a {wanted}")
    return given.to_json()
