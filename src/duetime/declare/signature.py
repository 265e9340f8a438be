"""The signature of a function: its parameters, and what duetime passes as each."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from types import UnionType
from typing import Any

from duetime.declare.batch import Batch
from duetime.errors import DeclarationError
from duetime.model.run import Run
from duetime.payload import Payload

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Dependency:
    """A parameter that a resource of its exact type fills."""

    name: str
    annotation: Any
    has_default: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function, from its annotations.

    Attributes:
        batches: parameters for a `Batch` of a payload.
        wants: parameters for resources; the complete app checks that it has them.
        others: parameters that duetime cannot fill.
        payload: the type of the payload, or of each payload of the batch.
    """

    payloads: tuple[str, ...]
    batches: tuple[str, ...]
    runs: tuple[str, ...]
    wants: tuple[Dependency, ...]
    others: tuple[str, ...]
    payload: type[Payload] | None

    @classmethod
    def from_function(cls, function: Function) -> Signature:
        """Read the signature of a function.

        Raises:
            DeclarationError: an annotation cannot be resolved, or the function is a generator.
        """
        if is_generator(function):
            raise DeclarationError(
                f"{where_of(function)} has a yield, so a call would run nothing of it; remove the yield, or"
                " declare a function that runs it to its end"
            )
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
        batches = tuple(parameter.name for parameter in named if _is_a_batch(annotations.get(parameter.name)))
        runs = tuple(parameter.name for parameter in named if _is_a(annotations.get(parameter.name), Run))
        wants = tuple(
            Dependency(parameter.name, annotations[parameter.name], parameter.default is not parameter.empty)
            for parameter in named
            if may_be_a_resource(annotations.get(parameter.name))
        )
        filled = {*payloads, *batches, *runs, *(want.name for want in wants)}
        others = tuple(
            parameter.name
            for parameter in parameters
            if parameter.name not in filled
            and (parameter.default is parameter.empty or _hints(annotations.get(parameter.name)))
        )
        kinds = [annotations[name] for name in payloads]
        kinds += [typing.get_args(annotations[name])[0] for name in batches]
        return cls(payloads, batches, runs, wants, others, kinds[0] if kinds else None)

    @property
    def is_valid(self) -> bool:
        """Whether there is at most one payload and one run, no batch, and no unknown parameter."""
        return len(self.payloads) <= 1 and len(self.runs) <= 1 and not (self.others or self.batches)

    @property
    def takes_many(self) -> bool:
        """Whether there is one batch, no payload or run beside it, and no unknown parameter."""
        return len(self.batches) == 1 and not (self.payloads or self.runs or self.others)

    @property
    def problem(self) -> str:
        """The parameters with which duetime cannot call it, for messages."""
        unknown = (*self.batches, *self.others)
        return f"; it has {', '.join(unknown)}" if unknown else ""


def may_be_a_resource(annotation: Any) -> bool:
    """Return whether an annotation can name a resource; built-in types, ``Any``, payload and run cannot."""
    return (
        isinstance(annotation, Hashable)
        and annotation not in {None, Any}
        and getattr(annotation, "__module__", None) != "builtins"
        and not _is_a(annotation, Payload | Run)
        and not _hints(annotation)
    )


def is_generator(function: Function) -> bool:
    """Return whether a function, or one that it wraps, is a generator, async or not."""
    return _is_generator(inspect.unwrap(function, stop=_is_generator))


def _is_generator(link: Any) -> bool:
    if isinstance(link, partial):
        return is_generator(link.func)
    if not inspect.isroutine(link):
        link = type(link).__call__
    return inspect.isgeneratorfunction(link) or inspect.isasyncgenfunction(link)


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


def _is_a_batch(annotation: object) -> bool:
    """Return whether it is a `Batch` of one type of payloads."""
    parts = typing.get_args(annotation)
    return typing.get_origin(annotation) is Batch and len(parts) == 1 and _is_a(parts[0], Payload)


def _hints(annotation: object) -> bool:
    """Return whether it contains a payload, a batch or a run in an unsupported form.

    ``Payload`` or ``Batch`` itself, or a union.
    """
    parts = typing.get_args(annotation)
    if any(hint in (annotation, *parts) for hint in (Payload, Batch)):
        return True
    return any(_is_a(part, Payload | Run) or _is_a_batch(part) for part in parts)
