"""Hypothesis makes rows and filters.

The pages of a list, joined, are the rows that a plain look at each row gives.
"""

from dataclasses import replace
from itertools import count

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from duetime.aws.store import DynamoStore
from duetime.aws.tables import actions_shape, create_table_request
from duetime.ids import TenantId
from duetime.memory.store import MemoryStore
from duetime.model.action import Attempt, Ending, Status
from duetime.scheduler import Scheduler
from duetime.settings import DUE_SHARDS, Settings
from duetime.testing import TurnedClock
from duetime_contract.specimens import EXPIRY, HOUR, NOON, SECOND, TICK, fresh
from tests.dynamodb_local import CREDENTIALS

TIMES = st.sampled_from([NOON + hours * HOUR + ticks * TICK for hours in range(4) for ticks in (0, 1, 1_000)])
STATUSES, TYPES = st.sampled_from(list(Status)), st.sampled_from(["ship", "bill"])
ORDERS = st.sampled_from(["order:1", "order:2"])
NUMBERS = count()


@st.composite
def rows(draw):
    """What a row is made of.

    When it was made and is due, its status, its type, its correlation id, when it ended.
    """
    return [draw(item) for item in (TIMES, TIMES, STATUSES, TYPES, st.none() | ORDERS, TIMES)]


@st.composite
def filters(draw):
    """Filters that can be meant."""
    options = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "status": STATUSES | st.sets(STATUSES, min_size=1) | st.just("failed"),
                "type": TYPES,
                "correlation_id": ORDERS,
            },
        )
    )
    for name in ("due", "created"):
        bounds = sorted(draw(st.lists(TIMES, max_size=2, unique=True)))
        names = draw(st.permutations(["after", "until"])) if len(bounds) == 1 else ["after", "until"]
        options |= {f"{name}_{item}": bound for item, bound in zip(names, bounds, strict=False)}
    return options


def put(store, tenant_id, made):
    created_at, due_at, status, kind, correlation_id, ended_at = made
    row = fresh(
        store, tenant_id=tenant_id, created_at=created_at, due_at=due_at, correlation_id=correlation_id
    )
    row = replace(row, type=kind, status=status)
    if status is Status.FAILED:
        attempt = Attempt(
            queued_at=NOON, started_at=NOON, instance="w", finished_at=ended_at, ending=Ending.FAILED
        )
        row = replace(row, attempts=(attempt,), attempt=1)
    if status is Status.PROCESSING:
        row = replace(row, lease_until=NOON + 10 * HOUR)  # without one, it is unreadable
    if status.is_final:
        row = replace(row, kept_until=EXPIRY)
    store.put(row)
    return row


def means(row, options):
    """What the documentation says of each filter, word for word."""
    statuses = options.get("status", list(Status))
    return (
        row.status in ([statuses] if isinstance(statuses, str) else statuses)
        and options.get("type", row.type) == row.type
        and options.get("correlation_id", row.correlation_id) == row.correlation_id
        and all(
            (options.get(f"{name}_after") or at - SECOND) < at <= (options.get(f"{name}_until") or at)
            for name, at in (("due", row.due_at), ("created", row.created_at))
        )
    )


def in_order(found, options, *, due_order):
    if "correlation_id" in options:
        return sorted(found, key=lambda row: row.id)
    if options.get("status") in ("failed", {Status.FAILED}):
        return sorted(found, key=lambda row: (row.failed_at, row.id), reverse=True)
    if due_order and options.keys() & {"due_after", "due_until"}:
        return sorted(found, key=lambda row: (row.due_at, row.id))
    return sorted(found, key=lambda row: row.id, reverse=True)


def check(store, made, options, limit, *, due_order):
    mine, theirs = (TenantId(f"tenant-{next(NUMBERS)}") for _ in range(2))
    written = [put(store, mine, item) for item in made]
    for item in made[::2]:
        put(store, theirs, item)
    scheduler = Scheduler(
        store,
        tenant_id=mine,
        actor="ann",
        clock=TurnedClock(NOON + 9 * HOUR),
        settings=Settings(due_order=due_order),
    )
    listed, cursor = [], None
    while True:
        page = scheduler.list(limit=limit, cursor=cursor, **options)
        assert len(page) <= limit
        listed += page
        if (cursor := page.cursor) is None:
            break
    meant = in_order([row for row in written if means(row, options)], options, due_order=due_order)
    assert [row.id for row in listed] == [row.id for row in meant]


CASES = {
    "due_order": st.booleans(),
    "made": st.lists(rows(), max_size=14),
    "options": filters(),
    "limit": st.sampled_from([1, 3, 50]),
}
NOT_CHECKED = [*settings().suppress_health_check, HealthCheck.function_scoped_fixture]


@given(**CASES)
@settings(max_examples=250, derandomize=True)
def test_the_pages_of_a_list_equal_a_plain_filter_in_memory(made, options, limit, due_order):
    check(MemoryStore(), made, options, limit, due_order=due_order)


@pytest.fixture(scope="module")
def moto_store():
    with mock_aws():
        client = boto3.client("dynamodb", **CREDENTIALS)
        client.create_table(**create_table_request(actions_shape(due_order=True), "duetime-actions"))
        yield DynamoStore(client, "duetime-actions", due_shards=DUE_SHARDS, due_order=True)


@pytest.mark.long
@given(**CASES)
@settings(max_examples=25, suppress_health_check=NOT_CHECKED)
def test_the_pages_of_a_list_equal_a_plain_filter_on_dynamodb(moto_store, made, options, limit, due_order):
    check(moto_store, made, options, limit, due_order=due_order)
