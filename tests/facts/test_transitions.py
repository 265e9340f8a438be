"""Each transition changes exactly its fields of a row: none is forgotten, and no other is touched."""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime.model import swap, transition
from duetime.model.action import KEPT_ATTEMPTS, Action, Attempt, Ending, SkipReason, Status
from duetime.model.active_region import FENCES, ActiveRegion, epoch_of, next_fence
from duetime.model.checkpoint import Checkpoint
from duetime.model.debounce import applied_if_taken, awaits_first_run, coalesced
from duetime.model.expiry import Expiry
from duetime.model.hand_over import Progress
from duetime.model.lease import (
    LONGEST_ALONE,
    Applied,
    ClaimTerms,
    Rejected,
    Renewed,
    Settlement,
    SettleResult,
    outlasts,
    renewed_if,
)
from duetime.model.row_parts import Act, Debounced, HandOver
from duetime.model.swap import (
    DEAD_LETTER_AS_READ,
    FAILED_AS_READ,
    HANDED_OVER,
    MY_RUN,
    PENDING_AS_READ,
    RENEWABLE,
    UNCLAIMED,
    WITH_ITS_WORKER,
    applied_if_mine,
    claimable,
    settleable,
)

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK, SECOND, MINUTE, HOUR = (
    timedelta(microseconds=1),
    timedelta(seconds=1),
    timedelta(minutes=1),
    timedelta(hours=1),
)
LEASE, SKEW = 5 * MINUTE, 5 * SECOND

HANDED = HandOver(7, NOON, NOON + 2 * HOUR, "k")
FIRST = Attempt(NOON, NOON + SECOND, "worker-0")
PENDING = Action(
    tenant_id="acme",
    id="a-1",
    type="mail",
    due_at=NOON + HOUR,
    due_shard="3",
    created_by="ada",
    payload="{}",
    generation=4,
    fence=7,
    attempt=2,
    recoveries=1,
    first_due_at=NOON,
    attempts=(FIRST,),
    retry="[9]",
    held_by="a former pause",
    progress=Progress(0.5, "half"),
    completion="an earlier one",
    result="1",
    rate_slot=NOON,
    waits_for="another",
    unmet="an earlier one",
    continued=3,
)
RUNNING = replace(PENDING, status=Status.PROCESSING, lease_until=NOON + LEASE, nonce="n-0", retry="[9]")
TERMS = ClaimTerms(
    now=NOON + 2 * HOUR,
    lease_until=NOON + 2 * HOUR + LEASE,
    skew=SKEW,
    nonce="n-1",
    instance="worker-1",
    queued_at=NOON + 2 * HOUR - SECOND,
    retry="[3]",
    held_by="a pause",
)


def changes(before, after):
    """Return the fields that differ, with their new values."""
    pairs = (
        (field.name, getattr(before, field.name), getattr(after, field.name)) for field in fields(before)
    )
    return {name: new for name, old, new in pairs if old != new}


BEGUN = {
    "fence": 8,
    "attempts": (FIRST, Attempt(TERMS.queued_at, TERMS.now, "worker-1")),
    "lease_until": TERMS.lease_until,
    "nonce": "n-1",
    "held_by": "a pause",
    "progress": None,
}


def test_a_claim_begins_another_attempt_and_a_take_over_repeats_the_lost_one():
    assert changes(PENDING, transition.started(PENDING, TERMS)) == {
        **BEGUN,
        "status": Status.PROCESSING,
        "attempt": 3,
    }
    assert changes(RUNNING, transition.started(RUNNING, TERMS)) == {**BEGUN, "recoveries": 2}


@pytest.mark.parametrize(("times_out", "is_recovery"), [(timedelta(0), False), (TICK, True)])
def test_a_take_over_of_a_hand_over_that_has_timed_out_is_no_recovery(times_out, is_recovery):
    row = replace(RUNNING, hand_over=replace(HANDED, times_out_at=TERMS.now + times_out))
    assert transition.started(row, TERMS).recoveries == 1 + is_recovery


def test_a_claim_stores_the_policy_and_the_pause_only_if_the_row_has_none_of_its_own():
    first = transition.started(replace(PENDING, retry=None), replace(TERMS, held_by=None))
    assert (first.retry, first.held_by) == ("[3]", "a former pause")
    assert transition.started(PENDING, replace(TERMS, epoch=2)).fence == 2 * FENCES


