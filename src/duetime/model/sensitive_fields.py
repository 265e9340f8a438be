"""Sensitive fields: the paths that a payload's class says, held against its fields. What they redact is told in `sensitive`."""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, RootModel

from duetime.errors import DeclarationError


def paths_of(said: object, inherited: Sequence[str], where: str) -> tuple[str, ...]:
    """The paths that a class says, behind those of its base.

    Raises:
        DeclarationError: they are no paths.
    """
    if isinstance(said, str) or not isinstance(said, Collection):
        raise DeclarationError(
            f'{where}: sensitive is {said!r}; say the fields, such as ("email", "card.number")'
        )
    for each in said:
        if not isinstance(each, str) or not all(part.isidentifier() for part in each.split(".")):
            raise DeclarationError(
                f"{where}: sensitive has {each!r}; a path is a field's name, or several with dots"
            )
    return tuple(dict.fromkeys((*inherited, *said)))


def check(model: type[BaseModel], paths: Sequence[str]) -> None:
    """Refuse paths that lead nowhere, as far as annotations tell; one that is not yet defined tells nothing.

    Raises:
        DeclarationError: with the part that is no field.
    """
    for path in paths:
        first, *rest = path.split(".")
        if first not in model.__pydantic_fields__:
            known = ", ".join(model.__pydantic_fields__) or "none"
            raise DeclarationError(
                f"{model.__qualname__}: sensitive has {path!r}, but its fields are {known}"
            )
        reached = [*_reached(model.__pydantic_fields__[first].annotation)]
        for part in rest:
            if not all(map(_is_known, reached)):
                break
            reached = [found for each in reached for found in _fields(each, part)]
            if not reached:
                raise DeclarationError(
                    f"{model.__qualname__}: sensitive has {path!r}, but nothing there has {part!r}"
                )


_PLAIN = (str, bytes, int, float, Decimal, UUID, date, time, timedelta, Enum, types.NoneType)


def _reached(annotation: Any) -> Iterator[Any]:
    """The types that an annotation stands for: those of a union, of a list's elements, of a dict's values."""
    origin, said = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        yield from _reached(said[0])
    elif origin in {typing.Union, types.UnionType}:
        for each in said:
            yield from _reached(each)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield from _reached(said[-1])
    elif isinstance(origin, type) and issubclass(origin, Collection):
        for each in said:
            if each is not Ellipsis:
                yield from _reached(each)
    else:
        yield annotation


def _is_known(reached: Any) -> bool:
    """Whether its fields, or that it has none, can be told."""
    if not isinstance(reached, type):
        return False
    if not issubclass(reached, BaseModel):
        return issubclass(reached, _PLAIN)
    return not issubclass(reached, RootModel) and reached.model_config.get("extra") != "allow"


def _fields(reached: Any, part: str) -> Iterator[Any]:
    if issubclass(reached, BaseModel) and part in reached.__pydantic_fields__:
        yield from _reached(reached.__pydantic_fields__[part].annotation)
