"""Sensitive fields.

Check the declared paths of a payload class against its fields; `redaction` applies them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel

from duetime.errors import DeclarationError


def paths_of(paths: object, inherited: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the paths of a class, after those of its base.

    Raises:
        DeclarationError: a path is malformed.
    """
    if isinstance(paths, str) or not isinstance(paths, Collection):
        raise DeclarationError(
            f'{where}: sensitive is {paths!r}; list the fields, as in ("email", "card.number")'
        )
    for path in paths:
        if not isinstance(path, str) or not all(part.isidentifier() for part in path.split(".")):
            raise DeclarationError(
                f"{where}: sensitive has {path!r}; a path is a field's name, or several with dots"
            )
    return tuple(dict.fromkeys((*inherited, *paths)))


def check(model: type[BaseModel], paths: Sequence[str]) -> None:
    """Reject paths without a field, if annotations show that.

    An annotation that is not yet defined is accepted.

    Raises:
        DeclarationError: a part of a path is no field.
    """
    for path in paths:
        first, *rest = path.split(".")
        if first not in model.model_fields:
            known = ", ".join(model.model_fields) or "none"
            raise DeclarationError(
                f"{model.__qualname__}: sensitive has {path!r}, but its fields are {known}"
            )
        reached = [*_reached(model.model_fields[first].annotation)]
        for part in rest:
            if not all(map(_is_known, reached)):
                break
            reached = [found for model_type in reached for found in _fields(model_type, part)]
            if not reached:
                raise DeclarationError(
                    f"{model.__qualname__}: sensitive has {path!r}, but nothing there has {part!r}"
                )


_PLAIN = (str, bytes, int, float, Decimal, UUID, date, time, timedelta, Enum, types.NoneType)


def _reached(annotation: Any) -> Iterator[Any]:
    """Return the types of an annotation: of a union, of a list's elements, of a dict's values."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        yield from _reached(arguments[0])
    elif origin in {typing.Union, types.UnionType}:
        for argument in arguments:
            yield from _reached(argument)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from _reached(arguments[-1])
    elif isinstance(origin, type) and issubclass(origin, Collection):
        for argument in arguments:
            if argument is not Ellipsis:
                yield from _reached(argument)
    else:
        yield annotation


def _is_known(reached: Any) -> bool:
    if not isinstance(reached, type):
        return False
    if not issubclass(reached, BaseModel):
        return issubclass(reached, _PLAIN)
    from pydantic import RootModel  # noqa: PLC0415 - few classes have sensitive fields

    return not issubclass(reached, RootModel) and reached.model_config.get("extra") != "allow"


def _fields(reached: Any, part: str) -> Iterator[Any]:
    if issubclass(reached, BaseModel) and part in reached.model_fields:
        yield from _reached(reached.model_fields[part].annotation)
