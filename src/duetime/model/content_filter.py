"""Filters on an action's contents: the text of its error, and values in its payload. Pure.

No index holds these contents, so a search reads rows and compares them; see `duetime.actions.search`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self

from duetime.errors import InvalidArgument, truncate
from duetime.model.action import Action

LONGEST_TEXT = 200
"""Characters of an error's text, of a field's path, and of a value."""
MOST_FIELDS = 5
"""The most payload fields in one selection."""
ANY = "…"
"""In an error's text: any characters, as in the groups of `duetime dead-letters list --group-by error`."""


class PayloadField(NamedTuple):
    """A path of field names with dots between them, such as ``order.id``, and the text of its value.

    In a list the path selects the field of each member. The text of a number, a truth value or null is its
    JSON: ``42``, ``true``, ``null``.
    """

    path: str
    value: str

    @classmethod
    def parse(cls, written: str) -> Self:
        """Read ``FIELD=VALUE``, or ``payload.FIELD=VALUE``.

        Raises:
            InvalidArgument: there is no field, or no ``=``.
        """
        path, equals, value = written.partition("=")
        path = path.strip().removeprefix("payload.")
        if not equals or not path:
            raise InvalidArgument(
                f"payload {truncate(written, 60)!r} is no FIELD=VALUE; write it as in customer=42",
                field="payload",
            )
        return cls(path, value.strip())

    def matches(self, payload: Any) -> bool:
        """Return whether a payload has this value at this path."""
        return any(_text(value) == self.value for value in _values_at(payload, self.path.split(".")))


def checked_fields(fields: object) -> tuple[PayloadField, ...]:
    """Check the payload fields of a selection: a mapping from paths to values.

    Raises:
        InvalidArgument: it is no such mapping, or has too many fields, or one is too long.
    """
    if fields is None:
        return ()
    if not isinstance(fields, Mapping) or not fields:
        problem = f"payload is {truncate(fields, 60)!r}; use a mapping such as {{'customer': 42}}"
        raise InvalidArgument(problem, field="payload")
    if len(fields) > MOST_FIELDS:
        problem = f"payload has {len(fields)} fields; allowed are {MOST_FIELDS} at most"
        raise InvalidArgument(problem, field="payload")
    return tuple(_checked_field(path, value) for path, value in fields.items())


def _checked_field(path: object, value: object) -> PayloadField:
    if not isinstance(path, str) or not all(path.split(".")):
        problem = f"payload has the field {truncate(path, 60)!r}; write a name, or names with dots: order.id"
        raise InvalidArgument(problem, field="payload")
    if not (value is None or isinstance(value, str | int | float)):
        problem = f"payload.{truncate(path, 60)} is {truncate(value, 60)!r}; use a text, a number, or None"
        raise InvalidArgument(problem, field="payload")
    field = PayloadField(path, _text(value) or "")
    if (longest := max(map(len, field))) > LONGEST_TEXT:
        problem = f"payload has a text of {longest} characters; allowed are {LONGEST_TEXT}"
        raise InvalidArgument(problem, field="payload")
    return field


def fields_of(written: Sequence[str]) -> dict[str, str]:
    """Read several ``FIELD=VALUE``.

    Raises:
        InvalidArgument: one is malformed, or a field has two values.
    """
    fields: dict[str, str] = {}
    for path, value in map(PayloadField.parse, written):
        if fields.setdefault(path, value) != value:
            problem = f"payload.{truncate(path, 60)} has two values; an action has to meet all filters"
            raise InvalidArgument(problem, field="payload")
    return fields


def checked_error(text: object) -> str | None:
    """Check the error's text of a selection; spaces around it are ignored.

    Raises:
        InvalidArgument: it is no text, or is empty or too long.
    """
    if text is None:
        return None
    if not isinstance(text, str) or not text.replace(ANY, "").strip() or len(text) > LONGEST_TEXT:
        problem = f"error is {truncate(text, 60)!r}; use a text of 1 to {LONGEST_TEXT} characters"
        raise InvalidArgument(problem, field="error")
    return " ".join(text.split())


def has_error(row: Action, text: str) -> bool:
    """Return whether the text is in the message of the row's last attempt. Upper case is no matter."""
    last = row.attempts[-1].message if row.attempts else None
    message = " ".join((last or "").split()).casefold()
    start = 0
    for part in text.casefold().split(ANY):
        found = message.find(part.strip(), start)
        if found < 0:
            return False
        start = found + len(part.strip())
    return True


def _values_at(value: Any, names: Sequence[str]) -> Iterator[Any]:
    if isinstance(value, list):
        for member in value:
            yield from _values_at(member, names)
    elif not names:
        yield value
    elif isinstance(value, dict) and names[0] in value:
        yield from _values_at(value[names[0]], names[1:])


def _text(value: Any) -> str | None:
    """Return the text of a value; None of an object, which has none."""
    if isinstance(value, str):
        return value.strip()
    return None if isinstance(value, dict) else json.dumps(value)
