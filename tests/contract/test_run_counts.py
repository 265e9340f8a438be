"""The contract of run counts, over each back end that duetime has."""

import pytest

from duetime.aws import unreadable_items
from duetime.aws.run_counts import DynamoRunCounts
from duetime.aws.usage import DynamoUsageCounts
from duetime.memory.run_counts import MemoryRunCounts
from duetime_contract import RunCountsContract
from duetime_contract.run_counts import ended
from duetime_contract.specimens import ACME, EXPIRY, HOUR, NOON


class TestMemoryRunCounts(RunCountsContract):
    @pytest.fixture
    def counts(self):
        return MemoryRunCounts()

    def test_expired_counts_are_removed(self, counts):
        counts.add([ended()], expires_at=NOON + HOUR)
        counts.add([ended(NOON + 2 * HOUR)], expires_at=NOON + 3 * HOUR)
        assert [row.minute for row in counts.read(ACME, NOON, NOON + 9 * HOUR)] == [NOON + 2 * HOUR]


class TestDynamoRunCounts(RunCountsContract):
    @pytest.fixture
    def counts(self, jobs_table):
        return DynamoRunCounts(*jobs_table)

    def test_the_runs_of_a_batch_are_one_write_an_hour_and_name_and_expire(self, jobs_table):
        client, table = jobs_table
        DynamoRunCounts(client, table).add([ended(), ended(), ended(NOON + HOUR)], expires_at=EXPIRY)
        items = client.scan(TableName=table)["Items"]
        assert len(items) == 2
        assert {item["ttl"]["N"] for item in items} == {str(int(EXPIRY.timestamp()))}

    def test_the_use_of_quotas_beside_them_is_not_read(self, jobs_table):
        runs, usage = DynamoRunCounts(*jobs_table), DynamoUsageCounts(*jobs_table)
        runs.add([ended()], expires_at=EXPIRY)
        usage.add({(ACME, "m209901"): 1}, now=NOON)
        with unreadable_items.collecting() as damaged:
            assert len([*runs.read(ACME, NOON, NOON + HOUR)]) == 1
            assert usage.read(ACME, NOON)[0] == 1
        assert damaged == []

    def test_a_damaged_item_is_left_out(self, jobs_table):
        client, table = jobs_table
        counts = DynamoRunCounts(client, table)
        counts.add([ended()], expires_at=EXPIRY)
        for name, damage in (("2030-06-01T12#job", {}), ("2030-06-01T12#job#x", {"m07e": {"S": "many"}})):
            client.put_item(TableName=table, Item={"pk": {"S": "acme#counts"}, "sk": {"S": name}, **damage})
        assert len(list(counts.read(ACME, NOON, NOON + HOUR))) == 1
