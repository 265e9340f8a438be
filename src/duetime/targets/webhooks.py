"""Webhooks: signed requests, and what their responses mean for the action.

A request goes to an address that was resolved once, with bounds on its time and on its response.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from duetime.clock import Clock
from duetime.errors import truncate
from duetime.model.run import Run
from duetime.retry import LONGEST_BACKOFF, Fatal, Retry, RetryPolicy
from duetime.targets.addresses import (
    HTTPS_PORT,
    AddressForbidden,
    Lookup,
    host_and_port,
    public_addresses,
)
from duetime.targets.grants import WebhookHost
from duetime.targets.payloads import Webhook

WEBHOOK_RETRY = RetryPolicy(10, backoff=(5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400))
"""The waits that Standard Webhooks recommends: three days in all."""

_SECRET = re.compile(r"(?:whsec_)?[A-Za-z0-9+/]{32,128}={0,2}")
_SHOWN = 200
_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_SUCCESS, _REDIRECT, _SERVER_ERROR = 2, 3, 5
_SHORTEST = timedelta(seconds=1)

ReadSecret = Callable[[str], str]
"""Returns a signing secret by its reference."""


def send_webhook(
    payload: Webhook, host: WebhookHost, run: Run, post: HttpPost, read_secret: ReadSecret
) -> None:
    """Post a webhook to a granted host.

    Raises:
        Retry: the receiver requests a later attempt, or fails.
        Fatal: the receiver rejects it for good, or its host is not public.
        OSError: the receiver did not respond.
    """
    body = json.dumps(payload.body, ensure_ascii=False, separators=(",", ":"))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "duetime",
        **_signed(host, message_id(run), run.now(), body, read_secret),
    }
    try:
        answer = post(payload.url, body.encode(), headers, host.address)
    except AddressForbidden as error:
        raise Fatal(str(error)) from None
    except http.client.HTTPException as error:
        raise Retry(reason=f"{host.host} sent no HTTP response: {truncate(repr(error), _SHOWN)}") from error
    judge(answer, host.host, run.now())


def _signed(
    host: WebhookHost, number: str, now: datetime, body: str, read_secret: ReadSecret
) -> dict[str, str]:
    at = now.astimezone(UTC)
    headers = {"webhook-id": number, "webhook-timestamp": str(int(at.timestamp()))}
    if not host.secret:
        return headers
    try:
        from standardwebhooks.webhooks import Webhook as Signer  # noqa: PLC0415 - an optional extra
    except ModuleNotFoundError:
        raise Fatal("a signed webhook needs standardwebhooks: pip install 'duetime[webhooks]'") from None
    secrets = read_secret(host.secret).split()
    if not secrets or not all(map(_SECRET.fullmatch, secrets)):  # two during a rotation
        raise Fatal(f"the secret of {host.host} cannot sign; allowed is whsec_ and at least 32 of base64")
    signatures = [Signer(secret).sign(number, at, body) for secret in secrets]
    return {**headers, "webhook-signature": " ".join(signatures)}


def message_id(run: Run) -> str:
    """Return the id by which a receiver recognises repeats; Standard Webhooks allows no full stop in it."""
    return run.idempotency_key.replace(".", "_")


def judge(answer: HttpAnswer, host: str, now: datetime) -> None:
    """Return if the receiver took the webhook.

    Raises:
        Retry: 408, 425, 429 or 5xx: again after ``Retry-After``, or after the policy's wait.
        Fatal: a redirect or another status: a repeat does not help.
    """
    kind = answer.status // 100
    if kind == _SUCCESS:
        return
    response = f"{host} responded {answer.status}{_excerpt(answer.body)}"
    if kind == _SERVER_ERROR or answer.status in _AGAIN:
        raise Retry(_wait_of(answer.retry_after, now), response)
    if kind == _REDIRECT:
        raise Fatal(f"{response}; redirects are not followed: schedule the new URL")
    if answer.status == HTTPStatus.GONE:
        raise Fatal(f"{response}: the receiver wants no more webhooks at this URL")
    raise Fatal(response)


def _wait_of(retry_after: str | None, now: datetime) -> timedelta | None:
    """Return the wait that a response requests, at most 90 days; None without one that can be read."""
    if retry_after is None:
        return None
    given = retry_after.strip()
    if given.isascii() and given.isdigit():
        wait = timedelta(seconds=min(int(given[:10]), LONGEST_BACKOFF.total_seconds()))
    else:
        try:
            at = parsedate_to_datetime(given)
        except ValueError:
            return None
        wait = (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
    return min(max(wait, _SHORTEST), LONGEST_BACKOFF)


def _excerpt(body: bytes) -> str:
    text = "".join(filter(str.isprintable, body[: 4 * _SHOWN].decode(errors="replace")))
    return f": {truncate(text, _SHOWN)}" if text.strip() else ""


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
            named = host if port == HTTPS_PORT else f"{host}:{port}"
            return self._exchange(connected, url, body, {"Host": named, **headers})

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
            with suppress(OSError):  # closed already
                socket.socket.shutdown(connected, socket.SHUT_RDWR)

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
