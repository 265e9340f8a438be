"""Idempotency keys: for how long one holds, and what a repeat of it gets. Facts only; who takes a key is told in `ports`.

::

    free ──schedule──> held ──when its time has passed and its action is final──> free
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from duetime.errors import IdempotencyConflict, InvalidTime
from duetime.ids import ActionId
from duetime.model.action import Action
from duetime.settings import LONGEST_KEY_TTL, SHORTEST_KEY_TTL, Settings

_DIGITS = 32


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """What is asked for when an action is scheduled under a key."""

    now: datetime
    until: datetime
    """The key holds at least so long, and at least until its action is final."""


@dataclass(frozen=True, slots=True)
class HeldKey:
    """A key as an action has it."""

    action_id: ActionId
    content: str
    """What tells the action's type and payload from others."""
    until: datetime

    @classmethod
    def of(cls, action: Action, until: datetime) -> HeldKey:
        """The key as `action` takes it."""
        return cls(action.id, content_of(action), until)

    def first(self, asked: Action, row: Action | None, now: datetime) -> Action | None:
        """What a repeat gets: `row`, the action that has the key. None if `asked` may take the key over.

        Raises:
            IdempotencyConflict: the key holds, and `asked` has another type or payload.
        """
        if row is None or (row.status.is_final and self.until <= now):
            return None
        if self.content != content_of(asked):
            raise IdempotencyConflict(asked.idempotency_key or "", self.action_id)
        return row


def content_of(action: Action) -> str:
    """A hash of its type and payload; the due time is not compared."""
    return sha256(f"{action.type}\n{action.payload or ''}".encode()).hexdigest()[:_DIGITS]


def key_terms(
    key: str | None, ttl: timedelta | None, *, now: datetime, settings: Settings
) -> KeyTerms | None:
    """The terms of a key, for the deployment's time to live unless another is given; None without a key.

    Raises:
        InvalidTime: the time to live is none that a key can have.
    """
    if key is None:
        if ttl is not None:
            raise InvalidTime(ttl, "is the time to live of no key; say idempotency_key as well")
        return None
    span = settings.idempotency_ttl if ttl is None else ttl
    longest = min(LONGEST_KEY_TTL, settings.retention)
    if not _is_within(span, longest):
        told = f"allowed is a timedelta of {SHORTEST_KEY_TTL} to {longest}"
        raise InvalidTime(span, f"is no time to live of an idempotency key; {told}")
    return KeyTerms(now, now + span)


def _is_within(span: object, longest: timedelta) -> bool:
    return isinstance(span, timedelta) and SHORTEST_KEY_TTL <= span <= longest
