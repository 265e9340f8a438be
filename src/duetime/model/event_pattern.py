"""Event patterns: which events an event source lets through, as Lambda's filters and EventBridge's rules read them.

A pattern has the form of the event. Each of its leaves is a list of what the event may have there: a literal, or one of
``{"prefix": …}``, ``{"suffix": …}``, ``{"anything-but": …}``, ``{"exists": …}``, ``{"numeric": ["<", 5]}``. Lists are
alternatives, fields must all match, and where the event has a list, one of its elements must. What is not known here is
refused: a filter that silently let too little through would look like a lost event.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Pattern = Mapping[str, Any]

_ABSENT: Any = object()
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class UnknownPattern(ValueError):
    """A pattern that AWS would refuse, or that the local cloud does not know."""

    def __init__(self, rule: object) -> None:
        super().__init__(f"{rule!r} is no event pattern that the local cloud knows")


def matches(pattern: Pattern, event: Mapping[str, Any]) -> bool:
    """Whether `event` has everything that `pattern` asks for.

    Raises:
        UnknownPattern: the pattern holds something else than lists, objects and the rules above.
    """
    return all(_field_matches(wanted, event.get(name, _ABSENT)) for name, wanted in pattern.items())


def _field_matches(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping):
        return matches(wanted, found if isinstance(found, Mapping) else {})
    if not isinstance(wanted, list | tuple):
        raise UnknownPattern(wanted)
    candidates = found if isinstance(found, list | tuple) else [found]
    return any(_rule_matches(rule, candidate) for rule in wanted for candidate in candidates)


def _rule_matches(rule: Any, found: Any) -> bool:
    if not isinstance(rule, Mapping):
        return found is not _ABSENT and type(rule) is type(found) and rule == found
    if len(rule) != 1 or (name := next(iter(rule))) not in _RULES:
        raise UnknownPattern(rule)
    return _RULES[name](rule[name], found)


def _anything_but(unwanted: Any, found: Any) -> bool:
    listed = unwanted if isinstance(unwanted, list | tuple) else [unwanted]
    return found is not _ABSENT and found not in listed


def _numeric(limits: Sequence[Any], found: Any) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    pairs = zip(limits[::2], limits[1::2], strict=True)
    return all(_COMPARISONS[sign](found, limit) for sign, limit in pairs)


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "prefix": lambda start, found: isinstance(found, str) and found.startswith(start),
    "suffix": lambda end, found: isinstance(found, str) and found.endswith(end),
    "anything-but": _anything_but,
    "exists": lambda wanted, found: (found is not _ABSENT) == wanted,
    "numeric": _numeric,
}
