"""EventBridge's rules for event patterns, checked before a rule is created: what `TestEventPattern` rejects.

A pattern that EventBridge rejects would fail in each sweep. The rules are those of AWS' documentation; the
bound of wildcards is narrower, because EventBridge computes a complexity that it does not document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

LARGEST = 4_096
"""Characters of a pattern as JSON."""

_DEEPEST, _MOST_ALTERNATIVES, _MOST_WILDCARDS = 100, 1_000, 10
_LARGEST_NUMBER = 5e9
_DIGITS = 15
_LOWER, _UPPER = (">", ">="), ("<", "<=")

Problems = Iterator[str]


def problems_of(pattern: Mapping[str, Any]) -> Sequence[str]:
    """Return the problems of an event pattern, each with the path of its field and what is allowed."""
    size = len(json.dumps(pattern, separators=(",", ":"), ensure_ascii=False))
    if size > LARGEST:
        return [f"the pattern has {size:,} characters as JSON; at most {LARGEST:,} are allowed"]
    found = list(_object(pattern, "", 0))
    if not found and (alternatives := _alternatives(pattern)) > _MOST_ALTERNATIVES:
        found.append(f"its $or lists combine to {alternatives:,}; at most {_MOST_ALTERNATIVES:,} are allowed")
    return found


def _object(pattern: Mapping[str, Any], path: str, depth: int) -> Problems:
    if depth > _DEEPEST:
        yield f"{path[:60]}… is nested more than {_DEEPEST} levels deep"
    elif not pattern:
        yield f"{path or 'the pattern'} is empty; name a field"
    else:
        for name, required in pattern.items():
            yield from _field(name, required, f"{path}.{name}" if path else name, depth)


def _field(name: str, required: Any, path: str, depth: int) -> Problems:
    if name == "$or" and isinstance(required, list):
        yield from _or(required, path, depth)
    elif isinstance(required, Mapping):
        yield from _object(required, path, depth + 1)
    elif not isinstance(required, list | tuple):
        bare = json.dumps(required)
        yield f"{path} is {bare}; write a list of the allowed values: [{bare}]"
    elif not required:
        yield f"{path} is an empty list, which matches no event; name a value"
    else:
        for rule in required:
            yield from _rule(rule, path)


def _or(alternatives: Sequence[Any], path: str, depth: int) -> Problems:
    if len(alternatives) < 2 or not all(isinstance(item, Mapping) for item in alternatives):  # noqa: PLR2004
        yield f"{path} needs a list of two objects or more"
        return
    for index, alternative in enumerate(alternatives):
        yield from _object(alternative, f"{path}[{index}]", depth + 1)


def _alternatives(pattern: Any) -> int:
    """Return how many rules the pattern's ``$or`` lists combine to."""
    total = 1
    for name, required in pattern.items() if isinstance(pattern, Mapping) else ():
        if name == "$or" and isinstance(required, list):
            total *= sum(map(_alternatives, required))
        else:
            total *= _alternatives(required)
    return total


def _rule(rule: Any, path: str) -> Problems:
    if isinstance(rule, list):
        yield f"{path} has a list within its list; write one list of values"
    elif isinstance(rule, int | float) and not isinstance(rule, bool):
        yield from _number(rule, path)
    elif isinstance(rule, Mapping):
        name = next(iter(rule), "")
        if len(rule) != 1 or name not in _RULES:
            yield f"{path} has {json.dumps(rule)[:80]}; a filter is an object of one of {', '.join(_RULES)}"
        else:
            yield from _RULES[name](rule[name], f"{path}.{name}")


def _number(value: float, path: str) -> Problems:
    digits = repr(value).partition("e")[0].lstrip("-").replace(".", "").strip("0")
    if abs(value) > _LARGEST_NUMBER or len(digits) > _DIGITS:
        yield f"{path} is {value!r}; a number is from -5e9 to 5e9, with at most {_DIGITS} digits"


