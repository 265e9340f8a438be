"""The truth table of each condition: the rows that it accepts, and the rows that differ in one value.

A claim reads a row before it writes, so a run of a test seldom reaches the last line of defence: a row that
has changed since the read.
"""

from dataclasses import dataclass, replace

import pytest

from duetime import instant
from duetime.aws import conditions, damaged_leases
from duetime.aws.conditions import swap
from duetime.aws.faults import ConditionFailed, TransactionFailed
from duetime.aws.items import FORMS, to_item, to_payload_item
from duetime.aws.job_items import holder, job_key
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.keyed_items import stored as stored_item
from duetime.aws.keys import Item, payload_key
from duetime.aws.payloads import DynamoPayloads
from duetime.aws.restored_rows import RestoredRows, free_lock
from duetime.aws.tenant_items import forget_in_job
from duetime.aws.transactions import update, write
from duetime.clock import SystemClock
from duetime.ids import batch_id, new_action_id
from duetime.memory.store import MemoryStore
from duetime.model import transition
from duetime.model.action import SkipReason, Status
from duetime.model.batch import ActionBatch
from duetime.model.checkpoint import Checkpoint
from duetime.model.debounce import coalesced
from duetime.model.row_parts import Concurrency, HandOver, Progress
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove
from duetime.model.swap import PENDING_AS_READ as PENDING_GUARD
from duetime.model.swap import redrivable
from duetime.ports import job_state
from duetime.ports.actions import DamagedRow
from duetime.ports.job_state import STATE
from duetime.ports.jobs import LockRequirement
from duetime.ports.keyed_items import EPOCH, Key, Write
from duetime.ports.row_writes import RowIsOver, RowStillDead
from duetime.ports.slots import SLOTS, key_of
from duetime.ports.slots import moved as moved_slots
from duetime.ports.slots import take as take_slot
from duetime.ports.slots import wait as wait_for_slot
from duetime_contract.job_specimens import ended, nightly, occurrence, taking
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    LEASE_END,
    MINUTE,
    NOON,
    ORPHANED_AT,
    TICK,
    end,
    fresh,
    terms,
)
from tests.contract.changes_of_rows import update_of
from tests.emulated.call_lock import CallLock
from tests.emulated.event_sources import ExpiryPoller
from tests.stored_jobs import to_state

STORE = MemoryStore()
GONE = {"pk": None}
CHANGE = {"by": CALLER, "at": NOON}


@dataclass(frozen=True)
class Table:
    """A change, the item that it accepts, and other values of that item.

    `accepts` and `rejects` have single attributes with another value; None is one that is absent.
    """

    change: conditions.Update | Write
    item: Item
    accepts: tuple[Item, ...] = ()
    rejects: tuple[Item, ...] = ()


def at(when):
    return {"S": instant.text(when)}


def statuses(*but):
    return tuple({"status": {"S": status.value}} for status in Status if status not in but)


def around(name, number):
    """Return a number's neighbours, and no number."""
    return ({name: {"N": str(number - 1)}}, {name: {"N": str(number + 1)}}, {name: None})


PENDING = replace(fresh(STORE), generation=7)
RUN = replace(transition.started(PENDING, terms()), fence=8)
FAILED = replace(PENDING, status=Status.FAILED, attempt=1, kept_until=EXPIRY)
DISMISSED = replace(FAILED, dismissed_reason="known")
KEYED = {"concurrency_key": {"S": "invoice-17"}}
CANCEL_REQUESTED = {"cancel_requested_at": at(NOON)}
TERMS = HandOver(fence=RUN.fence, at=NOON, times_out_at=NOON + HOUR, key="key", beat_seconds=120)
HANDED_OVER = transition.handed_over(RUN, TERMS)
ENDS_AT = NOON + MINUTE
COMPLETION = {"completion": "first", "finished_at": ENDS_AT}
HALF = Progress(0.5, "1 of 2")


def stored(fence, number):
    return {"checkpoint": {"M": FORMS["Checkpoint"].store(Checkpoint("1", fence, number))}}


