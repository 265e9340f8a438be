"""Rows that a caller with rights on tenant acme's keys forges: no other tenant sees them.

IAM restricts the keys of a write, not its attributes.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.aws.items import from_item, to_item
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keyed_items import DynamoItems
from duetime.errors import UnreadableRow
from duetime.ids import new_action_id
from duetime.model.action import Status
from duetime.model.audit_chain import ChainHead
from duetime.model.audit_verification import verify
from duetime.ports.access import AuditTrail
from duetime.settings import DUE_SHARDS
from duetime_contract.job_specimens import NIGHTLY, added, event_run
from duetime_contract.specimens import (
    ACME,
    GLOBEX,
    HOUR,
    NOON,
    claim,
    due_entries,
    end,
    fresh,
    scheduled,
)
from tests.contract.rules.access import JOB, entry

FORGED = {
    "correlation": {"S": "globex#order:7"},
    "failed": {"S": "globex#3"},
    "tenant_due": {"S": "globex#3"},
    "job_tenant": {"S": "system"},
}


def forge(table, action, **attributes):
    """Write a row of acme with these attributes, as its caller may."""
    item = to_item(action) | attributes
    table.client.put_item(TableName=table.name, Item=item)
    return item


@pytest.mark.parametrize("name", FORGED)
def test_a_row_that_names_another_tenant_is_unreadable(table, name):
    item = forge(table, fresh(table.store()), **{name: FORGED[name]})
    with pytest.raises(UnreadableRow, match=name):
        from_item(item)


def test_a_run_names_the_systems_job_only_if_an_event_started_it(table):
    run = event_run(table.store(), "event-1", job_tenant="system")
    assert from_item(to_item(run)) == run
    for owner, tenant_id in (("globex", ACME), ("system", "system")):
        with pytest.raises(UnreadableRow, match="job_tenant"):
            from_item(
                to_item(replace(run, tenant_id=tenant_id, planned=replace(run.planned, job_tenant=owner)))
            )


def test_a_row_in_the_partition_of_another_row_is_unreadable(table):
    action = fresh(table.store())
    item = to_item(action) | {"pk": {"S": "acme#billing-nightly"}}
    with pytest.raises(UnreadableRow, match="pk"):
        from_item(item)


def test_a_forged_correlation_id_is_in_no_list(table):
    store = table.store()
    theirs = scheduled(store, correlation_id="order:7")
    theirs = replace(theirs, tenant_id=GLOBEX)
    store.put(theirs)
    for _ in range(3):
        forge(table, fresh(store), correlation=FORGED["correlation"])
    page = store.by_correlation(GLOBEX, "order:7", limit=10, cursor=None)
    assert [row.ref for row in page] == [theirs.ref]


def test_a_forged_failure_is_in_no_list_of_dead_letters(table):
    store = table.store()
    action = scheduled(store)
    store.settle(claim(store, action.ref), end(Status.FAILED))
    failed = store.get(action.ref)
    forge(table, failed, failed=FORGED["failed"], failed_at={"S": "2029-01-01T00:00:00.000000Z"})
    for tenants in ([GLOBEX], [ACME, GLOBEX]):
        assert store.failed(tenants, limit=10, cursor=None).actions == ()


def test_a_forged_row_does_not_hide_those_behind_it(table):
    store = table.store()
    action = scheduled(store)
    store.settle(claim(store, action.ref), end(Status.FAILED))
    for _ in range(3):
        forge(
            table,
            fresh(store),
            failed={"S": f"acme#{action.id[-1]}"},
            failed_at={"S": "2029-01-01T00:00:00.000000Z"},
        )
    assert [row.ref for row in store.failed([ACME], limit=1, cursor=None)] in ([], [action.ref])
    assert action.ref in [row.ref for row in store.failed([ACME], limit=10, cursor=None)]


@pytest.mark.parametrize("due_at", ["2026-01-01 00 00", "2026" + "x" * 900, "2026-01-01T00:00:00.000000Z"])
def test_a_forged_due_time_hides_none_behind_it(table, due_at):
    store = table.store()
    genuine = scheduled(store)
    for _ in range(2):
        forge(table, replace(fresh(store), due_shard=genuine.due_shard), due_at={"S": due_at})
    assert genuine.ref in [entry.ref for entry in due_entries(store, genuine.due_shard, limit=1)]


def test_ten_forged_pages_hide_no_action_of_the_list(table):
    store = table.store()
    theirs = replace(scheduled(store, correlation_id="order:7"), tenant_id=GLOBEX)
    store.put(theirs)
    for _ in range(12):
        forge(table, fresh(store, created_at=NOON - 2 * HOUR), correlation=FORGED["correlation"])
    page = store.by_correlation(GLOBEX, "order:7", limit=1, cursor=None)
    assert ([row.ref for row in page], page.cursor) == ([theirs.ref], None)


def test_a_damaged_row_is_reported(table):
    store, damaged = table.store(), []
    row = fresh(store)
    forge(table, row, attempt={"S": "1"})
    assert store.get_rows([row.ref], damaged=damaged) == []
    assert [found.ref for found in damaged] == [row.ref]


def test_a_forged_job_is_in_no_other_tenants_list(jobs_table):
    client, name = jobs_table
    jobs = DynamoJobStore(client, "unused", name, due_shards=DUE_SHARDS)
    added(jobs, tenant_id=ACME)
    items = client.scan(TableName=name)["Items"]
    (state,) = (item for item in items if "tenant" in item)
    client.put_item(TableName=name, Item=state | {"tenant": {"S": GLOBEX}})
    assert jobs.list(GLOBEX, limit=10, cursor=None).jobs == ()
    assert jobs.get(added(jobs, tenant_id=GLOBEX).ref).name == NIGHTLY


class TestAuditTrail:
    """Entries that `PutItem` on the jobs table forges."""

    @pytest.fixture
    def trail(self, jobs_table):
        return AuditTrail(DynamoItems(*jobs_table))

    def forge(self, jobs_table, trail, **attributes):
        client, name = jobs_table
        genuine = entry(tenant_id=GLOBEX)
        trail.begin(genuine)
        (item,) = (item for item in client.scan(TableName=name)["Items"] if item["sk"]["S"] == genuine.id)
        client.delete_item(TableName=name, Key={key: item[key] for key in ("pk", "sk")})
        client.put_item(TableName=name, Item={**item, **attributes})

    @pytest.mark.parametrize(
        "partition", ["acme#billing-nightly", "globex#billing-nightly", "globex#audit#a-b"]
    )
    def test_an_entry_outside_of_its_partition_is_in_no_list(self, jobs_table, trail, partition):
        self.forge(jobs_table, trail, pk={"S": partition})
        true = entry(tenant_id=GLOBEX)
        trail.begin(true)
        for target in (None, JOB):
            assert [row.id for row in trail.list(GLOBEX, target, limit=10, cursor=None).entries] == [true.id]

    def test_an_incomplete_entry_hides_no_other(self, jobs_table, trail):
        client, name = jobs_table
        true = entry(tenant_id=GLOBEX)
        trail.begin(true)
        (item,) = client.scan(TableName=name)["Items"]
        incomplete = {key: item[key] for key in ("pk", "audit_of")} | {"sk": {"S": entry().id}}
        client.put_item(TableName=name, Item=incomplete)
        for target in (None, JOB):
            assert [row.id for row in trail.list(GLOBEX, target, limit=10, cursor=None).entries] == [true.id]

    def chained(self, trail):
        """Three entries of globex with both their records."""
        head = ChainHead(new_action_id(NOON))
        for _ in range(3):
            begun, head = head.append(entry(tenant_id=GLOBEX))
            trail.begin(begun)
            ended, head = head.append(begun.ended(200, {"status": "paused"}))
            trail.end(ended)
        return ended.requested_at

    @pytest.mark.parametrize(
        ("forged", "kinds"),
        [
            ({}, []),
            ({"by": {"S": "eve"}}, ["changed", "changed"]),
            ({"status_code": {"N": "403"}}, ["changed"]),
            ({"ttl": {"N": "1"}}, ["changed", "changed"]),
            ({"audit_of": {"S": "acme"}}, ["removed"]),
            ({"ended_link": {"S": "x"}}, ["removed"]),
            ({"begun_link": None, "ended_link": None}, ["inserted", "removed"]),
            (None, ["removed"]),
        ],
    )
    def test_a_forged_row_of_the_trail_is_found(self, jobs_table, trail, forged, kinds):
        client, name = jobs_table
        now = self.chained(trail) + timedelta(hours=9)
        items = sorted(client.scan(TableName=name)["Items"], key=lambda item: item["sk"]["S"])
        item = items[1]
        client.delete_item(TableName=name, Key={key: item[key] for key in ("pk", "sk")})
        if forged is not None:
            changed = {key: value for key, value in {**item, **forged}.items() if value is not None}
            client.put_item(TableName=name, Item=changed)
        found = verify(trail.list(GLOBEX, None, limit=10, cursor=None), now=now).findings
        assert sorted(finding.kind.value for finding in found) == kinds
