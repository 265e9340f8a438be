"""The expressions that tests send to moto and to the emulated client; which tests moto runs in `make test`.

Amazon's DynamoDB Local judges every expression, in `make contract`. What stays for moto is that it, and the
local cloud's fast path before it, answer each form of request as DynamoDB does: so each expression is sent to
moto once. `on_moto.json` names the test that sends it. All other variants over moto bear the mark `moto_too`.
"""

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.contract.emulated_client import EmulatedClient

LISTED = Path(__file__).parent / "on_moto.json"
RENEW = "python -m tests.contract.on_moto"
NAMES = ("ConditionExpression", "KeyConditionExpression", "FilterExpression", "UpdateExpression")

sent = set[str]()
"""What the running test has sent."""


def note(operation: str, request: Mapping[str, Any]) -> None:
    """Note the expressions of a request."""
    sent.update(_expressions(operation, request))


def _expressions(operation: str, request: Mapping[str, Any]) -> Iterator[str]:
    for entry in request.get("TransactItems", ()):
        for kind, part in entry.items():
            yield from _expressions(f"{operation}, {kind}", part)
    for name in NAMES:
        if name in request:
            yield f"{operation}, {name}: {form_of(str(request[name]))}"


@functools.cache
def form_of(text: str) -> str:
    """Return an expression without its numbers, and without operands that then repeat the one before."""
    parts = re.split(r"(, | AND | OR )", re.sub(r"\d+", "_", text))
    words = list[str]()
    for joint, part in zip(["", *parts[1::2]], parts[::2], strict=True):
        if not words or part != words[-1]:
            words += [joint, part]
    return "".join(words)


def note_call(model: Any, params: Mapping[str, Any], **_: Any) -> None:
    """Note a call of boto3, or a direct put: both emit the event ``before-call``."""
    note(model.name, json.loads(params["body"]))


class NotedClient(EmulatedClient):
    """An emulated client whose expressions are noted."""

    def _write(
        self, operation: str, entries: Sequence[tuple[str, Mapping[str, Any]]], request: Mapping[str, Any]
    ) -> dict[str, Any]:
        if operation == "TransactWriteItems":
            request = {**request, "TransactItems": [{kind: entry} for kind, entry in entries]}
        note(operation, request)
        return super()._write(operation, entries, request)

    def query(self, **request: Any) -> dict[str, Any]:
        note("Query", request)
        return super().query(**request)

    def scan(self, **request: Any) -> dict[str, Any]:
        note("Scan", request)
        return super().scan(**request)


@functools.cache
def listed() -> dict[str, str]:
    """Return the test that sends each expression to moto."""
    return json.loads(LISTED.read_text())


def check(test: str) -> None:
    """Fail unless a test over moto sends each expression that `test` has sent to the emulated client."""
    missing = sorted(sent - listed().keys())
    assert not missing, f"{test} sends what no test in {LISTED.name} sends to moto; {RENEW}: {missing}"


def check_moto(test: str) -> None:
    """Fail unless `test` has sent to moto what it is listed for."""
    missing = sorted({text for text, name in listed().items() if name == test} - sent)
    assert not missing, f"{test} no longer sends to moto what {LISTED.name} lists it for; {RENEW}: {missing}"
