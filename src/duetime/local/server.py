"""The server: the front on one port of this machine, a thread for each request."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from duetime.errors import DuetimeError
from duetime.local.addresses import HOST
from duetime.local.wsgi_app import WsgiApp

log = logging.getLogger(__name__)

_POLL = 0.1
"""Seconds within which a stop is seen."""


class PortUnavailable(DuetimeError, OSError):
    """The port cannot be listened on: something else does, or it is reserved."""

    code = "port-unavailable"

    def __init__(self, port: int, error: OSError) -> None:
        self.port = port
        problem = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        super().__init__(f"port {port} {problem}; stop what uses it, or choose another with --port")


class Server:
    """Listens from the moment it is made; answers from `start` to `stop`.

    Raises:
        PortUnavailable: something else listens there.
    """

    def __init__(self, port: int) -> None:
        self._socket = _listening(port)
        self.url = f"http://{HOST}:{self._socket.getsockname()[1]}"
        self._server: BaseWSGIServer | None = None
        self._thread: threading.Thread | None = None

    def start(self, front: WsgiApp) -> None:
        """Answer requests."""
        port = self._socket.getsockname()[1]
        server = make_server(
            HOST, port, front, threaded=True, request_handler=_Handler, fd=self._socket.fileno()
        )
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(_POLL,), name="duetime-http", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Answer no more, and free the port; a second time does nothing."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
        self._socket.close()


class _Handler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - werkzeug's own name
        """Write requests as noise and errors as errors, as the rest of the local cloud does."""
        level = logging.ERROR if type == "error" else logging.DEBUG
        log.log(level, message.rstrip(), *args)


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise PortUnavailable(port, error) from error
    return listening
