"""The Lambda that serves the console's files: a REST proxy event to `duetime.console`.

It reads no table and calls no service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from duetime.console import BUILT, ConsoleConfig, SignIn, Site
from duetime.console.site import PAGE
from duetime.environment import ConsoleEnvironment

Event = Mapping[str, Any]

FILE = "file"
"""The parameter of the assets' path."""


def make_handler(place: ConsoleEnvironment, built: Path = BUILT) -> Callable[[Event, object], Event]:
    """Return the handler of API Gateway's events.

    Args:
        place: where the console is.
        built: where its files are.
    """
    sign_in = SignIn(place.sign_in_url, place.sign_in_issuer, place.sign_in_client)
    site = Site(ConsoleConfig(place.api_prefix.removeprefix("/"), sign_in), built)

    def handler(event: Event, _context: object) -> Event:
        path = _path(event)
        if path == PAGE and (better := _with_slash(event["requestContext"]["path"])):
            return _answered(HTTPStatus.MOVED_PERMANENTLY, {"Location": better})
        if (answer := site.answer(path)) is None:
            return _answered(HTTPStatus.NOT_FOUND, {"Content-Type": "text/plain"}, "There is no such file.\n")
        return _answered(HTTPStatus.OK, answer.headers, answer.body)

    return handler


def _path(event: Event) -> str:
    """Return the requested path without the path of a stage or a domain."""
    parameters = event["pathParameters"] or {}
    return str(event["resource"]).replace(f"{{{FILE}}}", parameters.get(FILE, ""))


def _with_slash(path: str) -> str:
    """Return the address with a slash at its end, for the page's relative links; empty if it has one."""
    last = path.rpartition("/")[2]
    return f"./{last}/" if last else ""


def _answered(status: HTTPStatus, headers: Mapping[str, str], body: str = "") -> Event:
    return {"statusCode": int(status), "headers": dict(headers), "body": body, "isBase64Encoded": False}
