"""Normalise API Gateway's events: all code behind this module relies on one shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

if TYPE_CHECKING:
    from duetime.api.served_request import Within

_PARAMETER = re.compile(r"\{([^{}+]+)\+?\}")
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
"""Levels of an event that are read; API Gateway's events have five."""


def normalise(sent: object) -> dict[str, Any]:
    """Return the event with each part in API Gateway's type; the body stays as it was sent.

    A part of another type is left out. Half of a surrogate pair, which UTF-8 cannot encode, becomes a control
    character, which no name may contain.
    """
    event = sent if isinstance(sent, Mapping) else {}
    parts = _encodable({name: event[name] for name in event if name != "body"})
    return {
        "httpMethod": _text(parts.get("httpMethod")),
        "path": _path(parts),
        "headers": _texts(parts.get("headers")),
        "multiValueHeaders": _lists(parts.get("multiValueHeaders")),
        "queryStringParameters": _texts(parts.get("queryStringParameters")),
        "multiValueQueryStringParameters": _lists(parts.get("multiValueQueryStringParameters")),
        "requestContext": _context(_object(parts.get("requestContext"))),
        "body": event.get("body"),
        "isBase64Encoded": parts.get("isBase64Encoded") is True,
    }


def read_within(event: Mapping[str, Any], prefix: str, base: str, within: Within) -> dict[str, Any]:
    """Return the event of a request that is served within a normalised one, of the same caller.

    Args:
        event: the event of the request that it is served within.
        prefix: the prefix of all paths.
        base: the prefix as the client called it.
        within: the request.
    """
    several = parse_qs(within.query, keep_blank_values=True)
    conditions = {"if-match", "if-none-match", "idempotency-key", "content-type", "content-length"}
    headers = {name: value for name, value in event["headers"].items() if name.lower() not in conditions}
    return {
        **event,
        "httpMethod": "GET",
        "path": _encodable(prefix + within.path),
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": _encodable({name: values[-1] for name, values in several.items()}),
        "multiValueQueryStringParameters": _encodable(several),
        "requestContext": {**event["requestContext"], "path": base + within.path},
        "body": None,
        "isBase64Encoded": False,
    }


def _path(parts: Mapping[str, Any]) -> str:
    """Return the path under the API's root: the resource with its parameters.

    The event's own `path` also contains the base path of a custom domain. It is returned only if the event
    lacks the resource or a parameter.
    """
    resource, parameters = _text(parts.get("resource")), _texts(parts.get("pathParameters"))
    if not resource or not parameters.keys() >= set(_PARAMETER.findall(resource)):
        return _text(parts.get("path"))
    return _PARAMETER.sub(lambda found: parameters[found[1]], resource)


def _context(context: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **context,
        "path": _text(context.get("path")),
        "identity": _object(context.get("identity")),
        "authorizer": _object(context.get("authorizer")),
    }


def _encodable(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\x7f", value)
    if isinstance(value, Mapping):
        return (
            {_encodable(str(name)): _encodable(item, levels - 1) for name, item in value.items()}
            if levels
            else {}
        )
    if isinstance(value, list):
        return [_encodable(item, levels - 1) for item in value] if levels else []
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> dict[str, str]:
    return {name: item for name, item in _object(value).items() if isinstance(item, str)}


def _lists(value: Any) -> dict[str, list[str]]:
    lists = {name: item for name, item in _object(value).items() if isinstance(item, list)}
    return {name: [item for item in many if isinstance(item, str)] for name, many in lists.items()}
