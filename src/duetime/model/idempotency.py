"""Idempotency keys: how long one holds, and what a repeat returns.

Facts only; `duetime.ports.actions` takes keys.

::

    free ──schedule──> held ──when its time has passed and its action is final──> free
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from duetime.errors import InvalidArgument, KeyConflict
from duetime.ids import ActionId
from duetime.model.action import Action
from duetime.model.json_value import equal_text
from duetime.settings import LONGEST_KEY_TTL, SHORTEST_KEY_TTL, Settings

_DIGITS = 32


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """How long a new key holds."""

    now: datetime
    until: datetime
    """The key holds until then, and at least until its action is final."""


@dataclass(frozen=True, slots=True)
class HeldKey:
    """A key that an action holds."""

    action_id: ActionId
    content: str
    """A hash of the action's type and payload."""
    until: datetime

    @classmethod
    def for_action(cls, action: Action, until: datetime) -> HeldKey:
        """Return the key as `action` takes it."""
        return cls(action.id, content_of(action), until)

    def first(self, repeat: Action, row: Action | None, now: datetime) -> Action | None:
        """Return `row`, the action that holds the key; None if `repeat` may take the key.

        Raises:
            KeyConflict: the key holds, and `repeat` has another type or payload.
        """
        if row is None or (row.status.is_final and self.until <= now):
            return None
        if self.content != content_of(repeat):
            raise KeyConflict(
                "idempotency", repeat.idempotency_key or "", self.action_id, "another type or payload"
            )
        return row


def content_of(action: Action) -> str:
    """Return a hash of its type and payload, without the due time; equal values have equal hashes."""
    payload = equal_text(action.payload) if action.payload else ""
    return sha256(f"{action.type}\n{payload}".encode()).hexdigest()[:_DIGITS]


def key_terms(
    key: str | None, ttl: timedelta | None, *, now: datetime, settings: Settings
) -> KeyTerms | None:
    """Return the terms of a key; None without a key. The settings give the default time to live.

    Raises:
        InvalidArgument: the time to live is out of range, or there is no key.
    """
    if key is None:
        if ttl is not None:
            raise InvalidArgument(
                "is a time to live without a key; pass idempotency_key as well",
                value=ttl,
                field="idempotency_ttl",
            )
        return None
    span: object = settings.idempotency_ttl if ttl is None else ttl
    longest = min(LONGEST_KEY_TTL, settings.retention)
    if not (isinstance(span, timedelta) and SHORTEST_KEY_TTL <= span <= longest):
        allowed = f"allowed is a timedelta of {SHORTEST_KEY_TTL} to {longest}"
        raise InvalidArgument(
            f"is no time to live of an idempotency key; {allowed}", value=span, field="idempotency_ttl"
        )
    return KeyTerms(now, now + span)
