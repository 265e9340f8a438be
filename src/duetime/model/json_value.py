"""JSON values that a row stores: results and checkpoints. One check and one limit for all. Pure."""

from __future__ import annotations

import json
from typing import Any

from duetime.errors import InvalidArgument, truncate

JSON_LIMIT = 2_048
"""Bytes of a value as JSON. It is in the row: a further kilobyte costs a unit of each later write."""


def json_text(value: Any) -> str:
    """Return a value as JSON.

    Raises:
        InvalidArgument: JSON cannot carry it, or it is larger than `JSON_LIMIT`.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"is no JSON value ({truncate(error, 100)}); allowed are dicts with texts as keys, lists, texts,"
            " numbers, True, False and None"
        ) from None
    if size > JSON_LIMIT:
        raise InvalidArgument(
            f"has {size:,} bytes as JSON; allowed are {JSON_LIMIT:,}: store the rest elsewhere"
        )
    return text


def is_too_large(text: str | None) -> bool:
    """Return whether a stored JSON text is larger than `json_text` returns."""
    return len((text or "").encode()) > JSON_LIMIT


def equal_text(text: str) -> str:
    """Return JSON in the form that all texts of equal values have: members are sorted, and 1.0 is 1."""
    try:
        return json.dumps(json.loads(text, parse_float=_number), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):  # a damaged row
        return text


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number
