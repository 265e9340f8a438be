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
from duetime.model.entity_tags import has_tag

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
    config = ConsoleConfig(place.api_prefix.removeprefix("/"), sign_in, runbook=place.runbook or None)
    site = Site(config, built)

    def handler(event: Event, _context: object) -> Event:
        if (answer := site.answer(_path(event), _base(event))) is None:
            return _answered(HTTPStatus.NOT_FOUND, {"Content-Type": "text/plain"}, "There is no such file.\n")
        if has_tag(event.get("headers"), answer.headers["ETag"]):
            return _answered(HTTPStatus.NOT_MODIFIED, answer.headers)
        return _answered(HTTPStatus.OK, answer.headers, answer.body)

    return handler


def _path(event: Event) -> str:
    """Return the requested path without the path of a stage or a domain."""
    parameters = event["pathParameters"] or {}
    return str(event["resource"]).replace(f"{{{FILE}}}", parameters.get(FILE, ""))


def _base(event: Event) -> str:
    """Return the path of the stage or of the custom domain, such as ``/prod/``.

    The page at ``/prod`` must work as the page at ``/prod/`` does. API Gateway may report either path for
    both, so a redirect from one to the other could be missing or endless.
    """
    called = str(event["requestContext"].get("path") or "").strip("/")
    return f"/{called}/" if called and event["resource"] == PAGE else "/"


def _answered(status: HTTPStatus, headers: Mapping[str, str], body: str = "") -> Event:
    return {"statusCode": int(status), "headers": dict(headers), "body": body, "isBase64Encoded": False}
