"""Stubs: real boto3 clients with a hook instead of HTTP, which returns the same bytes for every request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse

from tests.dynamodb_local import CREDENTIALS

_CREDENTIALS: Any = CREDENTIALS
NOWHERE = "http://127.0.0.1:1"
"""The endpoint, which is never called."""


def stubbed_client(service: Any, answer: bytes) -> Any:
    """Return a client of a JSON service; each of its calls returns `answer` without a connection."""

    def answered(request: Any, **_rest: Any) -> Any:
        return AWSResponse(request.url, 200, _HEADERS, _Body(answer))

    client = boto3.client(service, endpoint_url=NOWHERE, **_CREDENTIALS)
    client.meta.events.register(f"before-send.{service}.*", answered)
    return client


_HEADERS: Any = {"x-amzn-requestid": "bench"}


class _Body:
    def __init__(self, written: bytes) -> None:
        self._written = written

    def stream(self) -> Iterator[bytes]:
        yield self._written
