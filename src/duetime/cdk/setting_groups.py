"""The settings in three groups: those that a first deployment needs, those of operation, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field
from typing import Any

from duetime._setting_fields import settings_in
from duetime.cdk.context import BEGIN
from duetime.cdk.deployment import Deployment
from duetime.settings import Settings

OPERATE = (
    "enabled", "alarms", "canary", "failed_alarm", "lateness_alarm", "budget",
    "runbook", "log_days", "events", "mail_from", "topic_arn", "tenants", "roles", "identities",
    "required_role", "api", "console_url", "user_pool_id", "function_memory",
    "architecture", "python", "timers",
)  # fmt: skip
"""The settings of those who operate a deployment: what is watched, who may call, and what it costs."""

Group = Sequence[tuple[type[Settings | Deployment], Field[Any]]]


def groups() -> Mapping[str, Group]:
    """Return each group by its name: settings with their classes; the last group has all others."""
    by_name = {field.name: (kind, field) for kind in (Settings, Deployment) for field in settings_in(kind)}
    named = {
        "Begin": [by_name.pop(name) for name in BEGIN],
        "Operate": [by_name.pop(name) for name in OPERATE],
    }
    return {**named, "Advanced": list(by_name.values())}
