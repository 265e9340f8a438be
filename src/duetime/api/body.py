"""The body: read before any route sees it, so that a route is handed sound JSON or is not called."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from duetime.api.errors import BodyTooLarge, MalformedBody, WrongMediaType

BODY_LIMIT = 1_024 * 1_024
"""Bytes. The largest payload is below 400 KB; escapes may make its JSON longer."""

_JSON = "application/json"


def body_text(event: Mapping[str, Any]) -> str | None:
    """The request's body as text; None if there is none.

    Raises:
        WrongMediaType: it says that it is something other than JSON.
        BodyTooLarge: no request needs to be so long.
        MalformedBody: it is no UTF-8.
    """
    body = event.get("body")
    if not body:
        return None
    if not isinstance(body, str):
        raise MalformedBody("it is no text")
    media_type = _media_type(event)
    if media_type not in {"", _JSON}:
        raise WrongMediaType(media_type)
    whole = _octets(body, is_base64=bool(event.get("isBase64Encoded")))
    if len(whole) > BODY_LIMIT:
        raise BodyTooLarge(len(whole), BODY_LIMIT)
    return whole.decode()


def _octets(body: str, *, is_base64: bool) -> bytes:
    """The body as it was sent; sound UTF-8."""
    try:
        sent = base64.b64decode(body, validate=True) if is_base64 else body.encode()
        sent.decode()
    except ValueError:  # bad base64, bytes that are no UTF-8 and lone surrogates are all one of these
        raise MalformedBody("it is not UTF-8") from None
    return sent


def _media_type(event: Mapping[str, Any]) -> str:
    for name, value in (event.get("headers") or {}).items():
        if name.lower() == "content-type":
            return str(value).partition(";")[0].strip().lower()
    return ""


def strict_json(text: str) -> Any:
    """Read JSON as the standard has it: no NaN, no lone surrogate, and nothing nested deeper than 200 levels.

    Raises:
        MalformedBody: with the place of the fault.
    """
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise MalformedBody(str(error)) from None
