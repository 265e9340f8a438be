"""Simulates EventBridge's input transformer: a template with parts of the event in place of ``<names>``.

Outside quotes a part is inserted as JSON; inside quotes, its characters are. Transformers that AWS rejects,
or that this module does not support, raise `UnknownTransformer`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]

_PATH = re.compile(r"\$(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TOKEN = re.compile(r'<(?P<name>[A-Za-z0-9_.-]+)>|\\.|"|.', re.ASCII | re.DOTALL)
_MOST_PATHS, _LONGEST_TEMPLATE = 100, 8_192
_ABSENT: Any = object()


class UnknownTransformer(ValueError):
    """A transformer that AWS rejects, or that the local cloud does not support."""


def transformed(transformer: Mapping[str, Any], event: Event) -> Any:
    """Return what the target receives instead of the event.

    Args:
        transformer: its ``InputPathsMap`` and its ``InputTemplate``.
        event: the complete event.

    Raises:
        UnknownTransformer: a path or a placeholder is unknown, or the result is no JSON.
    """
    template, paths = transformer["InputTemplate"], transformer.get("InputPathsMap", {})
    if len(paths) > _MOST_PATHS or len(template) > _LONGEST_TEMPLATE:
        raise UnknownTransformer(
            f"it has {len(paths)} paths and {len(template)} characters;"
            f" AWS takes {_MOST_PATHS} and {_LONGEST_TEMPLATE}"
        )
    values = {name: _at(path, event) for name, path in paths.items() if _is_name(name)}
    written = _filled(template, values)
    try:
        return json.loads(written)
    except ValueError as error:
        raise UnknownTransformer(f"it makes no JSON of the event: {error}: {written[:200]}") from error


def _is_name(name: str) -> bool:
    if not _NAME.fullmatch(name) or name.startswith("AWS"):
        raise UnknownTransformer(f"{name!r} cannot name a path")
    return True


def _at(path: str, event: Event) -> Any:
    """Return the value at a path such as ``$.detail.order``; absent if there is none."""
    if not _PATH.fullmatch(path):
        raise UnknownTransformer(f"{path!r} is no path in dot notation")
    found: Any = event
    for key in path.split(".")[1:]:
        found = found.get(key, _ABSENT) if isinstance(found, Mapping) else _ABSENT
    return found


def _filled(template: str, values: Mapping[str, Any]) -> str:
    written, is_quoted = list[str](), False
    for token in _TOKEN.finditer(template):
        is_quoted ^= token[0] == '"'
        name = token["name"]
        written.append(token[0] if name is None else _put(name, values, is_quoted=is_quoted))
    return "".join(written)


def _put(name: str, values: Mapping[str, Any], *, is_quoted: bool) -> str:
    if name not in values:
        raise UnknownTransformer(f"the template contains <{name}>, but no path has that name")
    value = values[name]
    if value is _ABSENT:
        return ""
    if not is_quoted:
        return json.dumps(value)
    if isinstance(value, Mapping | list):
        raise UnknownTransformer(f"<{name}> is in quotes, but is not a text")
    return json.dumps(value)[1:-1] if isinstance(value, str) else json.dumps(value)