STORED = replace(RUN, checkpoint=Checkpoint("1", 8, 3))
SHOWN = transition.reported(RUN, HALF)
DAMAGED = {"status": None, "fence": None}
PROCESSING_MINE = (*statuses(Status.PROCESSING), *around("fence", 8))
PENDING_AS_READ = (*statuses(Status.PENDING), *around("generation", 7))
FAILED_AS_READ = (*statuses(Status.FAILED), *around("generation", 7))
LEASES = ({"lease_until": at(LEASE_END + TICK)}, {"lease_until": at(LEASE_END - TICK)})
OF_ACTIONS = {
    "claim": Table(
        update_of("claim", PENDING, terms(NOON)),
        to_item(PENDING),
        (KEYED, CANCEL_REQUESTED),
        (*PENDING_AS_READ, *around("fence", PENDING.fence)),
    ),
    "take over": Table(
        update_of("claim", RUN, terms(ORPHANED_AT)),
        to_item(RUN),
        (KEYED, CANCEL_REQUESTED),
        (
            *(*PROCESSING_MINE, *LEASES, {"lease_until": None}, stored(8, 1)),
            *({"progress": {"S": "0.5"}}, {"progress_note": {"S": "half"}}),
        ),
    ),
    "take over with a checkpoint": Table(
        update_of("claim", STORED, terms(ORPHANED_AT)),
        to_item(STORED),
        (KEYED,),
        (*PROCESSING_MINE, *LEASES, {"lease_until": None}, stored(8, 4), {"checkpoint": None}),
    ),
    "take over with a progress": Table(
        update_of("claim", SHOWN, terms(ORPHANED_AT)),
        to_item(SHOWN),
        (KEYED,),
        (*PROCESSING_MINE, {"progress": None}, {"progress_note": None}, {"progress": {"S": "0.6"}}),
    ),
    "renew": Table(
        update_of("renew", RUN, LEASE_END),
        to_item(RUN),
        ({"lease_until": at(LEASE_END - TICK)}, KEYED, {"handed_over": {"N": "7"}}),
        (*PROCESSING_MINE, {"lease_until": at(LEASE_END + TICK)}, {"handed_over": {"N": "8"}}),
    ),
    "hand over": Table(
        update_of("hand_over", RUN, TERMS),
        to_item(RUN),
        (CANCEL_REQUESTED, KEYED, {"handed_over": {"N": "7"}}),
        (*PROCESSING_MINE, {"handed_over": {"N": "8"}}),
    ),
    "heartbeat by token": Table(
        update_of("beat", HANDED_OVER, NOON + 3 * MINUTE, now=ENDS_AT, progress=HALF),
        to_item(HANDED_OVER),
        (CANCEL_REQUESTED, {"lease_until": at(ENDS_AT + TICK)}, {"lease_until": at(NOON + 3 * MINUTE)}),
        (
            *PROCESSING_MINE,
            *around("handed_over", 8),
            {"lease_until": at(ENDS_AT)},
            {"lease_until": at(NOON + 3 * MINUTE + TICK)},
            {"lease_until": None},
        ),
    ),
    "report": Table(update_of("report", RUN, HALF), to_item(RUN), (CANCEL_REQUESTED, KEYED), PROCESSING_MINE),
    "checkpoint": Table(
        conditions.checkpoint(RUN, Checkpoint("2", 8, 3)),
        to_item(RUN),
        (CANCEL_REQUESTED, stored(8, 2), stored(7, 9)),
        (*PROCESSING_MINE, stored(8, 3), stored(8, 4)),
    ),
    "settle by token": Table(
        update_of("settle", HANDED_OVER, replace(end(Status.EXECUTED), **COMPLETION)),
        to_item(HANDED_OVER),
        (CANCEL_REQUESTED, KEYED, {"lease_until": at(ENDS_AT + TICK)}),
        (
            *PROCESSING_MINE,
            *around("handed_over", 8),
            {"lease_until": at(ENDS_AT)},
            {"lease_until": None},
        ),
    ),
    "retry by token": Table(
        update_of("settle", HANDED_OVER, replace(end(Status.PENDING), **COMPLETION)),
        to_item(HANDED_OVER),
        (KEYED, {"lease_until": at(ENDS_AT + TICK)}),
        (
            *PROCESSING_MINE,
            *around("handed_over", 8),
            {"lease_until": at(ENDS_AT)},
            {"lease_until": None},
            CANCEL_REQUESTED,
        ),
    ),
    "settle": Table(
        update_of("settle", RUN, end(Status.EXECUTED)),
        to_item(RUN),
        (CANCEL_REQUESTED, KEYED),
        PROCESSING_MINE,
    ),
    "retry": Table(
        update_of("settle", RUN, end(Status.PENDING)),
        to_item(RUN),
        (KEYED,),
        (*PROCESSING_MINE, CANCEL_REQUESTED),
    ),
    "ask to cancel": Table(
        update_of("ask_to_cancel", RUN, **CHANGE),
        to_item(RUN),
        (KEYED,),
        (*PROCESSING_MINE, CANCEL_REQUESTED),
    ),
    "cancel": Table(
        update_of("cancel", PENDING, **CHANGE, kept_until=EXPIRY), to_item(PENDING), (KEYED,), PENDING_AS_READ
    ),
    "skip": Table(
        update_of("skip", PENDING, SkipReason.PAUSED, note="paused", **CHANGE, kept_until=EXPIRY),
        to_item(PENDING),
        (KEYED,),
        PENDING_AS_READ,
    ),
    "reschedule": Table(
        update_of("reschedule", PENDING, NOON + HOUR, **CHANGE), to_item(PENDING), (KEYED,), PENDING_AS_READ
    ),
    "coalesce": Table(
        swap(PENDING, coalesced(PENDING, fresh(STORE), **CHANGE), PENDING_GUARD),
        to_item(PENDING),
        (KEYED,),
        PENDING_AS_READ,
    ),
    "defer": Table(update_of("defer", PENDING, NOON + HOUR), to_item(PENDING), (KEYED,), PENDING_AS_READ),
    "release": Table(
        update_of("release", PENDING, replace(PENDING, due_at=NOON + HOUR)),
        to_item(PENDING),
        (KEYED,),
        PENDING_AS_READ,
    ),
    "add a follower": Table(
        conditions.add_follower("later"), to_item(PENDING), statuses(), ({"status": None}, GONE)
    ),
    "redrive": Table(
        swap(FAILED, transition.redriven(FAILED, NOON, "0", **CHANGE), redrivable(FAILED)),
        to_item(FAILED),
        ({"idempotency_key": {"S": "order-17"}},),
        (*FAILED_AS_READ, {"dismissed_reason": {"S": "known"}}),
    ),
    "redrive a dismissed row": Table(
        swap(DISMISSED, transition.redriven(DISMISSED, NOON, "0", **CHANGE), redrivable(DISMISSED)),
        to_item(FAILED),
        ({"idempotency_key": {"S": "order-17"}}, {"dismissed_reason": {"S": "known"}}),
        FAILED_AS_READ,
    ),
    "dismiss": Table(
        update_of("dismiss", FAILED, "known", **CHANGE),
        to_item(FAILED),
        (KEYED,),
        (*FAILED_AS_READ, {"dismissed_reason": {"S": "known"}}),
    ),
    "limit the lease of a damaged row": Table(
        damaged_leases.limit(
            DamagedRow(RUN.ref, "damaged", lease_until=LEASE_END, stored={"lease_until": at(LEASE_END)}),
            NOON,
        ),
        {name: value for name, value in to_item(RUN).items() if name not in DAMAGED},
        (),
        (
            {"status": {"S": "processing"}},
            {"fence": {"N": "8"}},
            {"lease_until": at(LEASE_END + TICK)},
            {"lease_until": at(LEASE_END - TICK)},
            {"lease_until": None},
        ),
    ),
    "a dead run is still dead": Table(
        damaged_leases.still_dead(RowStillDead(RUN.ref, RUN)),
        to_item(RUN),
        (),
        (
            *PROCESSING_MINE,
            {"lease_until": at(LEASE_END + TICK)},
            {"lease_until": at(LEASE_END - TICK)},
            {"lease_until": None},
        ),
    ),
    "a failed holder has still failed": Table(
        damaged_leases.still_dead(RowStillDead(FAILED.ref, FAILED)),
        to_item(FAILED),
        (),
        (*statuses(Status.FAILED), *around("fence", FAILED.fence)),
    ),
}

