"""Event patterns: match events as Lambda's filters and EventBridge's rules do.

A pattern has the form of the event. Each of its leaves is a list of allowed values: a literal, or one of
``{"prefix": …}``, ``{"suffix": …}``, ``{"equals-ignore-case": …}``, ``{"wildcard": …}``, ``{"cidr": …}``,
``{"anything-but": …}``, ``{"exists": …}``, ``{"numeric": ["<", 5]}``. ``$or`` has alternative patterns.

Lists are alternatives; all fields must match; if the event has a list, one of its elements must match. An
unknown rule is rejected, since a filter that silently drops events would look like lost events.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address, ip_network
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

_UNKNOWN = "is no event pattern that the local cloud supports"


def matches(pattern: Pattern, event: Mapping[str, Any]) -> bool:
    """Return whether `event` matches `pattern`.

    Raises:
        ValueError: the pattern contains anything but lists, objects and the rules above.
    """
    return all(
        any(matches(alternative, event) for alternative in required)
        if name == "$or" and isinstance(required, list)
        else _field_matches(required, event.get(name, _ABSENT))
        for name, required in pattern.items()
    )


def _field_matches(required: Any, found: Any) -> bool:
    if not isinstance(required, list | tuple):
        if not isinstance(required, Mapping):
            raise ValueError(f"{required!r} {_UNKNOWN}")  # noqa: TRY004 - a value of a pattern
        return matches(required, found if isinstance(found, dict | Mapping) else {})
    candidates = found if isinstance(found, list | tuple) else [found]
    return any(_rule_matches(rule, candidate) for rule in required for candidate in candidates)


def _rule_matches(rule: Any, found: Any) -> bool:
    if isinstance(rule, str) or not isinstance(rule, dict | Mapping):
        return type(rule) is type(found) and rule == found
    if len(rule) != 1 or (name := next(iter(rule))) not in _RULES:
        raise ValueError(f"{rule!r} {_UNKNOWN}")
    return _RULES[name](rule[name], found)


def _anything_but(unwanted: Any, found: Any) -> bool:
    if isinstance(unwanted, Mapping):
        (name, rules), *_ = unwanted.items()
        rules = rules if isinstance(rules, list | tuple) else [rules]
        return found is not _ABSENT and not any(_RULES[name](rule, found) for rule in rules)
    listed = unwanted if isinstance(unwanted, list | tuple) else [unwanted]
    return found is not _ABSENT and found not in listed


def _numeric(limits: Sequence[Any], found: Any) -> bool:
    if isinstance(found, bool) or not isinstance(found, int | float):
        return False
    pairs = zip(limits[::2], limits[1::2], strict=True)
    return all(_COMPARISONS[sign](found, limit) for sign, limit in pairs)


def _text_matches(rule: Any, found: Any, compare: Callable[[str, str], bool]) -> bool:
    """Compare a text with a rule's, which may be ``{"equals-ignore-case": …}``."""
    if not isinstance(found, str):
        return False
    if isinstance(rule, Mapping):
        return compare(found.lower(), rule["equals-ignore-case"].lower())
    return compare(found, rule)


def _wildcard(pattern: str, found: Any) -> bool:
    """Match ``*`` with any characters; a backslash takes the next character as it is."""
    parts = re.findall(r"\\(.)|(\*)|([^\\*]+)", pattern)
    written = "".join(".*" if star else re.escape(escaped or plain) for escaped, star, plain in parts)
    return isinstance(found, str) and re.fullmatch(written, found, re.DOTALL) is not None


def _is_in_network(block: str, found: Any) -> bool:
    try:
        return ip_address(found) in ip_network(block, strict=False) if isinstance(found, str) else False
    except ValueError:
        return False


_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "prefix": lambda start, found: _text_matches(start, found, str.startswith),
    "suffix": lambda end, found: _text_matches(end, found, str.endswith),
    "equals-ignore-case": lambda text, found: isinstance(found, str) and found.lower() == text.lower(),
    "wildcard": _wildcard,
    "cidr": _is_in_network,
    "anything-but": _anything_but,
    "exists": lambda required, found: (found is not _ABSENT) == required,
    "numeric": _numeric,
}
