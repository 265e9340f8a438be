"""Concurrency keys: valid values, slots, and the retries of runs without a slot."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.actions.order import MOST_SLOTS, concurrency_of
from duetime.aws.messages import from_json, to_json
from duetime.errors import InvalidArgument, UnreadableMessage
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.row_parts import Concurrency
from duetime.model.slots import MOST_WAITING
from duetime.ports.wakeups import LONGEST_DELAY
from duetime.settings import Settings
from duetime.wakeups.due_messages import message_of
from duetime.wakeups.sweep import bands
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime.worker.claim_run import next_message
from duetime_contract.job_specimens import occurrence
from duetime_contract.specimens import (
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    SKEW,
    TICK,
    end,
    fresh,
    stored_row,
    terms,
)
from tests.contract.rules.slots import ACME, KEY, holders, holding, keyed, slots_of, take, waiting
from tests.slots import claim_of


@pytest.mark.parametrize("key", ["k", "customer:42", "é", "a b", "x" * 128])
@pytest.mark.parametrize("limit", [1, 2, MOST_SLOTS])
def test_a_key_with_a_limit_is_valid(key, limit):
    assert concurrency_of(key, limit) == Concurrency(key, limit)


def test_action_without_key_has_no_limit():
    assert concurrency_of(None, 1) is None


@pytest.mark.parametrize("limit", [0, -1, 101, True, False, "2", 1.5, None, 10**9])
@pytest.mark.parametrize("key", ["customer:42", None])
def test_invalid_limit_is_rejected_with_allowed_range(key, limit):
    with pytest.raises(InvalidArgument, match=r"concurrency_limit .* must be a whole number from 1 to 100"):
        concurrency_of(key, limit)


def test_limit_without_key_is_rejected():
    with pytest.raises(InvalidArgument, match="limits no key; pass concurrency_key as well"):
        concurrency_of(None, 2)


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("", "is empty; use 1 to 128 characters"),
        ("x" * 129, "has 129 characters; at most 128 are allowed"),
        ("customer#42", "holds '#'"),
        ("a\nb", "control character"),
        (" a", "white space at an end"),
        (42, "must be text"),
        (True, "must be text"),
    ],
)
def test_invalid_key_is_rejected_with_reason(key, problem):
    with pytest.raises(InvalidArgument, match=f"concurrency_key .*{problem}"):
        concurrency_of(key, 1)


@pytest.fixture
def store():
    return MemoryStore()


def look(store, action, after, jitter_draw=0.5):
    claim = claim_of(store, jitter_draw=jitter_draw, now=NOON + after)
    return claim.with_slot(store.get(action.ref), terms(NOON + after))


IN_LINE = [(0, 300), (299, 300), (400, 400), (720, 720), (9_000, 720)]


@pytest.mark.parametrize(("waited", "seconds"), IN_LINE)
def test_action_in_line_checks_after_as_long_as_it_has_waited_within_bounds(store, waited, seconds):
    keep_alive(store, holding(store))
    action = keyed(store)
    assert look(store, action, waited * SECOND) == Waiting(seconds)
    assert look(store, action, waited * SECOND) == Waiting(seconds)
    assert store.get(action.ref) == action
    assert slots_of(store).waiting == (action.id,)


@pytest.mark.parametrize(("waited", "seconds"), IN_LINE)
def test_action_beyond_a_full_line_joins_its_tail_and_checks_as_the_others_do(store, waited, seconds):
    keep_alive(store, holding(store))
    line = waiting(store, MOST_WAITING)
    action = keyed(store)
    for _ in range(2):
        assert look(store, action, waited * SECOND) == Waiting(seconds)
        assert slots_of(store).waiting == tuple(row.id for row in line)
        assert slots_of(store).has_tail
        (entry,) = store.tail(ACME, KEY, limit=9)
        assert (entry.action_id, entry.joined_at) == (action.id, NOON + waited * SECOND)


def keep_alive(store, run):
    assert store.renew(run, NOON + 9 * HOUR)


@pytest.mark.parametrize(("jitter_draw", "seconds"), [(0.0, 540), (0.999, 900)])
def test_waiting_runs_of_one_key_check_at_different_times_that_a_delay_permits(store, jitter_draw, seconds):
    keep_alive(store, holding(store))
    assert look(store, keyed(store), HOUR, jitter_draw) == Waiting(seconds)
    assert seconds <= LONGEST_DELAY


def test_wait_of_overdue_action_counts_from_schedule_call(store):
    holding(store)
    late = replace(
        fresh(store, due_at=NOON - 5 * HOUR, created_at=NOON - SECOND), concurrency=Concurrency(KEY)
    )
    store.put(late)
    assert look(store, late, timedelta(0)) == Waiting(300)


def test_run_takes_slot_of_dead_run_and_increases_its_fence(store):
    dead, action = holding(store), keyed(store)
    taken = look(store, action, ORPHANED_AT - NOON)
    assert isinstance(taken, ClaimWon)
    assert taken.token == action.fence
    assert slots_of(store).holders == {action.id: action.fence}
    assert stored_row(store, dead.ref).fence == dead.fence + 1


def test_slot_of_dead_run_goes_to_the_first_in_line(store):
    dead, (first,) = holding(store), waiting(store)
    assert isinstance(look(store, keyed(store), ORPHANED_AT - NOON), Waiting)
    assert holders(store) == {first.id}
    assert stored_row(store, dead.ref).fence == dead.fence + 1


def test_run_takes_slot_of_settled_run(store):
    run, action = holding(store), keyed(store)
    store.settle(run, end(Status.EXECUTED))
    assert isinstance(look(store, action, SECOND), ClaimWon)
    assert holders(store) == {action.id}


def test_run_takes_slot_of_action_that_was_retried_for_later(store):
    run, action = holding(store), keyed(store)
    store.settle(run, end(Status.PENDING))
    assert isinstance(look(store, action, SECOND), ClaimWon)
    assert stored_row(store, run.ref).fence == run.fence + 1


def test_holder_that_has_not_begun_retains_its_slot_for_a_lease(store):
    reserved, action = keyed(store), keyed(store)
    take(store, reserved)
    assert isinstance(look(store, action, LEASE), Waiting)
    assert holders(store) == {reserved.id}
    assert isinstance(look(store, action, LEASE + SKEW + TICK), ClaimWon)
    assert stored_row(store, reserved.ref).fence == 1


def test_run_whose_fence_has_changed_since_its_take_takes_its_slot_again(store):
    action = keyed(store)
    take(store, action)
    store.write(action, replace(action, fence=1))
    assert look(store, action, SECOND).token == 1
    assert slots_of(store).holders == {action.id: 1}


def test_contended_key_delays_message_without_failure(store):
    class Busy(MemoryStore):
        def take_slot(self, *_asked):
            return False

    store = Busy()
    action = keyed(store)
    assert look(store, action, 4 * MINUTE) == Waiting(2)
    assert store.get(action.ref) == action


GRACE = 5 * MINUTE
SETTINGS = Settings(grace=GRACE)
DEEPEST = SETTINGS.catch_up_rate
LOOKS = (timedelta(0), *bands(SETTINGS))


@pytest.mark.parametrize(
    ("late", "sent_again"), [*zip(LOOKS, (*LOOKS[1:], LOOKS[-1] + DEEPEST), strict=True)], ids=str
)
def test_message_is_replaced_until_sweep_has_sent_another(store, late, sent_again):
    first = next_message(message_of(keyed(store)), NOON + late, SETTINGS)
    assert first.is_keyed
    sweep = NOON + sent_again + 5 * MINUTE
    assert next_message(first, sweep, SETTINGS) == first
    assert next_message(first, sweep + 5 * MINUTE + timedelta(seconds=1), SETTINGS) is None


def test_message_of_action_that_is_overdue_by_half_a_deep_sweep_is_replaced_until_the_next_one(store):
    now = NOON + DEEPEST / 2
    assert next_message(message_of(keyed(store)), now, SETTINGS).replaced_until > now + DEEPEST


def test_message_of_long_overdue_action_is_replaced_until_next_deep_sweep(store):
    first = next_message(message_of(keyed(store)), NOON + 100 * HOUR, SETTINGS)
    assert first.replaced_until > NOON + 106 * HOUR


@pytest.mark.parametrize(
    "options", [{}, {"is_keyed": True}, {"is_keyed": True, "replaced_until": NOON + HOUR}], ids=str
)
def test_message_has_key_flag_and_replaced_until(store, options):
    message = replace(message_of(keyed(store)), **{"is_keyed": False, **options})
    assert from_json(to_json(message, delay=7)) == (message, 7)
    assert set(json.loads(to_json(message))) & {"is_keyed", "replaced_until"} == set(options)


@pytest.mark.parametrize(
    "options", [{"replaced_until": "soon"}, {"replaced_until": 7}, {"replaced_until": []}], ids=str
)
def test_message_with_invalid_instant_is_unreadable(store, options):
    with pytest.raises(UnreadableMessage):
        from_json(json.loads(to_json(message_of(keyed(store)))) | options)


@pytest.mark.parametrize("options", [None, False, "true", 1, {}])
def test_message_with_invalid_key_flag_counts_as_unkeyed(store, options):
    shown = json.loads(to_json(message_of(keyed(store)))) | {"is_keyed": options}
    assert not from_json(shown)[0].is_keyed


def test_message_of_waiting_job_run_is_replaced_until_sweep_too(store):
    first = next_message(message_of(occurrence(store)), NOON + 10 * MINUTE, SETTINGS)
    assert not first.is_keyed
    assert next_message(first, first.replaced_until, SETTINGS) is None
