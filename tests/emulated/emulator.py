"""The emulator: moto in this process, for its boto3 clients and, through WSGI, for other processes."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from moto import mock_aws
from werkzeug.wrappers import Request

from duetime._lazy_property import lazy_property
from duetime.clock import Clock
from duetime.errors import OperationFailed
from tests.emulated import moto_patches
from tests.emulated.call_lock import AwsCall, CallLock, without_long_poll
from tests.emulated.fast_path.requests import FastPath, activate

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment


class Emulator:
    """moto behind the lock of its calls."""

    def __init__(self, lock: CallLock, clock: Clock) -> None:
        self._lock, self._clock = lock, clock
        accepts_calls: Any = {"use_docker": False}  # and runs nothing
        self._mock = mock_aws(config={"lambda": accepts_calls, "batch": accepts_calls})
        self._patches = ExitStack()

    def start(self) -> None:
        """Send the requests of every boto3 client of this process to an empty moto."""
        if moto_patches.is_active():
            raise OperationFailed("a local cloud already runs in this process; stop it first")
        self._mock.start()
        for patch in (
            moto_patches.boto3_requests(self._through_lock),
            moto_patches.sqs_milliseconds(self._clock),
            moto_patches.fair_queues(),
            moto_patches.sources_of_dead_letters(),
            moto_patches.undone_transactions(),
            moto_patches.repeated_transactions(self._clock),
            moto_patches.single_partition_queries(),
            moto_patches.quick_strings(),
            moto_patches.quick_items(),
        ):
            self._patches.enter_context(patch)
        self._patches.enter_context(activate(FastPath(self._lock)))

    def stop(self) -> None:
        """Discard all data and let clients reach AWS again."""
        self._patches.close()
        self._mock.stop()

    def serve(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a signed request of another process.

        The body is read outside the lock, so a slow client delays no other call.
        """
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        body = without_long_poll(target, Request(environ).get_data(cache=False))
        query = environ.get("QUERY_STRING", "")
        path = environ["PATH_INFO"] + (f"?{query}" if query else "")
        call = AwsCall(target, environ["REQUEST_METHOD"], path, body)
        ready = {**environ, "wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return self._lock.call(call, lambda: list(self._application(ready, start_response)))

    def _through_lock(self, process_request: Any) -> Any:
        def enter(request: Any) -> Any:
            call = _call_of(request)
            request.body = without_long_poll(call.target, call.body) if request.body else request.body
            return self._lock.call(call, lambda: process_request(request))

        return enter

    @lazy_property
    def _application(self) -> Any:
        """Return the WSGI application of moto's server, imported at the first use since that is slow."""
        from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 - as above
            DomainDispatcherApplication,
            create_backend_app,
        )

        return DomainDispatcherApplication(create_backend_app)


def _call_of(request: Any) -> AwsCall:
    target, body = request.headers.get("X-Amz-Target", ""), request.body or b""
    url = urlsplit(request.url)
    return AwsCall(
        target=target.decode() if isinstance(target, bytes) else target,
        method=request.method,
        path=url.path + (f"?{url.query}" if url.query else ""),
        body=body.encode() if isinstance(body, str) else body,
    )
