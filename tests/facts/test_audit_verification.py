"""The verification of a trail finds each change to it, and reports none where entries have only expired."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import instant
from duetime.ids import new_action_id
from duetime.model.audit import AuditKind, AuditTarget
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import SavedHead, verify
from duetime.model.tenant_erase import TenantErase
from duetime.tenant_data.audit import ended
from duetime_contract.specimens import NOON
from tests.contract.rules.access import RETENTION, entry

LATER = NOON + timedelta(days=1)


def chain(count, head=None):
    """Entries with both their records, in order, and the head after them."""
    head = head or ChainHead(new_action_id(NOON))
    entries = []
    for _ in range(count):
        begun, head = head.append(entry())
        ended, head = head.append(begun.ended(200, {"id": "é", "list": [1, 0.5, None]}))
        entries.append(ended)
    return entries, head


def found(entries, now=LATER, **more):
    return [(finding.kind.value, finding.number) for finding in verify(entries, now=now, **more).findings]


@pytest.fixture
def entries():
    return chain(4)[0]


def test_an_untouched_trail_of_several_chains_has_no_findings(entries):
    more, _ = chain(2)
    assert found([*reversed(entries), *more]) == []
    report = verify([*entries, *more], now=LATER)
    assert (report.entries, [head.head.number for head in report.heads]) == (6, [8, 4])


@pytest.mark.parametrize(
    "change",
    [
        {"by": "eve"},
        {"subject": "eve"},
        {"address": None},
        {"roles": ()},
        {"operation": "resume"},
        {"request_fields": {}},
        {"requested_at": NOON},
        {"expires_at": NOON},
        {"target": AuditTarget(AuditKind.JOB, "other-job")},
        {"tenant_id": "globex"},
    ],
)
def test_each_changed_field_is_found_in_both_records(entries, change):
    entries[1] = replace(entries[1], **change)
    assert found(entries) == [("changed", 3), ("changed", 4)]


@pytest.mark.parametrize("change", [{"status": 403}, {"result": {}}])
def test_a_changed_result_is_found(entries, change):
    entries[1] = replace(entries[1], **change)
    assert found(entries) == [("changed", 4)]


def test_a_removed_result_is_found(entries):
    entries[1] = replace(entries[1], status=None, result=None, ended_link=None)
    assert found(entries) == [("removed", 5)]


def test_removed_entries_are_found_at_the_beginning_and_inside(entries):
    assert found(entries[1:]) == [("removed", 3)]
    assert found([entries[0], *entries[3:]]) == [("removed", 7)]


def test_an_entry_with_a_recomputed_hash_is_not_the_one_that_the_next_followed(entries):
    forged = replace(entries[1], by="eve", status=None, result=None, begun_link=None, ended_link=None)
    head = ChainHead(entries[0].ended_link.chain, 2, entries[0].ended_link.hash)
    begun, head = head.append(forged)
    entries[1], _ = head.append(begun.ended(200, {}))
    assert found(entries) == [("replaced", 5)]


def test_an_inserted_entry_is_found_with_and_without_a_hash(entries):
    unhashed = entry()
    for trail in ([*entries, unhashed], [unhashed]):
        assert found(trail) == [("inserted", None)]
    copied, _ = ChainHead(entries[0].begun_link.chain, 2, entries[0].ended_link.hash).append(entry())
    assert found([*entries, copied]) == [("inserted", 3)]
    assert found([*entries, replace(entry(), begun_link=replace(copied.begun_link, chain="x"))])[-1] == (
        "inserted",
        3,
    )


def test_counts_of_rejected_changes_have_no_hash_and_are_no_findings(entries):
    count = replace(entry(AuditTarget(AuditKind.REJECTED, "eve")), requested_at=LATER)
    report = verify([count, *entries], now=LATER)
    assert (report.findings, report.rejections) == ([], 1)


def test_an_expired_beginning_is_no_finding_and_a_removed_one_is(entries):
    assert found(entries[2:], now=NOON + RETENTION - timedelta(days=1)) == [("removed", 5)]
    assert found(entries[2:], now=NOON + RETENTION + timedelta(hours=2)) == []
    assert found([entries[0], entries[3]], now=NOON + RETENTION + timedelta(hours=2)) == []


def erase(at, **changes):
    """The latest erase of a trail of the system with one of acme that ended at `at`."""
    fields = {"keep_audit": False, **changes}
    made = replace(entry(), operation="erase", requested_at=at - timedelta(hours=1), request_fields=fields)
    made = replace(made, expires_at=made.requested_at + RETENTION)
    begun, _ = ChainHead(made.id).append(made)
    return TenantErase.latest([ended(begun, {"ended_at": instant.text(at)}), begun])


def test_an_erased_beginning_is_no_finding_and_what_is_missing_after_it_is(entries):
    head, late = verify(entries, now=LATER).heads[0], NOON + timedelta(hours=1)
    assert found(entries[2:], erase=erase(late)) == []
    assert found([], saved=[head], erase=erase(late)) == []
    assert found([entries[0], entries[2]], erase=erase(late)) == [("removed", 5)]
    assert found(entries[2:], erase=erase(NOON - timedelta(seconds=5))) == [("removed", 5)]
    assert found([], saved=[head], erase=erase(entries[3].requested_at - timedelta(seconds=5))) == [
        ("removed", 8)
    ]


def test_an_erase_that_has_not_ended_or_keeps_the_trail_removes_no_entry():
    assert erase(LATER, keep_audit=True) is None
    assert TenantErase.latest([]) is None
    begun, _ = ChainHead(new_action_id(NOON)).append(replace(entry(), operation="erase"))
    assert TenantErase.latest([begun]) is None


def test_a_gap_before_the_youngest_entries_may_be_a_lag_of_the_index(entries):
    assert found(entries[1:], now=entries[1].requested_at + timedelta(seconds=30)) == []


def test_the_end_of_a_chain_is_verified_against_saved_heads(entries):
    head = verify(entries, now=LATER).heads[0]
    assert found(entries[:2]) == []
    assert found(entries[:2], saved=[head]) == [("removed", 8)]
    assert found([], saved=[head]) == [("removed", 8)]
    assert found([], saved=[head], now=head.expires_at) == []
    assert found(entries, saved=[SavedHead(replace(head.head, hash="0" * 64), None)]) == [("replaced", 8)]
    more, _ = chain(1, head.head)
    assert found([*entries, *more], saved=[head]) == []
