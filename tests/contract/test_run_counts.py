"""The contract of run counts, over each back end that duetime has."""

import pytest

from duetime.aws import unreadable_items
from duetime.aws.keyed_items import DynamoItems
from duetime.memory.keyed_items import MemoryItems
from duetime.ports.run_counts import RunCounts
from duetime.ports.usage import UsageCounts
from duetime_contract.specimens import ACME, EXPIRY, HOUR, NOON
from tests.contract.rules.run_counts import RunCountsContract, ended


class TestMemoryRunCounts(RunCountsContract):
    @pytest.fixture
    def counts(self):
        return RunCounts(MemoryItems())

    def test_expired_counts_are_removed(self):
        items = MemoryItems()
        counts = RunCounts(items)
        counts.add([ended()], expires_at=NOON + HOUR)
        counts.add([ended(NOON + 2 * HOUR)], expires_at=NOON + 3 * HOUR)
        items.remove_expired(NOON + 2 * HOUR)
        assert [row.minute for row in counts.read(ACME, NOON, NOON + 9 * HOUR)] == [NOON + 2 * HOUR]


class TestDynamoRunCounts(RunCountsContract):
    @pytest.fixture
    def counts(self, jobs_table):
        return RunCounts(DynamoItems(*jobs_table))

    def test_the_runs_of_a_batch_are_one_write_an_hour_and_name_and_expire(self, jobs_table):
        client, table = jobs_table
        RunCounts(DynamoItems(client, table)).add([ended(), ended(), ended(NOON + HOUR)], expires_at=EXPIRY)
        items = client.scan(TableName=table)["Items"]
        assert len(items) == 2
        assert {item["ttl"]["N"] for item in items} == {str(int(EXPIRY.timestamp()))}

    def test_the_use_of_quotas_beside_them_is_not_read(self, jobs_table):
        runs, usage = RunCounts(DynamoItems(*jobs_table)), UsageCounts(DynamoItems(*jobs_table))
        runs.add([ended()], expires_at=EXPIRY)
        usage.add({(ACME, "m209901"): 1}, now=NOON)
        with unreadable_items.collecting() as damaged:
            assert len([*runs.read(ACME, NOON, NOON + HOUR)]) == 1
            assert usage.read(ACME, NOON)[0] == 1
        assert damaged == []

    def test_a_damaged_item_is_left_out(self, jobs_table):
        client, table = jobs_table
        counts = RunCounts(DynamoItems(client, table))
        counts.add([ended()], expires_at=EXPIRY)
        for name, damage in (("2030-06-01T12#job", {}), ("2030-06-01T12#job#x", {"m07e": {"S": "many"}})):
            client.put_item(TableName=table, Item={"pk": {"S": "acme#counts"}, "sk": {"S": name}, **damage})
        assert len(list(counts.read(ACME, NOON, NOON + HOUR))) == 1
