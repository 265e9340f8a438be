"""A damaged row that holds its job's lock, or a slot, blocks neither for longer than a lease.

Each attribute of a processing row is removed, has another type, or is of a later version. While its lease may
be live, no other run begins. Afterwards the next run begins, and the damaged one can settle nothing.
"""

from contextlib import suppress
from dataclasses import replace
from itertools import count

import pytest

from duetime.aws.items import from_item
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.keys import row_key
from duetime.aws.tables import JOBS, create_table_request
from duetime.declare.handler import LONGEST_RUN
from duetime.errors import UnreadableRow
from duetime.ids import job_name
from duetime.instant import LATEST, text
from duetime.model.action import Status
from duetime.model.job import Overlap
from duetime.ports.jobs import LockRequirement
from duetime.retry import NEVER
from duetime.settings import DUE_SHARDS
from duetime.worker.claim_job_run import ClaimJobRun
from duetime.worker.claim_results import ClaimWon
from duetime_contract import specimens
from duetime_contract.job_specimens import added, nightly, occurrence, stored_job, taken
from duetime_contract.specimens import (
    ACME,
    HOUR,
    LEASE,
    LEASE_END,
    MINUTE,
    NOON,
    SECOND,
    SKEW,
    TICK,
    end,
    stored_row,
    terms,
)
from tests.backends import backends
from tests.contract.damage import Damage, damages, put
from tests.contract.rules.slots import begin, holding, keyed, move_of
from tests.slots import claim_of
from tests.unpaused import UNPAUSED

OVERLAPPED = NOON + LEASE / 2
"""When the next run claims for the first time."""
OVER = LEASE_END + SKEW
LONGEST_OVER = OVERLAPPED + max(LEASE, LONGEST_RUN) + SKEW
HOLDS, FREE = False, True
OTHER_VALUES = {
    "status": [{"S": "pending"}, {"S": "skipped"}],
    "fence": [{"N": "0"}, {"N": "2"}],
    "lease_until": [{"S": text(LEASE_END + step)} for step in (-TICK, TICK)],
}
"""Neighbours of what a damaged row's eviction depends on: the row is processing, with the fence 1."""


def unreadable(item):
    """Yield the item with each damage that makes it unreadable; also without all that a claim decides by.

    And with a lease far in the future.
    """
    for case in damages(item):
        try:
            from_item(case.item)
        except UnreadableRow:
            yield case
    without_type = {name: value for name, value in item.items() if name != "type"}
    undecided = {name: value for name, value in item.items() if name not in OTHER_VALUES}
    yield Damage("lease_until, status and fence removed", undecided)
    yield Damage("lease_until too late", {**without_type, "lease_until": {"S": text(LATEST)}})


def claims_of(name):
    """When the next run claims, and whether it begins.

    It begins after the lease, or, if no lease can be read, after the longest one.
    """
    over = LONGEST_OVER if name.startswith("lease_until") else OVER
    return [(OVERLAPPED, HOLDS), (over, HOLDS), (over + SECOND, FREE)]


class Holders:
    """Rows that hold something, each with another damage."""

    def __init__(self, table):
        self.table, self.store = table, table.store()

    def damaged(self, hold):
        """Yield each row that `hold` made, after its damage, and the name of that."""
        for number in count():
            dead = hold(number)
            item = self.item(dead)
            cases = [*unreadable(item)]
            if number == len(cases):
                assert number > 25
                return
            if put(self.table.client, self.table.name, cases[number]):
                with pytest.raises(UnreadableRow):
                    stored_row(self.store, dead.ref)
                yield cases[number].name, dead

    def item(self, row):
        return self.table.client.get_item(TableName=self.table.name, Key=row_key(row.ref))["Item"]

    def items(self):
        found = self.table.client.scan(TableName=self.table.name, ConsistentRead=True)["Items"]
        return {(item["pk"]["S"], item["sk"]["S"]): item for item in found}

    def replace_item(self, row, item):
        if item:
            self.table.client.put_item(TableName=self.table.name, Item=item)
        else:
            self.table.client.delete_item(TableName=self.table.name, Key=row_key(row.ref))

    def settles_nothing(self, dead):
        before = self.item(dead)
        with suppress(UnreadableRow):
            self.store.settle(dead, end(Status.EXECUTED))
        return self.item(dead) == before


@pytest.fixture
def holders(table):
    return Holders(table)


