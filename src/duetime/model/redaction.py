"""Sensitive: what of a payload is told only to those who may read all of it. Pure: paths, and the JSON without what they lead to.

A path names fields, ``card.number``, and goes through lists and dicts as if they were not there: of a list of cards it
leads to the number of each. Where JSON leaves open what a path means, more is redacted rather than less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

REDACTED = "[redacted]"
"""What stands in the place of a value that is not told."""

EVERYTHING = "*"
"""The path of a payload of which nothing is told."""


class Redacted(NamedTuple):
    """A payload, or what is told of it."""

    payload: Any
    """As JSON has it."""
    paths: tuple[str, ...] = ()
    """Those that something was redacted by."""


WHOLE = Redacted(None, (EVERYTHING,))
"""A payload of which nothing is told."""


def redacted(payload: Any, paths: Sequence[str]) -> Redacted:
    """A payload's JSON without what the paths lead to; nothing of it, if a field is not where its path begins."""
    by: list[str] = []
    for path in paths:
        first, *rest = path.split(".")
        if not isinstance(payload, dict) or first not in payload:
            return WHOLE
        without = {**payload, first: _without(payload[first], rest)}
        if without != payload:
            by.append(path)
        payload = without
    return Redacted(payload, tuple(by))


def _without(value: Any, parts: Sequence[str]) -> Any:
    """A value without what `parts` lead to from it: all of it, where they lead nowhere."""
    if value is None:
        return None
    if parts and isinstance(value, list):
        return [_without(each, parts) for each in value]
    if not parts or not isinstance(value, dict):
        return REDACTED
    if parts[0] in value:
        return _without_found(value, parts)
    return {name: _without(each, parts) for name, each in value.items()}


def _without_found(value: Any, parts: Sequence[str]) -> Any:
    """A value without what `parts` lead to wherever they begin; what stands beside is a model's own, or a dict's entry."""
    if isinstance(value, list):
        return [_without_found(each, parts) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without(each, parts[1:]) if name == parts[0] else _without_found(each, parts)
        for name, each in value.items()
    }
