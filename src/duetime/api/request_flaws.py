"""The flaws of a request in plain words, from pydantic's errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.known_fields import Fields, fields_at
from duetime.errors import truncate

_WORDS = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "model_attributes_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "string_type": "must be text",
    "float_type": "must be a number",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_parsing_size": "must be a smaller whole number",
}


_MOST_FLAWS = 20
_OF_A_KEY = "[key]"
"""Pydantic's marker of an invalid key in an object."""


def invalid_request(errors: Sequence[Mapping[str, Any]], body: Fields) -> InvalidRequest:
    """Return pydantic's errors as flaws, at most the first 20, without values.

    The first unknown field of an object is followed by those that are known there.

    Args:
        errors: pydantic's errors.
        body: the fields that the route accepts in its body.
    """
    flaws, listed = list[Flaw](), set[str]()
    for error in errors[:_MOST_FLAWS]:
        where, problem = _where(error["loc"]), _problem(error)
        if error["type"] == "extra_forbidden" and (parent := where.rpartition(".")[0]) not in listed:
            listed.add(parent)
            if known := fields_at(body, error["loc"][1:-1]):
                problem += f"; known are {', '.join(known)}"
        flaws.append(Flaw(where, problem))
    return InvalidRequest(flaws)


def _where(place: Sequence[str | int]) -> str:
    part, *path = (str(name) for name in place if name != _OF_A_KEY)
    return truncate(".".join(path), 100) or f"the {part}"


def _problem(error: Mapping[str, Any]) -> str:
    message = str(error["msg"]).removeprefix("Value error, ")
    return _WORDS.get(error["type"]) or message.replace("Input should be", "must be")
