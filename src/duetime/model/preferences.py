"""Preferences: a tenant's notifications, their channels, language and recipients. Facts only.

A kind of notification is sent only after an opt-in. Notifications for the tenant's admins need none: by
default they are in the admins' list, and in their mail if the preferences contain admin addresses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from duetime.errors import InvalidArgument
from duetime.ids import TenantId
from duetime.model.notification import Channel, NotificationKind

ADDRESSES_LIMIT = 20
"""The most addresses; each gets its own mail."""
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}",
    re.ASCII,
)
_ADDRESS_LIMIT = 254
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """The choices of one tenant.

    Raises:
        InvalidArgument: an address or a language is malformed, or there are too many addresses.
    """

    tenant_id: TenantId
    language: str = "en"
    """A language tag such as ``fr``; a language without translation falls back to English."""
    channels: Mapping[NotificationKind, frozenset[Channel]] = field(default_factory=dict)
    """The chosen channels, by kind."""
    addresses: tuple[str, ...] = ()
    """The recipients of mails."""
    admin_addresses: tuple[str, ...] = ()
    """The recipients of mails for admins."""
    revision: int = 0
    """Counts changes; 0 for the defaults."""
    changed_at: datetime | None = None
    """When that was changed last."""
    changed_by: str | None = None
    """Who changed it last."""

    def __post_init__(self) -> None:
        problems = [
            f"{name}: {address!r} is no mail address; write it as in ada@example.com"
            for name in ("addresses", "admin_addresses")
            for address in getattr(self, name)
            if len(address) > _ADDRESS_LIMIT or not _ADDRESS.fullmatch(address)
        ]
        problems += [
            f"{name}: {len(getattr(self, name))} are too many; at most {ADDRESSES_LIMIT} are allowed"
            for name in ("addresses", "admin_addresses")
            if len(getattr(self, name)) > ADDRESSES_LIMIT
        ]
        if not _LANGUAGE.fullmatch(self.language):
            problems.append(f"language: {self.language!r} is no language tag; use one such as en or fr")
        if problems:
            raise InvalidArgument(*problems)

    def channels_for(self, kind: NotificationKind) -> frozenset[Channel]:
        """Return the channels of a kind."""
        chosen = self.channels.get(kind)
        if chosen is not None:
            return chosen
        if not kind.is_for_admins:
            return frozenset()
        return frozenset({Channel.IN_APP, Channel.EMAIL} if self.admin_addresses else {Channel.IN_APP})

    def addresses_for(self, kind: NotificationKind) -> tuple[str, ...]:
        """Return the mail recipients of a kind."""
        return self.admin_addresses if kind.is_for_admins else self.addresses