def test_a_row_is_fenced_off_by_its_next_fence():
    assert changes(RUNNING, transition.fenced_off(RUNNING)) == {"fence": 8, "nonce": None}


ENDED = replace(FIRST, finished_at=NOON + MINUTE, ending=Ending.RETRY, message="no ship")


def test_a_run_that_is_retried_is_pending_again_at_its_new_due_time():
    again = Settlement(
        status=Status.PENDING, ending=Ending.RETRY, finished_at=NOON + MINUTE, message="no ship",
        due_at=NOON + 3 * HOUR, continues=True,
    )  # fmt: skip
    assert changes(RUNNING, transition.settled(RUNNING, again)) == {
        "status": Status.PENDING,
        "attempts": (ENDED,),
        "lease_until": None,
        "nonce": None,
        "due_at": NOON + 3 * HOUR,
        "generation": 5,
        "continued": 4,
    }
    row = replace(RUNNING, first_due_at=None)
    assert transition.settled(row, again).first_due_at == RUNNING.due_at
    assert transition.settled(row, replace(again, continues=False)).continued == 3


def test_a_run_that_ends_keeps_its_times_and_stores_its_result():
    end = Settlement(
        status=Status.EXECUTED, ending=Ending.EXECUTED, finished_at=NOON + MINUTE, kept_until=NOON + 9 * HOUR,
        completion="c", result="2",
    )  # fmt: skip
    ended = replace(FIRST, finished_at=NOON + MINUTE, ending=Ending.EXECUTED)
    assert changes(RUNNING, transition.settled(RUNNING, end)) == {
        "status": Status.EXECUTED,
        "attempts": (ended,),
        "lease_until": None,
        "nonce": None,
        "kept_until": NOON + 9 * HOUR,
        "completion": "c",
        "result": "2",
    }
    after = transition.settled(RUNNING, replace(end, completion=None, result=None))
    assert (after.completion, after.result) == ("an earlier one", "1")
    many = replace(RUNNING, attempts=(FIRST,) * (KEPT_ATTEMPTS + 1))
    assert transition.settled(many, end).attempts == (*(FIRST,) * (KEPT_ATTEMPTS - 1), ended)


def test_a_hand_over_and_its_heartbeats_change_only_their_own_fields():
    hand_over = replace(HANDED, at=NOON + MINUTE, beat_seconds=60, question="May it?")
    handed = transition.handed_over(RUNNING, hand_over)
    assert changes(RUNNING, handed) == {
        "lease_until": NOON + 2 * MINUTE,
        "hand_over": hand_over,
        "is_awaited": True,
    }
    later = NOON + 90 * MINUTE
    assert changes(handed, transition.beaten(handed, later, None)) == {"lease_until": later}
    progress = Progress(0.75, "more")
    reported = {"progress": progress}
    assert changes(handed, transition.beaten(handed, later, progress)) == {"lease_until": later, **reported}
    assert changes(handed, transition.reported(handed, progress)) == reported


def test_a_skip_names_its_reason_and_a_predecessor_stays_in_the_row():
    how = {"by": "planner", "at": NOON + MINUTE, "kept_until": NOON + 9 * HOUR}
    changed = {"changed": Act(NOON + MINUTE, "planner"), "kept_until": NOON + 9 * HOUR}
    assert changes(PENDING, transition.skipped(PENDING, SkipReason.PAUSED, note="a note", **how)) == {
        "status": Status.SKIPPED,
        "skip_reason": SkipReason.PAUSED,
        "note": "a note",
        **changed,
    }
    after = transition.skipped(PENDING, SkipReason.PREDECESSOR, note="it failed", **how)
    assert (after.unmet, after.note) == ("it failed", "it failed")
    assert transition.skipped(PENDING, SkipReason.PREDECESSOR, note="", **how).unmet == "predecessor"
    assert changes(PENDING, transition.cancelled(PENDING, **how)) == {"status": Status.CANCELLED, **changed}


