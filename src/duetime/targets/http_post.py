"""One HTTP request of a webhook: to an address that was resolved once, with bounds on time and answer."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from duetime.clock import Clock
from duetime.targets.addresses import HTTPS_PORT, Lookup, host_and_port, public_addresses

LONGEST_REQUEST = timedelta(seconds=20)
LARGEST_ANSWER = 65_536
"""Bytes of a response's body that are read."""

Connect = Callable[..., socket.socket]
"""As `socket.create_connection`."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response: its status, its ``Retry-After``, and the beginning of its body."""

    status: int
    retry_after: str | None
    body: bytes


class HttpPost:
    """Posts bodies. It follows no redirect, and connects to no address but the one that it checked.

    Args:
        clock: limits the time.
        lookup: resolves names.
        connect: opens connections.
        tls: returns the context that verifies certificates.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        lookup: Lookup = socket.getaddrinfo,
        connect: Connect = socket.create_connection,
        tls: Callable[[], ssl.SSLContext] = ssl.create_default_context,
    ) -> None:
        self._clock, self._lookup, self._connect, self._tls = clock, lookup, connect, tls

    def __call__(
        self, url: str, body: bytes, headers: Mapping[str, str], instead: tuple[str, int] | None = None
    ) -> HttpAnswer:
        """Post a body; return the response.

        Args:
            url: of the webhook; `host_and_port` accepts it.
            body: the body.
            headers: beside those of HTTP.
            instead: the address that stands in for the host, without TLS.

        Raises:
            AddressForbidden: the host resolves to an address that is not public; nothing was sent.
            OSError: no response came in time, or the host is not reachable.
            HTTPException: the response is not HTTP.
        """
        host, port = host_and_port(url)
        ends = self._clock.elapsed() + LONGEST_REQUEST.total_seconds()
        connected = self._open(*instead, ends) if instead else self._open_tls(host, port, ends)
        with connected, self._ended_at(connected, ends):
            return self._exchange(connected, url, body, {"Host": _host(host, port), **headers})

    def _open_tls(self, host: str, port: int, ends: float) -> socket.socket:
        addresses = public_addresses(host, port, self._lookup)
        last: OSError | None = None
        for address in addresses:
            try:
                plain = self._open(address, port, ends)
            except OSError as error:
                last = error
                continue
            try:
                return self._tls().wrap_socket(plain, server_hostname=host)
            except BaseException:
                plain.close()
                raise
        raise last or OSError(f"{host} has no address")

    def _open(self, address: str, port: int, ends: float) -> socket.socket:
        return self._connect((address, port), timeout=self._left(ends))

    def _left(self, ends: float) -> float:
        left = ends - self._clock.elapsed()
        if left <= 0:
            raise _too_late()
        return left

    @contextmanager
    def _ended_at(self, connected: socket.socket, ends: float) -> Iterator[None]:
        """End the connection at the end of its time, also if each of many bytes comes in time."""
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            _shut_down(connected)

        timer = threading.Timer(self._left(ends), end)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, http.client.HTTPException):
            if not is_late.is_set():
                raise
        finally:
            timer.cancel()
        if is_late.is_set():
            raise _too_late()

    def _exchange(
        self, connected: socket.socket, url: str, body: bytes, headers: Mapping[str, str]
    ) -> HttpAnswer:
        parts = urlsplit(url)
        connection = _Connected(connected)
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", target, body, {**headers, "Connection": "close"})
            with connection.getresponse() as response:
                return HttpAnswer(
                    response.status, response.getheader("Retry-After"), response.read(LARGEST_ANSWER)
                )
        finally:
            connection.close()


class _Connected(http.client.HTTPConnection):
    """HTTP over a socket that is open already."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__("connected")
        self.sock: Any = connected

    def connect(self) -> None:
        """Open no other connection."""
        raise OSError("the connection was closed")


def _too_late() -> TimeoutError:
    return TimeoutError(f"no response within {LONGEST_REQUEST.total_seconds():g} s")


def _shut_down(connected: socket.socket) -> None:
    try:
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
    except OSError:  # closed already
        return


def _host(host: str, port: int) -> str:
    return host if port == HTTPS_PORT else f"{host}:{port}"