ROW = replace(occurrence(STORE), generation=7)
OTHER, THIRD = (occurrence(STORE, NOON - times * HOUR) for times in (1, 2))
JOB = nightly(revision=5)
REVISION = around("revision", 5)


def lock(**fields):
    return {name: holder(row.ref) for name, row in fields.items()}


def as_claimed(job, **claim):
    return job_state.claim(taking(ROW, job, **claim))


OF_JOBS = {
    "change": Table(job_state.change(JOB, replace(JOB, pauses={})), to_state(JOB), (), REVISION),
    "begin a backfill": Table(job_state.next_revision(JOB), to_state(JOB), (), REVISION),
    "move the cursor": Table(
        job_state.move_cursor(JOB, NOON, NOON + HOUR),
        to_state(JOB),
        (),
        (*REVISION, {"cursor": at(JOB.cursor + TICK)}, {"cursor": at(JOB.cursor - TICK)}),
    ),
    "postpone": Table(
        job_state.postpone(JOB, NOON + 2 * HOUR, 1),
        to_state(JOB),
        (),
        (*REVISION, {"maintain_at": at(JOB.maintain_at + TICK)}, {"maintain_at": at(JOB.maintain_at - TICK)}),
    ),
    "claim beside other runs": Table(
        as_claimed(JOB, hold=LockRequirement.UNCHANGED), to_state(JOB), (lock(running=OTHER),), REVISION
    ),
    "take the lock": Table(
        as_claimed(JOB),
        to_state(JOB),
        (lock(running=ROW), lock(waiting=OTHER), lock(running=ROW, waiting=OTHER)),
        (*REVISION, lock(running=OTHER), lock(waiting=ROW)),
    ),
    "take the lock from the waiting place": Table(
        as_claimed(replace(JOB, waiting=ROW.ref)),
        to_state(JOB) | lock(waiting=ROW),
        (lock(running=ROW),),
        (*REVISION, lock(running=OTHER), lock(waiting=OTHER), {"waiting": None}),
    ),
    "take a dead run's lock from the waiting place": Table(
        as_claimed(replace(JOB, waiting=ROW.ref), dead_ref=OTHER.ref),
        to_state(JOB) | lock(running=OTHER, waiting=ROW),
        (lock(running=ROW), {"running": None}),
        (*REVISION, lock(running=THIRD), lock(waiting=THIRD), {"waiting": None}),
    ),
    "take a dead run's lock": Table(
        as_claimed(JOB, dead_ref=OTHER.ref),
        to_state(JOB) | lock(running=OTHER),
        (lock(running=ROW), {"running": None}, lock(waiting=THIRD)),
        (*REVISION, lock(running=THIRD), lock(waiting=ROW)),
    ),
    "wait": Table(
        job_state.wait(JOB, ROW.ref),
        to_state(JOB),
        ({"unlocked_since": at(NOON)},),
        (lock(running=OTHER), lock(waiting=OTHER), GONE),
    ),
    "wait for a lock, instead of another": Table(
        job_state.wait(replace(JOB, running=THIRD.ref, waiting=OTHER.ref), ROW.ref),
        to_state(JOB) | lock(running=THIRD, waiting=OTHER),
        (),
        (lock(running=OTHER), {"running": None}, lock(waiting=THIRD), {"waiting": None}, GONE),
    ),
    "wait for a lock": Table(
        job_state.wait(replace(JOB, running=OTHER.ref), ROW.ref),
        to_state(JOB) | lock(running=OTHER),
        (),
        (lock(running=THIRD), {"running": None}, lock(waiting=THIRD), GONE),
    ),
    "wait instead of another": Table(
        job_state.wait(replace(JOB, waiting=OTHER.ref), ROW.ref),
        to_state(JOB) | lock(waiting=OTHER),
        (),
        (lock(running=THIRD), lock(waiting=THIRD), {"waiting": None}, GONE),
    ),
    "wait for runs without the lock": Table(
        job_state.wait(replace(JOB, unlocked_since=NOON), ROW.ref),
        to_state(JOB) | {"unlocked_since": at(NOON)},
        (),
        (
            {"unlocked_since": at(NOON + TICK)},
            {"unlocked_since": at(NOON - TICK)},
            {"unlocked_since": None},
            lock(running=OTHER),
            lock(waiting=OTHER),
        ),
    ),
    "wait for runs with and without the lock": Table(
        job_state.wait(replace(JOB, unlocked_since=NOON, running=OTHER.ref), ROW.ref),
        to_state(JOB) | {"unlocked_since": at(NOON)} | lock(running=OTHER),
        (),
        ({"unlocked_since": None}, {"running": None}, lock(running=THIRD), lock(waiting=THIRD)),
    ),
    "wait in a place beside runs without the lock": Table(
        job_state.wait(replace(JOB, unlocked_since=NOON, waiting=OTHER.ref), ROW.ref),
        to_state(JOB) | {"unlocked_since": at(NOON)} | lock(waiting=OTHER),
        (),
        ({"unlocked_since": None}, lock(running=THIRD), {"waiting": None}, lock(waiting=THIRD)),
    ),
    "stop waiting": Table(
        job_state.stop_waiting(JOB.ref, ROW.ref),
        to_state(JOB) | lock(waiting=ROW),
        (lock(running=OTHER),),
        (lock(waiting=OTHER), {"waiting": None}, GONE),
    ),
    "unlock": Table(
        job_state.count(JOB.ref, ended(transition.started(ROW, terms())), ROW.ref),
        to_state(JOB) | lock(running=ROW),
        (lock(waiting=OTHER),),
        (lock(running=OTHER), {"running": None}, GONE),
    ),
    "count a run": Table(
        job_state.count(JOB.ref, ended(transition.started(ROW, terms()))),
        to_state(JOB),
        (lock(running=OTHER),),
        (GONE,),
    ),
}


