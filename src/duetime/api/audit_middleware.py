"""Audit middleware: it stores each requested change before it is made, and its result afterwards.

A scheduled action gets its id when it is created: its entry is stored afterwards, and its own row has the
creator.
"""

from __future__ import annotations

import json
import logging
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import timedelta
from itertools import accumulate
from typing import Any

from duetime import ids, instant
from duetime._masking import masked as without_secrets
from duetime.api.authenticator import Caller
from duetime.api.gateway_event import RequestContent, parse_json
from duetime.api.parameters import Fields, admits_lists, body_fields, only_known, query_fields
from duetime.api.rejected_changes import RejectedChanges, is_rejected
from duetime.api.requests import IDENTITY
from duetime.api.routes import Operation, Route
from duetime.clock import Clock
from duetime.errors import DuetimeError, InvalidArgument, truncate
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.notifications.deliver import masked
from duetime.ports.access import AuditTrail

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

_LONGEST, _LONGEST_NAME, _MOST_SHOWN = 500, 100, 30
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
        {
            truncate(name, _LONGEST_NAME): _short(_without_payloads(value))
            for name, value in shown[:_MOST_SHOWN]
        }
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


log = logging.getLogger(__name__)

_MOST = 1_000
"""The tenants whose chains a process remembers; the oldest chain ends for a further tenant."""


class AuditChains:
    """Stores entries in order. Each record's hash is also logged, outside of the table.

    If a record may not have been stored, its chain ends: a missing record is always a finding.
    """

    def __init__(self, trail: AuditTrail, random_bytes: ids.Entropy) -> None:
        self._trail, self._entropy = trail, random_bytes
        self._heads = OrderedDict[TenantId, ChainHead]()

    def begin(self, entry: AuditEntry) -> AuditEntry:
        """Store an entry before its change, and return it with its link.

        Raises:
            BackendUnavailable: the entry may not be stored.
        """
        return self._store(entry, self._trail.begin)

    def end(self, entry: AuditEntry) -> None:
        """Store an entry with its result.

        Raises:
            BackendUnavailable: the result may not be stored.
        """
        self._store(entry, self._trail.end)

    def _store(self, entry: AuditEntry, write: Callable[[AuditEntry], None]) -> AuditEntry:
        head = self._heads.pop(entry.tenant_id, None)  # so a record stored at once begins another chain
        chain = head or ChainHead(ids.new_action_id(entry.requested_at, self._entropy))
        linked, after = chain.append(entry)
        write(linked)
        self._heads[entry.tenant_id] = after
        if len(self._heads) > _MOST:
            self._heads.popitem(last=False)
        _log(linked, linked.links[-1])
        return linked


def _log(entry: AuditEntry, link: AuditLink) -> None:
    record = {"chain": link.chain, "number": link.number, "hash": link.hash}
    place = {"tenant_id": entry.tenant_id, "entry": entry.id, "expires_at": instant.text(entry.expires_at)}
    log.info("audit record", extra={**place, **record})


class AuditMiddleware:
    """Writes the audit trail of one deployment's API."""

    def __init__(
        self,
        trail: AuditTrail,
        clock: Clock,
        *,
        retention: timedelta,
        random_bytes: ids.Entropy = os.urandom,
    ) -> None:
        self._clock, self._retention, self._entropy = clock, retention, random_bytes
        self._chains = AuditChains(trail, random_bytes)
        self._rejected = RejectedChanges(trail, random_bytes)

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
        if operation is None or operation.is_preview(fields):
            return None
        now = self._clock.now()
        name = next(iter(arguments.values()), "").strip() or _new_name(operation, fields)
        return AuditEntry(
            id=ids.new_action_id(now, self._entropy),
            tenant_id=caller.tenant_id,
            target=AuditTarget(operation.about, name),
            operation=operation.name,
            by=caller.actor,
            roles=tuple(sorted(caller.roles)),
            address=caller.address,
            requested_at=now,
            request_fields=recorded_input(event, fields, {**query_fields(route), **body_fields(route)}),
            subject=caller.subject or None,
            expires_at=(now + self._retention).replace(microsecond=0),
        )

    def begin(self, entry: AuditEntry | None, route: Route) -> AuditEntry | None:
        """Store an entry before its change, if the target is known by then; return it for `end`.

        Raises:
            BackendUnavailable: the entry was not stored; the change must not be made.
        """
        is_new = route.operation is not None and route.operation.is_new
        if entry is None or (is_new and not entry.target.name):
            return entry
        if self._rejected.are_counted(entry):
            self._rejected.begin(entry)
            return entry
        return self._chains.begin(entry)

    def end(self, entry: AuditEntry | None, response: Mapping[str, Any]) -> None:
        """Store the result of a change; if this fails, the entry stays without a result."""
        if entry is None:
            return
        result = recorded_result(response)
        ended = entry.ended(int(response["statusCode"]), result)
        if entry.target.kind is AuditKind.ACTION:
            ended = ended.named(str(result.get("id") or ""))
        try:
            self._end(ended, is_rejected=is_rejected(int(response["statusCode"])))
        except DuetimeError as error:
            self._rejected.lose(entry)
            log.warning("audit entry not ended", extra={"entry": entry.id, "reason": truncate(error)})

    def _end(self, ended: AuditEntry, *, is_rejected: bool) -> None:
        if is_rejected and ended.begun_link is None and self._rejected.are_counted(ended):
            self._rejected.end(ended)
            return
        self._chains.end(ended)
        if is_rejected:
            self._rejected.note(ended)
        else:
            self._rejected.made(ended)


def _new_name(operation: Operation, fields: Mapping[str, Any]) -> str:
    """Return the name of a new target, as far as the body has it; empty for an invalid one.

    It is the name of a job to register, or what a pause covers: ``type send-receipt``.
    """
    if not operation.is_new:
        return ""
    if operation.about is AuditKind.PAUSE:
        scope, name = fields.get("scope"), fields.get("name")
        return truncate(f"{scope} {name}") if isinstance(scope, str) and isinstance(name, str) else ""
    try:
        return ids.job_name(fields.get("name")) if operation.about is AuditKind.JOB else ""
    except InvalidArgument:
        return ""
