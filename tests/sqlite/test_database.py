"""The file: transactions, formats, the order of changes, and what it keeps."""

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import BackendMisconfigured, BackendUnavailable, UnreadableRow
from duetime.model.action import Status
from duetime.ports.actions import DamagedRow
from duetime.ports.row_writes import RowIsOver, RowStillDead
from duetime.sqlite import items, rows
from duetime.sqlite.database import Database
from duetime.sqlite.store import SqliteStore
from duetime_contract.specimens import NOON, fresh, running, scheduled

TABLES = rows.TABLE + items.TABLE


@pytest.fixture
def path(tmp_path):
    return tmp_path / "jobs.db"


@pytest.fixture
def database(path):
    with closing(Database(path, TABLES)) as opened:
        yield opened


@pytest.fixture
def changes():
    return []


@pytest.fixture
def store(database, changes):
    return SqliteStore(database, on_change=changes.append)


@pytest.fixture
def another(path):
    """A store as of another process, through a connection of its own."""
    with closing(Database(path, TABLES)) as opened:
        yield SqliteStore(opened)


def damage(path, action, text):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE rows SET row = ? WHERE id = ?", (text, action.id))


def counted(store):
    row = store.get(store.action.ref)
    store.write(row, replace(row, depth=row.depth + 1))


def test_a_file_of_another_format_is_rejected(path):
    Database(path, TABLES).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(BackendMisconfigured, match="has format 1; this version of duetime reads format 2"):
        Database(path, TABLES)


def test_the_rows_are_there_when_the_file_is_opened_again(store, another):
    action = scheduled(store)
    assert another.get(action.ref) == action


def test_a_step_that_raises_leaves_nothing_and_its_changes_do_not_come(store, changes):
    actions = [fresh(store) for _ in range(2)]

    def put_two_and_fail():
        with store.table.step(is_new=True):
            store.put_many(actions)
            assert not changes, "a change came before its transaction had ended"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        put_two_and_fail()
    assert ([store.get(action.ref) for action in actions], changes) == ([None, None], [])
    store.put_many(actions)
    assert [change.new for change in changes] == actions


def test_a_full_disk_is_reported_as_a_full_disk_and_nothing_is_written(store, changes):
    first = scheduled(store)
    with store.table.step() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    large = [fresh(store, payload=f'"{"x" * 1_500}"') for _ in range(40)]
    with pytest.raises(BackendUnavailable, match="database or disk is full"):
        store.put_many(large)
    assert [store.get(row.ref) for row in (first, *large)] == [first, *[None] * 40]
    assert [change.new for change in changes] == [first]


def test_changes_come_in_the_order_of_the_writes(store, changes):
    store.action = scheduled(store)

    def count():
        for _ in range(50):
            with store.table.step():
                counted(store)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [change.new.depth for change in changes] == list(range(201))


def test_two_processes_change_a_row_one_after_the_other(store, another):
    store.action = another.action = scheduled(store)
    for one in (store, another) * 5:
        with one.table.step():
            counted(one)
    assert store.get(store.action.ref).depth == 10


def test_a_row_is_removed_once_its_time_to_live_has_ended(store, changes):
    action = scheduled(store)
    store.cancel(action, by="ada", at=NOON, kept_until=NOON + timedelta(days=1))
    store.remove_expired(NOON + timedelta(hours=23))
    assert store.get(action.ref).status is Status.CANCELLED
    store.remove_expired(NOON + timedelta(days=1))
    assert (store.get(action.ref), changes[-1].new) == (None, None)


def test_a_damaged_row_stands_in_nobodys_way_and_is_reported(store, path):
    damaged, sound = scheduled(store), scheduled(store)
    damage(path, damaged, '{"pk": {"S": "acme#0"}, "sk": {"S": "x"}, "status": {"S": "lost"}}')
    found = []
    assert list(store.get_rows([damaged.ref, sound.ref], damaged=found)) == [sound]
    assert [row.reason for row in found] == [found[0].reason]
    assert list(store.of_tenant(sound.tenant_id, limit=9, cursor=None)) == [sound.without_payload()]
    with pytest.raises(UnreadableRow):
        store.get(damaged.ref)


def test_a_damaged_row_hides_none_of_those_behind_it(store, path):
    rows = [scheduled(store) for _ in range(5)]
    for row in rows[1:4]:
        damage(path, row, store.table.text(row.ref).replace(row.type, ""))
    listed, cursor, pages = [], None, 0
    while cursor is not None or not pages:
        page = store.of_tenant(rows[0].tenant_id, limit=1, cursor=cursor)
        listed, cursor, pages = [*listed, *(row.id for row in page)], page.cursor, pages + 1
    assert (sorted(listed), pages) == (sorted([rows[0].id, rows[4].id]), 5)


def test_the_lease_of_a_damaged_run_is_limited_so_that_what_it_holds_is_freed(store, path):
    action = running(store)
    stored = store.table.text(action.ref)
    damage(path, action, stored.replace(action.type, ""))
    found = list[DamagedRow]()
    store.get_rows([action.ref], damaged=found)
    store.limit_lease(found[0], NOON)
    again = list[DamagedRow]()
    store.get_rows([action.ref], damaged=again)
    assert (found[0].lease_until == NOON, again[0].lease_until) == (False, NOON)
    store.limit_lease(found[0], NOON + timedelta(hours=1))
    store.get_rows([action.ref], damaged=again)
    assert again[1].lease_until == NOON, "a row that is no longer as read was changed"


def test_a_damaged_row_that_is_as_read_counts_as_a_dead_holder(store, path):
    action = running(store)
    damage(path, action, store.table.text(action.ref).replace(action.type, ""))
    found = list[DamagedRow]()
    store.get_rows([action.ref], damaged=found)
    assert store.items.write(RowStillDead(action.ref, found[0])).is_written
    assert not store.items.write(RowStillDead(action.ref, action)).is_written
    assert not store.items.write(RowStillDead(action.ref, None)).is_written
    assert not store.items.write(RowIsOver(action.ref)).is_written
    assert not store.items.write(RowStillDead(scheduled(store).ref, found[0])).is_written
