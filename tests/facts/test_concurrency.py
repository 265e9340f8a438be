"""Concurrency keys: what may be said of one, and when a run that was denied looks again."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.aws.messages import UnreadableMessage, from_json, to_json
from duetime.errors import InvalidIdentifier
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.concurrency import MOST_SLOTS, Concurrency, concurrency_of
from duetime.settings import Settings
from duetime.testing.contract.job_specimens import occurrence
from duetime.testing.contract.slots import ACME, KEY, holding, keyed
from duetime.testing.contract.specimens import (
    HOUR,
    MINUTE,
    NOON,
    ORPHANED_AT,
    SECOND,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime.wakeups.due_messages import message_of
from duetime.wakeups.sweep import bands
from duetime.worker.claim_job_run import ClaimWon, Waiting
from duetime.worker.claim_with_slot import ClaimWithSlot, next_look


@pytest.mark.parametrize("key", ["k", "customer:42", "é", "a b", "x" * 128])
@pytest.mark.parametrize("limit", [1, 2, MOST_SLOTS])
def test_a_key_and_its_limit(key, limit):
    assert concurrency_of(key, limit) == Concurrency(key, limit)


def test_without_a_key_there_is_nothing_to_limit():
    assert concurrency_of(None, 1) is None


@pytest.mark.parametrize("limit", [0, -1, 101, True, False, "2", 1.5, None, 10**9])
@pytest.mark.parametrize("key", ["customer:42", None])
def test_a_limit_that_is_none_is_refused_with_what_would_be_right(key, limit):
    with pytest.raises(InvalidIdentifier, match=r"concurrency_limit .* must be a whole number from 1 to 100"):
        concurrency_of(key, limit)


def test_a_limit_without_a_key_is_refused():
    with pytest.raises(InvalidIdentifier, match="limits no key; pass concurrency_key as well"):
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
def test_what_can_be_no_key_is_refused_with_the_reason(key, problem):
    with pytest.raises(InvalidIdentifier, match=f"concurrency_key .*{problem}"):
        concurrency_of(key, 1)


@pytest.fixture
def store():
    return MemoryStore()


def look(store, action, after, jitter_draw=0.5):
    return ClaimWithSlot(store, jitter_draw=lambda: jitter_draw)(action.ref, terms(NOON + after))


@pytest.mark.parametrize(
    ("waited", "seconds"),
    [(0, 2), (4, 2), (8, 2), (20, 5), (100, 25), (240, 60), (280, 60)],
)
def test_a_denied_run_looks_again_after_a_quarter_of_its_wait_from_two_seconds_to_a_minute(
    store, waited, seconds
):
    holding(store)
    action = keyed(store)
    assert look(store, action, waited * SECOND) == Waiting(seconds)
    assert store.get(action.ref) == action


@pytest.mark.parametrize(("jitter_draw", "seconds"), [(0.0, 45), (0.999, 75)])
def test_those_that_wait_for_one_key_look_at_different_moments(store, jitter_draw, seconds):
    holding(store)
    assert look(store, keyed(store), 4 * MINUTE, jitter_draw) == Waiting(seconds)


def test_what_was_due_before_it_was_scheduled_has_waited_since_then(store):
    holding(store)
    late = replace(fresh(store, due_at=NOON - 5 * HOUR, created_at=NOON - SECOND), concurrency_key=KEY)
    store.put(late)
    assert look(store, late, timedelta(0)) == Waiting(2)


def test_a_run_gets_the_slot_of_a_dead_one_and_fences_that_off(store):
    dead, action = holding(store), keyed(store)
    taken = look(store, action, ORPHANED_AT - NOON)
    assert isinstance(taken, ClaimWon)
    assert store.holders(ACME, KEY) == {action.id}
    assert stored_row(store, dead.ref).fence == dead.fence + 1


def test_a_run_gets_the_slot_that_a_settled_one_has_left_behind(store):
    run, action = holding(store), keyed(store)
    store.settle(run, end(Status.EXECUTED))
    store.slots.by_key[ACME, KEY] = frozenset({run.id})
    assert isinstance(look(store, action, SECOND), ClaimWon)
    assert store.holders(ACME, KEY) == {action.id}


def test_a_claim_that_hears_of_itself_later_is_admitted_with_its_slot(store):
    class LosesAnAnswer(MemoryStore):
        def claim_slot(self, row, claimed):
            return super().claim_slot(row, claimed) and False

    store = LosesAnAnswer()
    action = keyed(store)
    taken = look(store, action, SECOND)
    assert taken.action == stored_row(store, action.ref)
    assert taken.action.fence == 1


def test_a_key_that_keeps_changing_is_looked_at_later_and_fails_no_message(store):
    class Busy(MemoryStore):
        def claim_slot(self, *_asked):
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
def test_a_message_is_replaced_until_the_sweep_has_sent_another_and_not_for_long_after(
    store, late, sent_again
):
    first = next_look(message_of(keyed(store)), NOON + late, SETTINGS)
    assert first.is_keyed
    sweep = NOON + sent_again + 5 * MINUTE
    assert next_look(first, sweep, SETTINGS) == first
    assert next_look(first, sweep + 5 * MINUTE + timedelta(seconds=1), SETTINGS) is None


def test_a_message_of_what_was_due_long_ago_is_replaced_until_the_next_catch_up(store):
    first = next_look(message_of(keyed(store)), NOON + 100 * HOUR, SETTINGS)
    assert first.looks_until > NOON + 106 * HOUR


@pytest.mark.parametrize(
    "options", [{}, {"is_keyed": True}, {"is_keyed": True, "looks_until": NOON + HOUR}], ids=str
)
def test_a_message_says_that_its_action_is_keyed_and_until_when_it_looks(store, options):
    message = replace(message_of(keyed(store)), **{"is_keyed": False, **options})
    assert from_json(to_json(message, delay=7)) == (message, 7)
    assert set(json.loads(to_json(message))) & {"is_keyed", "looks_until"} == options.keys()


@pytest.mark.parametrize(
    "options", [{"looks_until": "soon"}, {"looks_until": 7}, {"looks_until": []}], ids=str
)
def test_a_message_that_says_no_instant_is_unreadable(store, options):
    with pytest.raises(UnreadableMessage):
        from_json(json.loads(to_json(message_of(keyed(store)))) | options)


@pytest.mark.parametrize("options", [None, False, "true", 1, {}])
def test_a_message_that_does_not_quite_say_that_it_is_keyed_is_taken_for_one_that_does_not(store, options):
    shown = json.loads(to_json(message_of(keyed(store)))) | {"is_keyed": options}
    assert not from_json(shown)[0].is_keyed


def test_a_jobs_run_looks_on_under_the_same_message(store):
    message = message_of(occurrence(store))
    assert next_look(message, NOON + 100 * HOUR, SETTINGS) is message
