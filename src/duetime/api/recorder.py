"""The recorder: each change that is asked for goes into the audit trail before it is made, and what came of it after.

A change of something that is there is kept before it is made, so that none is made unseen; one that makes something new
when it is done, since only then it has a name, and its own row says who made it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from typing import Any

from duetime import ids
from duetime.access_ports import AuditTrail
from duetime.api.caller import Caller
from duetime.api.requests import IDENTITY
from duetime.api.routes import Found
from duetime.audit import AuditEntry, Target
from duetime.clock import Clock
from duetime.errors import DuetimeError, cut

log = logging.getLogger(__name__)

_NEVER_KEPT = IDENTITY | {"payload"}
_TOLD = ("id", "name", "status", "due_at", "paused", "next_at", "type", "detail", "dry_run")
"""What of an answer tells what became of the target; of a problem, which and why."""

_LONGEST = 500


class Recorder:
    """Keeps the trail of one deployment's API."""

    def __init__(self, trail: AuditTrail, clock: Clock, entropy: ids.Entropy = os.urandom) -> None:
        self._trail, self._clock, self._entropy = trail, clock, entropy

    def begin(self, found: Found | None, caller: Caller, event: Mapping[str, Any]) -> AuditEntry | None:
        """Keep what is asked for, if that is a change; None for all else.

        Raises:
            BackendUnavailable: it may not be kept; the change must not be made.
        """
        if found is None or found.route.operation is None:
            return None
        asked = _asked(event)
        if asked.get("dry_run") is True:
            return None
        now, operation = self._clock.now(), found.route.operation
        entry = AuditEntry(
            id=ids.new_action_id(now, self._entropy),
            tenant_id=caller.tenant_id,
            target=Target(operation.about, found.name),
            operation=operation.name,
            by=caller.actor,
            roles=tuple(sorted(caller.roles)),
            address=caller.address,
            asked_at=now,
            asked=asked,
        )
        if entry.target.name:
            self._trail.begin(entry)
        return entry

    def end(self, entry: AuditEntry | None, answer: Mapping[str, Any]) -> None:
        """Keep what came of it. That a trail lacks this tells that nobody knows; the change itself is made."""
        if entry is None:
            return
        result = _result(answer)
        ended = entry.ended(int(answer["statusCode"]), result).named(
            str(result.get("id") or result.get("name") or "")
        )
        try:
            self._trail.end(ended)
        except DuetimeError as error:
            log.warning("audit entry not ended", extra={"entry": entry.id, "reason": str(error)})


def _asked(event: Mapping[str, Any]) -> dict[str, Any]:
    """The body's and the query's fields, without payloads; and which of them named who asks, and were ignored."""
    body = _object(event.get("body"))
    said = {**(event.get("queryStringParameters") or {}), **body}
    kept = {name: _short(value) for name, value in said.items() if name not in _NEVER_KEPT}
    if ignored := sorted(IDENTITY & said.keys()):
        kept["ignored"] = ignored
    return kept


def _result(answer: Mapping[str, Any]) -> dict[str, Any]:
    body = _object(answer.get("body"))
    told = {name: _short(body[name]) for name in _TOLD if body.get(name) is not None}
    return told | {name: len(body[name]) for name in ("changed", "left") if isinstance(body.get(name), list)}


def _object(text: Any) -> dict[str, Any]:
    try:
        read = json.loads(text) if isinstance(text, str) and text else {}
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def _short(value: Any) -> Any:
    """A value as it is, or its beginning where that is long."""
    written = json.dumps(value, ensure_ascii=False)
    return value if len(written) <= _LONGEST else cut(written, _LONGEST)