def test_a_run_is_deferred_to_an_instant_of_its_rate_or_for_another_jobs_run():
    until = NOON + 2 * HOUR
    assert changes(PENDING, transition.deferred(PENDING, until=until, held_by="a rate")) == {
        "due_at": until,
        "rate_slot": until,
        "generation": 5,
        "held_by": "a rate",
    }
    row = replace(PENDING, first_due_at=None)
    assert changes(row, transition.deferred(row, until=until, waits_for="a run")) == {
        "due_at": until,
        "first_due_at": row.due_at,
        "generation": 5,
        "waits_for": "a run",
    }


def test_a_held_row_is_released_to_its_own_time_or_at_once():
    row = replace(PENDING, due_at=datetime.max.replace(tzinfo=UTC), unmet=None)
    after = {"first_due_at": None, "generation": 5}
    early, late = NOON - MINUTE, NOON + MINUTE
    assert changes(row, transition.released(row, now=early, unmet=None)) == {**after, "due_at": NOON}
    assert changes(row, transition.released(row, now=late, unmet=None)) == {**after, "due_at": late}
    failed = transition.released(row, now=early, unmet="it failed")
    assert changes(row, failed) == {**after, "due_at": early, "unmet": "it failed"}


def test_a_dead_run_may_be_taken_over_once_its_lease_ended_longer_ago_than_the_skew():
    end = RUNNING.lease_until
    assert TERMS.length == LEASE
    for at, may in ((end, False), (end + SKEW, False), (end + SKEW + TICK, True)):
        assert replace(TERMS, now=at).may_take_over(RUNNING) is may
    assert not TERMS.may_take_over(replace(RUNNING, lease_until=None))


def test_a_dead_run_waits_for_a_process_of_its_own_for_a_while():
    shared, end = replace(TERMS, shares_process=True), RUNNING.lease_until
    moments = [end + SKEW, end + SKEW + TICK, end + LONGEST_ALONE - TICK, end + LONGEST_ALONE]
    assert [replace(shared, now=at).must_be_alone(RUNNING) for at in moments] == [False, True, True, False]
    assert not replace(TERMS, now=moments[1]).must_be_alone(RUNNING)
    assert not replace(shared, now=moments[1]).must_be_alone(replace(RUNNING, status=Status.PENDING))
    assert not shared.must_be_alone(replace(RUNNING, lease_until=None))


def test_an_action_expires_at_its_instant_and_is_claimed_then_only_to_fail():
    row = replace(PENDING, expires_at=NOON)
    for on_expiry in ("skip", "fail"):
        terms = replace(TERMS, expiry=Expiry(None, on_expiry))
        for at, is_expired in ((NOON - TICK, False), (NOON, True)):
            assert replace(terms, now=at).is_expired(row) is is_expired
            assert replace(terms, now=at).may_claim(row) is (on_expiry == "fail" or not is_expired)
    assert not TERMS.is_expired(PENDING)


def test_a_region_claims_no_row_of_a_later_epoch():
    row = replace(PENDING, fence=2 * FENCES)
    assert [replace(TERMS, epoch=epoch).is_fenced_off(row) for epoch in (0, 1, 2, 3)] == [
        False,
        True,
        False,
        False,
    ]
    assert [epoch_of(fence) for fence in (FENCES - 1, FENCES, FENCES + 1)] == [0, 1, 1]
    assert [next_fence(5, 0), next_fence(5, 1), next_fence(FENCES + 5, 1)] == [6, FENCES, FENCES + 6]


def test_a_failover_begins_an_epoch_in_which_no_region_claims():
    region = ActiveRegion(epoch=1, region="a", target="a", moved_at=NOON, by="ada", source="c")
    fenced = region.fenced("b", at=NOON + HOUR, by="bea")
    expected = ActiveRegion(epoch=2, region="", target="b", moved_at=NOON + HOUR, by="bea", source="a")
    assert fenced == expected
    assert fenced.fenced("b", at=NOON, by="bea").source == "a"
    assert fenced.activated() == replace(expected, region="b")


CANCELLED = replace(PENDING, status=Status.CANCELLED, changed=Act(NOON, "ada"))