def test_a_slot_of_a_damaged_row_is_free_after_its_lease(holders):
    store = holders.store
    claim = claim_of(store)

    def hold(number):
        dead = keyed(store, key=f"key-{number}")
        assert begin(store, dead.ref)
        return stored_row(store, dead.ref)

    for name, dead in holders.damaged(hold):
        following = keyed(store, key=dead.slot_key)
        for at, begins in claims_of(name):
            assert isinstance(claim.with_slot(following, terms(at)), ClaimWon) is begins, name
        assert store.key_slots(ACME, dead.slot_key).holders.keys() == {following.id}
        assert holders.settles_nothing(dead), name


def test_a_slot_of_a_damaged_row_that_waits_for_a_retry_is_free(holders):
    store = holders.store
    claim = claim_of(store)
    dead, following = holding(store), keyed(store)
    retried = {
        name: value for name, value in holders.item(dead).items() if name not in {"type", "lease_until"}
    }
    put(
        holders.table.client,
        holders.table.name,
        Damage("type removed", {**retried, "status": {"S": "pending"}}),
    )
    assert isinstance(claim.with_slot(following, terms(OVERLAPPED)), ClaimWon)


@pytest.mark.parametrize("absent", [(), *((name,) for name in OTHER_VALUES), (*OTHER_VALUES,)], ids=str)
def test_a_damaged_row_that_changed_since_the_read_is_neither_limited_nor_evicted(holders, absent):
    store, dead, damaged = holders.store, holding(holders.store), []
    item = {name: value for name, value in holders.item(dead).items() if name not in {"type", *absent}}
    holders.replace_item(dead, item)
    store.get_rows([dead.ref], damaged=damaged)
    move = move_of(store, dead)
    writes = [
        lambda: store.limit_lease(damaged[0], LATEST),
        lambda: store.evict(move, damaged[0]),
    ]
    others = [{**item, name: value} for name, values in OTHER_VALUES.items() for value in values]
    removed = [{key: item[key] for key in item if key != name} for name in OTHER_VALUES if name in item]
    for changed in (*others, *removed, None):
        holders.replace_item(dead, changed)
        before = holders.items()
        for write in writes:
            write()
        assert holders.items() == before, changed
    for write in writes:
        holders.replace_item(dead, item)
        before = holders.items()
        write()
        assert holders.items() != before


class TestLocks:
    @pytest.fixture
    def jobs(self, table):
        table.client.create_table(**create_table_request(JOBS, "duetime-jobs"))
        yield DynamoJobStore(table.client, table.name, "duetime-jobs", due_shards=DUE_SHARDS)
        table.client.delete_table(TableName="duetime-jobs")

    @pytest.fixture
    def claim(self, table, jobs):
        claim_run = ClaimJobRun(backends(table.store(), jobs=jobs), UNPAUSED)
        return lambda row, at: claim_run(row.ref, terms(at), NEVER)

    def added(self, jobs, number, overlap, **fields):
        definition = replace(nightly().definition, name=job_name(f"job-{number}"), overlap=overlap)
        return added(jobs, definition.name, definition=definition, **fields)

    def following(self, holders, job):
        return specimens.put(holders.store, occurrence(holders.store, NOON + MINUTE, job=job.name))

    @pytest.mark.parametrize("overlap", [Overlap.QUEUE_ONE, Overlap.CANCEL_RUNNING])
    def test_a_lock_of_a_damaged_row_is_free_after_its_lease(self, holders, jobs, claim, overlap):
        held = {}

        def hold(number):
            job = self.added(jobs, number, overlap)
            run = taken(holders.store, jobs, job)
            held[run.ref] = job
            return run

        for name, dead in holders.damaged(hold):
            job = held[dead.ref]
            following = self.following(holders, job)
            for at, begins in claims_of(name):
                assert isinstance(claim(following, at), ClaimWon) is begins, name
            assert stored_job(jobs, job.ref).running == following.ref
            assert holders.settles_nothing(dead), name

    def test_a_damaged_run_without_the_lock_holds_others_back_until_its_lease_has_ended(
        self, holders, jobs, claim
    ):
        job = self.added(jobs, 0, Overlap.QUEUE_ONE, unlocked_since=NOON - HOUR)
        dead, following = (
            taken(holders.store, jobs, job, hold=LockRequirement.NOTHING),
            self.following(holders, job),
        )
        without_type = {name: value for name, value in holders.item(dead).items() if name != "type"}
        assert put(holders.table.client, holders.table.name, Damage("type removed", without_type))
        for at, begins in claims_of("type removed"):
            assert isinstance(claim(following, at), ClaimWon) is begins
        assert holders.settles_nothing(dead)
