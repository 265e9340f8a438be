"""The contract of limits that operators set, over each back end; what processes know of them, and costs."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from random import Random

import pytest
from botocore.exceptions import ClientError

from duetime.aws.keyed_items import DynamoItems, item_key
from duetime.errors import BackendUnavailable, Unsupported
from duetime.jobs.trusted_reading import KnownLimits
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.active_region import TRUSTED
from duetime.model.rate_limit import STRICTEST, RateBucket, RateLimit
from duetime.ports import rates
from duetime.ports.rate_limits import NoSetLimits, SetLimits
from duetime.testing import TurnedClock
from duetime_contract.specimens import ACME, NOON, SECOND, fresh
from tests.api.deployment import Hooked, unavailable
from tests.contract.rules.rate_limits import SetLimitsContract, set_limit
from tests.contract.rules.rates import BUCKET, STRICT
from tests.contract.test_costs import metered

CONDITION_FAILED = ClientError({"Error": {"Code": "ConditionalCheckFailedException"}}, "UpdateItem")
MILLISECOND = timedelta(milliseconds=1)
DECLARED = RateLimit.parse(100, "minute")


class TestMemorySetLimits(SetLimitsContract):
    @pytest.fixture
    def limits(self):
        return SetLimits(MemoryItems())


class TestDynamoSetLimits(SetLimitsContract):
    @pytest.fixture
    def limits(self, jobs_table):
        return SetLimits(DynamoItems(*jobs_table))

    def test_in_place_of_an_unreadable_limit_stands_the_strictest(self, jobs_table):
        client, table = jobs_table
        limits, limit = SetLimits(DynamoItems(client, table)), set_limit()
        limits.set(limit)
        damaged = {"count": {"N": "0"}, "seconds": {"N": "60"}, "burst": {"N": "1"}}
        client.put_item(
            TableName=table, Item={"pk": {"S": "system#limits"}, "sk": {"S": "damaged"}, **damaged}
        )
        assert {found.name: found.limit for found in limits.list()} == {
            limit.name: limit.limit,
            "damaged": STRICTEST,
        }
        limits.reset("damaged")
        assert list(limits.list()) == [limit]


class TestKnownLimits:
    @pytest.fixture
    def clock(self):
        return TurnedClock(NOON)

    @pytest.fixture
    def stored(self):
        return Hooked(SetLimits(MemoryItems()))

    @pytest.fixture
    def known(self, stored, clock):
        return KnownLimits(stored, clock)

    def test_a_set_limit_holds_within_five_seconds_and_a_reset_too(self, known, stored, clock):
        assert known.of("send-mail", DECLARED) == DECLARED
        stored.set(set_limit())
        clock.wait_until(NOON + 5 * SECOND)
        assert known.of("send-mail", DECLARED) == set_limit().limit
        assert known.of("send-text", DECLARED) == DECLARED
        stored.reset("send-mail")
        clock.wait_until(NOON + 10 * SECOND)
        assert known.of("send-mail", DECLARED) == DECLARED

    def test_runs_within_five_seconds_of_a_read_read_nothing(self, known, stored, clock):
        assert known.of("send-mail", DECLARED) == DECLARED
        stored.hooks["list"] = unavailable
        stored.set(set_limit())
        for second in range(5):
            clock.wait_until(NOON + second * SECOND)
            assert known.of("send-mail", DECLARED) == DECLARED

    def test_unreadable_limits_leave_the_last_known_ones_for_fifteen_seconds(self, known, stored, clock):
        stored.set(set_limit())
        assert known.of("send-mail", DECLARED) == set_limit().limit
        stored.hooks["list"] = unavailable
        clock.wait_until(NOON + TRUSTED - SECOND)
        assert known.of("send-mail", DECLARED) == set_limit().limit
        clock.wait_until(NOON + TRUSTED)
        with pytest.raises(BackendUnavailable, match="cannot read the set rate limits"):
            known.of("send-mail", DECLARED)


def test_a_back_end_without_limits_declines_to_set_one():
    with pytest.raises(Unsupported, match="'send-mail' cannot be set"):
        NoSetLimits().set(set_limit())
    with pytest.raises(Unsupported, match="'send-mail' cannot be reset"):
        NoSetLimits().reset("send-mail")
    assert not NoSetLimits().list()


@pytest.mark.dynamodb_local
def test_a_start_costs_a_write_unit_and_a_deferral_four(local_table):
    store, pace = local_table.store(), RateLimit.parse(10, "minute", 1).pace
    bucket, action = RateBucket(ACME, "send-mail", "customer:42", 0), fresh(local_table.store())
    store.put(action)
    with metered(local_table.client) as bill:
        assert store.start_within_rate(bucket, pace, NOON, is_reserved=False) is None
    assert (bill.calls, bill.units) == (2, 2)
    with metered(local_table.client) as bill:
        store.defer(action, store.reserve_start(bucket, pace, NOON))
    assert (bill.calls, bill.units) == (3, 5)


class Interrupted:
    """A client; after the next read of an item, something happens before its caller gets it."""

    def __init__(self, client):
        self.client, self.then = client, None

    def __getattr__(self, name):
        return getattr(self.client, name)

    def get_item(self, **request):
        response, then, self.then = self.client.get_item(**request), self.then, None
        if then is not None:
            then()
        return response


class Step:
    """A start or a reservation, drawn; the same in each store."""

    def __init__(self, draw, pace, now, kinds=("start", "start", "reserved", "reserve")):
        self.pace, self.now = pace, now + draw.choice([-1_500, -1, 0, 0, 0, 1, 700]) * MILLISECOND
        self.kind = draw.choice(kinds)

    def __call__(self, store):
        if self.kind == "reserve":
            return store.reserve_start(BUCKET, self.pace, self.now)
        is_reserved = self.kind == "reserved"
        return store.start_within_rate(BUCKET, self.pace, self.now, is_reserved=is_reserved)


@pytest.mark.parametrize("seed", range(4))
def test_calls_that_others_interrupt_count_as_if_those_had_come_first(any_table, seed):
    """Only the instant that a refusal names may be that of the counters as read."""
    draw, model, other = Random(seed), MemoryStore(), any_table.store()  # noqa: S311 - repeats by its seed
    client, now = Interrupted(any_table.client), NOON
    store, paces = any_table.store(client), [RateLimit.parse(1, "second", burst).pace for burst in (1, 3)]
    for number in range(120):
        pace = paces[number // 40 % 2]
        now += draw.choice([0, 1, 1_000, 1_000, 3_000]) * MILLISECOND
        step = Step(draw, pace, now)
        kinds = ("reserve",) if step.kind == "reserve" else ("start", "start", "reserved", "reserve")
        others = [Step(draw, pace, now, kinds) for _ in range(draw.choice([0, 1, 1, 3]))]
        seen = []
        client.then = lambda others=others, seen=seen: seen.extend(each_of(others, other))
        result = step(store)
        expected, own = each_of(others, model), step(model)
        assert (seen, result is None) == (expected, own is None)
        assert result == own or (step.kind != "reserve" and step.now < result < own)


def each_of(steps, store):
    return [step(store) for step in steps]


@pytest.mark.parametrize("kind", ["start", "reserved", "reserve"])
def test_a_call_whose_item_expires_between_its_read_and_its_write_counts_as_the_first(any_table, kind):
    """The counters of the read are ahead, so the first write would add to attributes that are gone."""
    client, pace = Interrupted(any_table.client), RateLimit.parse(1, "second", 3).pace
    store, model = any_table.store(client), MemoryStore()
    step = Step(Random(1), pace, NOON, [kind])  # noqa: S311 - one kind, any of its instants
    step(store)
    client.then = lambda: any_table.client.delete_item(
        TableName=any_table.name, Key=item_key(rates._key(BUCKET))
    )
    repeated = [step] * 4
    assert [one(store) for one in repeated] == [one(model) for one in repeated]


BEFORE = ([], ["start"], ["reserved"], ["reserve"], ["start", "reserve"], ["reserved", "reserve", "reserve"])
MEANWHILE = (["start"], ["reserved"], ["reserve"], ["reserved", "reserved"], ["reserve", "reserve"])


@pytest.mark.parametrize("burst", [2, 3])
@pytest.mark.parametrize("own", ["start", "reserved", "reserve"])
def test_each_state_that_another_call_changes_counts_as_if_that_had_come_first(any_table, own, burst):
    """Of each counter: absent, past, at this instant, ahead; each of them moved between read and write."""
    new, old = RateLimit.parse(1, "second", burst).pace, RateLimit.parse(2, "second", burst).pace
    client = Interrupted(any_table.client)
    store, other = any_table.store(client), any_table.store()
    of_others = [steps for steps in MEANWHILE if own != "reserve" or set(steps) == {"reserve"}]
    states = product(BEFORE, of_others, ((0, new), (1, new), (0, old)))
    for number, (before, meanwhile, (passed, former)) in enumerate(states):
        bucket, model = replace(BUCKET, key=f"customer:{number}"), MemoryStore()

        def call(store, kind, now, pace, bucket=bucket):
            if kind == "reserve":
                return store.reserve_start(bucket, pace, now)
            return store.start_within_rate(bucket, pace, now, is_reserved=kind == "reserved")

        for kind in before:
            assert call(other, kind, NOON, former) == call(model, kind, NOON, former)
        now = NOON + passed * SECOND
        client.then = lambda: [call(other, kind, now, new) for kind in meanwhile]  # noqa: B023 - called now
        result = call(store, own, now, new)
        expected = [call(model, kind, now, new) for kind in [*meanwhile, own]][-1]
        assert (result is None) == (expected is None)
        assert result == expected or (own != "reserve" and now < result < expected)
        assert [call(other, kind, now, new) for kind in ("reserve", "start", "reserved")] == [
            call(model, kind, now, new) for kind in ("reserve", "start", "reserved")
        ]


def test_a_call_that_never_sees_the_present_counters_fails(any_table):
    class Absent(Interrupted):
        def update_item(self, **request):
            del request
            raise CONDITION_FAILED

    store = any_table.store(Absent(any_table.client))
    for call in (
        lambda: store.start_within_rate(BUCKET, STRICT, NOON, is_reserved=False),
        lambda: store.reserve_start(BUCKET, STRICT, NOON),
    ):
        with pytest.raises(BackendUnavailable, match="the rate limit of send-mail kept changing"):
            call()