@pytest.mark.parametrize(
    ("change", "is_mine"),
    [
        ({}, True),
        ({"kept_until": NOON + TICK}, True),
        ({"followers": ("later",)}, True),
        ({"status": Status.SKIPPED}, False),
        ({"changed": Act(NOON, "bea")}, False),
        ({"changed": Act(NOON + TICK, "ada")}, False),
    ],
)
def test_a_change_whose_response_was_lost_is_known_by_its_fields(change, is_mine):
    found = Rejected(replace(CANCELLED, **change))
    cancel = (PENDING, CANCELLED, PENDING_AS_READ)
    assert applied_if_mine(found, *cancel) == (Applied(found.action) if is_mine else found)
    assert applied_if_mine(Rejected(None), *cancel) == Rejected(None)
    assert applied_if_mine(Applied(CANCELLED), *cancel) == Applied(CANCELLED)


def test_a_renewal_whose_response_was_lost_is_known_by_its_fence_too():
    renewed = transition.beaten(RUNNING, NOON + HOUR, None)
    assert applied_if_mine(Rejected(renewed), RUNNING, renewed, MY_RUN) == Applied(renewed)
    others = Rejected(replace(renewed, fence=renewed.fence + 1))
    assert applied_if_mine(others, RUNNING, renewed, MY_RUN) == others


@pytest.mark.parametrize(
    ("change", "is_mine"),
    [
        ({}, True),
        ({"status": Status.PROCESSING}, False),
        ({"generation": 6}, False),
        ({"due_at": NOON + TICK}, False),
        ({"held_by": "another"}, False),
    ],
)
def test_a_deferral_is_known_by_its_generation_and_due_time(change, is_mine):
    deferred = transition.deferred(PENDING, until=NOON, held_by="a rate")
    found = Rejected(replace(deferred, **change))
    outcome = applied_if_mine(found, PENDING, deferred, PENDING_AS_READ)
    assert outcome == (Applied(found.action) if is_mine else found)


@pytest.mark.parametrize(
    ("guard", "change", "holds"),
    [
        (PENDING_AS_READ, {}, True),
        (PENDING_AS_READ, {"status": Status.PROCESSING}, False),
        (PENDING_AS_READ, {"generation": 6}, False),
        (FAILED_AS_READ, {}, False),
        (FAILED_AS_READ, {"status": Status.FAILED, "dismissed_reason": "known"}, True),
        (DEAD_LETTER_AS_READ, {"status": Status.FAILED}, True),
        (DEAD_LETTER_AS_READ, {"status": Status.FAILED, "dismissed_reason": "known"}, False),
        (UNCLAIMED, {"cancel_request": Act(NOON, "ada")}, True),
        (UNCLAIMED, {"fence": 8}, False),
        (MY_RUN, {"status": Status.PROCESSING, "generation": 6}, True),
        (WITH_ITS_WORKER, {"status": Status.PROCESSING, "hand_over": replace(HANDED, fence=6)}, True),
        (WITH_ITS_WORKER, {"status": Status.PROCESSING, "hand_over": HANDED}, False),
        (HANDED_OVER, {"status": Status.PROCESSING, "hand_over": replace(HANDED, fence=6)}, False),
        (HANDED_OVER, {"status": Status.PROCESSING, "hand_over": HANDED}, True),
    ],
)
def test_a_guard_is_about_the_stored_row(guard, change, holds):
    assert guard.holds(replace(PENDING, **change), PENDING, PENDING) is holds


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        ({}, True),
        ({"cancel_request": Act(NOON, "ada"), "followers": ("later",)}, True),
        ({"fence": 8}, False),
        ({"lease_until": NOON + LEASE + TICK}, False),
        ({"checkpoint": Checkpoint("1", 7, 1)}, False),
        ({"progress": Progress(0.6, "half")}, False),
        ({"progress": Progress(0.5, "more")}, False),
    ],
)
def test_a_dead_run_is_taken_over_as_it_was_read(change, holds):
    assert claimable(RUNNING).holds(replace(RUNNING, **change), RUNNING, RUNNING) is holds


@pytest.mark.parametrize(("lease_until", "holds"), [(NOON - TICK, True), (NOON, True), (NOON + TICK, False)])
def test_a_renewal_never_moves_a_lease_back(lease_until, holds):
    stored, after = replace(RUNNING, lease_until=lease_until), replace(RUNNING, lease_until=NOON)
    assert RENEWABLE.holds(stored, RUNNING, after) is holds


