"""The envelope: what comes from API Gateway, in the one shape that all behind it may rely on. Whatever came, it has one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SURROGATES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
"""Levels of an event that are looked at; API Gateway's have five."""


def opened(event: object) -> dict[str, Any]:
    """The event with each part that is read, of the kind that it has in API Gateway's; the body as it was sent.

    What is of another kind is left out, and half of a surrogate pair, which UTF-8 cannot hold, becomes a
    control character, which no name may hold.
    """
    said = event if isinstance(event, Mapping) else {}
    body, parts = said.get("body"), _sound({name: said[name] for name in said if name != "body"})
    return {
        "httpMethod": _text(parts.get("httpMethod")),
        "path": _text(parts.get("path")),
        "headers": _texts(parts.get("headers")),
        "multiValueHeaders": _lists(parts.get("multiValueHeaders")),
        "queryStringParameters": _texts(parts.get("queryStringParameters")),
        "multiValueQueryStringParameters": _lists(parts.get("multiValueQueryStringParameters")),
        "requestContext": _context(_object(parts.get("requestContext"))),
        "body": body,
        "isBase64Encoded": parts.get("isBase64Encoded") is True,
    }


def _context(context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **context,
        "path": _text(context.get("path")),
        "identity": _object(context.get("identity")),
        "authorizer": _object(context.get("authorizer")),
    }


def _sound(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\x7f", value)
    if isinstance(value, Mapping):
        return {_sound(str(name)): _sound(each, levels - 1) for name, each in value.items()} if levels else {}
    if isinstance(value, list):
        return [_sound(each, levels - 1) for each in value] if levels else []
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {name: each for name, each in _object(value).items() if isinstance(each, str)}


def _lists(value: Any) -> dict[str, list[str]]:
    lists = {name: each for name, each in _object(value).items() if isinstance(each, list)}
    return {name: [each for each in many if isinstance(each, str)] for name, many in lists.items()}
