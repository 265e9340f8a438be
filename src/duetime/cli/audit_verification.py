"""``duetime access audit``: recomputes the hashes of a trail, and prints the trail of the deployment."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from duetime import instant
from duetime._english import counted, plural
from duetime.api.access import AuditEntryView
from duetime.aws.backends import AwsBackends
from duetime.aws.function_logs import settings_of_deployment
from duetime.cli.client import Client, Json, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_content, print_either
from duetime.cli.tables import plain, table
from duetime.cli.views import CHANGES
from duetime.clock import SystemClock
from duetime.errors import DuetimeError
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import AuditReport, SavedHead, verify
from duetime.model.tenant_erase import TenantErase

_DEEPEST = 20


def verify_trail(arguments: argparse.Namespace) -> int:
    """Verify the trail of the caller's tenant; return 1 if it was changed."""
    if arguments.action or arguments.job or arguments.cursor:
        raise BadUsage("`verify` reads the complete trail; omit --action, --job and --cursor")
    if arguments.system:
        tenant, entries, erase = str(SYSTEM_TENANT), _of_system(arguments), None
    else:
        client = client_of(arguments)
        tenant = str(client.call("getCaller").body["tenant_id"])
        entries, erase = _of_tenant(client, tenant)
    saved = [head for file in arguments.heads for head in _saved_heads(_read(file), file, tenant)]
    report = verify(entries, now=SystemClock().now(), saved=saved, erase=erase)
    content = _json(report, tenant)
    return print_either(arguments, content, lambda: _text(report, tenant, saved)) or int(
        bool(report.findings)
    )


def print_system(arguments: argparse.Namespace) -> int:
    """Print the complete trail of the system: it has one entry for each export and erase."""
    if arguments.action or arguments.job or arguments.cursor:
        raise BadUsage("--system prints the complete trail; omit --action, --job and --cursor")
    views = [AuditEntryView.model_validate(entry) for entry in _of_system(arguments)]
    items = [view.model_dump(mode="json") for view in views]
    return print_content(arguments, {"items": items, "next_cursor": None}, CHANGES)


def _of_system(arguments: argparse.Namespace) -> Iterator[AuditEntry]:
    trail = AwsBackends(settings_of_deployment(arguments.prefix), SystemClock()).audit_trail
    cursor = None
    while True:
        page = trail.list(SYSTEM_TENANT, None, limit=100, cursor=cursor)
        yield from page
        if (cursor := page.cursor) is None:
            return


def _of_tenant(client: Client, tenant: str) -> tuple[Iterator[AuditEntry], TenantErase | None]:
    """Return all entries of a tenant, and its latest erase."""
    pages = client.pages("listAuditEntries", {"limit": 100})
    first = next(pages)
    entries = (_entry(item, tenant) for page in chain([first], pages) for item in page["items"])
    return entries, _erase(first)


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"--heads: {file} cannot be read: {error}") from None


def _json(report: AuditReport, tenant: str) -> dict[str, Any]:
    heads = [
        {
            "tenant_id": tenant,
            **asdict(saved.head),
            "expires_at": None if saved.expires_at is None else saved.expires_at.isoformat(),
        }
        for saved in report.heads
    ]
    return {
        "tenant_id": tenant,
        "entries": report.entries,
        "rejections": report.rejections,
        "findings": [asdict(finding) for finding in report.findings],
        "heads": heads,
    }


def _text(report: AuditReport, tenant: str, saved: Sequence[SavedHead]) -> str:
    findings = f"{len(report.findings) or 'no'} {plural(len(report.findings), 'finding')}"
    chains = counted(len(report.heads), "chain")
    lines = [f"{counted(report.entries, 'entry')} of {plain(tenant)} in {chains}: {findings}"]
    if report.rejections:
        lines.append(f"{report.rejections} count rejected changes, and have no hash")
    if not saved:
        lines.append("the ends of chains were not verified: pass --heads with saved heads")
    rows = [
        [
            finding.kind.value,
            finding.entry_id or "",
            finding.chain or "",
            "" if finding.number is None else str(finding.number),
            finding.detail,
        ]
        for finding in report.findings
    ]
    heads = ["FINDING", "ENTRY", "CHAIN", "RECORD", "DETAIL"]
    return "\n".join([*lines, table(heads, rows)] if rows else lines)


def _entry(item: Json, tenant: str) -> AuditEntry:
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


def _erase(page: Json) -> TenantErase | None:
    """Return the erase of the tenant that the first page names; None without any."""
    if (found := page.get("erase")) is None:
        return None
    return TenantErase(*(instant.parse(found[name]) for name in ("ended_at", "entries_expired_by")))


def _link(item: Json | None) -> AuditLink | None:
    return None if item is None else AuditLink(**item)


def _saved_heads(text: str, file: str, tenant: str) -> list[SavedHead]:
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
