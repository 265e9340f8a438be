"""Reads audit entries and saved heads from JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.cli.client import Json
from duetime.cli.failures import BadUsage
from duetime.errors import DuetimeError
from duetime.ids import TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import SavedHead
from duetime.model.tenant_erase import TenantErase

_DEEPEST = 20


def entry_of(item: Json, tenant: str) -> AuditEntry:
    """Return the entry of the API's JSON."""
    kind, _, name = item["target"].partition(":")
    return AuditEntry(
        id=item["id"],
        tenant_id=TenantId(tenant),
        target=AuditTarget(AuditKind(kind), name),
        operation=item["operation"],
        by=item["by"],
        roles=tuple(item["roles"]),
        address=item["address"],
        requested_at=instant.parse(item["requested_at"]),
        request_fields=item["request_fields"],
        status=item["status"],
        result=item["result"],
        subject=item["subject"],
        expires_at=instant.parse(item["expires_at"]),
        begun_link=_link(item["begun_link"]),
        ended_link=_link(item["ended_link"]),
    )


def erase_of(page: Json) -> TenantErase | None:
    """Return the erase of the tenant that the first page names; None without any."""
    if (found := page.get("erase")) is None:
        return None
    return TenantErase(*(instant.parse(found[name]) for name in ("ended_at", "entries_expired_by")))


def _link(item: Json | None) -> AuditLink | None:
    return None if item is None else AuditLink(**item)


def saved_heads(text: str, file: str, tenant: str) -> list[SavedHead]:
    """Return the tenant's heads in a JSON document, or in lines of JSON; other objects and lines are ignored.

    Raises:
        BadUsage: the text has no head of any tenant.
    """
    found = [head for value in _values(text) for head in _heads(value)]
    if not found:
        raise BadUsage(
            f"--heads: {file} has no heads; save the output of `duetime access audit verify --json`,"
            " or lines of the API's log with the message 'audit record'"
        )
    return [head for owner, head in found if owner in {None, tenant}]


def _values(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except ValueError:
        for line in text.splitlines():
            try:
                yield json.loads(line[line.index("{") :])
            except ValueError:
                continue


def _heads(
    value: Any, owner: str | None = None, levels: int = _DEEPEST
) -> Iterator[tuple[str | None, SavedHead]]:
    """Yield the heads at any depth, each with the tenant of the closest object that names one."""
    if isinstance(value, list) and levels:
        for item in value:
            yield from _heads(item, owner, levels - 1)
    if not isinstance(value, dict) or not levels:
        return
    owner = value.get("tenant_id", owner)
    if {"chain", "number", "hash"} <= value.keys():
        head = ChainHead(str(value["chain"]), int(value["number"]), str(value["hash"]))
        yield owner, SavedHead(head, _instant(value.get("expires_at")))
    else:
        for item in value.values():
            yield from _heads(item, owner, levels - 1)


def _instant(value: object) -> datetime | None:
    try:
        return instant.parse(value) if isinstance(value, str) else None
    except DuetimeError:
        return None
