"""Preferences that somebody who tries the local cloud need not set first: everything, in every channel, to one address."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from duetime import ids
from duetime.aws.backends import AwsBackends
from duetime.clock import Clock
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.settings import Settings

TENANTS: Final = (ids.tenant("acme"), SYSTEM_TENANT)
"""Whose: the tenant that one is unless one says another, and that of the jobs that code declares."""


def everything_to(address: str, tenant_id: TenantId) -> Preferences:
    """All kinds in all channels, in English.

    Raises:
        InvalidPreferences: the address is none.
    """
    return Preferences(
        tenant_id=tenant_id,
        channels=dict.fromkeys(NotificationKind, frozenset(Channel)),
        addresses=(address,),
        admin_addresses=(address,),
        changed_by="local",
    )


def choose_everything(address: str, settings: Settings, clock: Clock) -> None:
    """Have every notification of these tenants sent to `address`."""
    preferences = AwsBackends(settings, clock).preferences
    for tenant_id in TENANTS:
        chosen = everything_to(address, tenant_id)
        preferences.put(replace(chosen, changed_at=clock.now()))
