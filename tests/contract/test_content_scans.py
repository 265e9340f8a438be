"""Searches by error and by payload, over each back end: bounded scans that lose and double none."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.actions import search as searching
from duetime.actions.search import MOST_READS, Search
from duetime.model.action import Status
from duetime.model.content_filter import PayloadField
from duetime.model.selection import Selection
from duetime_contract.specimens import ACME, GLOBEX, NOON, SECOND, claim, end, fresh


@pytest.fixture
def search(store):
    def searched(*, limit=10, cursor=None, **filters):
        find = Search(store, None, ACME)
        return find(Selection.parse(filters, NOON), limit=limit, cursor=cursor)

    return searched


@pytest.fixture
def put(store):
    """Store rows with these payloads, one a second, and return their ids."""

    def stored(*payloads, **more):
        rows = [
            fresh(store, created_at=NOON + SECOND * at, payload=json.dumps(payload), **more)
            for at, payload in enumerate(payloads)
        ]
        store.put_many(rows)
        return [row.id for row in rows]

    return stored


@pytest.fixture
def fail(store, put):
    def failed(message):
        (action_id,) = put({})
        row = next(row for row in store.of_tenant(ACME, limit=200, cursor=None) if row.id == action_id)
        run = claim(store, row.ref)
        store.settle(run, replace(end(Status.FAILED), message=message))
        return action_id

    return failed


def ids_of(page):
    return [row.id for row in page]


def test_a_value_is_found_in_small_and_large_payloads(search, put):
    small, _ = put({"customer": 42, "lines": [{"sku": "a"}, {"sku": "b"}]}, {"customer": 43})
    (large,) = put({"customer": 42, "filler": "x" * 40_000}, payload_offloaded=True)
    assert set(ids_of(search(payload={"customer": 42}))) == {small, large}
    assert ids_of(search(payload={"customer": "42", "lines.sku": "b"})) == [small]
    assert ids_of(search(payload={"customer": 4})) == []


def test_other_tenants_rows_are_not_found(search, put):
    put({"customer": 42}, tenant_id=GLOBEX)
    assert ids_of(search(payload={"customer": 42})) == []


def test_an_error_is_found_by_a_part_of_its_text(search, fail):
    first, second = fail("Timeout after 30 s:\n host a"), fail("no bank")
    assert ids_of(search(error="timeout")) == [first]
    assert ids_of(search(error="TIMEOUT after … s: host", status="failed")) == [first]
    assert ids_of(search(error="host … timeout")) == []
    assert ids_of(search(error="no bank", status="failed")) == [second]


def test_a_scan_returns_how_far_it_came_and_goes_on_from_there(search, put, monkeypatch):
    monkeypatch.setattr(searching, "PAYLOADS_AT_ONCE", 6)
    ids = put(*({"customer": 42 if at < 3 else 7} for at in range(6 * MOST_READS + 10)))
    page = search(payload={"customer": 42})
    assert (ids_of(page), page.scanned.rows) == ([], 6 * MOST_READS)
    assert page.scanned.until == NOON + timedelta(seconds=10)
    rest = search(payload={"customer": 42}, cursor=page.cursor)
    assert (ids_of(rest), rest.scanned.rows, rest.cursor) == (ids[2::-1], 10, None)


@pytest.mark.parametrize(
    ("filters", "seconds"),
    [
        ({}, 0),
        ({"correlation_id": "c-1"}, 0),
        ({"correlation_id": "c-1", "due_until": NOON + 9 * SECOND}, 0),
        ({"due_until": NOON + 9 * SECOND}, 5),
        ({"due_after": NOON}, 5),
        ({"status": "failed"}, 7),
        ({"job": "close-books"}, 3),
        ({"ids": True, "status": "failed"}, 0),
        ({"correlation_id": "c-1", "status": "failed"}, 0),
    ],
    ids=str,
)
def test_a_scan_came_to_a_place_in_the_order_of_its_list(ordered_store, filters, seconds):
    store, due_at = ordered_store, NOON + 5 * SECOND
    row = replace(
        fresh(store, created_at=NOON, correlation_id="c-1", due_at=due_at),
        first_due_at=NOON + 3 * SECOND,
    )
    store.put(row)
    store.settle(claim(store, row.ref, due_at), end(Status.FAILED, NOON + 7 * SECOND))
    given = filters | ({"ids": [row.id]} if "ids" in filters else {})
    find = Search(
        store, lambda _job, **_page: store.of_tenant(ACME, limit=9, cursor=None), ACME, due_order=True
    )
    selection = replace(Selection.parse(given, NOON), payload=(PayloadField("customer", "42"),))
    page = find(selection, limit=9, cursor=None)
    assert (page.scanned.rows, page.scanned.until) == (1, NOON + seconds * SECOND)


@pytest.mark.parametrize("limit", [1, 3, 7])
def test_pages_of_many_matches_lose_and_double_none(search, put, limit):
    ids = put(*({"customer": at % 2} for at in range(30)))
    found, cursor, rows = [], None, 0
    while True:
        page = search(payload={"customer": 1}, limit=limit, cursor=cursor)
        assert len(page) <= limit
        found += ids_of(page)
        cursor, rows = page.cursor, rows + page.scanned.rows
        if cursor is None:
            break
    assert (found, rows) == (ids[::-1][::2], 30)


def test_a_search_without_contents_is_no_scan(search, put):
    put({})
    assert search(type="remark").scanned is None
