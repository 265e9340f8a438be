"""The order of the writes of a claim under a concurrency key, and of those that pass its slots on."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.model.action import ActionRef, Status
from duetime.model.lease import SettleResult
from duetime.model.run import WorkerDied
from duetime.model.slots import MOST_WAITING, tail_position
from duetime.ports.wakeups import DueMessage
from duetime.testing.contract.slots import (
    KEY,
    begin,
    holders,
    holding,
    keyed,
    move_of,
    slots_of,
    take,
    waiting,
)
from duetime.testing.contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    NOON,
    SECOND,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime.testing.turned_clock import TurnedClock
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime.worker.pass_slots import PassSlots
from duetime.worker.rate_turn import StartsAt
from tests.hooked import Hooked
from tests.slots import NoQueues, claim_of


@pytest.fixture
def hooked(store):
    return Hooked(store)


def pass_slots(store, now=NOON, queues=None):
    queues = queues or NoQueues()
    return PassSlots(store, queues, queues, clock=TurnedClock(now), skew=timedelta(0))


def refuses(*_given, **_more):
    raise AssertionError("this is not called")


def test_a_message_of_a_row_that_is_gone_claims_nothing(store):
    gone = fresh(store)
    message = DueMessage(ref=gone.ref, type=gone.type, due_at=NOON, generation=1)
    assert claim_of(store)(message, terms()) is None


def test_a_run_that_may_not_start_yet_takes_no_slot(store):
    action, later = keyed(store), StartsAt(NOON + SECOND)
    assert claim_of(store).with_slot(action, terms(), lambda _row, _terms: later) == later
    assert holders(store) == set()


def test_an_action_that_waits_for_its_slot_uses_no_start_of_its_rate(store):
    holding(store)
    action = keyed(store)
    assert isinstance(claim_of(store).with_slot(action, terms(), refuses), Waiting)
    assert slots_of(store).waiting == (action.id,)


def test_an_action_joins_a_line_by_one_write(store, hooked):
    run = holding(store)
    (first,) = waiting(store)
    store.cancel(first, by=CALLER, at=NOON, kept_until=EXPIRY)
    action = keyed(store)
    hooked.hooks["move_slots"] = refuses
    assert isinstance(claim_of(hooked).with_slot(action, terms()), Waiting)
    assert slots_of(store).holders.keys() == {run.id}
    assert slots_of(store).waiting == (first.id, action.id)


def test_a_run_whose_slot_is_gone_frees_none(store):
    run = holding(store)
    assert store.settle(run, end(Status.EXECUTED)) is SettleResult.SETTLED
    assert store.move_slots(move_of(store, run))
    other = keyed(store)
    assert take(store, other)
    pass_slots(store).free(run, 0)
    assert holders(store) == {other.id}


def test_a_run_frees_no_slot_with_which_its_retry_has_begun(store):
    run = holding(store)
    store.settle(run, replace(end(Status.PENDING), due_at=NOON))
    assert take(store, stored_row(store, run.ref))
    assert begin(store, run.ref)
    pass_slots(store).free(run, 0)
    row = stored_row(store, run.ref)
    assert (row.status, row.fence) == (Status.PROCESSING, 2)
    assert slots_of(store).holders == {run.id: 1}


def test_an_action_that_runs_gives_no_slot_up(store):
    run = holding(store)
    pass_slots(store).give_up(run)
    assert (stored_row(store, run.ref), holders(store)) == (run, {run.id})


def long_line(store, number):
    """A run, a full line, and so many rows in its tail."""
    run, line = holding(store), waiting(store, MOST_WAITING)
    tail = [keyed(store) for _ in range(number)]
    for row in tail:
        assert isinstance(claim_of(store).with_slot(row, terms()), Waiting)
    return run, line, tail


def free(store, run):
    """End a run, and free its slot."""
    token = slots_of(store).holders[run.id]
    store.settle(run, end(Status.EXECUTED))
    pass_slots(store).free(run, token)


def test_a_slot_is_passed_over_a_tail_of_which_most_are_cancelled(store):
    run, line, tail = long_line(store, 120)
    last = max(tail, key=tail_position)
    for row in (*line, *tail):
        if row != last:
            store.cancel(row, by=CALLER, at=NOON, kept_until=EXPIRY)
    free(store, run)
    assert (holders(store), slots_of(store).waiting) == ({last.id}, ())
    assert store.tail(ACME, KEY, limit=1) == []


def test_the_line_is_filled_from_its_tail_in_the_order_of_due_times(store):
    run, line, tail = long_line(store, 30)
    for row in line:
        free(store, run)
        assert holders(store) == {row.id}
        assert begin(store, row.ref)
        run = stored_row(store, row.ref)
    slots = slots_of(store)
    in_order = [row.id for row in sorted(tail, key=tail_position)]
    assert [*slots.waiting, *(entry.action_id for entry in store.tail(ACME, KEY, limit=99))] == in_order
    assert slots.has_tail


def test_an_action_that_joins_the_tail_before_its_mark_is_removed_gets_the_slot(store):
    """A run that ends finds the tail empty; then the action joins, and still sees the mark and the holder."""
    run, late, as_read = holding(store), keyed(store), []
    store.mark_tail(ACME, KEY, NOON)
    of_run, of_late = Hooked(store), Hooked(store)

    def run_ends(join_tail, row, at):
        def moving(move_slots, move):
            del of_run.hooks["move_slots"]
            assert move.ends_tail
            join_tail(row, at)
            as_read.append(slots_of(store))
            return move_slots(move)

        of_run.hooks["move_slots"] = moving
        token = slots_of(store).holders[run.id]
        store.settle(run, end(Status.EXECUTED))
        pass_slots(of_run).free(run, token)

    of_late.hooks["join_tail"] = run_ends
    of_late.hooks["key_slots"] = lambda read, *key: as_read[0] if as_read else read(*key)
    assert isinstance(claim_of(of_late).with_slot(late, terms()), Waiting)
    assert holders(store) == {late.id}


def test_a_claim_that_removes_the_mark_of_a_tail_reads_the_tail_again(store, hooked):
    """It has read free slots and an empty tail; before its write, another run begins and an action joins."""
    store.mark_tail(ACME, KEY, NOON)
    mine, late, runs = keyed(store), keyed(store), []

    def meanwhile(move_slots, move):
        del hooked.hooks["move_slots"]
        assert move.ends_tail
        runs.append(holding(store))
        assert isinstance(claim_of(store).with_slot(late, terms()), Waiting)
        return move_slots(move)

    hooked.hooks["move_slots"] = meanwhile
    assert isinstance(claim_of(hooked).with_slot(mine, terms()), Waiting)
    free(store, runs[0])
    assert holders(store) == {late.id}


def test_an_action_that_joins_the_tail_sees_a_slot_that_became_free(store, hooked):
    run = holding(store)
    waiting(store, MOST_WAITING)
    for row in rows_in_line(store):
        store.cancel(row, by=CALLER, at=NOON, kept_until=EXPIRY)
    late = keyed(store)

    def freed(join_tail, row, at):
        join_tail(row, at)
        free(store, run)

    hooked.hooks["join_tail"] = freed
    assert isinstance(claim_of(hooked).with_slot(late, terms()), ClaimWon)


def rows_in_line(store):
    return [stored_row(store, ActionRef(ACME, action_id)) for action_id in slots_of(store).waiting]


def test_a_failed_removal_from_the_tail_loses_no_action(store, hooked):
    run, line, tail = long_line(store, 3)

    def failing(_leave_tail, *_given):
        raise BackendUnavailable("DynamoDB", "throttled")

    hooked.hooks["leave_tail"] = failing
    for row in (*line, *sorted(tail, key=tail_position)):
        token = slots_of(store).holders[run.id]
        store.settle(run, end(Status.EXECUTED))
        pass_slots(hooked).free(run, token)
        assert holders(store) == {row.id}
        assert begin(store, row.ref)
        run = stored_row(store, row.ref)
    free(store, run)
    assert (holders(store), slots_of(store).waiting) == (set(), ())


def sent_refs(queues):
    return [send.message.ref for send in queues.sent]


def test_a_claim_that_finds_a_free_slot_passes_it_to_the_first_in_line_and_wakes_it(store):
    """The process that should have passed the slot on died; the next claim does it."""
    run, (first,), late, queues = holding(store), waiting(store), keyed(store), NoQueues()
    assert store.move_slots(move_of(store, run))
    assert isinstance(claim_of(store, queues=queues).with_slot(late, terms()), Waiting)
    assert holders(store) == {first.id}
    assert sent_refs(queues) == [first.ref]


def dies(_leave_tail, *_given):
    raise WorkerDied


def test_a_process_that_dies_at_the_tail_has_woken_the_action_to_which_it_passed_a_slot(store, hooked):
    run, (first,), queues = holding(store), waiting(store), NoQueues()
    store.join_tail(keyed(store), NOON)
    store.mark_tail(ACME, KEY, NOON)
    hooked.hooks["leave_tail"] = dies
    token = slots_of(store).holders[run.id]
    store.settle(run, end(Status.EXECUTED))
    with pytest.raises(WorkerDied):
        pass_slots(hooked, queues=queues).free(run, token)
    assert holders(store) == {first.id}
    assert sent_refs(queues) == [first.ref]


def test_a_claim_that_dies_at_the_tail_has_woken_the_action_to_which_it_passed_a_slot(store, hooked):
    run, (first,), late, queues = holding(store), waiting(store), keyed(store), NoQueues()
    store.join_tail(keyed(store), NOON)
    store.mark_tail(ACME, KEY, NOON)
    assert store.move_slots(move_of(store, run))
    hooked.hooks["leave_tail"] = dies
    with pytest.raises(WorkerDied):
        claim_of(hooked, queues=queues).with_slot(late, terms())
    assert holders(store) == {first.id}
    assert sent_refs(queues) == [first.ref]


def test_a_run_that_ends_its_keys_tail_does_not_mark_it_again(store, hooked):
    run, (first,), late = holding(store), waiting(store), keyed(store)
    store.join_tail(late, NOON)
    store.mark_tail(ACME, KEY, NOON)
    hooked.hooks["mark_tail"] = refuses
    token = slots_of(store).holders[run.id]
    store.settle(run, end(Status.EXECUTED))
    pass_slots(hooked).free(run, token)
    slots = slots_of(store)
    assert (slots.holders.keys(), slots.waiting, slots.has_tail) == ({first.id}, (late.id,), False)
    assert store.tail(ACME, KEY, limit=1) == []
