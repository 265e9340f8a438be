"""Event patterns: match events as Lambda's filters and EventBridge's rules do.

A pattern has the form of the event. Each of its leaves is a list of allowed values: a literal, or one of
``{"prefix": …}``, ``{"suffix": …}``, ``{"anything-but": …}``, ``{"exists": …}``, ``{"numeric": ["<", 5]}``.
Lists are alternatives; all fields must match; if the event has a list, one of its elements must match. An
unknown rule is rejected, since a filter that silently drops events would look like lost events.
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
    """A pattern that AWS rejects, or that the local cloud does not support."""

    def __init__(self, rule: object) -> None:
        super().__init__(f"{rule!r} is no event pattern that the local cloud supports")


def matches(pattern: Pattern, event: Mapping[str, Any]) -> bool:
    """Return whether `event` matches `pattern`.

    Raises:
        UnknownPattern: the pattern contains anything but lists, objects and the rules above.
    """
    return all(_field_matches(required, event.get(name, _ABSENT)) for name, required in pattern.items())


def _field_matches(required: Any, found: Any) -> bool:
    if isinstance(required, Mapping):
        return matches(required, found if isinstance(found, Mapping) else {})
    if not isinstance(required, list | tuple):
        raise UnknownPattern(required)
    candidates = found if isinstance(found, list | tuple) else [found]
    return any(_rule_matches(rule, candidate) for rule in required for candidate in candidates)


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
    "exists": lambda required, found: (found is not _ABSENT) == required,
    "numeric": _numeric,
}