@pytest.mark.parametrize(
    ("change", "may_begin"),
    [
        ({}, True),
        ({"due_at": NOON + TICK}, False),
        ({"expires_at": NOON}, False),
        ({"status": Status.EXECUTED}, False),
        ({"status": Status.PROCESSING, "lease_until": NOON}, False),
        ({"status": Status.PROCESSING, "lease_until": NOON - HOUR}, True),
        ({"fence": 3 * FENCES}, False),
        ({"status": Status.PROCESSING, "lease_until": NOON - HOUR, "fence": 3 * FENCES}, False),
    ],
)
def test_a_run_begins_of_a_row_that_is_due_or_whose_worker_died(change, may_begin):
    row = replace(PENDING, due_at=NOON, first_due_at=None)
    assert replace(TERMS, now=NOON, epoch=2).may_begin(replace(row, **change)) is may_begin


@pytest.mark.parametrize(
    ("outcome", "is_mine", "held"),
    [
        (Applied(RUNNING), False, Renewed(cancel_requested=False)),
        (Applied(replace(RUNNING, cancel_request=Act(NOON, "ada"))), False, Renewed(cancel_requested=True)),
        (Rejected(RUNNING), False, None),
        (Rejected(RUNNING), True, Renewed(cancel_requested=False)),
        (Rejected(replace(RUNNING, fence=8)), True, None),
        (Rejected(replace(RUNNING, status=Status.PENDING)), True, None),
        (Rejected(None), True, None),
    ],
)
def test_a_run_holds_its_row_under_its_fence_only(outcome, is_mine, held):
    assert renewed_if(outcome, RUNNING, lambda _row: is_mine) == held


def test_a_hand_over_outlasts_what_ends_by_then():
    handed = replace(RUNNING, hand_over=HANDED)
    end = handed.lease_until
    assert [outlasts(handed, until, NOON) for until in (end - TICK, end, end + TICK)] == [True, True, False]
    assert [outlasts(handed, end, now) for now in (end - TICK, end)] == [True, False]
    assert outlasts(handed, NOON - TICK, NOON)
    assert not outlasts(RUNNING, end, NOON)
    assert not outlasts(replace(handed, lease_until=None), end, NOON)


def test_a_completion_ends_a_hand_over_within_its_lease_only():
    end = Settlement(status=Status.EXECUTED, ending=Ending.EXECUTED, finished_at=NOON)
    completion, handed = replace(end, completion="c"), replace(RUNNING, hand_over=HANDED)
    late = replace(completion, finished_at=handed.lease_until)
    in_time = replace(late, finished_at=late.finished_at - TICK)
    expected = ((end, RUNNING, True), (completion, RUNNING, False), (completion, handed, True))
    for settlement, row, may_end in (*expected, (late, handed, False), (in_time, handed, True)):
        assert settleable(settlement).holds(row, row, transition.settled(row, settlement)) is may_end


def test_a_settle_that_changed_nothing_says_why():
    end = Settlement(status=Status.PENDING, ending=Ending.RETRY, finished_at=NOON, due_at=NOON + HOUR)
    completion, handed = replace(end, completion="c"), replace(RUNNING, hand_over=HANDED)
    late = replace(completion, finished_at=handed.lease_until)
    settled = replace(RUNNING, status=Status.EXECUTED)
    for settlement, row, result in (
        (end, None, SettleResult.LEASE_LOST),
        (end, RUNNING, SettleResult.CANCEL_REQUESTED),
        (end, replace(RUNNING, fence=8), SettleResult.LEASE_LOST),
        (end, settled, SettleResult.SETTLED),
        (completion, settled, SettleResult.LEASE_LOST),
        (completion, handed, SettleResult.CANCEL_REQUESTED),
        (completion, RUNNING, SettleResult.LEASE_LOST),
        (late, handed, SettleResult.LEASE_LOST),
    ):
        assert settlement.result_in(RUNNING, row) is result


@pytest.mark.parametrize(
    ("change", "is_mine"),
    [
        ({}, True),
        ({"fence": 8}, False),
        ({"status": Status.FAILED}, False),
        ({"completion": "another"}, False),
        ({"attempts": ()}, False),
        ({"attempts": (replace(FIRST, finished_at=NOON + TICK),)}, False),
    ],
)
def test_a_settle_whose_response_was_lost_is_known_by_its_fence_status_completion_and_end(change, is_mine):
    end = Settlement(
        status=Status.EXECUTED, ending=Ending.EXECUTED, finished_at=NOON + MINUTE, completion="c"
    )
    row = replace(transition.settled(RUNNING, end), **change)
    assert end.has_ended(RUNNING, row) is is_mine
    assert not end.has_ended(RUNNING, None)
    without = replace(end, completion=None)
    assert without.has_ended(RUNNING, row) is (is_mine or "completion" in change)


