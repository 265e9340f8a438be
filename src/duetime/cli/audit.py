"""``duetime access audit``: the trail of changes, the proof of its hashes, and the last recount of times."""

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
from duetime.cli.client import Json, client_of
from duetime.cli.failures import BadUsage
from duetime.cli.output import Listing, print_content, print_either
from duetime.cli.tables import Table, both, plain
from duetime.cli.views import CHANGES
from duetime.clock import SystemClock
from duetime.errors import DuetimeError
from duetime.ids import SYSTEM_TENANT, TenantId
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import AuditReport, SavedHead, verify
from duetime.model.tenant_erase import TenantErase

_MEANINGS = {
    "no_row": "it has neither a row nor a reason",
    "ran_twice": "runs of two versions took place",
    "not_nominal": "the cadence does not have this time",
    "no_reason": "it was skipped without a reason",
    "not_made_up_for": "catch_up requires a run of it",
    "not_planned": "no planner has come to it",
    "no_end": "the final action has no run, or no end of its retention",
    "not_in_due_index": "no sweep can find the overdue action",
}


def audit(arguments: argparse.Namespace) -> int:
    """List a page of the trail, verify all of it, or print the last recount."""
    if arguments.verb == "runs":
        _check_without(arguments, "`audit runs` prints the last recount of all jobs", ("heads", "system"))
        state = client_of(arguments).call("getRecount").body
        last = state["last"] or {"found": 0, "unread": []}
        return print_content(arguments, state, _recount) or int(bool(last["found"] or last["unread"]))
    if arguments.verb:
        return _verify_trail(arguments)
    if arguments.heads:
        raise BadUsage("--heads belongs to `duetime access audit verify`")
    if not arguments.system:
        return Listing("listAuditEntries", CHANGES)(arguments)
    _check_without(arguments, "--system prints the complete trail")
    from duetime.api.access import AuditEntryView  # noqa: PLC0415 - a page of the trail needs no pydantic

    views = [AuditEntryView.model_validate(entry) for entry in _of_system(arguments)]
    items = [view.model_dump(mode="json") for view in views]
    return print_content(arguments, {"items": items, "next_cursor": None}, CHANGES)


def _check_without(arguments: argparse.Namespace, reason: str, others: Sequence[str] = ()) -> None:
    names = ("action", "job", "cursor", *others)
    if given := [name for name in names if getattr(arguments, name)]:
        omitted = "--action, --job and --cursor" if not others else f"--{given[0]}"
        raise BadUsage(f"{reason}; omit {omitted}")


def _recount(state: Json, now: datetime) -> str:
    if (last := state["last"]) is None:
        return "no recount has ended yet; `duetime jobs trigger duetime-recount` runs one now"
    more = last["found"] - len(last["findings"])
    lines: list[Any] = [
        f"recounted {both(last['ended_at'], now)}: nominal times from {last['since']} to {last['until']}",
        f"{counted(last['jobs'], 'job')}, {last['left_out']} of paused tenants left out",
        f"nominal times: {_counts(last['times'])}",
        f"one-shots (a sample): {_counts(last['one_shots'])}",
        last["unread"] and f"not read: {', '.join(map(plain, last['unread']))}",
        more > 0 and f"{counted(last['found'], 'finding')}, {more} of them not listed",
        f"\n{_FINDINGS(last['findings'], now)}" if last["found"] else "nothing found",
    ]
    return "\n".join(filter(None, lines))


_FINDINGS = Table(
    {
        "PROBLEM": "problem",
        "OF": lambda found, _: found["job"] or found["action_id"],
        "TENANT": "tenant_id",
        "AT": "{at:when}",
        "MEANING": lambda found, _: _MEANINGS.get(found["problem"]),
    }
)


def _counts(counts: Json) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"


# How deep a saved head may lie in JSON.
_DEEPEST = 20


def _verify_trail(arguments: argparse.Namespace) -> int:
    """Verify the trail of the caller's tenant; return 1 if it was changed."""
    _check_without(arguments, "`verify` reads the complete trail")
    tenant, erase = str(SYSTEM_TENANT), None
    if arguments.system:
        entries = _of_system(arguments)
    else:
        client = client_of(arguments)
        tenant = str(client.call("getCaller").body["tenant_id"])
        pages = client.pages("listAuditEntries", {"limit": 100})
        first = next(pages)
        entries = (_entry(item, tenant) for page in chain([first], pages) for item in page["items"])
        if found := first.get("erase"):
            erase = TenantErase(*(instant.parse(found[name]) for name in ("ended_at", "entries_expired_by")))
    saved = [head for file in arguments.heads for head in _saved_heads(file, tenant)]
    report = verify(entries, now=SystemClock().now(), saved=saved, erase=erase)
    content = _json(report, tenant)
    is_changed = bool(report.findings)
    return print_either(arguments, content, lambda: _text(content, has_saved=bool(saved))) or int(is_changed)


def _of_system(arguments: argparse.Namespace) -> Iterator[AuditEntry]:
    from duetime.aws.backends import AwsBackends  # noqa: PLC0415 - a page of the trail needs no boto3
    from duetime.aws.function_logs import settings_of_deployment  # noqa: PLC0415 - as above

    trail = AwsBackends(settings_of_deployment(arguments.prefix), SystemClock()).audit_trail
    cursor = None
    while True:
        page = trail.list(SYSTEM_TENANT, None, limit=100, cursor=cursor)
        yield from page
        if (cursor := page.cursor) is None:
            return


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


_CHECKS = Table(
    {
        "FINDING": "{kind}",
        "ENTRY": "entry_id",
        "CHAIN": "chain",
        "RECORD": "number",
        "DETAIL": "detail",
    }
)


def _text(content: Json, *, has_saved: bool) -> str:
    found, chains = len(content["findings"]), counted(len(content["heads"]), "chain")
    entries = f"{counted(content['entries'], 'entry')} of {plain(content['tenant_id'])}"
    rejections = content["rejections"]
    lines: list[Any] = [
        f"{entries} in {chains}: {found or 'no'} {plural(found, 'finding')}",
        rejections and f"{rejections} count rejected changes, and have no hash",
        not has_saved and "the ends of chains were not verified: pass --heads with saved heads",
        found and _CHECKS(content["findings"], SystemClock().now()),
    ]
    return "\n".join(filter(None, lines))


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


def _link(item: Json | None) -> AuditLink | None:
    return None if item is None else AuditLink(**item)


def _saved_heads(file: str, tenant: str) -> list[SavedHead]:
    """Return the tenant's heads in a JSON document, or in lines of JSON; other objects and lines are ignored.

    Raises:
        BadUsage: the file cannot be read, or has no head of any tenant.
    """
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadUsage(f"--heads: {file} cannot be read: {error}") from None
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
