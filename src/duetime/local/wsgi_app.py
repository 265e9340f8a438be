"""The WSGI application: routes requests to the API, the bus, the outbox, the console or the start page.

Its HTTP server has a thread for each request.
"""

from __future__ import annotations

import errno
import gzip
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from werkzeug.exceptions import (
    HTTPException,
    MethodNotAllowed,
    NotFound,
    RequestEntityTooLarge,
    UnsupportedMediaType,
)
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from duetime.api import PREFIX
from duetime.console import Site
from duetime.errors import OperationFailed
from duetime.local.environment import HOST
from duetime.local.gateway import LARGEST_BODY, LocalGateway
from duetime.local.outbox_pages import PATH as OUTBOX
from duetime.model.entity_tags import has_tag

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


SMALLEST = 1_024
"""Bytes; the stack's REST APIs have the same limit."""


def compressed(request: Request, response: Response) -> Response:
    """Return the response, with its body compressed if that is accepted."""
    body = response.get_data()
    if len(body) >= SMALLEST and request.accept_encodings["gzip"] > 0:
        response.set_data(gzip.compress(body, compresslevel=6, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    response.vary.add("Accept-Encoding")
    return response


log = logging.getLogger(__name__)


START = "/local"
"""The start page; also at ``/`` if the console is not built."""

EXPORTS = f"{START}/env"
"""The exports for a shell, as text."""

JSON = "application/json"

_LOOPBACK = {"127.0.0.1", "localhost"}


class WsgiApp:
    """The WSGI application of the local cloud."""

    def __init__(
        self,
        gateway: LocalGateway,
        aws: Callable[[Request], Response],
        pages: Mapping[str, Callable[[], str]],
        outbox: Callable[[Request], Response],
        site: Site,
    ) -> None:
        self._gateway, self._aws = gateway, aws
        self._pages, self._outbox, self._site = pages, outbox, site

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        request = Request(environ)
        try:
            if _is_from_elsewhere(request):
                problem = "only pages and programs of this machine may send requests here"
                return _problem(HTTPStatus.FORBIDDEN, problem)(environ, start_response)
            if _is_for_aws(request):
                return self._aws(request)(environ, start_response)
            return self._answer(request)(environ, start_response)
        except HTTPException as error:
            return _refusal(request, error)(environ, start_response)

    def _answer(self, request: Request) -> Response:
        if request.path == PREFIX or request.path.startswith(f"{PREFIX}/"):
            _check_media_type(request)
            return compressed(request, self._gateway(request))
        if request.method not in {"GET", "HEAD"}:
            if self._shown(request) is None:
                raise NotFound
            raise MethodNotAllowed(valid_methods=["GET", "HEAD"])
        if (shown := self._shown(request)) is None:
            raise NotFound
        return shown

    def _shown(self, request: Request) -> Response | None:
        path = request.path
        if path == OUTBOX or path.startswith(f"{OUTBOX}/"):
            return self._outbox(request)
        if path == START or (path == "/" and not self._site.is_built):
            return Response(self._pages[START](), content_type="text/html; charset=utf-8")
        if path == EXPORTS:
            return Response(self._pages[EXPORTS](), content_type="text/plain; charset=utf-8")
        if (found := self._site.answer(path)) is None:
            return None
        if has_tag(dict(request.headers), found.headers["ETag"]):
            return Response(status=HTTPStatus.NOT_MODIFIED, headers=dict(found.headers))
        return compressed(request, Response(found.body, headers=dict(found.headers)))


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


def _check_media_type(request: Request) -> None:
    """Check that a browser asks before it sends a change from a page of another origin.

    It asks before every PUT, PATCH and DELETE, and before a POST with this content type; no answer allows it.
    """
    has_body = bool(request.content_length) or "Transfer-Encoding" in request.headers
    is_said = bool(request.mimetype) if request.method != "POST" else request.mimetype == JSON
    if not is_said and (has_body or request.method == "POST"):
        raise UnsupportedMediaType(
            f"send Content-Type: {JSON} (`curl --json`), also with a POST that has no body"
        )


def _refusal(request: Request, error: HTTPException) -> Response:
    status = HTTPStatus(error.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    match error:
        case NotFound():
            detail = f"there is nothing at {request.path}; {START} shows what runs here,"
            detail += f" and {PREFIX}/openapi.json the API"
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


# Seconds between two checks for a stop.
_POLL = 0.1


class Server:
    """Listens from its creation; answers from `start` to `stop`.

    Raises:
        OperationFailed: the port is in use or reserved.
    """

    def __init__(self, port: int) -> None:
        self._socket = _listen(port)
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    def start(self, application: WsgiApp) -> None:
        """Answer requests."""
        port = self._socket.getsockname()[1]
        server = make_server(
            HOST, port, application, threaded=True, request_handler=_Handler, fd=self._socket.fileno()
        )
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(_POLL,), name="duetime-http", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and free the port; a second call does nothing."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._socket.close()


class _Handler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's own name
        """Log requests at debug level and errors as errors."""
        log.log(logging.ERROR if type == "error" else logging.DEBUG, message.rstrip(), *args)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        problem = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        raise OperationFailed(
            f"port {port} {problem}; stop what uses it, or choose another with --port"
        ) from error
    return listener