CALL = replace(
    PENDING,
    id="a-222222222222",
    due_at=NOON + 3 * HOUR,
    payload='{"a":1}',
    payload_version=2,
    expires_at=NOON + 9 * HOUR,
    rate_key="k",
)


def test_a_debounced_call_changes_the_pending_row_and_nothing_else():
    row = replace(PENDING, debounced=Debounced("k", NOON + 2 * HOUR, 1, "c1"))
    assert changes(row, coalesced(row, CALL, by="bea", at=NOON + MINUTE)) == {
        "due_at": NOON + 2 * HOUR,
        "first_due_at": None,
        "expires_at": NOON + 9 * HOUR,
        "generation": 5,
        "payload": '{"a":1}',
        "payload_version": 2,
        "rate_key": "k",
        "debounced": Debounced("k", NOON + 2 * HOUR, 2, "c1 222222222222"),
        "changed": Act(NOON + MINUTE, "bea"),
    }
    unbounded = coalesced(replace(row, debounced=Debounced("k")), CALL, by="bea", at=NOON)
    assert unbounded.due_at == CALL.due_at
    large = coalesced(row, replace(CALL, payload_size=9_000, payload="é"), by="bea", at=NOON)
    assert large.payload_size == 2
    stays = coalesced(replace(row, payload_size=9_000), CALL, by="bea", at=NOON)
    assert stays.payload_size == 7
    many = coalesced(
        replace(row, debounced=Debounced("k", latest="1 2 3 4 5 6 7 8")), CALL, by="bea", at=NOON
    )
    assert many.debounced.latest == "2 3 4 5 6 7 8 222222222222"


def test_a_debounced_call_whose_response_was_lost_is_known_by_its_name():
    changed = replace(PENDING, debounced=Debounced("k", latest="c1 c2"))
    later, other = (
        replace(PENDING, debounced=Debounced("k", latest=latest)) for latest in ("c1 c2 c3", "c1 c3")
    )
    assert applied_if_taken(later, changed) == Applied(later)
    assert applied_if_taken(other, changed) == Rejected(other)
    for row in (None, PENDING):
        assert applied_if_taken(row, changed) == Rejected(row)
    assert applied_if_taken(later, PENDING) == Rejected(later)


def test_only_a_row_that_never_ran_awaits_its_first_run():
    row = replace(PENDING, attempt=0)
    assert awaits_first_run(row)
    assert not awaits_first_run(replace(row, attempt=1))
    assert not awaits_first_run(replace(row, status=Status.PROCESSING))


def test_a_redriven_action_begins_anew_and_keeps_its_history():
    requests = {"cancel_request": Act(NOON, "ada")}
    counts = {"attempt": 2, "recoveries": 3, "continued": 4}
    times = {"expires_at": NOON, "kept_until": NOON}
    failed = replace(PENDING, status=Status.FAILED, dismissed_reason="known", **requests, **counts, **times)
    row = transition.redriven(failed, NOON + HOUR, "5", by="bea", at=NOON)
    gone = dict.fromkeys([*requests, *times, "dismissed_reason"])
    begun = {"status": Status.PENDING, "due_at": NOON + HOUR, "due_shard": "5", "redriven_after": 2}
    again = {"recoveries": 0, "continued": 0, "generation": failed.generation + 1}
    by = {"changed": Act(NOON, "bea"), "first_due_at": failed.nominal_at}
    assert row == replace(failed, **gone, **begun, **again, **by)


def test_an_equal_value_is_no_change_though_it_is_another_object():
    read = replace(PENDING, due_at=NOON)
    again, later = (datetime.fromisoformat((NOON + span).isoformat()) for span in (timedelta(0), HOUR))
    assert swap.changes(read, replace(read, due_at=again)) == {}
    assert swap.changes(read, replace(read, due_at=later)) == {"due_at": later}
