"""Makes one HTTP request with the standard library. Imported only when a command calls a scheduler."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http.client import HTTPException
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from duetime.cli.failures import NoResponse

TIMEOUT = 35.0
"""Seconds: API Gateway gives up after 29."""

_GATEWAY_TIMEOUT = 504

_LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?(/|$)")


def address(base: str, path: tuple[str, ...], query: Mapping[str, str | list[str] | None]) -> str:
    """Return the URL of a path, given in segments, with the parameters that have a value."""
    segments = "/".join(quote(segment, safe="", errors="replace") for segment in path)
    given = {name: value for name, value in query.items() if value is not None}
    return f"{base}/{segments}" + (
        "?" + urlencode(given, doseq=True, errors="replace", quote_via=quote) if given else ""
    )


def is_loopback(url: str) -> bool:
    """Return whether a URL is unencrypted and on this machine."""
    return _LOOPBACK.match(url) is not None


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects: a token must not be sent to another server."""

    def redirect_request(self, *_args: object, **_options: object) -> None:
        """Make no other request: the redirect is the response."""


class Received(NamedTuple):
    """A response: its status, its body, and the ``ETag`` of what it shows, if it has one."""

    status: int
    body: bytes
    etag: str | None


def exchange(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    base: str,
    timeout: float = TIMEOUT,
) -> Received:
    """Send a request, and return the response.

    Raises:
        NoResponse: no server responds at `base`, or not within `timeout` seconds, or its gateway gave up.
    """
    opener = build_opener(_NoRedirects, *([ProxyHandler({})] if is_loopback(url) else []))
    done = "" if method == "GET" else "; the change may have been made, so look before you repeat it"
    too_late = NoResponse(
        f"time-out: {base} did not respond within {timeout:g} seconds{done}:"
        f" wait longer with --timeout {2 * timeout:g}, or set DUETIME_TIMEOUT={2 * timeout:g}"
    )
    try:
        request = Request(url, body, dict(headers), method=method)  # noqa: S310 - the client admits http and https alone
        received = _received(opener, request, timeout)
    except TimeoutError:
        raise too_late from None
    except (OSError, HTTPException, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, TimeoutError):
            raise too_late from None
        why = str(getattr(reason, "strerror", None) or reason or type(reason).__name__)
        raise NoResponse(
            f"no scheduler responds at {base} ({why}): start one with `duetime local --app module:name`,"
            " or set --url"
        ) from None
    if received.status == _GATEWAY_TIMEOUT:
        raise NoResponse(
            f"time-out: the gateway at {base} did not wait for the response (504){done}:"
            " repeat it, with a smaller --limit if the command has one; --timeout does not change this"
        )
    return received


def _received(opener: OpenerDirector, request: Request, timeout: float) -> Received:
    try:
        with opener.open(request, timeout=timeout) as response:
            return Received(response.status, response.read(), response.headers["ETag"])
    except HTTPError as error:
        with error:
            return Received(error.code, error.read(), None)
