"""The loopback proxy before DynamoDB Local: it injects faults, and records every request.

============  ==================================================================================
the fault     what happens
============  ==================================================================================
reset         the connection closes, and the request is not applied
lost          the request is applied, and its response is lost
late          the write is applied only after its caller gave up or repeated it
slow          the request or the response waits, for less than the caller's patience
============  ==================================================================================
"""

import http.client
import json
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

from duetime.clock import SystemClock

CLOCK = SystemClock()
HIGHEST = {"reset": 0.04, "lost": 0.06, "late": 0.06, "slow": 0.08}
"""The highest chances; that of `late` is among writes."""
LATE, SLOW = (5.2, 12.0), (0.05, 1.5)
"""Seconds; a caller gives up after five."""
IDLE = 5
"""Seconds after which a connection to DynamoDB Local is not used again: it may close it."""
_PROCESS = re.compile(r"app/(\S+)")
WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"})
_SKIPPED = frozenset({"host", "connection", "content-length", "transfer-encoding"})


@dataclass
class WireRequest:
    """One HTTP request: who sent which operation, and what became of it.

    Attributes:
        applied_at: when DynamoDB responded; None if it never received the request.
        status: of DynamoDB's response; None without one.
        is_answered: whether the caller received the response.
    """

    process: str
    operation: str
    body: Any
    start: float
    fault: str = ""
    applied_at: float | None = None
    status: int | None = None
    end: float | None = None
    is_answered: bool = False


@dataclass
class Proxy:
    """A running proxy."""

    endpoint: str
    upstream: str
    random: Random
    rates: Mapping[str, float] = field(default_factory=dict)
    late: frozenset[str] = WRITES
    requests: list[WireRequest] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    under_way: int = 0
    is_over: threading.Event = field(default_factory=threading.Event)

    def change_faults(self, rates: Mapping[str, float] | None, late: frozenset[str]) -> None:
        """Set the chance of each fault, and the operations that may be late. Without rates, draw them."""
        drawn = {name: self.random.choice((0, 0.5, 1)) * HIGHEST[name] for name in HIGHEST}
        self.rates, self.late = drawn if rates is None else rates, late

    def end_faults(self) -> None:
        """Inject no more faults. Late requests still arrive."""
        self.rates = {}

    def faults(self) -> Counter[str]:
        """How many requests met each fault."""
        return Counter(request.fault for request in self.requests if request.fault)

    def write(self, path: Path) -> None:
        """Write all requests to a file, a line for each, by their start."""
        path.write_text("".join(json.dumps(asdict(request)) + "\n" for request in self.requests))

    def draw(self, operation: str) -> tuple[str, float]:
        """Return the fault of the next request, and its seconds."""
        with self.lock:
            chance, share = self.random.random(), self.random.random()
        for name, rate in self.rates.items():
            if name == "late" and operation not in self.late:
                continue
            chance -= rate
            if chance < 0:
                low, high = LATE if name == "late" else SLOW
                return name, low + share * (high - low)
        return "", 0.0


@contextmanager
def running(upstream: str, random: Random) -> Iterator[Proxy]:
    """A proxy on a free port of the loopback interface."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler, bind_and_activate=False)
    server.daemon_threads, server.request_queue_size = False, 128
    server.server_bind()
    server.server_activate()
    proxy = server.proxy = Proxy(f"http://127.0.0.1:{server.server_port}", upstream, random)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.is_over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """The thread of one connection, with its own connection to DynamoDB Local."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    upstream: http.client.HTTPConnection | None = None
    used_at = 0.0

    def do_POST(self) -> None:
        proxy = self.server.proxy
        request = self._read()
        if request is None:
            self.close_connection = True
            return
        with proxy.lock:
            proxy.requests.append(request)
            proxy.under_way += 1
        try:
            self._serve(proxy, request)
        finally:
            request.end = CLOCK.elapsed()
            with proxy.lock:
                proxy.under_way -= 1

    def _read(self) -> WireRequest | None:
        """Return the request; None if its process was killed while it sent it."""
        length = int(self.headers.get("Content-Length", 0))
        self.sent = self.rfile.read(length)
        if len(self.sent) < length:
            return None
        operation = self.headers.get("X-Amz-Target", "").rpartition(".")[2]
        process = _PROCESS.search(self.headers.get("User-Agent", ""))
        body = json.loads(self.sent) if operation in WRITES else None
        return WireRequest(process.group(1) if process else "", operation, body, CLOCK.elapsed())

    def _serve(self, proxy: Proxy, request: WireRequest) -> None:
        request.fault, seconds = proxy.draw(request.operation)
        if request.fault == "reset":
            self.close_connection = True
            return
        if request.fault in {"late", "slow"}:
            proxy.is_over.wait(seconds)
        response, content = self._forward(proxy.upstream)
        request.applied_at, request.status = CLOCK.elapsed(), response.status
        if request.fault == "lost":
            self.close_connection = True
            return
        self._respond(response, content)
        request.is_answered = not self.close_connection

    def _forward(self, upstream: str) -> tuple[http.client.HTTPResponse, bytes]:
        if self.upstream is None or CLOCK.elapsed() - self.used_at > IDLE:
            self._close()
            where = urlsplit(upstream)
            self.upstream = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _SKIPPED}
        self.upstream.request("POST", "/", self.sent, headers)
        response = self.upstream.getresponse()
        content, self.used_at = response.read(), CLOCK.elapsed()
        return response, content

    def _respond(self, response: http.client.HTTPResponse, content: bytes) -> None:
        try:
            self.send_response_only(response.status, response.reason)
            for name, value in response.getheaders():
                if name.lower() not in _SKIPPED:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # the caller gave up
            self.close_connection = True

    def _close(self) -> None:
        if self.upstream is not None:
            self.upstream.close()

    def finish(self) -> None:
        """Close both connections."""
        self._close()
        with suppress(OSError):
            super().finish()

    def handle(self) -> None:
        """Serve requests until a side closes the connection."""
        with suppress(OSError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
        """Write no log."""
