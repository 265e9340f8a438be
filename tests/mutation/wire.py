"""The requests to DynamoDB: records their conditions, or gives one of them another text."""

import re
from collections.abc import Iterator
from typing import Any

from botocore.client import BaseClient

from duetime.aws import direct_puts
from tests.mutation.condition_text import ALWAYS, MORE, Form
from tests.mutation.instrument import Marked
from tests.mutation.sites import KINDS

Seen = tuple[str, str, tuple[tuple[str, str], ...]]
"""A site, its condition, and the types of the request's values."""

seen = set[Seen]()
unmarked = set[str]()
"""Conditions that no site made: of a test, or of a place that the finder misses."""

_REFERENCE = re.compile(r"[#:]\w+")


class Wire:
    """What becomes of a condition on its way to DynamoDB.

    Attributes:
        mutant: the site, the condition and its replacement.
        has_changed: whether a request had this condition.
    """

    def __init__(self) -> None:
        self.mutant: tuple[str, str, str] | None = None
        self.has_changed = False
        self._send = BaseClient._make_api_call

    def install(self) -> None:
        wire = self

        def send(client: BaseClient, operation: str, request: dict[str, Any]) -> Any:
            if client.meta.service_model.service_name == "dynamodb":
                request = wire.changed(operation, request)
            return wire._send(client, operation, request)

        send.__module__ = BaseClient.__module__  # a tracer's function would end direct puts
        BaseClient._make_api_call = send
        encode = direct_puts._encode  # a direct put does not pass through a client
        direct_puts._encode = lambda request: encode(wire._entry(request))

    def changed(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        if operation != "TransactWriteItems":
            return self._entry(request)
        entries = [
            {kind: self._entry(part) for kind, part in entry.items()} for entry in request["TransactItems"]
        ]
        return {**request, "TransactItems": entries}

    def _entry(self, request: Any) -> Any:
        if not isinstance(request, dict):
            return request
        for kind, text in conditions_of(request):
            form = form_of(text, request)
            if not isinstance(text, Marked):
                unmarked.add(text)
            elif self.mutant is None:
                seen.add((text.site, form.text, _types(form, request)))
            elif self.mutant[:2] == (text.site, form.text):
                changed = form.filled(self.mutant[2])
                if changed is not None:
                    request = with_condition(request, kind, changed)
                    self.has_changed = True
        return request


def conditions_of(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    return ((kind, request[kind]) for kind in KINDS if kind in request)


def form_of(text: str, request: dict[str, Any]) -> Form:
    return Form.of(str(text), request.get("ExpressionAttributeValues", ()))


def _types(form: Form, request: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    values = request.get("ExpressionAttributeValues", {})
    names = {name: given for name, given in form.names.items() if given in values and name != MORE}
    return tuple(sorted((name, next(iter(values[given]))) for name, given in names.items()))


def with_condition(request: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
    """Return the request with another condition, without the names and values that only the former used."""
    changed = {**request, kind: text or ALWAYS}
    if not text and kind == "FilterExpression":
        del changed[kind]
    expressions = [str(value) for name, value in changed.items() if name.endswith("Expression")]
    used = set(_REFERENCE.findall(" ".join(expressions)))
    for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        left = {key: value for key, value in changed.get(name, {}).items() if key in used}
        changed.pop(name, None)
        changed |= {name: left} if left else {}
    return changed
