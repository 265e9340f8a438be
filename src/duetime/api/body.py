"""The body of a request, decoded and parsed once."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from pydantic_core import from_json

from duetime.api.errors import BodyTooLarge, MalformedBody, WrongMediaType
from duetime.errors import DuetimeError

BODY_LIMIT = 1_024 * 1_024
"""Bytes. The largest payload is below 400 KB; escapes may make its JSON longer."""


class RequestContent(NamedTuple):
    """The body of a request as text and as JSON, or the errors of either."""

    text: str | None = None
    value: Any = None
    error: DuetimeError | None = None
    """The reason why no route accepts the body: its media type, its size or its encoding."""
    json_error: MalformedBody | None = None

    @classmethod
    def from_event(cls, event: Mapping[str, Any], limit: int = BODY_LIMIT) -> Self:
        """Decode and parse the body of a normalised event; the content holds every error.

        Args:
            event: the event.
            limit: the most bytes of the body.
        """
        try:
            text = _text(event, limit)
        except DuetimeError as error:
            return cls(error=error)
        if text is None:
            return cls()
        try:
            return cls(text, parse_json(text))
        except MalformedBody as error:
            return cls(text, json_error=error)

    def json(self) -> Any:
        """Return the parsed body.

        Raises:
            MalformedBody: the body is not JSON.
        """
        if self.json_error is not None:
            raise self.json_error
        return self.value

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of the body; none if it is not a JSON object."""
        return self.value if isinstance(self.value, dict) else {}


def _text(event: Mapping[str, Any], limit: int) -> str | None:
    """Return the body as text; None if there is none.

    Raises:
        WrongMediaType: the content type is not JSON.
        BodyTooLarge: the body exceeds the limit.
        MalformedBody: the body is not UTF-8.
    """
    body = event["body"]
    if not body:
        return None
    if not isinstance(body, str):
        raise MalformedBody("it is no text")
    media_type = _media_type(event["headers"])
    if media_type not in {"", "application/json"}:
        raise WrongMediaType(media_type)
    try:
        octets = base64.b64decode(body, validate=True) if event["isBase64Encoded"] else body.encode()
        text = octets.decode()
    except ValueError:  # also raised for invalid base64 and for lone surrogates
        raise MalformedBody("it is not UTF-8") from None
    if len(octets) > limit:
        raise BodyTooLarge(len(octets), limit)
    return text


def _media_type(headers: Mapping[str, str]) -> str:
    value = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    return value.partition(";")[0].strip().lower()


def parse_json(text: str) -> Any:
    """Parse standard JSON: NaN, lone surrogates and more than 200 levels are rejected.

    Raises:
        MalformedBody: the text is not JSON; the error has the position.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MalformedBody(str(error)) from None
