"""The recorder: each change that is asked for goes into the audit trail before it is made, and what came of it after.

Whatever can be named beforehand is kept before it is made, so that nothing is changed unseen. An action that is scheduled
gets its id as it is made: its entry is kept after that, and its own row says who made it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from duetime import ids
from duetime.api.body import body_text, strict_json
from duetime.api.caller import Caller
from duetime.api.known_fields import Fields, fields_of, kept
from duetime.api.requests import IDENTITY
from duetime.api.routes import Operation, RouteMatch
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
"""Headers in which clients of other services say who they are."""

_TOLD = (
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
"""What of an answer tells what became of the target; of a problem, which and why."""

_LONGEST, _LONGEST_NAME, _MOST = 500, 100, 30
"""Characters of a value and of a name, and how many of them: what bounds an entry."""

_DEEPEST = 20


class AuditMiddleware:
    """Keeps the trail of one deployment's API."""

    def __init__(self, trail: AuditTrail, clock: Clock, random_bytes: ids.Entropy = os.urandom) -> None:
        self._trail, self._clock, self._entropy = trail, clock, random_bytes

    def entry(self, found: RouteMatch, caller: Caller, event: Mapping[str, Any]) -> AuditEntry | None:
        """What is asked for, if that is a change; None for all else, and for what is only to be told."""
        operation = found.route.operation
        if operation is None:
            return None
        body = _body(event)
        if operation.has_dry_run and body.get("dry_run") is True:
            return None
        now = self._clock.now()
        return AuditEntry(
            id=ids.new_action_id(now, self._entropy),
            tenant_id=caller.tenant_id,
            target=AuditTarget(operation.about, found.name or _name_said(operation, body)),
            operation=operation.name,
            by=caller.actor,
            roles=tuple(sorted(caller.roles)),
            address=caller.address,
            asked_at=now,
            asked=_asked(event, body, fields_of(found.route)),
        )

    def begin(self, entry: AuditEntry | None, found: RouteMatch) -> None:
        """Keep an entry before its change is made, where what it is about is known by then.

        Raises:
            BackendUnavailable: it may not be kept; the change must not be made.
        """
        is_new = found.route.operation is not None and found.route.operation.is_new
        if entry is not None and (entry.target.name or not is_new):
            self._trail.begin(entry)

    def end(self, entry: AuditEntry | None, answer: Mapping[str, Any]) -> None:
        """Keep what came of it. That a trail lacks this tells that nobody knows; the change itself is made."""
        if entry is None:
            return
        result = _result(answer)
        ended = entry.ended(int(answer["statusCode"]), result)
        if entry.target.kind is AuditKind.ACTION:
            ended = ended.named(str(result.get("id") or ""))
        try:
            self._trail.end(ended)
        except DuetimeError as error:
            log.warning("audit entry not ended", extra={"entry": entry.id, "reason": truncate(error)})


def _name_said(operation: Operation, body: Mapping[str, Any]) -> str:
    """The name of a job that is to be registered, which its body says."""
    try:
        return ids.job_name(body.get("name")) if operation.is_new and operation.about is AuditKind.JOB else ""
    except InvalidIdentifier:
        return ""


def _masked(addresses: Any) -> Any:
    """Mail addresses as the trail may show them: whoever reads it need not be who may see them."""
    if isinstance(addresses, list):
        return [masked(address) for address in addresses]
    return addresses and masked(addresses)


def _asked(event: Mapping[str, Any], body: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """What the route knows of body and query, without payloads; and what named who asks, and was ignored."""
    said = {**event["queryStringParameters"], **body}
    shown = [
        (name, _masked(value) if name in _ADDRESSES else value)
        for name, value in kept(said, fields).items()
        if name not in IDENTITY and name != _PAYLOAD
    ]
    asked = {truncate(name, _LONGEST_NAME): _short(_without_payloads(value)) for name, value in shown[:_MOST]}
    named = {name.lower() for name in (*event["headers"], *event["multiValueHeaders"])}
    if ignored := sorted(IDENTITY & said.keys()) + sorted(_NAMING_HEADERS & named):
        asked["ignored"] = ignored
    return asked


def _without_payloads(value: Any, levels: int = _DEEPEST) -> Any:
    if isinstance(value, Mapping):
        left = {name: each for name, each in value.items() if name != _PAYLOAD and levels}
        return {name: _without_payloads(each, levels - 1) for name, each in left.items()}
    if isinstance(value, list):
        return [_without_payloads(each, levels - 1) for each in value if levels]
    return value


def _result(answer: Mapping[str, Any]) -> dict[str, Any]:
    body = _object(answer.get("body"))
    told = {name: _short(body[name]) for name in _TOLD if body.get(name) is not None}
    return told | {name: len(body[name]) for name in ("changed", "left") if isinstance(body.get(name), list)}


def _body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The body as the route will read it; nothing where it could not."""
    try:
        return _object(body_text(event))
    except DuetimeError:
        return {}


def _object(text: Any) -> dict[str, Any]:
    try:
        read = strict_json(text) if isinstance(text, str) and text else {}
    except DuetimeError:
        return {}
    return read if isinstance(read, dict) else {}


def _short(value: Any) -> Any:
    """A value as it is, or its beginning where that is long."""
    written = json.dumps(value, ensure_ascii=False)
    return value if len(written) <= _LONGEST else truncate(written, _LONGEST)