ONE, TWO, NEXT, LATER, LAST = (
    replace(fresh(STORE), concurrency=Concurrency("till", 2), fence=fence) for fence in range(3, 8)
)
TOKEN = 3


def slots(holders, *waiting):
    """Return the slots of a key as read."""
    tokens = {row.id: fence for row, fence in holders.items()}
    return KeySlots(ONE.tenant_id, "till", tokens, tuple(row.id for row in waiting), NOON)


def line(*rows):
    return stored_item(SLOTS, {"waiting": [row.id for row in rows]})


def held(*rows, token=TOKEN):
    """Return rows as holders; the first one has that token."""
    first, *others = rows
    return stored_item(SLOTS, {"holders": {first.id: token} | {row.id: row.fence for row in others}})


def item_of(read):
    place = key_of(read.tenant_id, read.key)
    fields = {"pk": place.partition, "sk": place.sort, "ttl": read.taken_at}
    lists = {"holders": read.holders, "waiting": read.waiting, "tail": read.has_tail}
    return stored_item(SLOTS, fields | {name: value for name, value in lists.items() if value})


def take(row, read, *, accepts, rejects):
    return Table(take_slot(row, read, NOON), item_of(read), accepts, rejects)


def moved(read, *, accepts=(), rejects, **move):
    change = moved_slots(SlotMove(before=read, at=NOON + HOUR, **move))
    return Table(change, item_of(read), accepts, rejects)


