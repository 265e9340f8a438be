"""Stubs: boto3 clients that are real down to HTTP, where a hook answers every request with the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse

from tests.dynamodb_local import CREDENTIALS

_CREDENTIALS: Any = CREDENTIALS
NOWHERE = "http://127.0.0.1:1"
"""Nothing listens there, and nothing is asked."""


def stubbed_client(service: Any, answer: bytes) -> Any:
    """A client of a JSON service; each of its calls returns `answer`, and makes no connection."""

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
