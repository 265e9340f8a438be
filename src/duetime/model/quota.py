"""Quotas: what one tenant may have or cause. Facts only.

=================  =======================================================  =============
quota              limits                                                   default
=================  =======================================================  =============
``pending``        a tenant's one-shots that are not settled                      100,000
``payload_bytes``  bytes of the payloads of one-shots, each day in UTC      1,000,000,000
``jobs``           a tenant's own jobs                                              1,000
``event_rules``    the events that start them, each a rule on EventBridge              50
``requests``       requests to the API a second, for each process of the API           50
``events``         runs a minute that events start, for each process                  600
=================  =======================================================  =============

The setting ``quotas`` has words such as ``jobs=500`` by tenant; ``*`` is every other one. Without the
setting, the defaults hold in a deployment with several tenants, and one with a single tenant has no quotas.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from duetime._setting_fields import QUOTAS, quota_words
from duetime.ids import SYSTEM_TENANT, TenantId

if TYPE_CHECKING:
    from duetime.settings import Settings


class Quota(StrEnum):
    """One limit of a tenant."""

    PENDING = "pending"
    PAYLOAD_BYTES = "payload_bytes"
    JOBS = "jobs"
    EVENT_RULES = "event_rules"
    REQUESTS = "requests"
    EVENTS = "events"


def has_quotas(settings: Settings) -> bool:
    """Return whether the deployment's tenants have quotas."""
    return bool(settings.quotas) or settings.tenants == "*" or " " in settings.tenants


def limit_of(settings: Settings, tenant_id: TenantId, quota: Quota) -> int | None:
    """Return a tenant's limit; None if there is none."""
    if tenant_id == SYSTEM_TENANT or not has_quotas(settings):
        return None
    for words in (settings.quotas.get(tenant_id, ""), settings.quotas.get("*", "")):
        limits: Mapping[str, int] = quota_words(words)
        if quota in limits:
            return limits[quota]
    return QUOTAS[quota]
