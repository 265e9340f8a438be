"""Stubs: real boto3 clients with a hook instead of HTTP, and a server, which return the same bytes always."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse

from tests.dynamodb_local import CREDENTIALS

_CREDENTIALS: Any = CREDENTIALS
NOWHERE = "http://127.0.0.1:1"
"""The endpoint, which is never called."""


def stubbed_client(service: Any, answer: bytes, config: Any = None) -> Any:
    """Return a client of a JSON service; each of its calls returns `answer` without a connection."""

    def answered(request: Any, **_rest: Any) -> Any:
        return AWSResponse(request.url, 200, _HEADERS, _Body(answer))

    client = boto3.client(service, endpoint_url=NOWHERE, config=config, **_CREDENTIALS)
    client.meta.events.register(f"before-send.{service}.*", answered)
    return client


_HEADERS: Any = {"x-amzn-requestid": "bench"}


class _Body:
    def __init__(self, written: bytes) -> None:
        self._written = written

    def stream(self) -> Iterator[bytes]:
        yield self._written


@contextmanager
def serving(seconds: float) -> Iterator[str]:
    """Yield the URL of a server, in a process of its own, that answers ``{}`` after some seconds."""
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=_serve, args=(there, seconds), daemon=True)
    server.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        server.terminate()
        server.join()


def _serve(port: Connection, seconds: float) -> None:
    asyncio.run(_serve_for_ever(port, seconds))


async def _serve_for_ever(port: Connection, seconds: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(int(length.partition(b":")[2]))
            await asyncio.sleep(seconds)
            writer.write(_ANSWER)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}"
