"""The fields of requests and responses that the audit trail stores, without payloads and of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from duetime._masking import masked as without_secrets
from duetime.api.gateway_event import parse_json
from duetime.api.parameters import Fields, admits_lists, only_known
from duetime.api.requests import IDENTITY
from duetime.errors import DuetimeError, truncate
from duetime.notifications.deliver import masked

_PAYLOAD = "payload"
_ADDRESSES = frozenset({"addresses", "admin_addresses"})
_NAMING_HEADERS = frozenset(
    {
        "x-duetime-tenant",
        "x-duetime-user",
        "x-duetime-groups",
        "x-duetime-arn",
        "x-tenant-id",
        "x-tenant",
        "x-user",
    }
)
"""Headers in which clients of other services send their identity."""

_RESULT_FIELDS = (
    "id",
    "name",
    "status",
    "due_at",
    "paused",
    "next_at",
    "type",
    "detail",
    "dry_run",
    "read",
    "revision",
)
"""The fields of a response that are recorded as the result: of the target, or of a problem."""

_LONGEST, _LONGEST_NAME, _MOST = 500, 100, 30
"""The most characters of a value and of a name, and the most fields of an entry."""

_DEEPEST = 20

_LARGEST = 6_000
"""Bytes of the request's fields in an entry."""


def _masked(addresses: Any) -> Any:
    """Mask mail addresses: readers of the trail may lack the permission to see them."""
    if isinstance(addresses, list):
        return [masked(address) for address in addresses]
    return addresses and masked(addresses)


def recorded_input(event: Mapping[str, Any], fields: Mapping[str, Any], known: Fields) -> dict[str, Any]:
    """Return the known fields of body and query without payloads, and the names of ignored identities.

    Of filters on a payload only the names of the fields are returned.
    """
    values = {**event["queryStringParameters"], **fields}
    shown = [
        (name, _masked(value) if name in _ADDRESSES else value)
        for name, value in only_known(values, known).items()
        if name not in IDENTITY and name != _PAYLOAD
    ]
    if isinstance(filters := values.get(_PAYLOAD), list) and admits_lists(known.get(_PAYLOAD)):
        names = [str(written).partition("=") for written in filters]
        shown.append(("payload_fields", [name for name, equals, _ in names if equals]))
    recorded = _bounded(
        {truncate(name, _LONGEST_NAME): _short(_without_payloads(value)) for name, value in shown[:_MOST]}
    )
    headers = {name.lower() for name in (*event["headers"], *event["multiValueHeaders"])}
    if ignored := sorted(IDENTITY & values.keys()) + sorted(_NAMING_HEADERS & headers):
        recorded["ignored"] = ignored
    return recorded


def _bounded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first fields that fit in `_LARGEST`; the names of the others are in ``omitted``."""
    sizes = accumulate(len(json.dumps({name: value})) for name, value in fields.items())
    left = [name for name, size in zip(fields, sizes, strict=True) if size > _LARGEST]
    fitting = {name: value for name, value in fields.items() if name not in left}
    return fitting | ({"omitted": left} if left else {})


def _without_payloads(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, Mapping):
        left = {name: item for name, item in value.items() if name != _PAYLOAD and levels}
        return {name: _without_payloads(item, levels - 1) for name, item in left.items()}
    if isinstance(value, list):
        return [_without_payloads(item, levels - 1) for item in value if levels]
    return without_secrets(value) if isinstance(value, str) else value


def recorded_result(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a response that describe the result."""
    try:
        body = parse_json(response.get("body") or "{}")
    except DuetimeError:
        return {}
    if not isinstance(body, dict):
        return {}
    shown = {name: _without_payloads(body.get(name)) for name in _RESULT_FIELDS}
    result = {name: _short(value) for name, value in shown.items() if value is not None}
    return result | {
        name: len(body[name]) for name in ("changed", "left") if isinstance(body.get(name), list)
    }


def _short(value: Any) -> Any:
    """Return the value, or the beginning of its JSON if that is long."""
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else truncate(text, _LONGEST)
