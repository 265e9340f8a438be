"""Formats what is neither an action nor a job: pauses, limits, quotas, inputs, notifications, the caller."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from duetime.cli.action_text import tenant
from duetime.cli.client import Json
from duetime.cli.tables import Table, facts, plain, when
from duetime.cli.times import both
from duetime.errors import truncate

PERIODS = {1: "second", 60: "minute", 3_600: "hour", 86_400: "day"}
UNDELIVERED_KINDS = ("message", "record", "wake", "event", "pass", "lifecycle", "notification")
"""Those of `duetime.model.undelivered.Kind`, which `duetime --help` need not load."""

NOTIFICATION_KINDS = (
    "scheduling.action_failed",
    "scheduling.dead_lettered",
    "scheduling.undelivered",
    "scheduling.breaker_opened",
    "scheduling.approval_requested",
    "jobs.recurring_failing",
    "jobs.recurring_succeeding",
    "jobs.chain_refused",
    "jobs.deadline_missed",
    "jobs.deadline_at_risk",
    "jobs.silent",
)
"""Those of `duetime.model.notification.NotificationKind`, which `duetime --help` need not load."""

_LONGEST = 60
"""Characters of a reason in a list."""


def caller(me: Json, _now: datetime) -> str:
    """Return who the caller is to the scheduler, and what it may do."""
    values = {
        "tenant": tenant(me),
        "subject": me.get("subject") or "none",
        "roles": ", ".join(me["roles"]) or "none",
        "permissions": ", ".join(me["permissions"]) or "none",
        "scheduler": me["scheduler"],
    }
    return facts(plain(me["actor"]), values)


def paused(item: Json, now: datetime) -> str:
    """Return what a new pause covers, and until when."""
    end = f" until {both(item['until'], now)}" if item["until"] else ""
    return f"paused {subject(item)}{end}; it holds within five seconds"


def subject(item: Json) -> str:
    """Return what a pause covers."""
    of = f" of {item['tenant']}" if item["tenant"] and item["scope"] != "tenant" else ""
    return plain(f"{item['scope']} {item['name']}{of}")


def _end(item: Json, now: datetime) -> str:
    end, probe = item["ended_at"] or item["until"], item["probes_at"]
    return f"a probe from {both(probe, now)}" if probe and end is None else both(end, now)


PAUSES = Table(
    {
        "ID": "id",
        "PAUSED": lambda item, _: subject(item),
        "SINCE": when("since"),
        "UNTIL": _end,
        "ACTIONS": lambda item, _: "skip" if item["skips"] else "wait",
        "BY": "by",
        "REASON": "reason",
    },
    "nothing is paused",
)
PAUSED_TENANTS = Table(
    {"TENANT": "tenant", "SINCE": when("since"), "UNTIL": when("until"), "BY": "by", "REASON": "reason"},
    "no tenant is paused",
)


def _limit(limit: Json) -> str:
    unit = PERIODS.get(limit["seconds"])
    span = f"{'an' if unit == 'hour' else 'a'} {unit}" if unit else f"in {limit['seconds']:g} s"
    return f"{limit['count']} {span}, {limit['burst']} at once"


def limit_set(item: Json, _now: datetime) -> str:
    """Return a new limit of a type."""
    return f"{plain(item['name'])}: {_limit(item['limit'])}; it holds within five seconds"


def limit_reset(limits: Json, _now: datetime) -> str:
    """Return the limit of a type that holds again."""
    name = limits["type"]
    in_force = next((item["limit"] for item in limits["items"] if item["name"] == name), None)
    return plain(f"{name}: {_limit(in_force)}, as in code" if in_force else f"{name} has no limit")


LIMITS = Table(
    {
        "TYPE": "name",
        "FOR EACH": "scope",
        "LIMIT": lambda item, _: _limit(item["limit"]),
        "IN CODE": lambda item, _: item["declared"] and _limit(item["declared"]),
        "SET BY": "set_by",
        "SET AT": when("set_at"),
    },
    "no type declares a rate",
)


def quotas(found: Json, now: datetime) -> str:
    """Return the quotas of a tenant."""
    name = plain(found["tenant_id"])
    return f"quotas of {name}\n{_QUOTAS(found, now)}" if found["items"] else f"{name} has no quotas"


_QUOTAS = Table(
    {
        "QUOTA": "name",
        "USED": lambda item, _: "not counted" if item["used"] is None else item["used"],
        "LIMIT": "limit",
    }
)
UNDELIVERED = Table(
    {
        "ID": "id",
        "KIND": "kind",
        "FROM": "source",
        "LAST": when("last_at"),
        "COUNT": "count",
        "ACTION": "action_id",
        "REASON": lambda item, _: truncate(item["reason"], _LONGEST),
    }
)


def undelivered(item: Json, now: datetime) -> str:
    """Return all facts of an input that is undelivered."""
    values = {
        "action": f"{item['action_id']} of {item['tenant_id']}" if item["action_id"] else "not known",
        "reason": item["reason"],
        "first kept": both(item["first_at"], now),
        "last kept": both(item["last_at"], now),
        "count": item["count"],
        "body, cut" if item["is_cut"] else "body": "[redacted]" if item["body"] is None else item["body"],
    }
    return facts(f"{item['id']}  {origin(item)}", values)


def origin(item: Json) -> str:
    """Return the kind of an input, and what gave it up."""
    return f"{item['kind']}  from {plain(item['source'])}"


NOTIFICATIONS = Table(
    {
        "ID": "id",
        "SEVERITY": "severity",
        "KIND": lambda item, _: item["kind"] + (" (digest)" if item["is_digest"] else ""),
        "AT": when("at"),
        "READ BY": lambda item, _: "-" if item["read_at"] is None else item["read_by"] or "?",
        "SUBJECT": "subject",
    }
)


def notification(item: Json, now: datetime) -> str:
    """Return a notification in full."""
    values = {
        "kind": item["kind"] + (", a digest" if item["is_digest"] else ""),
        "severity": item["severity"],
        "at": both(item["at"], now),
        "read by": f"{item['read_by']}, {both(item['read_at'], now)}" if item["read_at"] else "no user",
    }
    head = facts(f"{item['id']}  {plain(item['subject'])}", values)
    return "\n".join([head, "", *map(plain, item["text"].rstrip().split("\n"))])


def preferences(chosen: Json, now: datetime) -> str:
    """Return the recipients, the language and the channels of notifications."""
    language, admins = chosen["mails_in"], chosen["admin_addresses"]
    has_texts = chosen["language"].partition("-")[0] == language
    changed = f"{chosen['changed_by']}, {both(chosen['changed_at'], now)}"
    values = {
        "language": chosen["language"]
        + ("" if has_texts else f", which has no texts; mails are in {language}"),
        "mails to": ", ".join(chosen["addresses"]) or "none",
        "admins' to": "only admins see that" if admins is None else ", ".join(admins) or "none",
        "changed by": changed if chosen["revision"] else "no user",
    }
    lines = [f"{name:<10}  {plain(value)}" for name, value in values.items()]
    in_force = chosen["channels_in_force"].items()
    return "\n".join(lines + [f"{kind:<25}  {_channels(kind, to, chosen)}" for kind, to in in_force])


def _channels(kind: str, channels: Sequence[str], chosen: Json) -> str:
    lacking = [channel for channel in channels if channel not in chosen["channels_available"]]
    default = "" if kind in chosen["channels"] else "  (default)"
    without = f"  (this deployment has no {', no '.join(lacking)})" if lacking else ""
    return (", ".join(channels) or "nowhere") + default + without


def _request(fields: Json) -> str:
    return truncate(json.dumps(fields, ensure_ascii=False), _LONGEST) if fields else ""


CHANGES = Table(
    {
        "AT": when("requested_at"),
        "BY": "by",
        "SUBJECT": lambda entry, _: entry.get("subject"),
        "CHANGE": "operation",
        "OF": "target",
        "STATUS": lambda entry, _: "not known" if entry["status"] is None else entry["status"],
        "REQUEST": lambda entry, _: _request(entry["request_fields"]),
    },
    "no changes",
)
