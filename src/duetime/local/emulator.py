"""The emulator: moto, in this process, for the boto3 clients here and for those of other processes through WSGI."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

from moto import mock_aws
from moto.core.models import botocore_stubber
from moto.sqs import models as sqs
from werkzeug.wrappers import Request

from duetime.clock import Clock
from duetime.errors import DuetimeError
from duetime.local.gate import AwsCall, Gate, without_long_poll
from duetime.local.queries import by_partition
from duetime.local.transactions import undoing

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class AlreadyRunning(DuetimeError, RuntimeError):
    """Another local cloud runs in this process; moto's state is the whole process'."""

    code = "already-running"

    def __init__(self) -> None:
        super().__init__("a local cloud runs in this process already; stop it first")


class Emulator:
    """moto behind the gate."""

    def __init__(self, gate: Gate, clock: Clock) -> None:
        self._gate, self._clock = gate, clock
        self._mock = mock_aws()
        self._for_others: Any = None
        self._patched = ExitStack()

    def start(self) -> None:
        """From here on every boto3 client of this process meets moto, and starts with nothing in it."""
        if "process_request" in vars(botocore_stubber):
            raise AlreadyRunning
        self._mock.start()
        into_moto = botocore_stubber.process_request

        def let_in(request: Any) -> Any:
            call = _call_of(request)
            request.body = without_long_poll(call.target, call.body) if request.body else request.body
            return self._gate.let_in(call, lambda: into_moto(request))

        vars(botocore_stubber)["process_request"] = let_in  # of this one object, not of its class
        self._patched.enter_context(patch.object(sqs, "unix_time_millis", self._milliseconds))
        self._patched.enter_context(undoing())
        self._patched.enter_context(by_partition())

    def stop(self) -> None:
        """Forget everything, and let clients reach AWS again."""
        self._patched.close()
        vars(botocore_stubber).pop("process_request")
        self._mock.stop()

    def serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """A signed request of another process.

        It is read before it enters the gate: a slow client holds up nobody.
        """
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        body = without_long_poll(target, Request(environ).get_data(cache=False))
        query = environ.get("QUERY_STRING", "")
        path = environ["PATH_INFO"] + (f"?{query}" if query else "")
        call = AwsCall(target, environ["REQUEST_METHOD"], path, body)
        ready = {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return self._gate.let_in(call, lambda: list(self._application()(ready, start_response)))

    def _milliseconds(self) -> float:
        """Milliseconds since 1970, which moto's SQS asks for several times a message, of all in the queue, in each call.

        Its own way there takes twenty times as long: with 500 messages, 30 ms of each receive.
        """
        return self._clock.now().timestamp() * 1000

    def _application(self) -> Any:
        """The application of moto's own server: made at the first use, since importing it takes a while."""
        if self._for_others is None:
            from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 - as above
                DomainDispatcherApplication,
                create_backend_app,
            )

            self._for_others = DomainDispatcherApplication(create_backend_app)
        return self._for_others


def _call_of(request: Any) -> AwsCall:
    target, body = request.headers.get("X-Amz-Target", ""), request.body or b""
    where = urlsplit(request.url)
    return AwsCall(
        target=target.decode() if isinstance(target, bytes) else target,
        method=request.method,
        path=where.path + (f"?{where.query}" if where.query else ""),
        body=body.encode() if isinstance(body, str) else body,
    )
