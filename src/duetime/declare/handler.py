"""The handler: a function that code registers for a payload type or as a job."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any

from duetime.declare.job_options import JobOptions
from duetime.declare.job_rules import RESERVED
from duetime.errors import DeclarationError, InvalidPayload
from duetime.model.job import Definition
from duetime.model.run import Run, RunTimedOut
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy, duration

if TYPE_CHECKING:  # imported where a job is declared: an app without jobs loads no cadence
    from duetime.cadence import Cadence

Function = Callable[..., Any]
_NOTHING: Mapping[str, object] = MappingProxyType({})

LONGEST_RUN = timedelta(minutes=15)
"""Lambda ends a function after 15 minutes."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A parameter that a resource of its exact type fills."""

    name: str
    annotation: Any
    has_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A registered function, with its parameters and its retry policy.

    Attributes:
        name: the name in rows: its payload type's name, or its job's.
        payload: None for a job without payload.
        job: the job's definition; None for the handler of a payload type.
        cadences: the job's cadences, whose texts are in its definition.
        options: the options of the job's lowest decorator.
        wants: the parameters that resources fill.
    """

    name: str
    function: Function
    payload: type[Payload] | None
    payload_parameter: str | None
    run_parameter: str | None
    retry: RetryPolicy
    timeout: timedelta
    job: Definition | None = None
    cadences: tuple[Cadence, ...] = ()
    options: JobOptions | None = None
    wants: tuple[Dependency, ...] = ()

    @property
    def where(self) -> str:
        """Where it is defined, for messages."""
        return where_of(self.function)

    @property
    def version(self) -> int:
        """The newest version of its payload that it reads; 1 if it takes none."""
        return self.payload.type_version if self.payload else 1

    @property
    def is_in_events(self) -> bool:
        """Whether lifecycle events may contain its payload."""
        return self.payload is not None and self.payload.type_is_in_events

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The paths of its payload's sensitive fields."""
        return self.payload.type_sensitive if self.payload else ()

    def read(self, written: str | None, version: int | None = None) -> Payload | None:
        """Parse the payload of a row; return None if the function takes none.

        Args:
            written: the payload as JSON.
            version: the payload's version; the handler's own by default.

        Raises:
            InvalidPayload: its model rejects it, or there is none.
        """
        if self.payload is None:
            return None
        if written is None:
            raise InvalidPayload(self.name, [f"there is none; {self.where} takes one"])
        return self.payload.from_json(written, version=version)

    def __call__(self, payload: Payload | None, run: Run, resources: Mapping[str, object] = _NOTHING) -> None:
        """Run the function, on a new event loop if it is async; its exceptions pass through.

        Args:
            payload: the action's payload.
            run: the facts of this attempt.
            resources: by the names of its parameters.
        """
        given = dict(resources)
        if self.payload_parameter is not None:
            given[self.payload_parameter] = payload
        if self.run_parameter is not None:
            given[self.run_parameter] = run
        if inspect.iscoroutinefunction(self.function):
            import asyncio  # noqa: PLC0415 - only for async handlers

            raised: list[BaseException] = []
            asyncio.run(self._caught(given, run, raised))
            if raised:
                raise raised[0]
        else:
            self.function(**given)

    async def _caught(self, given: dict[str, object], run: Run, raised: list[BaseException]) -> None:
        """Keep the exception away from the event loop, which calls its ``repr()``, and exits for some."""
        try:
            await self._awaited(given, run)
        except BaseException as error:  # noqa: BLE001 - raised again outside of the loop
            raised.append(error)

    async def _awaited(self, given: dict[str, object], run: Run) -> None:
        import asyncio  # noqa: PLC0415 - loaded already

        left = (run.deadline - run.now()).total_seconds()
        try:
            async with asyncio.timeout(left) as limit:
                await self.function(**given)
        except TimeoutError:
            if limit.expired():
                raise RunTimedOut(run.deadline) from None
            raise


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, from its annotations.

    Attributes:
        wants: parameters for resources; the complete app checks that it has them.
        others: parameters that duetime cannot fill.
    """

    payloads: tuple[str, ...]
    runs: tuple[str, ...]
    wants: tuple[Dependency, ...]
    others: tuple[str, ...]
    payload: type[Payload] | None

    @classmethod
    def from_function(cls, function: Function) -> Signature:
        """Read the signature of a function.

        Raises:
            DeclarationError: an annotation cannot be resolved.
        """
        annotations = annotations_of(function)
        parameters = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in _VARIADIC
        ]
        named = [parameter for parameter in parameters if parameter.kind in _NAMED]
        payloads = tuple(
            parameter.name for parameter in named if _is_a(annotations.get(parameter.name), Payload)
        )
        runs = tuple(parameter.name for parameter in named if _is_a(annotations.get(parameter.name), Run))
        wants = tuple(
            Dependency(parameter.name, annotations[parameter.name], parameter.default is not parameter.empty)
            for parameter in named
            if may_be_a_resource(annotations.get(parameter.name))
        )
        filled = {*payloads, *runs, *(want.name for want in wants)}
        others = tuple(
            parameter.name
            for parameter in parameters
            if parameter.name not in filled
            and (parameter.default is parameter.empty or _hints(annotations.get(parameter.name)))
        )
        return cls(payloads, runs, wants, others, annotations[payloads[0]] if payloads else None)

    @property
    def is_valid(self) -> bool:
        """Whether there is at most one payload and one run, and no unknown parameter."""
        return len(self.payloads) <= 1 and len(self.runs) <= 1 and not self.others

    @property
    def problem(self) -> str:
        """The unknown parameters, for messages."""
        return f"; it has {', '.join(self.others)}" if self.others else ""


def handler_of(function: Function, retry: RetryPolicy, timeout: timedelta) -> Handler:
    """Return the handler of the payload type that a function signature.

    Raises:
        DeclarationError: it does not take exactly one payload, has a parameter that duetime cannot fill, or
            its type has a reserved name.
    """
    signature = Signature.from_function(function)
    if signature.payload is None or not signature.is_valid:
        raise DeclarationError(
            f"{where_of(function)} must take one parameter annotated with a subclass of Payload,"
            " may take one annotated with Run, some with the types of resources, and no other"
            " without a default:"
            f" write (payload: MyPayload, run: Run){signature.problem}"
        )
    if signature.payload.type_name.startswith(RESERVED):
        raise DeclarationError(
            f"the payload type of {where_of(function)} is named {signature.payload.type_name!r}; choose a"
            f" name that does not begin with {RESERVED!r}, which is reserved for duetime's own"
        )
    return Handler(
        name=signature.payload.type_name,
        function=function,
        payload=signature.payload,
        payload_parameter=signature.payloads[0],
        run_parameter=next(iter(signature.runs), None),
        retry=retry,
        timeout=timeout,
        wants=signature.wants,
    )


def timeout_of(function: Function, timeout: Duration) -> timedelta:
    """Check and return the timeout of a function's runs.

    Raises:
        DeclarationError: it is no duration, or longer than Lambda allows.
    """
    try:
        limit = duration("timeout", timeout)
    except DeclarationError as refused:
        raise DeclarationError(f"{where_of(function)}: {refused}") from None
    if not timedelta(0) < limit <= LONGEST_RUN:
        raise DeclarationError(
            f"{where_of(function)}: timeout is {timeout!r}; allowed is more than 0 s, up to {LONGEST_RUN}"
        )
    return limit


def may_be_a_resource(annotation: Any) -> bool:
    """Return whether an annotation can name a resource; built-in types, ``Any``, payload and run cannot."""
    return (
        isinstance(annotation, Hashable)
        and annotation not in {None, Any}
        and getattr(annotation, "__module__", None) != "builtins"
        and not _is_a(annotation, Payload | Run)
        and not _hints(annotation)
    )


def where_of(function: Function) -> str:
    """Return where a function is defined, for messages."""
    named = getattr(function, "__qualname__", None)
    return f"{function.__module__}.{named}" if named else repr(function)


_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_VARIADIC = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def annotations_of(function: Function) -> dict[str, Any]:
    """Return a function's annotations as types, by parameter.

    Raises:
        DeclarationError: an annotation cannot be resolved.
    """
    try:
        return typing.get_type_hints(function)
    except NameError as error:
        raise DeclarationError(
            f"{where_of(function)}: an annotation cannot be resolved ({error});"
            " define what it names at module level, or import it there, not under TYPE_CHECKING"
        ) from error
    except TypeError as error:
        raise DeclarationError(
            f"{where_of(function)} cannot be read ({error}); decorate a plain function"
        ) from error


def _is_a(annotation: object, base: type | UnionType) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, base) and annotation is not Payload


def _hints(annotation: object) -> bool:
    """Return whether it contains a payload or a run in an unsupported form.

    ``Payload`` itself, or a union.
    """
    parts = typing.get_args(annotation)
    return Payload in (annotation, *parts) or any(_is_a(part, Payload | Run) for part in parts)
