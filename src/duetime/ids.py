"""Names of things: action ids, tenants, correlation ids; what they may look like and what is read off them.

An action's id is a UUIDv7: it sorts by creation, carries the instant of creation, and its last digit is its shard,
so id and tenant lead to the row without an index.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from typing import NewType

from duetime.errors import InvalidIdentifier

ActionId = NewType("ActionId", str)
TenantId = NewType("TenantId", str)

SEPARATOR = "#"
"""Joins the parts of a key; no part may hold it."""

SHARDS = "0123456789abcdef"
"""A tenant's actions are spread over these: a constant of the format, never a setting."""

SYSTEM_TENANT = TenantId("system")
"""Owns the jobs that code declares; no caller may claim to be it."""

TENANT_LIMIT, ACTOR_LIMIT, CORRELATION_LIMIT = 64, 128, 256
"""Characters; short names keep a row within one write unit."""

_ACTION_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def new_action_id(now: datetime) -> ActionId:
    """A fresh UUIDv7 (RFC 9562): 48 bits of milliseconds, then 74 random bits."""
    milliseconds = (now - _EPOCH) // _MILLISECOND
    random = int.from_bytes(os.urandom(10), "big")
    number = (
        milliseconds << 80 | 0x7 << 76 | (random >> 68) << 64 | 0x2 << 62 | random & 0x3FFF_FFFF_FFFF_FFFF
    )
    digits = f"{number:032x}"
    return ActionId(f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}")


def is_action_id(text: object) -> bool:
    """Whether `text` could name an action; what could not is simply not found."""
    return isinstance(text, str) and _ACTION_ID.fullmatch(text) is not None


def created_at(action_id: str) -> datetime:
    """The instant, to the millisecond, at which the id was made."""
    return _EPOCH + int(action_id[:8] + action_id[9:13], 16) * _MILLISECOND


def shard_of(action_id: str) -> str:
    """Which of the `SHARDS` the action's row is in: its id's last digit."""
    return action_id[-1]


def due_shard_of(action_id: str, shards: int) -> str:
    """Which partition of the due index the row is in, out of `shards`; recorded in the row, so `shards` may grow."""
    return str(int(action_id[-5:-1], 16) % shards)


def tenant(value: object) -> TenantId:
    """Check a tenant's id: 1 to 64 printable ASCII characters without ``#`` or white space.

    Raises:
        InvalidIdentifier: it is empty, too long, reserved, or holds a character that a key cannot.
    """
    checked = TenantId(_key_part("tenant_id", value, TENANT_LIMIT, spaces=False))
    if checked == SYSTEM_TENANT:
        raise InvalidIdentifier("tenant_id", value, "is reserved for the jobs that code declares")
    return checked


def actor(value: object) -> str:
    """Check who acts: 1 to 128 printable characters without ``#``."""
    return _key_part("actor", value, ACTOR_LIMIT, spaces=True)


def correlation_id(value: object) -> str:
    """Check a correlation id: 1 to 256 printable characters without ``#``."""
    return _key_part("correlation_id", value, CORRELATION_LIMIT, spaces=True)


def _key_part(field: str, value: object, limit: int, *, spaces: bool) -> str:
    if not isinstance(value, str):
        raise InvalidIdentifier(field, value, "must be text")
    if not value:
        raise InvalidIdentifier(field, value, f"is empty; say 1 to {limit} characters")
    if len(value) > limit:
        raise InvalidIdentifier(field, value, f"has {len(value)} characters; at most {limit} are allowed")
    if SEPARATOR in value:
        raise InvalidIdentifier(field, value, f"holds {SEPARATOR!r}, which separates the parts of a key")
    if not value.isprintable() or value != value.strip():
        raise InvalidIdentifier(field, value, "holds a control character, or white space at an end")
    if not spaces and not (value.isascii() and " " not in value):
        raise InvalidIdentifier(field, value, "may hold printable ASCII characters other than space alone")
    return value