FULL_LINE = {"waiting": {"L": [{"S": str(number)} for number in range(MOST_WAITING)]}}
ROOM_IN_LINE = {"waiting": {"L": FULL_LINE["waiting"]["L"][1:]}}
MARKED = {"tail": {"BOOL": True}}
NONE_HELD = {"holders": {"M": {}}}
ANOTHER_TOKEN = (held(ONE, token=2), held(ONE, token=4))
OF_SLOTS = {
    "take the first slot": take(
        ONE,
        slots({}),
        accepts=(NONE_HELD, line(), NONE_HELD | line()),
        rejects=(held(TWO), held(ONE), line(TWO), MARKED),
    ),
    "take": take(
        ONE,
        slots({TWO: 4}),
        accepts=(held(NEXT), line(), NONE_HELD),
        rejects=(
            *(held(TWO, NEXT), held(TWO, NEXT, LATER), held(ONE)),
            *({"holders": None}, line(TWO), held(TWO) | line(NEXT), MARKED),
        ),
    ),
    "take the first slot beside a line": take(
        ONE,
        slots({}, NEXT, LATER),
        accepts=(NONE_HELD,),
        rejects=(held(TWO), held(ONE), line(NEXT), line(NEXT, LATER, LAST), MARKED),
    ),
    "take beside a line": take(
        ONE,
        slots({TWO: 4}, NEXT, LATER),
        accepts=(held(LAST),),
        rejects=(held(TWO, NEXT), held(ONE), line(NEXT), line(NEXT, LATER, LAST), MARKED),
    ),
    "take beside a tail": take(
        ONE,
        replace(slots({TWO: 4}), has_tail=True),
        accepts=(held(LAST), line(), {"tail": None}),
        rejects=(held(TWO, NEXT), held(ONE), line(TWO)),
    ),
    "take beside a line with a tail": take(
        ONE,
        replace(slots({TWO: 4}, NEXT, LATER), has_tail=True),
        accepts=(held(LAST), {"tail": None}),
        rejects=(held(TWO, NEXT), held(ONE), line(NEXT), line(NEXT, LATER, LAST)),
    ),
    "take again": take(
        replace(ONE, fence=4),
        slots({ONE: 3}),
        accepts=(line(TWO), held(ONE, TWO)),
        rejects=(held(ONE, token=4), held(ONE, token=5), held(TWO), {"holders": None}),
    ),
    "wait": Table(
        wait_for_slot(ONE, slots({TWO: 4, NEXT: 5})),
        item_of(slots({TWO: 4, NEXT: 5})),
        (line(), ROOM_IN_LINE, held(TWO, NEXT, LATER)),
        (held(TWO), NONE_HELD, {"holders": None}, FULL_LINE, MARKED),
    ),
    "pass to the first of the line": moved(
        slots({}, NEXT, LATER),
        passed=(NEXT,),
        dropped=frozenset({0}),
        accepts=(NONE_HELD,),
        rejects=(held(TWO), line(LATER, NEXT), {"waiting": None}),
    ),
    "free": moved(
        slots({ONE: 3}),
        freed=ONE.id,
        accepts=(line(), held(ONE, TWO), {"ttl": {"N": "1"}}),
        rejects=(*ANOTHER_TOKEN, held(TWO), line(TWO), line(TWO, NEXT, LATER), MARKED),
    ),
    "free beside a line": moved(
        slots({ONE: 3, TWO: 4}, NEXT),
        freed=ONE.id,
        accepts=(held(ONE), line(LATER)),
        rejects=(*ANOTHER_TOKEN, held(TWO), line(), line(NEXT, LATER), MARKED),
    ),
    "free and pass to the first": moved(
        slots({ONE: 3}, NEXT, LATER),
        freed=ONE.id,
        passed=(NEXT,),
        dropped=frozenset({0}),
        accepts=(line(NEXT),),
        rejects=(
            *ANOTHER_TOKEN,
            *(held(ONE, TWO), held(TWO), {"holders": None}, line(LATER, NEXT), {"waiting": None}),
        ),
    ),
    "free and pass to the second": moved(
        slots({ONE: 3}, NEXT, LATER),
        freed=ONE.id,
        passed=(LATER,),
        dropped=frozenset({1}),
        accepts=(line(LAST, LATER),),
        rejects=(*ANOTHER_TOKEN, held(ONE, TWO), held(TWO), line(LATER, NEXT), line(LATER)),
    ),
    "pass to one that is not in the line": moved(
        slots({ONE: 3}),
        passed=(NEXT,),
        accepts=(line(TWO),),
        rejects=(*ANOTHER_TOKEN, held(ONE, TWO), held(TWO)),
    ),
    "pass to two of the line": moved(
        slots({ONE: 3}, TWO, NEXT, LATER, LAST),
        passed=(TWO, NEXT),
        dropped=frozenset({0, 1, 3}),
        accepts=(line(TWO, NEXT, ONE, LAST),),
        rejects=(
            held(TWO),
            {"holders": None},
            line(NEXT, NEXT, LATER, LAST),
            line(TWO, TWO, LATER, LAST),
            line(TWO, NEXT, LATER, LATER),
            line(TWO, NEXT, LATER),
        ),
    ),
    "free and end the tail": moved(
        replace(slots({ONE: 3}), has_tail=True),
        freed=ONE.id,
        ends_tail=True,
        accepts=(line(), held(ONE, TWO)),
        rejects=(*ANOTHER_TOKEN, held(TWO), line(TWO), {"tail": None}),
    ),
    "free beside a tail": moved(
        replace(slots({ONE: 3}), has_tail=True),
        freed=ONE.id,
        accepts=(line(), held(ONE, TWO), {"tail": None}),
        rejects=(*ANOTHER_TOKEN, held(TWO), line(TWO)),
    ),
    "free, pass and append": moved(
        replace(slots({ONE: 3}, NEXT, LATER), has_tail=True),
        freed=ONE.id,
        passed=(NEXT,),
        dropped=frozenset({0}),
        appended=(LAST.id,),
        accepts=({"tail": None},),
        rejects=(*ANOTHER_TOKEN, held(TWO), held(ONE, TWO), line(NEXT), line(LATER, LAST)),
    ),
    "append": moved(
        replace(slots({ONE: 3}, NEXT), has_tail=True),
        appended=(LAST.id,),
        accepts=(held(TWO),),
        rejects=(line(LATER), line(NEXT, LATER), line(NEXT, LAST), {"waiting": None}),
    ),
    "append to an empty line": moved(
        replace(slots({ONE: 3}), has_tail=True),
        appended=(LAST.id,),
        accepts=(line(), held(TWO)),
        rejects=(line(LATER), line(NEXT, LATER)),
    ),
    "end the tail": moved(
        replace(slots({ONE: 3}), has_tail=True),
        ends_tail=True,
        accepts=(held(ONE, TWO),),
        rejects=({"tail": None},),
    ),
    "remove one from the line": moved(
        slots({ONE: 3}, NEXT, LATER),
        dropped=frozenset({1}),
        accepts=(line(TWO, LATER), held(ONE, TWO)),
        rejects=(line(LATER, NEXT), line(LATER), {"waiting": None}),
    ),
}


