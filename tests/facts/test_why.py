"""One sentence states why an action has not run, and when it will."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.actions.why import _SKIPPED, Reason, WhySources, why
from duetime.memory.store import MemoryStore
from duetime.model.action import CONTINUES, ActionRef, Ending, SkipReason, Status
from duetime.model.batch import HELD_AT
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.outcome import OVERRAN
from duetime.model.rate_limit import RateLimit
from duetime.model.row_parts import Act, After, Debounced
from duetime.model.slots import tail_position
from duetime.model.transition import settled
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause, hold_of, skip_of, work_of
from duetime.settings import Settings
from duetime_contract.batches import NAME, opened
from duetime_contract.job_specimens import nightly, occurrence
from duetime_contract.specimens import (
    ACME,
    HOUR,
    LEASE_END,
    MINUTE,
    NOON,
    SKEW,
    TICK,
    end,
    running,
    scheduled,
)
from tests.contract.rules.slots import KEY, holding, keyed, move_of, waiting

PAUSE = WorkPause(id="p", scope=PauseScope.TENANT, name="acme", reason="a test", by="ann", since=NOON)


def reason(row, now=NOON, *, store=None, pause=None, job=None, expiry=NO_EXPIRY, rate=None, **settings):
    sources = WhySources(
        store=store or MemoryStore(),
        settings=replace(Settings(), clock_skew=SKEW, **settings),
        hold_of=lambda row: pause and hold_of([pause], work_of(row, None), now),
        skip_of=lambda row: pause and skip_of([pause], work_of(row, None)),
        job_of=lambda _ref: job,
        expiry_of=lambda _row: expiry,
        rate_of=lambda _row: rate,
    )
    return why(row, now, sources)


@pytest.fixture
def store():
    return MemoryStore()


@pytest.fixture
def row(store):
    return scheduled(store)


def test_what_is_due_later_runs_then(row):
    assert reason(row, NOON - HOUR) == Reason("It is due at 2030-06-01T12:00:00Z.", NOON)


def test_what_its_rate_limit_defers_runs_at_its_instant(store, row):
    store.defer(row, NOON + MINUTE)
    deferred = replace(store.get(row.ref), rate_key="ada")
    assert reason(deferred, rate=RateLimit.parse(10, "minute")) == Reason(
        f"It waits for the rate limit of {row.type} (10 a minute, 1 at once) under the key ada:"
        " its turn is at 2030-06-01T12:01:00Z.",
        NOON + MINUTE,
    )


def test_what_is_just_due_is_on_its_way(row):
    late = NOON + 3 * timedelta(seconds=1)
    sentence = "It has been due for 3 seconds: its message is on its way to a worker."
    assert reason(row, late) == Reason(sentence, late)


def test_what_continues_is_on_its_way(store):
    ended = replace(end(Status.PENDING, message=CONTINUES), due_at=NOON, ending=Ending.RETRY, continues=True)
    sentence = "It continues from its checkpoint: its message is on its way to a worker."
    assert reason(settled(running(store), ended)) == Reason(sentence, NOON)


def test_what_is_long_due_is_sent_again(row):
    late = NOON + HOUR + 30 * MINUTE
    assert reason(row, late).sentence == (
        "It has been due for 1 hour 30 minutes: its message was lost, or its worker has no capacity."
        " The sweep sends it again within minutes."
    )


def test_what_is_due_now_has_been_due_for_no_second(row):
    assert reason(row).sentence.startswith("It has been due for 0 seconds: ")


def test_a_pause_is_named_with_its_reason_and_its_end(row):
    assert reason(row, pause=PAUSE) == Reason(
        "The tenant acme is paused until an operator resumes it, by ann: a test."
    )
    ending = replace(PAUSE, until=NOON + HOUR)
    at_once = replace(ending, spread=timedelta(0))
    assert reason(row, pause=at_once).runs_at == NOON + HOUR
    assert reason(replace(row, due_at=NOON + 2 * HOUR), pause=ending).runs_at == NOON + 2 * HOUR


def test_an_action_that_expires_in_a_pause_does_not_run_after_it(row):
    expiring = replace(row, expires_at=NOON + MINUTE)
    skipped = reason(expiring, pause=replace(PAUSE, until=NOON + HOUR))
    assert skipped.sentence.endswith(" The action expires at 2030-06-01T12:01:00Z and will be skipped.")
    assert skipped.runs_at is None
    endless = reason(expiring, pause=PAUSE).sentence
    assert endless.endswith("and will be skipped, unless the pause ends before.")
    assert reason(expiring, pause=replace(PAUSE, until=NOON + timedelta(seconds=1))).runs_at is not None


def test_what_waits_is_given_its_own_instant_after_the_end_of_the_pause(row):
    ended = replace(PAUSE, scope=PauseScope.TYPE, name=row.type, tenant_id="acme", until=NOON + HOUR)
    found = reason(row, NOON + HOUR, pause=ended)
    assert found.sentence.startswith(
        f"The type {row.type} of acme was paused until 2030-06-01T13:00:00Z, by ann: a test."
        " What waits begins within 10 minutes after that, and this action at 2030-06-01T13:0"
    )
    assert NOON + HOUR < found.runs_at <= NOON + HOUR + 10 * MINUTE
    assert reason(row, found.runs_at, pause=ended).sentence.startswith("It has been due for")
    early = replace(ended, ended_at=NOON + MINUTE)
    assert reason(row, NOON + MINUTE, pause=early).sentence.endswith("Z, or up to 2 minutes later.")
    later = replace(row, due_at=NOON + 2 * HOUR)
    assert reason(later, NOON, pause=ended).sentence == "It is due at 2030-06-01T14:00:00Z."


def test_what_becomes_due_under_a_pause_that_skips_will_be_skipped_unless_it_has_begun(row):
    skipping = replace(PAUSE, skips=True, until=NOON + HOUR)
    assert reason(row, pause=skipping).sentence.endswith("by ann: a test. The action will be skipped.")
    assert "skipped" not in reason(replace(row, attempt=1), pause=skipping).sentence
    assert "skipped" not in reason(replace(row, due_at=NOON + HOUR), pause=skipping).sentence


def test_an_open_breaker_is_named_with_its_next_probe(row):
    state = BreakerState(open_for=HOUR, probes_at=NOON + HOUR)
    opened = replace(PAUSE, scope=PauseScope.TYPE, name=row.type, tenant_id="acme", breaker=state)
    found = reason(row, pause=opened)
    assert found.sentence == (
        f"The type {row.type} of acme is paused until a run succeeds, and one probes from"
        " 2030-06-01T13:00:00Z on, by ann: a test."
    )
    assert found.runs_at is None
    probing = replace(state, probe="a", probe_until=NOON + HOUR)
    assert "one probes now" in reason(row, pause=replace(opened, breaker=probing)).sentence


def test_the_pause_that_held_an_action_is_in_its_history(row):
    held_by = "the type send was paused until 2030-06-01T13:00:00Z, by ann: a test"
    cancelled = replace(row, status=Status.CANCELLED, changed=Act(NOON, "bob"), held_by=held_by)
    assert reason(cancelled).sentence == f"It was cancelled by bob. Before, {held_by}."


def test_the_switch_is_named(row):
    assert "switched off by the setting enabled" in reason(row, enabled=False).sentence


def test_a_bound_that_is_reached_exactly_is_reached(store, row):
    until_due = replace(PAUSE, until=NOON, spread=timedelta(0))
    assert "paused" not in reason(row, NOON - MINUTE, pause=until_due).sentence
    at_its_end = replace(PAUSE, until=NOON + HOUR, spread=timedelta(0))
    assert "expires" in reason(replace(row, expires_at=NOON + HOUR), pause=at_its_end).sentence
    grace = Settings().grace
    assert "message was lost" in reason(row, NOON + grace).sentence
    held = running(store)
    assert "has been running" in reason(held, LEASE_END + SKEW).sentence
    assert "has not renewed" in reason(held, LEASE_END + SKEW + TICK).sentence


def test_a_missing_handler_is_named(row):
    expected = "No handler is registered for apply-plan-change: it will fail when it is due."
    assert reason(row, expiry=None) == Reason(expected)
    assert "registered for billing-nightly: it" in reason(occurrence(MemoryStore()), expiry=None).sentence


def test_the_holders_of_a_concurrency_key_are_named(store):
    holder, (_, second) = holding(store), waiting(store, 2)
    found = reason(second, NOON + MINUTE, store=store)
    assert found == Reason(
        f"It waits for a slot of the concurrency key {KEY}, behind 1 that wait longer."
        f" Its limit is 1, and these hold slots: {holder.id}."
    )
    assert "behind 2 that wait longer" in reason(keyed(store), NOON + MINUTE, store=store).sentence


def test_the_place_in_a_long_line_is_counted(store, monkeypatch):
    holding(store)
    waiting(store, 2)
    store.mark_tail(ACME, KEY, NOON)
    rows = sorted((keyed(store) for _ in range(5)), key=tail_position)
    for row in rows:
        store.join_tail(row, NOON)
    assert "behind 5 that wait longer" in reason(rows[3], NOON + MINUTE, store=store).sentence
    monkeypatch.setattr("duetime.actions.why._MOST_AHEAD", 4)
    assert "behind at least 5 that wait longer" in reason(rows[3], NOON + MINUTE, store=store).sentence
    monkeypatch.setattr("duetime.actions.why._MOST_AHEAD", 5)
    assert "behind at least 5 that wait longer" in reason(rows[3], NOON + MINUTE, store=store).sentence


def test_an_action_to_which_a_slot_was_passed_waits_for_its_message(store):
    run, (first,) = holding(store), waiting(store)
    store.move_slots(move_of(store, run, first))
    assert "its message is on its way to a worker" in reason(first, NOON + MINUTE, store=store).sentence


def test_the_run_that_holds_a_jobs_lock_is_named(store):
    other = ActionRef("acme", "billing-nightly.000001.20300601T110000Z")
    job = replace(nightly(), running=other)
    assert reason(occurrence(store), NOON + MINUTE, job=job).sentence == (
        f"It waits for {other.id}, which holds the lock of the job {job.name}."
    )
    own = occurrence(store)
    assert "on its way to a worker" in reason(own, NOON + MINUTE, job=replace(job, running=own.ref)).sentence


def test_an_expired_action_will_be_skipped(row):
    expired = replace(row, expires_at=NOON + MINUTE)
    assert "will be skipped" in reason(expired, NOON + HOUR).sentence
    assert "has been due for" in reason(expired, NOON).sentence


def test_an_expiry_of_the_type_counts_from_the_due_time_and_says_how_the_action_ends(row):
    hour = Expiry(after=HOUR)
    assert "has been due for" in reason(row, NOON + MINUTE, expiry=hour).sentence
    assert "will be skipped" in reason(row, NOON + HOUR, expiry=hour).sentence
    assert "will fail" in reason(row, NOON + HOUR, expiry=Expiry(HOUR, "fail")).sentence


def test_a_retry_names_the_failure(store):
    claimed = running(store)
    row = settled(claimed, end(Status.PENDING, message="no bank"))
    found = reason(row, NOON + MINUTE)
    assert (found.sentence, found.runs_at) == (
        "Attempt 1 failed: no bank. It is due again at 2030-06-01T13:00:01Z.",
        row.due_at,
    )


def test_a_run_is_running_until_its_lease_and_the_skew_are_over(store):
    row = running(store)
    assert reason(row, LEASE_END).sentence == "It has been running since 2030-06-01T12:00:00Z in worker-1."
    lost = reason(row, LEASE_END + HOUR)
    assert ("has not renewed its lease" in lost.sentence, lost.runs_at) == (True, LEASE_END + HOUR)


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (Status.EXECUTED, "It ran, and ended at 2030-06-01T12:00:01Z."),
        (Status.FAILED, "It failed at 2030-06-01T12:00:01Z: no bank."),
        (Status.CANCELLED, "It was cancelled by"),
    ],
)
def test_an_end_is_stated(store, status, sentence):
    row = settled(running(store), end(status, message="no bank" if status is Status.FAILED else None))
    assert reason(row).sentence.startswith(sentence)
    assert row.attempts[-1].ending in set(Ending)


def test_a_run_past_its_time_out_ended_so(store):
    row = settled(running(store), end(Status.EXECUTED, message=f"{OVERRAN} by 2.0 s"))
    assert reason(row).sentence.endswith(":01Z. It ran past its time-out by 2.0 s.")


def test_a_debounced_action_that_has_begun_can_be_moved_no_more(row):
    debounced = replace(row, debounced=Debounced("cart"))
    sentence = "It is due at 2030-06-01T12:00:00Z. A call with the debounce key cart can move that."
    assert reason(debounced, NOON - HOUR) == Reason(sentence, NOON)
    begun = reason(replace(debounced, attempt=1), NOON - HOUR)
    assert begun == Reason("It is due at 2030-06-01T12:00:00Z.", NOON)


def test_a_run_that_failed_before_does_not_continue(store):
    row = settled(running(store), replace(end(Status.PENDING, message="no bank"), due_at=NOON))
    assert reason(row).sentence.startswith("It has been due for 0 seconds")


@pytest.mark.parametrize("skipped", SkipReason)
def test_each_skip_is_explained(row, skipped):
    row = replace(row, status=Status.SKIPPED, skip_reason=skipped, note="a note")
    assert reason(row).sentence == f"It was skipped: {_SKIPPED[skipped]} (a note)."


def test_a_held_action_names_what_it_waits_for_and_its_rule(store, row):
    batch = opened(store, size=3)
    held = replace(
        scheduled(store),
        due_at=HELD_AT,
        first_due_at=NOON,
        after=After(f"{row.id} batch:{batch.name}"),
    )
    both = f"It waits for action {row.id}, which is pending; for batch {NAME}, which is open:"
    due = "It is due at 2030-06-01T12:00:00Z, or after that; "
    fails = f"{both} 3 of 3 are left. {due}if one is not executed, it fails."
    assert reason(held, store=store) == Reason(fails)
    skips = reason(replace(held, after=replace(held.after, rule="skip")), store=store).sentence
    assert skips.endswith("if one is not executed, it is skipped.")
    assert reason(replace(held, after=replace(held.after, rule="any")), store=store).sentence.endswith(
        "it runs after any end."
    )


def test_a_held_action_whose_predecessors_have_ended_is_released_soon(store, row):
    held = replace(row, due_at=HELD_AT, after=After("01a5d82c-1800-79e3-aeda-66f0e0000000"))
    assert "it is released within minutes" in reason(held, store=store).sentence
