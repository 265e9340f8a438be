"""Redact the sensitive fields of a payload's JSON, by their paths. Pure.

A path names fields, such as ``card.number``, and passes through lists and dicts: in a list of cards it
selects the number of each. If JSON leaves the meaning of a path open, more is redacted rather than less.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

REDACTED = "[redacted]"
"""In place of a redacted value."""

_DEEPEST = 200
"""Levels of a payload that a response can hold: pydantic writes 255."""

EVERYTHING = "*"
"""The path of an entirely redacted payload."""


class Redacted(NamedTuple):
    """A payload after its redaction."""

    payload: Any
    """The JSON value."""
    paths: tuple[str, ...] = ()
    """The paths that redacted a value."""


WHOLE = Redacted(None, (EVERYTHING,))
"""An entirely redacted payload."""


def read_payload(written: str) -> Any:
    """Return the JSON value of a payload, or its text if no JSON response can carry the value.

    A row that another program wrote may have any text.
    """
    try:
        value = json.loads(written)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return written
    return value if _is_shallow(value, _DEEPEST) else written


def _is_shallow(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return True
    return levels > 0 and all(_is_shallow(part, levels - 1) for part in value)


def redacted(payload: Any, paths: Sequence[str]) -> Redacted:
    """Return a payload's JSON without the fields at `paths`; `WHOLE`, if a path's first field is missing."""
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
    if value is None:
        return None
    if parts and isinstance(value, list):
        return [_without(item, parts) for item in value]
    if not parts or not isinstance(value, dict):
        return REDACTED
    if parts[0] in value:
        return _without_found(value, parts)
    return {name: _without(field, parts) for name, field in value.items()}


def _without_found(value: Any, parts: Sequence[str]) -> Any:
    """Return a value without the fields at `parts`, at any depth: a dict's entry may have a field's name."""
    if isinstance(value, list):
        return [_without_found(item, parts) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without(field, parts[1:]) if name == parts[0] else _without_found(field, parts)
        for name, field in value.items()
    }


def sensitive_values(payload: Any, paths: Sequence[str]) -> Iterator[object]:
    """Yield the values at `paths`, and those that `redacted` would hide because the path is not plain."""
    for path in paths:
        parts = path.split(".")
        is_found = isinstance(payload, dict) and parts[0] in payload
        yield from _values_at(payload, parts) if is_found else _leaves(payload)


def _values_at(value: Any, parts: Sequence[str]) -> Iterator[object]:
    if isinstance(value, list):
        for item in value:
            yield from _values_at(item, parts)
    elif not parts or not isinstance(value, dict):
        yield from _leaves(value)
    elif parts[0] in value:
        yield from _values_at(value[parts[0]], parts[1:])
    else:
        for item in value.values():
            yield from _values_at(item, parts)


def _leaves(value: Any) -> Iterator[object]:
    """Yield the texts and numbers in a value; null and truth values identify no person."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif value is not None and not isinstance(value, bool):
        yield value
