"""The order of the writes of a claim under a concurrency key, and of those that pass its slots on."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.errors import BackendUnavailable
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.keyed_items import MemoryItems
from duetime.model.action import ActionRef, Status
from duetime.model.active_region import FENCES
from duetime.model.lease import LeaseHeld, MustBeAlone, SettleResult
from duetime.model.run import WorkerDied
from duetime.model.slots import FEW_WAITING, MOST_WAITING, tail_position
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.actions import DamagedRow
from duetime.ports.wakeups import DueMessage
from duetime.ports.work_pauses import WorkPauses
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.claim_results import ClaimWon, Waiting
from duetime.worker.pass_slots import PassSlots
from duetime.worker.paused_work import Held, PausedWork
from duetime.worker.rate_turn import StartsAt
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    NOON,
    ORPHANED_AT,
    SECOND,
    TICK,
    end,
    fresh,
    put,
    stored_row,
    terms,
)
from tests.backends import backends
from tests.contract.rules.slots import (
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
from tests.hooked import Hooked
from tests.slots import NoQueues, claim_of


@pytest.fixture
def hooked(store):
    return Hooked(store)


def pass_slots(store, now=NOON, queues=None):
    queues = queues or NoQueues()
    settings = Settings(clock_skew=timedelta(0))
    return PassSlots(backends(store, sends=queues, clock=TurnedClock(now), settings=settings))


def refuses(*_given, **_more):
    raise AssertionError("this is not called")


def test_a_message_of_a_row_that_is_gone_claims_nothing(store):
    gone = fresh(store)
    message = DueMessage(ref=gone.ref, type=gone.type, due_at=NOON, generation=1)
    assert claim_of(store)(message, terms()) is None


@pytest.mark.parametrize("key", [None, KEY])
def test_a_message_of_a_settled_action_writes_nothing(store, hooked, key):
    action = keyed(store) if key else put(store, fresh(store))
    store.cancel(action, by=CALLER, at=NOON, kept_until=EXPIRY)
    hooked.hooks |= {"claim": refuses} | ({} if key else {"key_slots": refuses})
    assert claim_of(hooked)(message_of(action), terms()) is None


@pytest.mark.parametrize("key", [None, KEY])
def test_a_message_of_an_action_that_runs_waits_for_the_end_of_its_lease_and_writes_nothing(
    store, hooked, key
):
    action = keyed(store) if key else put(store, fresh(store))
    claim_of(store)(message_of(action), terms())
    run = stored_row(store, action.ref)
    hooked.hooks |= {"claim": refuses, "key_slots": refuses}
    now = NOON + SECOND
    assert claim_of(hooked, now=now)(message_of(action), terms(now)) == LeaseHeld(run.lease_until)
    assert claim_of(hooked, now=now).with_slot(run, terms(now)) == LeaseHeld(run.lease_until)


def test_a_dead_run_that_is_paused_waits_for_the_pause_and_not_for_a_process_of_its_own(store):
    action, pauses = put(store, fresh(store)), WorkPauses(MemoryItems())
    claim_of(store)(message_of(action), terms())
    alone = replace(terms(ORPHANED_AT), shares_process=True)
    paused = PausedWork(KnownPauses(pauses, TurnedClock(ORPHANED_AT)), "default")
    claim = claim_of(store, now=ORPHANED_AT, paused=paused)
    assert claim(message_of(action), alone) == MustBeAlone(recoveries=0)
    pauses.begin(
        WorkPause(id="p", scope=PauseScope.TENANT, name=ACME, reason="an audit", by="ann", since=NOON)
    )
    paused = PausedWork(KnownPauses(pauses, TurnedClock(ORPHANED_AT)), "default")
    assert isinstance(claim_of(store, now=ORPHANED_AT, paused=paused)(message_of(action), alone), Held)


@pytest.mark.parametrize("late", [TICK, timedelta(0)], ids=["not due", "due"])
def test_an_expired_action_is_skipped_once_it_is_due(store, late):
    action = put(store, replace(fresh(store, due_at=NOON + late), expires_at=NOON - TICK))
    hooked = Hooked(store)
    hooked.hooks |= {} if late else {"claim": refuses}
    assert claim_of(hooked)(message_of(action), terms()) is None
    row = stored_row(store, action.ref)
    is_skipped = not late
    assert (row.status is Status.SKIPPED) is is_skipped
    assert (row.changed and row.changed.at) == (NOON if is_skipped else None)
    assert row.kept_until == (NOON + timedelta(days=30) if is_skipped else None)


def test_a_claim_of_a_row_as_read_does_not_read_it_again(store, hooked):
    hooked.hooks["get_rows"] = refuses
    assert isinstance(claim_of(hooked).with_slot(keyed(store), terms()), ClaimWon)


def test_a_row_that_another_region_has_claimed_since_takes_no_slot(store):
    action = keyed(store)
    store.write(action, replace(action, fence=2 * FENCES))
    row = stored_row(store, action.ref)
    assert claim_of(store).with_slot(row, replace(terms(), epoch=1)) is None
    assert (stored_row(store, action.ref), holders(store)) == (row, set())


def test_an_action_that_has_settled_since_its_read_gives_its_slot_up(store):
    run = holding(store)
    store.settle(run, end(Status.EXECUTED))
    assert claim_of(store).with_slot(stored_row(store, run.ref), terms()) is None
    assert holders(store) == set()


def test_a_run_to_which_a_slot_was_passed_reads_no_line_and_takes_no_slot(store, hooked):
    run, (first, _) = holding(store), waiting(store, 2)
    assert store.move_slots(move_of(store, run, first))
    hooked.hooks |= {"get_rows": refuses, "take_slot": refuses}
    won = claim_of(hooked).with_slot(first, terms())
    assert won.token == first.fence


def test_a_claim_with_a_slot_has_its_payload(store):
    for row in (keyed(store, payload_offloaded=True), keyed(store, key="other")):
        (as_read,) = store.get_rows([row.ref])
        assert claim_of(store).with_slot(as_read, terms()).action.payload == row.payload


class Turn:
    """The turn of a rate limit, which refuses a start."""

    def key_of(self, row):
        assert row.rate_key is None
        return "ada"

    def __call__(self, _row, _terms):
        return StartsAt(NOON + SECOND)


def test_a_row_whose_rate_key_is_not_known_is_held_by_a_pause_of_its_key(store):
    known, unknown = (put(store, replace(fresh(store), rate_key=key)) for key in ("bob", None))
    pauses = WorkPauses(MemoryItems())
    claim, turn = (
        claim_of(store, paused=PausedWork(KnownPauses(pauses, TurnedClock(NOON)), "default")),
        Turn(),
    )
    turn.key_of = refuses
    assert claim(message_of(unknown), terms(), turn) == StartsAt(NOON + SECOND)
    pauses.begin(
        WorkPause(id="p", scope=PauseScope.RATE_KEY, name="ada", reason="an audit", by="ann", since=NOON)
    )
    claim = claim_of(store, paused=PausedWork(KnownPauses(pauses, TurnedClock(NOON)), "default"))
    assert claim(message_of(known), terms(), turn) == StartsAt(NOON + SECOND)
    assert isinstance(claim(message_of(unknown), terms(), Turn()), Held)


def test_a_damaged_holder_loses_its_slot_once_its_lease_has_ended(store, hooked):
    run, action = holding(store), keyed(store)
    damaged_run, evicted = DamagedRow(run.ref, "no status", None, run.lease_until), []

    def damage(get_rows, refs, *, damaged):
        if run.ref not in refs:
            return get_rows(refs, damaged=damaged)
        damaged.append(damaged_run)
        return []

    hooked.hooks |= {"get_rows": damage, "evict": lambda _evict, _move, row: evicted.append(row)}
    before = ORPHANED_AT - TICK
    assert isinstance(claim_of(hooked, now=before).with_slot(action, terms(before)), Waiting)
    assert not evicted
    claim_of(hooked, now=ORPHANED_AT).with_slot(action, terms(ORPHANED_AT))
    assert {*evicted} == {damaged_run}


def test_an_action_without_a_rate_is_claimed_beside_a_pause_of_a_rate_key(store):
    pauses, action = WorkPauses(MemoryItems()), put(store, fresh(store))
    pauses.begin(
        WorkPause(id="p", scope=PauseScope.RATE_KEY, name="mail", reason="an audit", by="ann", since=NOON)
    )
    paused = PausedWork(KnownPauses(pauses, TurnedClock(NOON)), "default")
    assert isinstance(claim_of(store, paused=paused)(message_of(action), terms()), ClaimWon)


def counted(method_calls):
    """A hook that notes each call."""

    def call(method, *given, **more):
        method_calls.append(given)
        return method(*given, **more)

    return call


def with_tail(store, *rows):
    """Put rows into the tail of the line, the first one due first."""
    store.mark_tail(ACME, KEY, NOON)
    for place, row in enumerate(rows):
        due = replace(row, due_at=NOON - (len(rows) - place) * SECOND)
        store.write(row, due)
        store.join_tail(due, NOON)


def ended(store, run):
    """Settle a run, and return the token of its slot."""
    store.settle(run, end(Status.EXECUTED))
    return slots_of(store).holders[run.id]


def test_a_claim_passes_a_free_slot_over_a_page_of_the_tail_that_waits_no_more(store, hooked):
    gone, last, late = [keyed(store) for _ in range(30)], keyed(store), keyed(store)
    with_tail(store, *gone, last)
    for row in gone:
        store.cancel(stored_row(store, row.ref), by=CALLER, at=NOON, kept_until=EXPIRY)
    moves = []
    hooked.hooks["move_slots"] = counted(moves)
    assert isinstance(claim_of(hooked).with_slot(late, terms()), Waiting)
    assert holders(store) == {last.id}
    assert not any(move.is_empty for (move,) in moves)


def test_a_claim_that_passes_a_slot_on_reads_no_tail_that_is_not_there(store, hooked):
    run, (first,) = holding(store), waiting(store)
    assert store.move_slots(move_of(store, run))
    hooked.hooks["tail"] = refuses
    assert isinstance(claim_of(hooked).with_slot(keyed(store), terms()), Waiting)
    assert holders(store) == {first.id}


def test_a_run_that_frees_its_slot_reads_no_tail_that_is_not_there(store, hooked):
    run = holding(store)
    hooked.hooks["tail"] = refuses
    pass_slots(hooked).free(run, ended(store, run))
    assert holders(store) == set()


def test_a_run_that_passes_its_slot_to_a_long_line_reads_no_tail(store, hooked):
    run, line = holding(store), waiting(store, FEW_WAITING + 1)
    with_tail(store, keyed(store))
    hooked.hooks["tail"] = refuses
    pass_slots(hooked).free(run, ended(store, run))
    assert holders(store) == {line[0].id}


def test_an_action_that_joins_a_tail_while_it_ends_is_found_though_the_slot_is_passed(store, hooked):
    run, (first,), late = holding(store), waiting(store), keyed(store)
    with_tail(store)

    def joined(move_slots, move):
        del hooked.hooks["move_slots"]
        assert move.ends_tail
        store.join_tail(late, NOON)
        return move_slots(move)

    hooked.hooks["move_slots"] = joined
    pass_slots(hooked).free(run, ended(store, run))
    slots = slots_of(store)
    assert ({*slots.holders}, slots.waiting) == ({first.id}, (late.id,))


def test_a_tail_that_nobody_can_leave_is_marked_once(store, hooked):
    run, holder = holding(store, limit=2), holding(store, limit=2)
    with_tail(store, *(keyed(store) for _ in range(MOST_WAITING + 5)))
    marks = []
    hooked.hooks["mark_tail"] = counted(marks)
    pass_slots(hooked).free(run, ended(store, run))
    assert len(marks) == 1
    assert (holders(store), len(slots_of(store).waiting)) == ({holder.id}, MOST_WAITING)


def test_a_slot_that_becomes_free_while_a_tail_is_marked_again_is_passed_to_the_line(store, hooked):
    run, late = holding(store), keyed(store)
    with_tail(store)
    line = []

    def joined(tail, *key, limit):
        if not line and not slots_of(store).has_tail:
            other = holding(store)
            line.extend(waiting(store, FEW_WAITING + 1))
            store.join_tail(late, NOON)
            assert store.move_slots(move_of(store, other))
        return tail(*key, limit=limit)

    hooked.hooks["tail"] = joined
    pass_slots(hooked).free(run, ended(store, run))
    assert holders(store) == {line[0].id}


def test_a_slot_is_passed_to_the_first_alone_and_to_none_behind_one_that_still_waits(store):
    run, other = holding(store, limit=2), holding(store, limit=2)
    (first, second), (wide,) = waiting(store, 2), waiting(store, limit=2)
    assert store.move_slots(move_of(store, other))
    pass_slots(store).free(run, ended(store, run))
    assert (holders(store), slots_of(store).waiting) == ({first.id}, (second.id, wide.id))


def test_a_slot_is_passed_to_none_of_the_tail_behind_one_that_still_waits(store):
    run, (first,) = holding(store), waiting(store)
    second, wide = keyed(store), keyed(store, limit=2)
    with_tail(store, second, wide)
    pass_slots(store).free(run, ended(store, run))
    assert (holders(store), slots_of(store).waiting) == ({first.id}, (second.id, wide.id))


def test_a_slot_that_fits_none_of_a_long_line_is_passed_to_the_first_that_fits_in_the_tail(store):
    run, holder = holding(store, limit=2), holding(store, limit=2)
    line, wide = waiting(store, FEW_WAITING + 1), keyed(store, limit=2)
    with_tail(store, wide)
    pass_slots(store).free(run, ended(store, run))
    assert holders(store) == {holder.id, wide.id}
    assert slots_of(store).waiting == tuple(row.id for row in line)


def test_a_short_line_is_filled_up_to_its_bound(store):
    run, line = holding(store), waiting(store, FEW_WAITING)
    tail = [keyed(store) for _ in range(MOST_WAITING)]
    with_tail(store, *tail)
    pass_slots(store).free(run, ended(store, run))
    in_order = [row.id for row in (*line[1:], *tail)]
    assert slots_of(store).waiting == tuple(in_order[:MOST_WAITING])
    assert [entry.action_id for entry in store.tail(ACME, KEY, limit=99)] == in_order[MOST_WAITING:]


def test_a_tail_that_filled_a_page_keeps_its_mark(store):
    """There may be a next page."""
    run, _ = holding(store), waiting(store)
    with_tail(store, *(keyed(store) for _ in range(25)))
    pass_slots(store).free(run, ended(store, run))
    assert slots_of(store).has_tail
    assert len(slots_of(store).waiting) == MOST_WAITING


def test_an_action_that_is_in_line_twice_gets_one_slot_and_one_message(store):
    runs = [holding(store, limit=2) for _ in range(2)]
    (twice,) = waiting(store, limit=2)
    assert store.wait_for_slot(twice, slots_of(store))
    (second,), queues = waiting(store, limit=2), NoQueues()
    for run in runs:
        pass_slots(store, queues=queues).free(run, ended(store, run))
    assert (holders(store), slots_of(store).waiting) == ({twice.id, second.id}, ())
    assert sent_refs(queues) == [twice.ref, second.ref]


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
    pass_slots(store).free(run, ended(store, run))


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
    pass_slots(hooked).free(run, ended(store, run))
    slots = slots_of(store)
    assert (slots.holders.keys(), slots.waiting, slots.has_tail) == ({first.id}, (late.id,), False)
    assert store.tail(ACME, KEY, limit=1) == []
