"""API Gateway's event: normalised to one shape, and its body decoded and parsed once."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs

from pydantic_core import from_json

from duetime.api.errors import RequestError
from duetime.errors import DuetimeError, truncate

BODY_LIMIT = 1_024 * 1_024
"""Bytes. The largest payload is below 400 KB; escapes may make its JSON longer."""

_PARAMETER = re.compile(r"\{([^{}+]+)\+?\}")
_SURROGATES = re.compile("[\ud800-\udfff]")
_DEEPEST = 8
"""Levels of an event that are read; API Gateway's events have five."""


@dataclass(frozen=True, slots=True)
class Within:
    """A read of the same caller that is served within another request."""

    path: str
    """Decoded, under the prefix."""
    query: str = ""
    """As it was sent."""


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


class RequestContent(NamedTuple):
    """The body of a request as text and as JSON, or the errors of either."""

    text: str | None = None
    value: Any = None
    error: DuetimeError | None = None
    """The reason why no route accepts the body: its media type, its size or its encoding."""
    json_error: RequestError | None = None

    @classmethod
    def from_event(cls, event: Mapping[str, Any], limit: int = BODY_LIMIT) -> Self:
        """Decode and parse the body of a normalised event; the content holds every error.

        Args:
            event: the event.
            limit: the most bytes of the body.
        """
        try:
            text = _body_text(event, limit)
        except DuetimeError as error:
            return cls(error=error)
        if text is None:
            return cls()
        try:
            return cls(text, parse_json(text))
        except RequestError as error:
            return cls(text, json_error=error)

    def json(self) -> Any:
        """Return the parsed body.

        Raises:
            RequestError: the body is not JSON.
        """
        if self.json_error is not None:
            raise self.json_error
        return self.value

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of the body; none if it is not a JSON object."""
        return self.value if isinstance(self.value, dict) else {}


def _body_text(event: Mapping[str, Any], limit: int) -> str | None:
    """Return the body as text; None if there is none.

    Raises:
        RequestError: the content type is not JSON; or the body exceeds the limit; or the body is not UTF-8.
    """
    body = event["body"]
    if not body:
        return None
    if not isinstance(body, str):
        raise RequestError("malformed-body", "the body is no JSON: it is no text")
    media_type = _media_type(event["headers"])
    if media_type not in {"", "application/json"}:
        problem = f"the body is {truncate(media_type, 60)!r}; send application/json"
        raise RequestError("wrong-media-type", problem)
    try:
        octets = base64.b64decode(body, validate=True) if event["isBase64Encoded"] else body.encode()
        text = octets.decode()
    except ValueError:  # also raised for invalid base64 and for lone surrogates
        raise RequestError("malformed-body", "the body is no JSON: it is not UTF-8") from None
    if len(octets) > limit:
        problem = f"the body is {len(octets):,} bytes; at most {limit:,} are read"
        raise RequestError("body-too-large", problem)
    return text


def _media_type(headers: Mapping[str, str]) -> str:
    value = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def parse_json(text: str) -> Any:
    """Parse standard JSON: NaN, lone surrogates and more than 200 levels are rejected.

    Raises:
        RequestError: the text is not JSON; the error has the position.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise RequestError("malformed-body", f"the body is no JSON: {error}") from None
