"""The counts of a batch, whose members are read by number, also after a redrive."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids
from duetime.ids import batch_id
from duetime.model.action import Action, SkipReason, Status
from duetime.model.batch import (
    LATEST_REDRIVE,
    MISSING,
    REDRIVE_MARGIN,
    SHORT_LIST,
    ActionBatch,
    BatchState,
    Counts,
    MemberStatus,
    closed,
    completed,
    counted_again,
    extended,
    followed,
    missing_member,
    running_again,
)
from duetime.model.row_parts import Act

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK, HOUR = timedelta(microseconds=1), timedelta(hours=1)
OPEN = ActionBatch(
    tenant_id="acme",
    name="import",
    first_id=batch_id(NOON),
    version="v1",
    opened_at=NOON,
    opened_by="ada",
    size=10,
    on_complete="c-1",
)
RUNNING = replace(OPEN, closed_at=NOON + HOUR, closed_by="bea")
COUNTED = replace(RUNNING, counts=Counts(executed=7, failed=3), counted_at=NOON + 2 * HOUR)
COMPLETE = replace(COUNTED, is_counting=False, completed_at=NOON + 2 * HOUR, short_list=())


def test_a_batch_is_open_until_it_is_closed_and_complete_once_none_is_left():
    assert [batch.state for batch in (OPEN, RUNNING, COMPLETE)] == list(BatchState)
    assert [batch.is_swept for batch in (OPEN, RUNNING, COMPLETE)] == [True, True, False]
    assert replace(COMPLETE, recount_at=NOON).is_swept
    assert [batch.left for batch in (RUNNING, COUNTED, replace(COUNTED, size=12))] == [10, 0, 2]


def test_a_batch_is_executed_only_if_each_member_is_and_none_may_be_redriven():
    done = replace(COMPLETE, counts=Counts(executed=10))
    assert done.is_executed
    assert not COMPLETE.is_executed
    assert not replace(done, is_counting=True).is_executed


def test_the_completion_action_comes_before_the_followers():
    assert OPEN.waiting == ("c-1",)
    assert replace(OPEN, followers=("f-1", "f-2")).waiting == ("c-1", "f-1", "f-2")
    assert replace(OPEN, on_complete=None).waiting == ()
    assert followed(OPEN, "f-1").followers == ("f-1",)
    twice = followed(followed(OPEN, "f-1"), "f-1")
    assert twice.followers == ("f-1",)


def test_a_member_has_the_batchs_name_tenant_and_number():
    row = missing_member(RUNNING, 3, due_shard="1", at=NOON, kept_until=NOON + HOUR)
    assert RUNNING.has_member(row)
    assert not RUNNING.has_member(replace(row, batch="other"))
    assert not RUNNING.has_member(replace(row, tenant_id="globex"))
    assert not RUNNING.has_member(replace(row, id=ids.member_id(batch_id(NOON + HOUR), 3)))


def test_a_missing_member_is_a_skipped_row_in_its_place():
    row = missing_member(RUNNING, 3, due_shard="1", at=NOON, kept_until=NOON + HOUR)
    assert row == Action(
        tenant_id="acme",
        id=RUNNING.member(3).id,
        type=MISSING,
        due_at=NOON,
        due_shard="1",
        created_by="bea",
        payload=None,
        status=Status.SKIPPED,
        skip_reason=SkipReason.REQUESTED,
        note="it was never scheduled, or its row was removed before it was counted",
        changed=Act(NOON, "bea"),
        kept_until=NOON + HOUR,
        batch="import",
    )
    of_open = missing_member(OPEN, 3, due_shard="1", at=NOON, kept_until=NOON)
    assert (of_open.created_by, of_open.changed.by) == ("ada", "ada")


def test_few_members_that_may_not_be_final_are_known_by_number():
    assert replace(COUNTED, short_list=(2, 5)).unknown() == (2, 5)
    assert list(replace(COUNTED, prefix=8).unknown()) == [8, 9]
    assert list(replace(COUNTED, prefix=8, restarted_at=NOON).unknown()) == list(range(10))
    assert len(replace(COUNTED, size=SHORT_LIST).unknown()) == SHORT_LIST
    assert replace(COUNTED, size=SHORT_LIST + 1).unknown() is None


def test_final_members_are_counted_by_status_and_others_not():
    statuses = [Status.EXECUTED, Status.PENDING, Status.FAILED, Status.EXECUTED, Status.PROCESSING]
    assert Counts(skipped=1).plus(statuses) == Counts(executed=2, failed=1, skipped=1)


def test_members_before_the_prefix_are_counted_again_only_if_they_were_redriven_since():
    batch = replace(COUNTED, prefix=2, restarted_at=NOON)
    members = {
        0: MemberStatus(Status.EXECUTED, NOON),
        1: MemberStatus(Status.EXECUTED, NOON - TICK),
        2: MemberStatus(Status.FAILED),
    }
    assert [batch.is_redriven(member) for member in members.values()] == [True, False, False]
    assert batch.counted(Counts(failed=2), members) == Counts(executed=1, failed=2)
    assert list(batch.as_before(members)) == [Status.FAILED, Status.EXECUTED, Status.FAILED]
    assert not replace(batch, restarted_at=None).is_redriven(members[0])


def test_a_member_without_a_row_is_final_only_before_the_prefix():
    batch = replace(COUNTED, prefix=2)
    members = {0: MemberStatus(Status.PENDING), 3: MemberStatus(Status.EXECUTED)}
    assert batch.not_final(members, range(5)) == [0, 2, 4]


def test_a_batch_grows_and_forgets_which_members_were_left():
    batch = replace(OPEN, short_list=(1,))
    assert extended(batch, 10) is batch
    assert extended(batch, 11) == replace(OPEN, size=11, short_list=None)
    assert closed(OPEN, by="bea", at=NOON + HOUR) == RUNNING


def test_a_complete_batch_is_counted_once_more_only_after_a_redrive():
    at, until = NOON + 2 * HOUR, NOON + 9 * HOUR
    assert completed(COUNTED, at=at, kept_until=until) == replace(COMPLETE, kept_until=until)
    first = completed(replace(COUNTED, completed_at=NOON), at=at, kept_until=until)
    assert first.completed_at == NOON
    redriven = replace(COUNTED, restarted_at=NOON)
    assert completed(redriven, at=at, kept_until=until).recount_at == at + LATEST_REDRIVE
    again = replace(redriven, recount_at=at)
    assert completed(again, at=at, kept_until=until).recount_at is None
    late = replace(COMPLETE, recount_at=at, kept_until=until)
    assert running_again(late) == replace(COMPLETE, is_counting=True)


RECOUNTS = {
    "is_counting": True,
    "counted_at": None,
    "short_list": None,
    "recount_at": None,
    "kept_until": None,
}


@pytest.mark.parametrize(
    ("batch", "at", "more"),
    [
        (COUNTED, NOON + 2 * HOUR, {"restarted_at": NOON + 2 * HOUR - REDRIVE_MARGIN}),
        (
            COMPLETE,
            NOON + 2 * HOUR,
            {
                "restarted_at": NOON + 2 * HOUR - REDRIVE_MARGIN,
                "prefix": 10,
                "prefix_counts": COMPLETE.counts,
            },
        ),
        (replace(COUNTED, restarted_at=NOON), NOON + 9 * HOUR, {}),
        (replace(COMPLETE, restarted_at=NOON), NOON + 2 * HOUR + LATEST_REDRIVE - TICK, {}),
        (
            replace(COMPLETE, restarted_at=NOON),
            NOON + 2 * HOUR + LATEST_REDRIVE,
            {
                "restarted_at": NOON + 2 * HOUR + LATEST_REDRIVE - REDRIVE_MARGIN,
                "prefix": 10,
                "prefix_counts": COMPLETE.counts,
            },
        ),
    ],
    ids=[
        "of one that is counting",
        "of a complete one",
        "again, of one that is counting",
        "again, while a late redrive may arrive",
        "again, once none can arrive",
    ],
)
def test_a_redrive_counts_a_batch_again_and_keeps_what_is_final(batch, at, more):
    batch = replace(batch, recount_at=NOON, kept_until=NOON, short_list=(1,))
    assert counted_again(batch, at=at) == replace(batch, **RECOUNTS, **more)


def test_a_batch_counts_again_until_a_count_after_the_redrive_is_stored():
    again = counted_again(COMPLETE, at=NOON + 2 * HOUR)
    assert again.counts_again
    assert not replace(again, counted_at=NOON).counts_again
    assert not replace(again, is_counting=False).counts_again
    assert not RUNNING.counts_again
