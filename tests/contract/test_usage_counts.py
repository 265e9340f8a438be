"""The contract of the use of quotas, over each back end that duetime has."""

from datetime import timedelta
from itertools import cycle
from types import SimpleNamespace

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.clock import SystemClock
from duetime.memory.keyed_items import MemoryItems
from duetime.model.usage import day_name
from duetime.ports import usage
from duetime.ports.usage import UsageCounts
from duetime_contract.specimens import ACME, GLOBEX, NOON
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.networks import repeating
from tests.contract.rules.usage import UsageCountsContract
from tests.emulated.moto_patches import repeated_transactions


class TestMemoryUsageCounts(UsageCountsContract):
    @pytest.fixture
    def counts(self):
        return UsageCounts(MemoryItems())


class TestDynamoUsageCounts(UsageCountsContract):
    @pytest.fixture
    def counts(self, jobs_table):
        return UsageCounts(DynamoItems(*jobs_table))

    def test_a_batch_is_one_write_a_tenant_and_a_damaged_item_is_left_out(self, jobs_table):
        client, table = jobs_table
        batch = {(ACME, "m209901"): 1, (ACME, day_name(NOON)): 9, (GLOBEX, "m209901"): 1}
        UsageCounts(DynamoItems(client, table)).add(batch, now=NOON)
        assert len(client.scan(TableName=table)["Items"]) == 2
        damaged = {"pk": {"S": "acme#counts"}, "sk": {"S": "usage#x"}, "m209901": {"S": "many"}}
        client.put_item(TableName=table, Item=damaged)
        assert UsageCounts(DynamoItems(client, table)).read(ACME, NOON) == (1, 9)

    @pytest.mark.parametrize("jobs_table", [MOTO, LOCAL], indirect=True)  # SQLite repeats no request
    def test_a_repeated_request_counts_nothing_twice(self, jobs_table):
        client, table = jobs_table
        later = {(ACME, "m209901"): 5}

        def meanwhile():
            UsageCounts(DynamoItems(client, table)).add(later, now=NOON)

        with repeated_transactions(SystemClock()), repeating(client, "TransactWriteItems", meanwhile):
            UsageCounts(DynamoItems(client, table)).add({(ACME, "m209901"): 2}, now=NOON)
        assert UsageCounts(DynamoItems(client, table)).read(ACME, NOON).pending == 7

    def test_items_stay_small_because_past_days_are_removed(self, jobs_table, monkeypatch):
        client, table = jobs_table
        shards = cycle(range(usage._SHARDS))  # each item is updated, whatever the draw would be
        monkeypatch.setattr(usage, "random", SimpleNamespace(randrange=lambda _: next(shards)))
        for number in range(2 * usage._SHARDS + 1):
            at = NOON + timedelta(days=number % 2)
            UsageCounts(DynamoItems(client, table)).add({(ACME, day_name(at)): 1}, now=at)
        for _ in range(usage._SHARDS):
            later = NOON + timedelta(days=5)
            UsageCounts(DynamoItems(client, table)).add({(ACME, day_name(later)): 1}, now=later)
        items = client.scan(TableName=table)["Items"]
        assert len(items) == usage._SHARDS
        assert {name for item in items for name in item} == {"pk", "sk", day_name(later)}
