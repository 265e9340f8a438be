"""Preferences: which notifications a tenant wants, in which channels, in which language, and to whom. Facts only.

Nothing is sent that nobody asked for; but what is for the tenant's admins is in their list, and in their mail where the
preferences name them, until they say otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from duetime.errors import DuetimeError, truncate
from duetime.ids import TenantId
from duetime.model.notification import Channel, NotificationKind

ADDRESSES_LIMIT = 20
"""Each gets a mail of its own."""
_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}",
    re.ASCII,
)
_ADDRESS_LIMIT = 254
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?", re.ASCII)


class InvalidPreferences(DuetimeError, ValueError):
    """Preferences that could not be followed; every problem is named at once."""

    code = "invalid-preferences"

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(truncate("; ".join(self.problems)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """What one tenant has chosen.

    Raises:
        InvalidPreferences: an address or a language is none, or there are too many addresses.
    """

    tenant_id: TenantId
    language: str = "en"
    """A language tag such as ``fr``; one that there are no words in is told in English."""
    channels: Mapping[NotificationKind, frozenset[Channel]] = field(default_factory=dict)
    """What was opted in to, or out of, by kind."""
    addresses: tuple[str, ...] = ()
    """Who gets mails."""
    admin_addresses: tuple[str, ...] = ()
    """Who gets the mails that are for admins."""
    revision: int = 0
    """Counts changes; 0 where nobody ever chose."""
    changed_at: datetime | None = None
    changed_by: str | None = None

    def __post_init__(self) -> None:
        problems = [
            f"{name}: {each!r} is no mail address; write it as in ada@example.com"
            for name in ("addresses", "admin_addresses")
            for each in getattr(self, name)
            if len(each) > _ADDRESS_LIMIT or not _ADDRESS.fullmatch(each)
        ]
        problems += [
            f"{name}: {len(getattr(self, name))} are too many; at most {ADDRESSES_LIMIT} are allowed"
            for name in ("addresses", "admin_addresses")
            if len(getattr(self, name)) > ADDRESSES_LIMIT
        ]
        if not _LANGUAGE.fullmatch(self.language):
            problems.append(f"language: {self.language!r} is no language tag; say one such as en or fr")
        if problems:
            raise InvalidPreferences(problems)

    def channels_for(self, kind: NotificationKind) -> frozenset[Channel]:
        """Where a notification of that kind goes."""
        chosen = self.channels.get(kind)
        if chosen is not None:
            return chosen
        if not kind.is_for_admins:
            return frozenset()
        return frozenset({Channel.IN_APP, Channel.EMAIL} if self.admin_addresses else {Channel.IN_APP})

    def addresses_for(self, kind: NotificationKind) -> tuple[str, ...]:
        """Who gets a mail of that kind."""
        return self.admin_addresses if kind.is_for_admins else self.addresses
