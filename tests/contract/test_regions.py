"""The contract of the active region, over each back end, and what a process knows of it."""

from dataclasses import replace

import pytest

from duetime.aws.keyed_items import DynamoItems
from duetime.aws.tables import REGIONS, create_table_request, name_of, region_of
from duetime.errors import BackendUnavailable, UnreadableRow, Unsupported
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.active_region import FENCES, TRUSTED
from duetime.ports.regions import KEY, ActiveRegions, NoRegions
from duetime.testing import TurnedClock
from duetime_contract.specimens import HOUR, NOON, SECOND
from duetime_faults.shared_region import MemoryActiveRegions, SharedRegionItem
from tests.contract.conftest import LOCAL, MOTO
from tests.contract.rules.regions import RegionsContract, active_region

OWN, OTHER = "eu-central-1", "eu-west-1"


@pytest.fixture(params=[MOTO, LOCAL])
def regions_table(request):
    """A table for the item, in each engine."""
    if request.param == "moto":
        client = request.getfixturevalue("moto")["dynamodb"]
    else:
        client = request.getfixturevalue("local_client")
    client.create_table(**create_table_request(REGIONS, "duetime-regions"))
    yield client, "duetime-regions"
    client.delete_table(TableName="duetime-regions")


class TestMemoryActiveRegions(RegionsContract):
    @pytest.fixture
    def regions(self):
        return MemoryActiveRegions(OWN)

    def test_a_region_that_is_cut_off_reads_and_writes_nothing(self):
        shared = SharedRegionItem(unreachable={OWN})
        cut_off = MemoryActiveRegions(OWN, shared)
        for call in (cut_off.read, lambda: cut_off.change(None, active_region())):
            with pytest.raises(BackendUnavailable, match="eu-central-1 is cut off"):
                call()
        assert MemoryActiveRegions(OTHER, shared).read() is None


class TestDynamoActiveRegions(RegionsContract):
    @pytest.fixture
    def regions(self, regions_table):
        return ActiveRegions(DynamoItems(*regions_table), OWN)

    def test_a_change_of_an_earlier_epoch_is_rejected_though_the_region_is_active_again(self, regions):
        first = active_region()
        later = replace(first, epoch=first.epoch + 2)
        assert regions.change(None, later)
        assert not regions.change(first, first.fenced(OTHER, at=NOON, by="ops"))
        assert regions.read() == later

    def test_an_unreadable_item_is_rejected(self, regions_table):
        client, table = regions_table
        client.put_item(
            TableName=table, Item={"pk": {"S": KEY.partition}, "sk": {"S": KEY.sort}, "epoch": {"N": "1"}}
        )
        with pytest.raises(UnreadableRow, match="system#region"):
            ActiveRegions(DynamoItems(client, table), OWN).read()


def test_the_arn_of_a_table_has_its_region_and_its_name():
    arn = "arn:aws:dynamodb:eu-west-3:123456789012:table/duetime-regions"
    assert (region_of(arn), name_of(arn)) == ("eu-west-3", "duetime-regions")
    assert (region_of("duetime-regions"), name_of("duetime-regions")) == (None, "duetime-regions")


def test_a_deployment_without_a_standby_region_rejects_a_change_and_names_the_setting():
    with pytest.raises(Unsupported, match=r"'eu-central-1' cannot become active; .* regions_table"):
        NoRegions().change(None, active_region())


class TestKnownRegion:
    @pytest.fixture
    def clock(self):
        return TurnedClock(NOON)

    @pytest.fixture
    def shared(self):
        return SharedRegionItem(active_region())

    @pytest.fixture
    def known(self, shared, clock):
        return KnownRegion(MemoryActiveRegions(OWN, shared), clock)

    def test_without_a_standby_region_nothing_is_read(self, clock):
        shared = SharedRegionItem(unreachable={""})
        known = KnownRegion(MemoryActiveRegions("", shared), clock)
        assert (known.epoch(), known.is_active(), known.is_standby()) == (0, True, False)
        assert known.is_current(7 * FENCES)

    def test_the_active_region_claims_at_its_epoch_and_others_stand_by(self, known, shared, clock):
        assert (known.epoch(), known.is_standby()) == (1, False)
        other = KnownRegion(MemoryActiveRegions(OTHER, shared), clock)
        assert (other.epoch(), other.is_standby()) == (None, True)

    @pytest.mark.parametrize("item", [None, active_region(region="", epoch=2)], ids=["none", "a failover"])
    def test_without_an_active_region_each_stands_by(self, shared, clock, item):
        shared.item = item
        assert KnownRegion(MemoryActiveRegions(OWN, shared), clock).epoch() is None

    def test_a_region_that_is_cut_off_claims_until_its_reading_is_too_old(self, known, shared, clock):
        known.epoch()
        shared.unreachable.add(OWN)
        clock.wait_until(NOON + TRUSTED - SECOND)
        assert known.epoch() == 1
        clock.wait_until(NOON + TRUSTED)
        with pytest.raises(BackendUnavailable, match="cannot read which region is active"):
            known.epoch()
        assert (known.is_active(), known.is_standby()) == (False, False)

    def test_a_run_of_an_earlier_epoch_may_not_end(self, known, shared, clock):
        assert known.is_current(FENCES + 5)
        shared.item = active_region(epoch=2)
        clock.wait_until(NOON + 5 * SECOND)
        assert not known.is_current(FENCES + 5)

    def test_many_actions_within_five_seconds_cost_one_read(self, shared, clock):
        reads = []

        class Counted(MemoryActiveRegions):
            def read(self):
                reads.append(clock.now())
                return super().read()

        known = KnownRegion(Counted(OWN, shared), clock)
        shared.unreachable.add(OWN)
        for _ in range(100):
            known.is_active()
            clock.wait_until(clock.now() + SECOND / 10)
        assert len(reads) == 2

    def test_a_process_that_was_frozen_reads_again(self, known, shared, clock):
        known.epoch()
        shared.item = active_region(epoch=2, region=OTHER)
        clock.wait_until(NOON + HOUR)
        assert known.epoch() is None
