"""Default preferences of the local cloud: every notification, in every channel, to one address."""

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
"""The default tenant, and the tenant of the jobs that code declares."""


def everything_to(address: str, tenant_id: TenantId) -> Preferences:
    """Return preferences for all kinds in all channels, in English.

    Raises:
        InvalidPreferences: the address is invalid.
    """
    return Preferences(
        tenant_id=tenant_id,
        channels=dict.fromkeys(NotificationKind, frozenset(Channel)),
        addresses=(address,),
        admin_addresses=(address,),
        changed_by="local",
    )


def choose_everything(address: str, settings: Settings, clock: Clock) -> None:
    """Send every notification of these tenants to `address`."""
    preferences = AwsBackends(settings, clock).preferences
    for tenant_id in TENANTS:
        preference = everything_to(address, tenant_id)
        preferences.put(replace(preference, changed_at=clock.now()))
