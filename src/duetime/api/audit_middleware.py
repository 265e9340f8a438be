"""Audit middleware: it stores each requested change before it is made, and its result afterwards.

A scheduled action gets its id when it is created: its entry is stored afterwards, and its own row has the
creator.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from duetime import ids
from duetime.api.authenticator import Caller
from duetime.api.body import RequestContent, parse_json
from duetime.api.known_fields import Fields, body_fields, only_known, query_fields
from duetime.api.requests import IDENTITY
from duetime.api.routes import Operation, Route
from duetime.clock import Clock
from duetime.errors import DuetimeError, InvalidIdentifier, truncate
from duetime.model.audit import AuditEntry, AuditKind, AuditTarget
from duetime.notifications.deliver import masked
from duetime.ports.access import AuditTrail

log = logging.getLogger(__name__)

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


class AuditMiddleware:
    """Writes the audit trail of one deployment's API."""

    def __init__(self, trail: AuditTrail, clock: Clock, random_bytes: ids.Entropy = os.urandom) -> None:
        self._trail, self._clock, self._entropy = trail, clock, random_bytes

    def entry(
        self,
        route: Route,
        arguments: Mapping[str, str],
        caller: Caller,
        event: Mapping[str, Any],
        content: RequestContent,
    ) -> AuditEntry | None:
        """Return the entry of a requested change; None for a read and for a dry run.

        Args:
            route: the request's route.
            arguments: the id or the name in its path; empty if there is none.
            caller: the authenticated caller.
            event: the normalised event.
            content: the parsed body.
        """
        operation, fields = route.operation, content.fields
        if operation is None or (operation.has_dry_run and fields.get("dry_run") is True):
            return None
        now = self._clock.now()
        name = next(iter(arguments.values()), "") or _job_name(operation, fields)
        return AuditEntry(
            id=ids.new_action_id(now, self._entropy),
            tenant_id=caller.tenant_id,
            target=AuditTarget(operation.about, name),
            operation=operation.name,
            by=caller.actor,
            roles=tuple(sorted(caller.roles)),
            address=caller.address,
            asked_at=now,
            request_fields=_input(event, fields, {**query_fields(route), **body_fields(route)}),
        )

    def begin(self, entry: AuditEntry | None, route: Route) -> None:
        """Store an entry before its change, if the target is known by then.

        Raises:
            BackendUnavailable: the entry was not stored; the change must not be made.
        """
        is_new = route.operation is not None and route.operation.is_new
        if entry is not None and (entry.target.name or not is_new):
            self._trail.begin(entry)

    def end(self, entry: AuditEntry | None, response: Mapping[str, Any]) -> None:
        """Store the result of a change; if this fails, the entry stays without a result."""
        if entry is None:
            return
        result = _result(response)
        ended = entry.ended(int(response["statusCode"]), result)
        if entry.target.kind is AuditKind.ACTION:
            ended = ended.named(str(result.get("id") or ""))
        try:
            self._trail.end(ended)
        except DuetimeError as error:
            log.warning("audit entry not ended", extra={"entry": entry.id, "reason": truncate(error)})


def _job_name(operation: Operation, fields: Mapping[str, Any]) -> str:
    """Return the name in the body of a job to register; empty for other operations and invalid names."""
    try:
        return (
            ids.job_name(fields.get("name")) if operation.is_new and operation.about is AuditKind.JOB else ""
        )
    except InvalidIdentifier:
        return ""


def _masked(addresses: Any) -> Any:
    """Mask mail addresses: readers of the trail may lack the permission to see them."""
    if isinstance(addresses, list):
        return [masked(address) for address in addresses]
    return addresses and masked(addresses)


def _input(event: Mapping[str, Any], fields: Mapping[str, Any], known: Fields) -> dict[str, Any]:
    """Return the known fields of body and query without payloads, and the names of ignored identities."""
    values = {**event["queryStringParameters"], **fields}
    shown = [
        (name, _masked(value) if name in _ADDRESSES else value)
        for name, value in only_known(values, known).items()
        if name not in IDENTITY and name != _PAYLOAD
    ]
    recorded = {
        truncate(name, _LONGEST_NAME): _short(_without_payloads(value)) for name, value in shown[:_MOST]
    }
    headers = {name.lower() for name in (*event["headers"], *event["multiValueHeaders"])}
    if ignored := sorted(IDENTITY & values.keys()) + sorted(_NAMING_HEADERS & headers):
        recorded["ignored"] = ignored
    return recorded


def _without_payloads(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, Mapping):
        left = {name: item for name, item in value.items() if name != _PAYLOAD and levels}
        return {name: _without_payloads(item, levels - 1) for name, item in left.items()}
    if isinstance(value, list):
        return [_without_payloads(item, levels - 1) for item in value if levels]
    return value


def _result(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a response that describe the result."""
    try:
        body = parse_json(response.get("body") or "{}")
    except DuetimeError:
        return {}
    if not isinstance(body, dict):
        return {}
    result = {name: _short(body[name]) for name in _RESULT_FIELDS if body.get(name) is not None}
    return result | {
        name: len(body[name]) for name in ("changed", "left") if isinstance(body.get(name), list)
    }


def _short(value: Any) -> Any:
    """Return the value, or the beginning of its JSON if that is long."""
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else truncate(text, _LONGEST)
