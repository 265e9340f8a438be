"""The WSGI application: routes requests to the API, moto, the outbox, the console or the start page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge
from werkzeug.wrappers import Request, Response

from duetime.api import PREFIX
from duetime.console import Site
from duetime.local.emulator import Emulator
from duetime.local.gateway import LARGEST_BODY, LocalGateway
from duetime.local.outbox_pages import PATH as OUTBOX

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

START = "/local"
"""The start page; also at ``/`` if the console is not built."""

_LOOPBACK = {"127.0.0.1", "localhost"}


class WsgiApp:
    """The WSGI application of the local cloud."""

    def __init__(
        self,
        gateway: LocalGateway,
        emulator: Emulator,
        page: Callable[[], str],
        outbox: Callable[[Request], Response],
        site: Site,
    ) -> None:
        self._lockway, self._emulator = gateway, emulator
        self._page, self._outbox, self._site = page, outbox, site

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        request = Request(environ)
        try:
            if _is_from_elsewhere(request):
                return _problem(HTTPStatus.FORBIDDEN, _ELSEWHERE)(environ, start_response)
            if _is_for_aws(request):
                return self._emulator.serve(environ, start_response)
            return self._answer(request)(environ, start_response)
        except HTTPException as error:
            return _refusal(request, error)(environ, start_response)

    def _answer(self, request: Request) -> Response:
        if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
            return self._lockway(request)
        if request.method not in {"GET", "HEAD"}:
            if self._shown(request) is None:
                raise NotFound
            raise MethodNotAllowed(valid_methods=["GET", "HEAD"])
        if (shown := self._shown(request)) is None:
            raise NotFound
        return shown

    def _shown(self, request: Request) -> Response | None:
        """Return the page of a path for a browser; None if there is none."""
        path = request.path
        if path == OUTBOX or path.startswith(f"{OUTBOX}/"):
            return self._outbox(request)
        if path == START or (path == "/" and not self._site.is_built):
            return Response(self._page(), content_type="text/html; charset=utf-8")
        if (found := self._site.answer(path)) is None:
            return None
        return Response(found.body, headers=dict(found.headers))


def _is_for_aws(request: Request) -> bool:
    """Return whether an SDK signed the request for an AWS service, other than the API itself."""
    if "X-Amz-Target" in request.headers:
        return True
    signature = request.headers.get("Authorization", "")
    return signature.startswith("AWS4-HMAC-SHA256") and "/execute-api/" not in signature


def _is_from_elsewhere(request: Request) -> bool:
    """Return whether a page of another site sent the request: this port runs code without a password."""
    hosts = {urlsplit(f"//{request.host}").hostname}
    if origin := request.headers.get("Origin"):
        hosts.add(urlsplit(origin).hostname)
    return not hosts <= _LOOPBACK


_ELSEWHERE = "only pages and programs of this machine may send requests here"


def _refusal(request: Request, error: HTTPException) -> Response:
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    match error:
        case NotFound():
            detail = f"there is nothing at {request.path}; the API is at {PREFIX}, and / shows what runs here"
        case RequestEntityTooLarge():
            detail = f"the body has more than {LARGEST_BODY:,} bytes"
        case _:
            detail = error.description or status.description
    response = _problem(status, detail)
    if isinstance(error, MethodNotAllowed):
        response.headers["Allow"] = ", ".join(error.valid_methods or ())
    return response


def _problem(status: HTTPStatus, detail: str) -> Response:
    problem = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    return Response(json.dumps(problem), status.value, content_type="application/problem+json")
