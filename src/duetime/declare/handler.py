"""The handler: a plain function that code registered for a payload type or as a job, and how it is called."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType, UnionType
from typing import TYPE_CHECKING, Any

from duetime.errors import DeclarationError, InvalidPayload
from duetime.model.run import Run, RunTimedOut
from duetime.payload import Payload
from duetime.retry import Duration, RetryPolicy, duration

if TYPE_CHECKING:
    from duetime.declare.job_options import JobOptions
    from duetime.model.job import Definition

Function = Callable[..., Any]
_NOTHING: Mapping[str, object] = MappingProxyType({})

LONGEST_RUN = timedelta(minutes=15)
"""Lambda ends a function after 15 minutes."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A parameter that a resource of exactly its type fills."""

    name: str
    annotation: Any
    has_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """A registered function: under which names it takes payload and run, and how it is retried."""

    name: str
    """What rows name it by: its payload type's name, or its job's."""
    function: Function
    payload: type[Payload] | None
    """None for a job that takes none."""
    payload_parameter: str | None
    run_parameter: str | None
    retry: RetryPolicy
    timeout: timedelta
    job: Definition | None = None
    """What was declared of the job; None for the handler of a payload type."""
    options: JobOptions | None = None
    """What the job's decorator said, for those that are stacked on it."""
    wants: tuple[Dependency, ...] = ()
    """The parameters that resources fill."""

    @property
    def where(self) -> str:
        """Where it is defined, for messages."""
        return where_of(self.function)

    @property
    def version(self) -> int:
        """The newest version of its payload that it reads; 1 if it takes none."""
        return self.payload.type_version if self.payload else 1

    @property
    def is_told(self) -> bool:
        """Whether lifecycle events may tell its payload."""
        return self.payload is not None and self.payload.type_is_told

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The paths of what its payload keeps as sensitive."""
        return self.payload.type_sensitive if self.payload else ()

    def read(self, written: str | None, version: int | None = None) -> Payload | None:
        """The payload that a row carries, as the function takes it; None if it takes none.

        Args:
            written: the payload as JSON.
            version: the one that it was written in; the handler's own by default.

        Raises:
            InvalidPayload: its model refuses it, or there is none.
        """
        if self.payload is None:
            return None
        if written is None:
            raise InvalidPayload(self.name, [f"there is none; {self.where} takes one"])
        return self.payload.from_json(written, version=version)

    def __call__(self, payload: Payload | None, run: Run, resources: Mapping[str, object] = _NOTHING) -> None:
        """Run the function to its end, on an event loop of its own if it is async; whatever it raises passes through.

        Args:
            payload: what the action carries.
            run: what it is told of itself.
            resources: by the names of its parameters.
        """
        given = dict(resources)
        if self.payload_parameter is not None:
            given[self.payload_parameter] = payload
        if self.run_parameter is not None:
            given[self.run_parameter] = run
        if inspect.iscoroutinefunction(self.function):
            asyncio.run(self._awaited(given, run))
        else:
            self.function(**given)

    async def _awaited(self, given: dict[str, object], run: Run) -> None:
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
    """What a function takes, read off its annotations."""

    payloads: tuple[str, ...]
    runs: tuple[str, ...]
    wants: tuple[Dependency, ...]
    """Parameters for the app's resources; whether there are such is seen when the app is complete."""
    others: tuple[str, ...]
    """Parameters that nobody could fill."""
    payload: type[Payload] | None

    @classmethod
    def from_function(cls, function: Function) -> Signature:
        """Read a function.

        Raises:
            DeclarationError: an annotation cannot be resolved.
        """
        annotations = _annotations(function)
        parameters = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind not in _VARIADIC
        ]
        named = [parameter for parameter in parameters if parameter.kind in _NAMED]
        payloads = tuple(each.name for each in named if _is_a(annotations.get(each.name), Payload))
        runs = tuple(each.name for each in named if _is_a(annotations.get(each.name), Run))
        wants = tuple(
            Dependency(each.name, annotations[each.name], each.default is not each.empty)
            for each in named
            if may_be_a_resource(annotations.get(each.name))
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
        """Whether there is at most one of each, and no other."""
        return len(self.payloads) <= 1 and len(self.runs) <= 1 and not self.others

    @property
    def problem(self) -> str:
        """What is in the way, for messages."""
        return f"; it has {', '.join(self.others)}" if self.others else ""


def handler_of(function: Function, retry: RetryPolicy, timeout: timedelta) -> Handler:
    """The handler of the payload type that a function takes.

    Raises:
        DeclarationError: it does not take exactly one payload, or asks for something nobody could give it.
    """
    takes = Signature.from_function(function)
    if takes.payload is None or not takes.is_valid:
        raise DeclarationError(
            f"{where_of(function)} must take one parameter annotated with a subclass of Payload, may take one annotated"
            " with Run, some with the types of resources, and no other without a default:"
            f" say (payload: MyPayload, run: Run){takes.problem}"
        )
    return Handler(
        name=takes.payload.type_name,
        function=function,
        payload=takes.payload,
        payload_parameter=takes.payloads[0],
        run_parameter=next(iter(takes.runs), None),
        retry=retry,
        timeout=timeout,
        wants=takes.wants,
    )


def timeout_of(function: Function, said: Duration) -> timedelta:
    """How long a run of a function may take, as its decorator says.

    Raises:
        DeclarationError: it is no span of time, or none that Lambda leaves it.
    """
    try:
        limit = duration("timeout", said)
    except DeclarationError as refused:
        raise DeclarationError(f"{where_of(function)}: {refused}") from None
    if not timedelta(0) < limit <= LONGEST_RUN:
        raise DeclarationError(
            f"{where_of(function)}: timeout is {said!r}; allowed is more than 0 s, up to {LONGEST_RUN}"
        )
    return limit


def returned_by(function: Function) -> object:
    """What a function says that it returns; None if it says nothing.

    Raises:
        DeclarationError: an annotation cannot be resolved.
    """
    return _annotations(function).get("return")


def may_be_a_resource(annotation: Any) -> bool:
    """Whether an annotation can name a resource: ``str`` or ``Any`` say too little, payload and run are filled already."""
    return (
        isinstance(annotation, Hashable)
        and annotation not in {None, Any}
        and getattr(annotation, "__module__", None) != "builtins"
        and not _is_a(annotation, Payload | Run)
        and not _hints(annotation)
    )


def where_of(function: Function) -> str:
    """Where a function is defined, for messages."""
    named = getattr(function, "__qualname__", None)
    return f"{function.__module__}.{named}" if named else repr(function)


_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_VARIADIC = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}


def _annotations(function: Function) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except NameError as error:
        raise DeclarationError(
            f"{where_of(function)}: an annotation cannot be resolved ({error}); define what it names at module level,"
            " or import it there, not under TYPE_CHECKING"
        ) from error
    except TypeError as error:
        raise DeclarationError(
            f"{where_of(function)} cannot be read ({error}); decorate a plain function"
        ) from error


def _is_a(annotation: object, base: type | UnionType) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, base) and annotation is not Payload


def _hints(annotation: object) -> bool:
    """Whether it means a payload or a run in a way that is not understood: ``Payload`` itself, or one type among others."""
    parts = typing.get_args(annotation)
    return Payload in (annotation, *parts) or any(_is_a(part, Payload | Run) for part in parts)