def holds(client, table, change, item):
    """Store an item alone, and return whether the change is applied to it."""
    key = {name: item[name] for name in ("pk", "sk")} if "pk" in item else None
    place = key or {"pk": {"S": "none"}, "sk": {"S": "none"}}
    if key is not None:
        client.put_item(TableName=table, Item=item)
    if isinstance(change, Write):
        given = replace(change, key=Key(place["pk"]["S"], place["sk"]["S"]))
        entry = DynamoItems(client, table).entry(given)
    else:
        entry = update(table, place, change)
    try:
        write(client, [entry])
    except TransactionFailed:
        return False
    return True


def with_values(item, values):
    return {name: value for name, value in (item | values).items() if value is not None}


def check(client, name, table):
    """Check that a change applies to the rows that its table accepts, and to none that it rejects."""
    for values in ({}, *table.accepts):
        assert holds(client, name, table.change, with_values(table.item, values)), f"rejects {values}"
    for values in table.rejects:
        assert not holds(client, name, table.change, with_values(table.item, values)), f"accepts {values}"


@pytest.mark.parametrize("name", OF_ACTIONS)
def test_a_change_of_an_action_applies_to_the_rows_that_its_condition_names(table, name):
    check(table.client, table.name, OF_ACTIONS[name])


@pytest.mark.parametrize("name", OF_SLOTS)
def test_a_change_of_slots_applies_to_the_keys_that_its_condition_names(table, name):
    check(table.client, table.name, OF_SLOTS[name])


