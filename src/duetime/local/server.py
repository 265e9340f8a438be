"""The HTTP server of the WSGI application, with a thread for each request."""

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

# Seconds between two checks for a stop.
_POLL = 0.1


class PortUnavailable(DuetimeError, OSError):
    """The port is in use or reserved."""

    code = "port-unavailable"

    def __init__(self, port: int, error: OSError) -> None:
        self.port = port
        problem = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        super().__init__(f"port {port} {problem}; stop what uses it, or choose another with --port")


class Server:
    """Listens from its creation; answers from `start` to `stop`.

    Raises:
        PortUnavailable: the port is in use or reserved.
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
        level = logging.ERROR if type == "error" else logging.DEBUG
        log.log(level, message.rstrip(), *args)


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise PortUnavailable(port, error) from error
    return listener
