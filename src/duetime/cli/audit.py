"""``duetime access audit``: the trail of changes, and its verification; and the recount of the runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from duetime._english import counted, plural
from duetime.cli.arguments import Commands, add_command, add_page, client_of
from duetime.cli.client import Client, Json
from duetime.cli.failures import BadUsage
from duetime.cli.output import print_json, print_list
from duetime.cli.tables import plain, table
from duetime.cli.times import both
from duetime.clock import SystemClock
from duetime.errors import truncate
from duetime.ids import SYSTEM_TENANT

if TYPE_CHECKING:
    from duetime.model.audit import AuditEntry
    from duetime.model.audit_verification import AuditFinding, AuditReport, SavedHead
    from duetime.model.tenant_erase import TenantErase

_LONGEST = 60
"""Characters of a change's request; the JSON has all of it."""

_PAGE = "100"
_FOUND = 1
"""The exit status if the trail was changed."""

_VERIFY = (
    "Lists requested changes. `verify` reads the tenant's complete trail and recomputes its hashes. It finds"
    " entries that were changed, removed, replaced or inserted, and exits with 1. The end of a chain can only"
    " be verified against saved heads. `runs` prints the last recount of all nominal times; it needs the"
    " permission `system`, and exits with 1 if something was found."
)


def add_parser(commands: Commands) -> None:
    """Add ``audit``, with the words ``verify`` and ``runs``."""
    help_text = "which caller requested which change, the latest first; or verify that no entry was changed"
    parser = add_command(commands, "audit", audit, help_text, _VERIFY)
    parser.add_argument(
        "verb",
        nargs="?",
        metavar="verify|runs",
        choices=["verify", "runs"],
        help="verify the trail; or print the last recount of the runs",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--action", metavar="ID", help="only changes of this action")
    choice.add_argument("--job", metavar="NAME", help="only changes of this job")
    parser.add_argument(
        "--heads",
        metavar="FILE",
        action="append",
        default=[],
        help="of verify: saved heads, of an earlier verify --json, of the API's log or of events",
    )
    parser.add_argument(
        "--system",
        action="store_true",
        help="the deployment's own trail, of exports and erases of tenants; with your AWS credentials",
    )
    parser.add_argument("--prefix", default="duetime-", help="the prefix, for --system (default: duetime-)")
    add_page(parser)


def audit(arguments: argparse.Namespace) -> int:
    """List a page of the trail, or verify all of it."""
    if arguments.verb == "runs":
        from duetime.cli.audit_runs import audit_runs  # noqa: PLC0415 - the trail needs none of it

        return audit_runs(arguments)
    if arguments.verb:
        return _verify(arguments)
    if arguments.heads:
        raise BadUsage("--heads belongs to `duetime access audit verify`")
    if arguments.system:
        return _print_system(arguments)
    filters = {"action": arguments.action, "job": arguments.job}
    return print_list(arguments, ["audit"], "access audit", _changes, empty="no changes", filters=filters)


def _changes(entries: Sequence[Json], now: datetime) -> str:
    rows = [
        [
            both(entry["requested_at"], now),
            entry["by"],
            entry.get("subject") or "",
            entry["operation"],
            entry["target"],
            "not known" if entry["status"] is None else str(entry["status"]),
            truncate(json.dumps(entry["request_fields"], ensure_ascii=False), _LONGEST)
            if entry["request_fields"]
            else "",
        ]
        for entry in entries
    ]
    return table(["AT", "BY", "SUBJECT", "CHANGE", "OF", "STATUS", "REQUEST"], rows)


def _verify(arguments: argparse.Namespace) -> int:
    """Verify the trail of the caller's tenant; return 1 if it was changed."""
    if arguments.action or arguments.job or arguments.cursor:
        raise BadUsage("`verify` reads the complete trail; omit --action, --job and --cursor")
    from duetime.cli.audit_json import saved_heads  # noqa: PLC0415 - `duetime --help` needs no model
    from duetime.model.audit_verification import verify  # noqa: PLC0415 - as above

    if arguments.system:
        tenant, entries, erase = str(SYSTEM_TENANT), _of_system(arguments), None
    else:
        client = client_of(arguments)
        tenant = str(client.ask("GET", "me")["tenant_id"])
        entries, erase = _of_tenant(client, tenant)
    saved = [head for file in arguments.heads for head in saved_heads(_read(file), file, tenant)]
    report = verify(entries, now=SystemClock().now(), saved=saved, erase=erase)
    if arguments.json:
        print_json(_json(report, tenant))
    else:
        print(_text(report, tenant, saved))
    return _FOUND if report.findings else 0


def _print_system(arguments: argparse.Namespace) -> int:
    """Print the complete trail of the system: it has one entry for each export and erase."""
    from duetime.api.access import AuditEntryView  # noqa: PLC0415 - as below

    if arguments.action or arguments.job or arguments.cursor:
        raise BadUsage("--system prints the complete trail; omit --action, --job and --cursor")
    views = [AuditEntryView.model_validate(entry) for entry in _of_system(arguments)]
    items = [view.model_dump(mode="json") for view in views]
    if arguments.json:
        print_json({"items": items, "next_cursor": None})
    else:
        print(_changes(items, SystemClock().now()) if items else "no changes")
    return 0


def _of_system(arguments: argparse.Namespace) -> Iterator[AuditEntry]:
    from duetime.aws.backends import AwsBackends  # noqa: PLC0415 - as below
    from duetime.aws.function_logs import settings_of_deployment  # noqa: PLC0415 - as below

    trail = AwsBackends(settings_of_deployment(arguments.prefix), SystemClock()).audit_trail
    cursor = None
    while True:
        page = trail.list(SYSTEM_TENANT, None, limit=int(_PAGE), cursor=cursor)
        yield from page
        if (cursor := page.cursor) is None:
            return


def _of_tenant(client: Client, tenant: str) -> tuple[Iterator[AuditEntry], TenantErase | None]:
    """Return all entries of a tenant, and its latest erase."""
    from duetime.cli.audit_json import entry_of, erase_of  # noqa: PLC0415 - as above

    pages = _pages(client)
    first = next(pages)
    entries = (entry_of(item, tenant) for page in chain([first], pages) for item in page["items"])
    return entries, erase_of(first)


def _pages(client: Client) -> Iterator[Json]:
    cursor = None
    while True:
        page = client.ask("GET", "audit", query={"limit": _PAGE, "cursor": cursor})
        yield page
        cursor = page["next_cursor"]
        if cursor is None:
            return


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
    return "\n".join(lines + ([_findings(report.findings)] if report.findings else []))


def _findings(findings: Sequence[AuditFinding]) -> str:
    rows = [
        [
            finding.kind.value,
            finding.entry_id or "",
            finding.chain or "",
            "" if finding.number is None else str(finding.number),
            finding.detail,
        ]
        for finding in findings
    ]
    return table(["FINDING", "ENTRY", "CHAIN", "RECORD", "DETAIL"], rows)
