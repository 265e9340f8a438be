"""Verification of audit entries: what was changed, removed, replaced or inserted after it was written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from duetime import ids
from duetime._english import counted
from duetime.model.audit import AuditEntry, AuditKind, AuditLink, is_entry_id
from duetime.model.audit_chain import ChainHead, hash_of
from duetime.model.tenant_erase import TenantErase

_EXPIRY_MARGIN = timedelta(hours=1)
"""A record may be written so long after its entry began, from which the retention counts."""
_INDEX_LAG = timedelta(minutes=1)
"""The index of a tenant's entries may lack younger ones."""


class FindingKind(StrEnum):
    """What happened to a record after it was written."""

    CHANGED = "changed"
    """Its hash does not fit its content."""
    REMOVED = "removed"
    """Its number is missing from its chain, or the record of a saved head is missing."""
    REPLACED = "replaced"
    """Its hash is not the one that the next record, or a saved head, has of it."""
    INSERTED = "inserted"
    """It has no hash, or its number occurs twice."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A trace of a change to the trail."""

    kind: FindingKind
    entry_id: str | None
    """The entry, or the first one after the place; None if there is none."""
    chain: str | None
    number: int | None
    """The record's number in its chain."""
    detail: str


@dataclass(frozen=True, slots=True)
class SavedHead:
    """A head of a chain that was saved outside of the trail."""

    head: ChainHead
    expires_at: datetime | None
    """When the record's entry expires; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """The result of a verification."""

    entries: int
    rejections: int
    """Counters of rejected changes; they change, so they have no hash."""
    findings: Sequence[AuditFinding]
    heads: Sequence[SavedHead]
    """The last record of each chain."""


@dataclass(frozen=True, slots=True)
class _Record:
    link: AuditLink
    entry: AuditEntry


@dataclass(slots=True)
class _Trail:
    """The records of a trail by chain and number."""

    chains: defaultdict[str, dict[int, _Record]] = field(default_factory=lambda: defaultdict(dict))
    findings: list[AuditFinding] = field(default_factory=list)
    entries: int = 0
    rejections: int = 0

    def add(self, entry: AuditEntry) -> None:
        self.entries += 1
        if entry.target.kind is AuditKind.REJECTED:
            self.rejections += 1
        elif not entry.links:
            self.findings.append(
                AuditFinding(
                    FindingKind.INSERTED, entry.id, None, None, "it has no hash, so the API did not write it"
                )
            )
        for link in entry.links:
            self._add(_Record(link, entry))

    def _add(self, record: _Record) -> None:
        link, entry = record.link, record.entry
        if hash_of(entry, link, is_end=link is entry.ended_link) != link.hash:
            self.findings.append(_finding(FindingKind.CHANGED, record, "its content does not fit its hash"))
        if not is_entry_id(link.chain) or link.number in self.chains[link.chain]:
            detail = f"the chain has another record {link.number}, or cannot have one"
            self.findings.append(_finding(FindingKind.INSERTED, record, detail))
        else:
            self.chains[link.chain][link.number] = record


def verify(
    entries: Iterable[AuditEntry],
    *,
    now: datetime,
    saved: Sequence[SavedHead] = (),
    erase: TenantErase | None = None,
) -> AuditReport:
    """Verify all entries of one tenant.

    Args:
        entries: the complete trail, in any order.
        now: the present time: missing entries that may have expired are no findings.
        saved: heads of this tenant's chains from outside of the trail.
        erase: the latest erase of the tenant: what it removed from the beginning of a chain is no finding.
    """
    trail = _Trail()
    for entry in entries:
        trail.add(entry)
    gone_by = now if erase is None else max(now, erase.entries_expired_by)
    ordered = {name: [chain[number] for number in sorted(chain)] for name, chain in trail.chains.items()}
    findings = [
        *trail.findings,
        *(finding for records in ordered.values() if records for finding in _gaps(records, now, gone_by)),
        *(finding for head in saved for finding in _against(head, trail.chains, gone_by)),
    ]
    return AuditReport(
        entries=trail.entries,
        rejections=trail.rejections,
        findings=findings,
        heads=[_head(records[-1]) for records in ordered.values() if records],
    )


def _gaps(records: Sequence[_Record], now: datetime, gone_by: datetime) -> Iterator[AuditFinding]:
    """Yield the findings between the records of one chain, in order.

    At its beginning, entries whose retention ends until `gone_by` may be missing.
    """
    first = records[0]
    started = ids.created_at(first.link.chain)
    may_expire_at = started + (first.entry.expires_at - first.entry.requested_at)
    if first.link.number == 1 or may_expire_at > gone_by:
        yield from _between(ChainHead(first.link.chain), may_expire_at, first, now)
    for before, record in pairwise(records):
        head = ChainHead(before.link.chain, before.link.number, before.link.hash)
        yield from _between(head, before.entry.expires_at, record, now)


def _between(
    before: ChainHead, may_expire_at: datetime, record: _Record, now: datetime
) -> Iterator[AuditFinding]:
    """Yield a finding if a record does not follow `before`, unless what is missing may have expired."""
    missing = record.link.number - before.number - 1
    if missing > 0:
        is_recent = record.entry.requested_at > now - _INDEX_LAG
        if may_expire_at - _EXPIRY_MARGIN > now and not is_recent:
            yield _finding(
                FindingKind.REMOVED,
                record,
                f"{counted(missing, 'record')} missing before record {record.link.number}",
            )
    elif record.link.previous != before.hash:
        detail = f"record {before.number} before it is not the one that it followed"
        yield _finding(FindingKind.REPLACED, record, detail)


def _against(
    saved: SavedHead, chains: Mapping[str, Mapping[int, _Record]], gone_by: datetime
) -> Iterator[AuditFinding]:
    """Yield a finding if the record of a saved head is missing or another."""
    head, record = saved.head, chains.get(saved.head.chain, {}).get(saved.head.number)
    if record is None:
        if saved.expires_at is None or saved.expires_at > gone_by:
            detail = f"record {head.number} of a saved head is missing, and may not be the only one"
            yield AuditFinding(FindingKind.REMOVED, None, head.chain, head.number, detail)
    elif record.link.hash != head.hash:
        yield _finding(FindingKind.REPLACED, record, "its hash is not the one of the saved head")


def _finding(kind: FindingKind, record: _Record, detail: str) -> AuditFinding:
    return AuditFinding(kind, record.entry.id, record.link.chain, record.link.number, detail)


def _head(record: _Record) -> SavedHead:
    link = record.link
    return SavedHead(ChainHead(link.chain, link.number, link.hash), record.entry.expires_at)