@pytest.mark.parametrize("name", OF_JOBS)
def test_a_change_of_a_job_applies_to_the_states_that_its_condition_names(jobs_table, name):
    check(*jobs_table, OF_JOBS[name])


def test_a_tail_keeps_an_action_that_has_joined_again(table):
    store, key = table.store(), (ONE.tenant_id, "till")
    store.join_tail(ONE, NOON)
    (present,) = store.tail(*key, limit=9)
    for joined_at in (NOON - HOUR, NOON + HOUR):
        store.leave_tail(*key, [present._replace(joined_at=joined_at)])
        assert store.tail(*key, limit=9) == [present]
    store.leave_tail(*key, [present])
    assert not store.tail(*key, limit=9)


def test_a_holder_whose_row_is_gone_is_still_dead_only_while_no_row_is_there(table):
    gone = damaged_leases.still_dead(RowStillDead(RUN.ref, None))
    assert holds(table.client, table.name, gone, {})
    assert not holds(table.client, table.name, gone, to_item(RUN))


@pytest.mark.parametrize("status", [*Status, None])
def test_a_key_is_taken_from_an_action_that_is_final_or_gone(table, status):
    store, former = table.store(), replace(fresh(STORE), idempotency_key="k")
    if status is not None:
        store.put(replace(former, status=status))
    is_over = DynamoItems(table.client, table.name).write(RowIsOver(former.ref)).is_written
    assert is_over == (status is None or status.is_final)


def test_a_row_that_is_there_is_not_put_again(table):
    store = table.store()
    store.put(PENDING)
    store.put(replace(PENDING, generation=8, payload="{}"))
    assert store.get(PENDING.ref) == PENDING


@pytest.mark.parametrize(
    ("stored", "left"), [(HOUR, 2 * HOUR), (2 * HOUR, 2 * HOUR), (3 * HOUR, 3 * HOUR), (None, None)]
)
def test_a_payloads_time_to_live_never_moves_back_and_creates_no_payload(table, stored, left):
    payloads = DynamoPayloads(table.client, table.name)
    if stored:
        table.client.put_item(TableName=table.name, Item=to_payload_item(PENDING, NOON + stored))
    payloads._extend(PENDING, NOON + 2 * HOUR)
    found = table.client.get_item(TableName=table.name, Key=payload_key(PENDING.ref)).get("Item")
    assert (found and found["ttl"]["N"]) == (left and EPOCH.store(NOON + left))


