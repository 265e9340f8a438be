"""Bookmarks as they are stored: equal marks of one band share one."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.aws.keyed_items import DynamoItems
from duetime.ports.wakeups import Bookmarks, pack, unpack
from duetime.testing import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.wakeups.sweep import BOOKMARK, FENCED
from duetime_contract.specimens import NOON
from tests.backends import backends

KEY = {"pk": {"S": "system#bookmark"}, "sk": {"S": BOOKMARK}}
NAMES = st.sampled_from(["300/0", "300/1", "300/2", "300/7", "600/1", "600/255", "600/256", "300/01", "/3"])
OTHER_NAMES = st.sampled_from([FENCED, "0", "17", "latest", "a/b/3", "300/x", "300/١"])
MARKS = st.sampled_from(["2030-06-01T12:00:00.000000Z", "2030-06-01T12:01:00.000000Z", "cursor {}", ""])


@given(st.dictionaries(NAMES | OTHER_NAMES, MARKS))
def test_all_marks_are_read_as_they_were_written(marks):
    written, alike = pack(marks)
    assert unpack(json.loads(json.dumps(written)), json.loads(json.dumps(alike))) == marks


@given(st.dictionaries(NAMES | OTHER_NAMES, MARKS))
def test_a_version_without_this_form_reads_no_other_mark_of_a_band(marks):
    written, _ = pack(marks)
    assert written.items() <= marks.items()
    assert {name.rpartition("/")[0] for name in written} == {name.rpartition("/")[0] for name in marks}
    assert {*written.values()} == {*marks.values()}


def test_spans_leave_out_the_shard_that_lags():
    marks = {f"300/{shard}": "a" for shard in range(10)} | {"300/4": "cursor", "300/8": "b"}
    assert pack(marks) == ({"300/0": "a", "300/4": "cursor", "300/8": "b"}, {"300/0": "1-3 5-7 9"})


@pytest.mark.parametrize("spans", ["x", "1-x", "-1", "1-256", "0-99999999999", "-"])
def test_numbers_of_no_shard_are_an_error(spans):
    with pytest.raises(ValueError, match="no due shards"):
        unpack({"300/0": "a"}, {"300/0": spans})


def test_shards_that_share_a_missing_mark_are_an_error():
    with pytest.raises(LookupError):
        unpack({}, {"300/0": "1"})


def test_the_bookmark_of_an_idle_sweep_takes_one_write_unit(jobs_table):
    client, table = jobs_table
    clock, bookmarks = TurnedClock(NOON), Bookmarks(DynamoItems(client, table))
    sweep = Steps(backends(bookmarks=bookmarks, clock=clock)).sweep
    for minute in range(3):
        clock.wait_until(NOON + timedelta(minutes=minute))
        sweep(stop_at=NOON + timedelta(hours=1))
    item = client.get_item(TableName=table, Key=KEY)["Item"]
    assert sum(len(name) + len(value["S"]) for name, value in item.items()) < 1_024
    assert len(bookmarks.read(BOOKMARK)) == 7 * 16


def test_marks_that_the_last_release_wrote_are_read(jobs_table):
    client, table = jobs_table
    marks = {f"300/{shard}": "2030-06-01T12:00:00.000000Z" for shard in range(16)}
    client.put_item(TableName=table, Item=KEY | {"marks": {"S": json.dumps(marks)}})
    assert Bookmarks(DynamoItems(client, table)).read(BOOKMARK) == marks
