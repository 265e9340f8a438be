"""Reads DynamoDB's expressions: tokens, paths, operands and projections.

moto has validated the expression before, so every violation only means `NotCovered`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeAlias, TypeVar

from tests.emulated.expressions.values import Attributes, NotCovered, Value

T = TypeVar("T")

Path: TypeAlias = tuple[str | int, ...]
"""The names and list indexes that lead to a value: ``attempts[0].f`` is ``("attempts", 0, "f")``."""

Names: TypeAlias = tuple[tuple[str, str], ...]
"""The placeholders of attribute names with the names."""

Operand = Callable[[Attributes, Attributes], Value | None]
"""Computes a value from an item's attributes and the expression's values; None if the item lacks it."""

_TOKEN = re.compile(r"\s*([#:]?[A-Za-z_]\w*|\d+|<=|>=|<>|[=<>()+\-,.\[\]])", re.ASCII)


def tokens_of(text: str) -> list[str]:
    """Split an expression.

    Raises:
        NotCovered: it has an unknown character.
    """
    tokens, place, text = list[str](), 0, text.strip()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            raise NotCovered
        tokens.append(found[1])
        place = found.end()
    return tokens


def value_at(attributes: Attributes, path: Path) -> Value | None:
    """Return the value at a path, or None."""
    found = attributes.get(path[0])  # type: ignore[arg-type]  # the first part is a name
    for part in path[1:]:
        if found is None:
            return None
        if isinstance(part, int):
            found = found.value[part] if found.type == "L" and part < len(found.value) else None
        else:
            found = found.value.get(part) if found.type == "M" else None
    return found


class Reader:
    """Reads the tokens of one expression in order.

    Args:
        text: the expression.
        names: the placeholders of attribute names.
    """

    def __init__(self, text: str, names: Names) -> None:
        self._tokens, self._names, self._place = tokens_of(text), dict(names), 0

    @property
    def next(self) -> str:
        """The next token in capitals; empty at the end."""
        return self._tokens[self._place].upper() if self._place < len(self._tokens) else ""

    def take(self) -> str:
        """Return the next token and go on."""
        if self._place >= len(self._tokens):
            raise NotCovered
        self._place += 1
        return self._tokens[self._place - 1]

    def skip(self, token: str) -> bool:
        """Go on if the next token is `token`; return whether it was."""
        is_next = self.next == token
        self._place += is_next
        return is_next

    def expect(self, token: str) -> None:
        """Go on behind `token`."""
        if not self.skip(token):
            raise NotCovered

    def is_call(self, name: str) -> bool:
        """Return whether a call of the function `name` follows; go on behind its parenthesis."""
        if self.next != name or self._tokens[self._place + 1 : self._place + 2] != ["("]:
            return False
        self._place += 2
        return True

    def listed(self, read: Callable[[], T]) -> list[T]:
        """Read one or more things between commas."""
        found = [read()]
        while self.skip(","):
            found.append(read())
        return found

    def path(self) -> Path:
        """Read a path."""
        parts: list[str | int] = [self._name()]
        while True:
            if self.skip("."):
                parts.append(self._name())
            elif self.skip("["):
                parts.append(int(self.take()))
                self.expect("]")
            else:
                return tuple(parts)

    def operand(self) -> Operand:
        """Read a value's placeholder or a path."""
        if self.next.startswith(":"):
            name = self.take()
            return lambda _, values: values[name]
        path = self.path()
        if len(path) == 1:
            first = path[0]
            return lambda attributes, _: attributes.get(first)  # type: ignore[arg-type]
        return lambda attributes, _: value_at(attributes, path)

    def _name(self) -> str:
        token = self.take()
        if token.startswith("#"):
            return self._names[token]
        if not token[0].isalpha() and token[0] != "_":
            raise NotCovered
        return token


@lru_cache(100)
def projected_names(projection: str, names: Names) -> Sequence[str]:
    """Return the attributes of a projection.

    Raises:
        NotCovered: it projects a part of an attribute.
    """
    reader = Reader(projection, names)
    paths = reader.listed(reader.path)
    if reader.next or any(len(path) != 1 for path in paths):
        raise NotCovered
    return [str(path[0]) for path in paths]
