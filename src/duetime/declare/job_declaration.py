"""Declare a job: make a handler with a definition from a function, its cadences and its options."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from duetime.cadence.errors import InvalidCadence
from duetime.declare.handler import USUAL_TIMEOUT, Handler, timeout_of
from duetime.declare.job_options import JobOptions, check_names, with_options
from duetime.declare.job_rules import read_cadences, refusals
from duetime.declare.signature import Function, Signature, where_of
from duetime.declare.timed_cadences import has_times
from duetime.errors import DeclarationError, InvalidArgument, InvalidPayload
from duetime.ids import JobName, job_name
from duetime.model.job import Definition
from duetime.payload import Payload, kebab
from duetime.retry import policy

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence


@dataclass(frozen=True, slots=True)
class JobDefaults:
    """The app's values for each of its jobs."""

    worker: str
    default_tz: str | None


def job_handler_of(
    function: Function, cadences: Iterable[Cadence | str], options: JobOptions, home: JobDefaults
) -> Handler:
    """Return the handler of a job, with its definition.

    Raises:
        DeclarationError: it cannot work as declared.
        InvalidCadence: a cadence's text is mistyped, or it never fires.
    """
    takes = _takes(function)
    try:
        check_names(options, JobOptions.__annotations__)
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
        retry=policy(options.get("retry")),
        timeout=timeout_of(function, options.get("timeout", USUAL_TIMEOUT)),
        job=definition,
        cadences=read,
        options=options,
        wants=takes.wants,
    )


def stacked_on(
    lower: Handler, cadences: Iterable[Cadence | str], options: JobOptions, home: JobDefaults
) -> Handler:
    """Return the handler of a job with the cadences of one more decorator.

    Raises:
        DeclarationError: it has options beside its cadences, which may contradict the other decorator.
        InvalidCadence: see `job_handler_of`.
    """
    if options or lower.job is None or lower.options is None:
        raise DeclarationError(
            f"{lower.where} is the job {lower.name!r} already: pass its options to the lowest decorator;"
            " those above it add cadences only"
        )
    return job_handler_of(lower.function, (*lower.cadences, *cadences), lower.options, home)


def _takes(function: Function) -> Signature:
    if (function.__module__ or "").startswith("duetime.cadence"):
        raise DeclarationError(
            f"{where_of(function)} is no job; call it to make a cadence: @app.job(manual())"
        )
    takes = Signature.from_function(function)
    if not takes.is_valid:
        raise DeclarationError(
            f"{where_of(function)} may take one parameter annotated with a subclass of Payload,"
            " one annotated with Run, some with the types of resources,"
            f" and no other without a default: write (run: Run){takes.problem}"
        )
    return takes


def _definition(
    function: Function, takes: Signature, cadences: Sequence[Cadence], options: JobOptions, home: JobDefaults
) -> Definition:
    given = options.get("name")
    name = _name_of(function) if given is None else JobName(given)
    definition = Definition(
        name=name,
        type=name,
        cadences=(),
        payload=_payload(takes, cadences, options.get("payload")),
        payload_version=takes.payload.type_version if takes.payload else 1,
        retry=policy(options.get("retry")).text(),
        worker=home.worker,
    )
    definition = with_options(definition, options, cadences)
    if problems := list(refusals(definition, cadences)):
        raise DeclarationError("; ".join(problems))
    return definition


def _name_of(function: Function) -> JobName:
    """Return the name from the last part of the module and the function.

    ``billing.nightly.cleanup_old`` is ``nightly-cleanup-old``.
    """
    module, name = function.__module__.rpartition(".")[2], getattr(function, "__name__", "")
    made = "-".join(part for part in kebab(f"{module}_{name}").replace("_", "-").split("-") if part)
    try:
        return job_name(made)
    except InvalidArgument as refused:
        raise DeclarationError(f"{refused}; pass name='billing-nightly-cleanup' or another") from None


def _payload(takes: Signature, cadences: Sequence[Cadence], given: Payload | None) -> str | None:
    if takes.payload is None:
        if given is not None:
            raise DeclarationError("payload= is given, but it takes none: annotate a parameter with its type")
        return None
    type_name = takes.payload.__name__
    if given is None:
        if has_times(cadences):
            raise DeclarationError(
                f"it takes a {type_name}, and its cadences have times:"
                f" pass payload={type_name}(…), for each run"
            )
        return None
    if type(given) is not takes.payload:
        raise DeclarationError(f"payload is a {type(given).__name__}, but it takes a {type_name}")
    return given.to_json()