def test_the_payload_of_a_completion_that_is_not_added_is_removed(table):
    store = table.store()
    first, second = (
        ActionBatch(
            tenant_id=PENDING.tenant_id,
            name="import",
            first_id=batch_id(NOON),
            version=action_id,
            opened_at=NOON,
            opened_by="ada",
            on_complete=action_id,
        )
        for action_id in (new_action_id(NOON), new_action_id(NOON))
    )
    for batch in (first, second, first):  # the last one as the client repeats it
        completion = replace(PENDING, id=batch.on_complete, payload='"x"', payload_size=3)
        assert store.open_batch(batch, completion) == first
        stored = table.client.get_item(TableName=table.name, Key=payload_key(completion.ref)).get("Item")
        assert (stored is not None) is (batch is first)


@pytest.mark.parametrize(
    ("attribute", "gone"), [("running", "running"), ("waiting", "waiting"), ("last_id", "last_error")]
)
def test_a_job_forgets_an_erased_run_and_no_other(jobs_table, attribute, gone):
    client, table = jobs_table
    mine, other = ({"S": run.id} if attribute == "last_id" else holder(run.ref) for run in (ROW, OTHER))
    for stored, is_gone in ((mine, True), (other, False)):
        client.put_item(TableName=table, Item=to_state(JOB) | {"last_error": {"S": "?"}, attribute: stored})
        forget_in_job(client, table, JOB.ref, ROW.id, holder(ROW.ref))
        assert (gone not in client.get_item(TableName=table, Key=job_key(JOB.ref, STATE))["Item"]) is is_gone


def test_an_item_whose_time_to_live_has_passed_is_deleted_and_no_other(table):
    clock, now = SystemClock(), int(SystemClock().now().timestamp())
    times = {"past": {"N": str(now - 9)}, "future": {"N": str(now + 999)}, "text": {"S": "1"}, "none": None}
    keys = {name: {"pk": {"S": name}, "sk": {"S": name}} for name in times}
    for name, ttl in times.items():
        table.client.put_item(TableName=table.name, Item=keys[name] | ({"ttl": ttl} if ttl else {}))
    poller = ExpiryPoller(table.client, table.name, CallLock(), clock)
    for key in keys.values():
        poller._delete(key)  # a redrive may come between its read and this
    left = {item["pk"]["S"] for item in table.client.scan(TableName=table.name)["Items"]}
    assert left == {"future", "text", "none"}


OTHER_GENERATIONS = [{"generation": {"N": "6"}}, {"generation": {"N": "8"}}]


@pytest.mark.parametrize(
    "values", [{}, {"fence": {"N": "9"}}, *statuses(Status.PROCESSING), *OTHER_GENERATIONS], ids=str
)
def test_a_restored_run_is_held_only_as_it_was_read(table, values):
    table.client.put_item(TableName=table.name, Item=to_item(RUN) | values)
    restored = RestoredRows(table.client, table.name, due_shards=1)
    assert restored.hold(RUN, "restored", **CHANGE) is (not values)


@pytest.mark.parametrize("values", [{}, {"status": {"S": "cancelled"}}, *OTHER_GENERATIONS], ids=str)
def test_a_held_row_is_released_only_as_it_was_read(table, values):
    table.client.put_item(TableName=table.name, Item=to_item(PENDING) | values)
    restored = RestoredRows(table.client, table.name, due_shards=1)
    assert (restored.release(PENDING, **CHANGE) is not None) is (not values)


def test_a_lock_is_freed_only_of_a_job_that_is_there(jobs_table):
    client, table = jobs_table
    with pytest.raises(ConditionFailed):
        free_lock(client, table, JOB.ref)
    client.put_item(TableName=table, Item=to_state(JOB) | lock(running=ROW))
    free_lock(client, table, JOB.ref)
    assert "running" not in client.get_item(TableName=table, Key=job_key(JOB.ref, STATE))["Item"]


def test_a_table_detects_a_condition_that_misses_a_part(table):
    with pytest.raises(AssertionError):
        check(table.client, table.name, replace(OF_ACTIONS["renew"], change=update_of("renew", RUN, EXPIRY)))