def _text(value: Any, path: str) -> Problems:
    if not isinstance(value, str) or not value:
        yield f"{path} is {json.dumps(value)[:80]}; it needs a text that is not empty"


def _text_or_ignoring_case(value: Any, path: str) -> Problems:
    if isinstance(value, Mapping) and [*value] == ["equals-ignore-case"]:
        yield from _text(value["equals-ignore-case"], f"{path}.equals-ignore-case")
    else:
        yield from _text(value, path)


def _wildcard(value: Any, path: str) -> Problems:
    yield from _text(value, path)
    if isinstance(value, str):
        plain = value.replace("\\\\", "").replace("\\*", "")
        if "**" in plain:
            yield f"{path} has two * in a row; write one"
        if "\\" in plain:
            yield f"{path} has a \\ before another character than * or \\"
        if plain.count("*") > _MOST_WILDCARDS:
            yield f"{path} has {plain.count('*')} *; at most {_MOST_WILDCARDS} are allowed"


def _exists(value: Any, path: str) -> Problems:
    if not isinstance(value, bool):
        yield f"{path} is {json.dumps(value)[:80]}; it is true or false"


def _cidr(value: Any, path: str) -> Problems:
    try:
        ip_network(value if isinstance(value, str) and "/" in value else "", strict=False)
    except ValueError:
        yield f"{path} is {json.dumps(value)[:80]}; it is a block of addresses, such as 10.0.0.0/24"


def _numeric(value: Any, path: str) -> Problems:
    listed = value if isinstance(value, list) else []
    signs, limits = tuple(listed[::2]), listed[1::2]
    are_numbers = all(isinstance(limit, int | float) and not isinstance(limit, bool) for limit in limits)
    if len(signs) != len(limits) or not are_numbers or not _are_signs(signs):
        yield (
            f"{path} is {json.dumps(value)[:80]}; write an operator and a number, or a lower and an upper"
            ' bound, such as [">=", 0, "<", 5]'
        )
        return
    for limit in limits:
        yield from _number(limit, path)
    if len(limits) > 1 and limits[0] >= limits[1]:
        yield f"{path} is {json.dumps(value)}; the lower bound must be below the upper one"


def _are_signs(signs: tuple[Any, ...]) -> bool:
    if len(signs) == 1:
        return signs[0] in ("=", *_LOWER, *_UPPER)
    return len(signs) == 2 and signs[0] in _LOWER and signs[1] in _UPPER  # noqa: PLR2004


def _anything_but(value: Any, path: str) -> Problems:
    if isinstance(value, Mapping):
        name = next(iter(value), "")
        if len(value) != 1 or name not in _NEGATABLE:
            yield f"{path} has {json.dumps(value)[:80]}; it takes one of {', '.join(_NEGATABLE)}"
            return
        listed = value[name] if isinstance(value[name], list) and value[name] else [value[name]]
        for item in listed:
            yield from _NEGATABLE[name](item, f"{path}.{name}")
        return
    listed = value if isinstance(value, list) else [value]
    are_texts = all(isinstance(item, str) for item in listed)
    are_numbers = all(isinstance(item, int | float) and not isinstance(item, bool) for item in listed)
    if not listed or not (are_texts or are_numbers):
        yield f"{path} is {json.dumps(value)[:80]}; it needs texts alone, or numbers alone"
    elif are_numbers:
        for item in listed:
            yield from _number(item, path)


_NEGATABLE: Mapping[str, Callable[[Any, str], Problems]] = {
    "prefix": _text,
    "suffix": _text,
    "equals-ignore-case": _text,
    "wildcard": _wildcard,
}
_RULES: Mapping[str, Callable[[Any, str], Problems]] = {
    "prefix": _text_or_ignoring_case,
    "suffix": _text_or_ignoring_case,
    "equals-ignore-case": _text,
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "exists": _exists,
    "numeric": _numeric,
    "cidr": _cidr,
}
