"""docs/protocol.md says what the code does.

Its tables are read and held against conditions, transitions and guards.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from duetime.aws import conditions
from duetime.aws.damaged_leases import still_dead
from duetime.instant import LATEST
from duetime.memory.store import MemoryStore
from duetime.model import swap as swap_module
from duetime.model.action import TRANSITIONS, SkipReason, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.debounce import coalesced
from duetime.model.row_parts import Act, After, Debounced, HandOver
from duetime.model.run_stats import EndedRun
from duetime.model.slots import KeySlots, SlotMove
from duetime.model.swap import DEAD_LETTER_AS_READ, MY_RUN, PENDING_AS_READ, Guard, as_it_is
from duetime.model.transition import fenced_off, handed_over, redriven, released, reported, started
from duetime.ports import job_state, slots
from duetime.ports.action_keys import DEBOUNCE_KEY, IDEMPOTENCY_KEY
from duetime.ports.backfills import BACKFILL
from duetime.ports.batches import BATCH
from duetime.ports.jobs import LockRequirement
from duetime.ports.keyed_items import AnyOf, Not, Presence, Write
from duetime.ports.row_writes import RowStillDead
from duetime_contract.job_specimens import nightly, occurrence, taking
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    NOON,
    ORPHANED_AT,
    end,
    running,
    scheduled,
    terms,
)
from tests.contract.changes_of_rows import swap_of
from tests.contract.rules.handing_over import HALF, TERMS, completion
from tests.model import (
    batch_guards,
    checkpoint_guards,
    debounce_guards,
    guards,
    job_guards,
    slots_guards,
)

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
STORE = MemoryStore()
RUN, ROW = running(STORE), scheduled(STORE)
MOVED = replace(
    ROW, first_due_at=NOON, expires_at=EXPIRY, rate_key="mails", payload="{}", debounced=Debounced("index")
)
CALL = replace(
    scheduled(STORE),
    due_at=NOON + HOUR,
    payload="large",
    payload_size=5_000,
    payload_version=2,
)
ENDED = replace(
    MOVED,
    status=Status.FAILED,
    first_due_at=None,
    attempt=2,
    recoveries=1,
    continued=1,
    cancel_request=Act(NOON, CALLER),
    kept_until=EXPIRY,
    dismissed_reason="done by hand",
)
FAILED = replace(ENDED, dismissed_reason=None)
HELD = replace(ROW, due_at=LATEST, first_due_at=NOON, after=After("batch:import-2027-03"))
ASKED = replace(RUN, hand_over=HandOver(0, NOON, NOON, "", 1, "Pay it?", "execute"))
SHOWN = reported(RUN, HALF)
GIVEN_OUT = handed_over(RUN, TERMS)
SWAPS = {
    "claim": swap_of("claim", ROW, terms()),
    "take over": swap_of("claim", SHOWN, terms(ORPHANED_AT)),
    "heartbeat": swap_of("renew", RUN, ORPHANED_AT),
    "settle": swap_of("settle", RUN, end(Status.FAILED, message="because")),
    "settle by commit": swap_of("settle", RUN, end(Status.EXECUTED)),
    "settle for retry": swap_of(
        "settle", RUN, replace(end(Status.PENDING, message="because"), continues=True)
    ),
    "hand over": swap_of("hand_over", ASKED, TERMS),
    "heartbeat by token": swap_of("beat", GIVEN_OUT, ORPHANED_AT, now=NOON, progress=HALF),
    "report": swap_of("report", RUN, HALF),
    "settle by token": swap_of("settle", GIVEN_OUT, completion(NOON, status=Status.FAILED, result="1")),
    "settle for retry by token": swap_of("settle", GIVEN_OUT, completion(NOON, status=Status.PENDING)),
    "cancel": swap_of("cancel", ROW, by=CALLER, at=NOON, kept_until=EXPIRY),
    "ask to cancel": swap_of("ask_to_cancel", RUN, by=CALLER, at=NOON),
    "reschedule": swap_of("reschedule", MOVED, NOON + HOUR, by=CALLER, at=NOON),
    "coalesce": (MOVED, coalesced(MOVED, CALL, by=CALLER, at=NOON), PENDING_AS_READ),
    "redrive": (ENDED, redriven(ENDED, NOON + HOUR, "5", by=CALLER, at=NOON), DEAD_LETTER_AS_READ),
    "dismiss": swap_of("dismiss", FAILED, "done by hand", by=CALLER, at=NOON),
    "release": swap_of("release", HELD, released(HELD, now=NOON, unmet="its predecessor failed")),
    "defer": swap_of("defer", ROW, NOON + HOUR, held_by="a pause"),
    "skip": swap_of(
        "skip", ROW, SkipReason.REQUESTED, note="requested", by=CALLER, at=NOON, kept_until=EXPIRY
    ),
}
"""Each write of a row by a guard: the row as read, the row after it, and the guard."""

CHECKPOINT = conditions.checkpoint(RUN, Checkpoint("1", RUN.fence, 1))
WRITES = {name: conditions.swap(*change) for name, change in SWAPS.items()} | {"checkpoint": CHECKPOINT}
GUARDS = {name: guard for name, guard in vars(swap_module).items() if isinstance(guard, Guard)}
CLAUSES = {
    ("as_read", "generation"): "GENERATION_IS_AS_READ",
    ("as_read", "lease_until"): "LEASE_IS_AS_READ",
    ("as_read", "checkpoint"): "CHECKPOINT_IS_AS_READ",
    ("as_read", "progress"): "PROGRESS_IS_AS_READ",
    ("unset", "cancel_request"): "NO_CANCEL_WAS_REQUESTED",
    ("unset", "dismissed_reason"): "IS_NOT_DISMISSED",
    ("at_most", "lease_until"): "LEASE_IS_NOT_LATER",
    ("above", "lease_until"): "HAND_OVER_LASTS",
}
HAND_OVERS = {None: set(), True: {"IS_HANDED_OVER"}, False: {"NOT_HANDED_OVER"}}
GUARDS_BY_TEXT = {
    text: name for name, text in vars(conditions).items() if name.isupper() and isinstance(text, str)
}


JOB = nightly(idempotency_key="june", registered_by=CALLER, removed_at=NOON, unlocked_since=NOON)
PLANNED = occurrence(STORE)
DEAD = started(occurrence(STORE, NOON - HOUR), terms())
WAITING = replace(JOB, waiting=PLANNED.ref)
ENDS = [
    EndedRun(id=PLANNED.id, status="executed", started_at=NOON, triggered_by=CALLER),
    EndedRun(id=PLANNED.id, status="failed", started_at=NOON, error="because"),
]
JOB_WRITES = {
    "change": [job_state.change(JOB, replace(JOB, version=2))],
    "begin a backfill": [job_state.next_revision(JOB)],
    "move the cursor": [job_state.move_cursor(JOB, NOON, NOON + HOUR)],
    "postpone maintenance": [job_state.postpone(JOB, NOON + HOUR, 2)],
    "claim: its row": [swap_of("claim", PLANNED, terms())],
    "take over: its row": [swap_of("claim", reported(DEAD, HALF), terms(ORPHANED_AT))],
    "claim: the job unchanged": [job_state.claim(taking(PLANNED, JOB, LockRequirement.UNCHANGED))],
    "claim: the lock": [job_state.claim(taking(PLANNED, JOB))],
    "claim: the lock, after waiting": [job_state.claim(taking(PLANNED, WAITING))],
    "claim: a dead one's lock": [job_state.claim(taking(PLANNED, JOB, dead=DEAD))],
    "claim: the first lock after `allow`": [job_state.claim(taking(PLANNED, JOB, unlocked=()))],
    "claim: the dead one's row": [(DEAD, fenced_off(DEAD), as_it_is(DEAD))],
    "claim: a settled one's row": [(ENDED, ENDED, as_it_is(ENDED))],
    "claim: a removed one's row": [still_dead(RowStillDead(DEAD.ref, None))],
    "settle: the unlock": [job_state.count(JOB.ref, item, PLANNED.ref) for item in ENDS],
    "end pending: the unlock": [job_state.unlock(JOB.ref, PLANNED.ref)],
    "end pending: no more waiting": [job_state.stop_waiting(JOB.ref, PLANNED.ref)],
    "wait": [job_state.wait(replace(JOB, unlocked_since=None), PLANNED.ref)],
    "wait in another's place": [job_state.wait(replace(JOB, running=RUN.ref, waiting=ROW.ref), PLANNED.ref)],
    "count": [job_state.count(JOB.ref, item) for item in ENDS],
}
"""Each as often as it takes to see all that it may write."""

CLAUSES_OF_JOBS = {
    ("pk", Presence.SET): "JOB_IS_THERE",
    ("revision", JOB.revision): "REVISION_IS_AS_READ",
    ("cursor", JOB.cursor): "CURSOR_IS_AS_READ",
    ("maintain_at", JOB.maintain_at): "MAINTENANCE_IS_AS_READ",
    ("running", Presence.UNSET): "LOCK_IS_FREE",
    ("running", PLANNED.ref): "LOCK_IS_MINE",
    ("running", DEAD.ref): "LOCK_IS_THE_DEAD_ONES",
    ("running", RUN.ref): "LOCK_IS_AS_READ",
    ("waiting", Presence.UNSET): "NO_RUN_WAITS",
    ("waiting", PLANNED.ref): "I_WAIT",
    ("waiting", ROW.ref): "WAITING_IS_AS_READ",
    ("unlocked_since", JOB.unlocked_since): "SEARCH_IS_AS_READ",
}
"""What a guard of these writes requires of a field, and the page's name of it."""


def table(first_column):
    """The rows of the page's table that begins with that column, by their first cell."""
    lines = PAGE.read_text().splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip() for cell in line.strip("|").split(" | "))
        rows[first] = rest
    return rows


def names(cell):
    """What a cell sets in code type."""
    return {name for span in re.findall(r"`([\w, ]+)`", cell) for name in span.split(", ")}


def test_the_page_lists_every_write_and_no_other():
    assert set(table("write")) == {"schedule", *WRITES}


@pytest.mark.parametrize("write", WRITES)
def test_the_page_names_the_guards_of_a_write_as_the_code_does(write):
    _, condition, *_ = table("write")[write]
    of_text = {"CHECKPOINT_IS_OLDER"} if write == "checkpoint" else set()
    guard = SWAPS[write][2] if write in SWAPS else MY_RUN
    assert names(condition) == {name_of(guard)} | clauses(guard) | of_text


def test_the_page_names_the_guard_of_the_put_as_the_code_does():
    _, condition, *_ = table("write")["schedule"]
    assert names(condition) == {GUARDS_BY_TEXT[conditions.ROW_IS_ABSENT]}


def test_the_page_names_the_guards_of_idempotency_keys_as_the_code_does():
    shown = {name for cells in table("key").values() for name in names(cells[0]) | names(cells[1])}
    assert shown == {"IS_NEW", *IDEMPOTENCY_KEY.guard, "ACTION_IS_FINAL_OR_GONE", "ROW_IS_ABSENT"}


def test_the_page_names_the_guards_of_debounce_keys_as_the_code_does():
    shown = {name for cells in table("debounce key").values() for name in names(cells[0]) | names(cells[1])}
    assert shown == {"IS_NEW", *DEBOUNCE_KEY.guard, "ROW_IS_ABSENT"}


def test_the_page_names_the_guards_of_batches_as_the_code_does():
    shown = {name for cells in table("batch").values() for name in names(cells[0])}
    of_a_row = GUARDS_BY_TEXT[conditions.add_follower(ROW.id)["ConditionExpression"]]
    assert shown == {"IS_NEW", *BATCH.guard, of_a_row}


def test_the_page_names_the_guards_of_backfills_as_the_code_does():
    shown = {name for cells in table("backfill").values() for name in names(cells[0])}
    assert shown == {"IS_NEW", *BACKFILL.guard}


OTHER, NEXT, LAST = (scheduled(STORE) for _ in range(3))
FREE, TAKEN = KeySlots(ROW.tenant_id, "till"), KeySlots(ROW.tenant_id, "till", {OTHER.id: 3})
LINE = replace(TAKEN, waiting=(NEXT.id,), has_tail=True)
SLOT_WRITES = {
    "take": slots.take(ROW, TAKEN, NOON),
    "take the first": slots.take(ROW, FREE, NOON),
    "take again": slots.take(OTHER, TAKEN, NOON),
    "wait": slots.wait(ROW, TAKEN),
    "free": slots.moved(SlotMove(before=TAKEN, freed=OTHER.id, at=NOON)),
    "pass": slots.moved(
        SlotMove(before=LINE, freed=OTHER.id, passed=(NEXT,), dropped=frozenset({0}), at=NOON)
    ),
    "append": slots.moved(SlotMove(before=LINE, appended=(LAST.id,), at=NOON)),
    "end the tail": slots.moved(SlotMove(before=LINE, ends_tail=True, at=NOON)),
}


@pytest.mark.parametrize("write", SLOT_WRITES)
def test_the_page_names_what_each_write_of_slots_compares_as_the_code_does(write):
    compared = {re.sub(r"\[\d+\]", "[N]", name) for name in SLOT_WRITES[write].guard[0]}
    compared = {re.sub(r"\..*", ".ID", name) for name in compared}
    assert {*re.findall(r"`([\w.\[\]]+)`", table("slots")[write][0])} == compared


def test_the_page_lists_every_write_of_slots_and_names_the_guards_of_their_rows():
    rows = table("slots")
    assert rows.keys() == {*SLOT_WRITES, "claim", "leave the tail", "evict"}
    shown = {name for cells in rows.values() for name in names(cells[1])}
    assert shown == clauses(as_it_is(DEAD)) - {"IS_PROCESSING"} | {"STATUS_IS_AS_READ", "ROW_IS_ABSENT"}


def test_every_guard_of_the_code_is_on_the_page():
    shown = {name for cells in table("write").values() for name in names(cells[1])}
    shown |= {name for cells in table("batch").values() for name in names(cells[0])} - {
        "IS_NEW",
        *BATCH.guard,
    }
    assert GUARDS.keys() - {"FAILED_AS_READ"} <= shown
    assert {*CLAUSES.values()} <= shown


@pytest.mark.parametrize("write", WRITES)
def test_the_page_lists_the_attributes_of_each_write(write):
    _, _, writes, _ = table("write")[write]
    assert names(writes) == _written(WRITES[write])


def test_the_page_lists_every_write_of_a_job_and_no_other():
    assert set(table("write of a job")) == {"add", *JOB_WRITES}


@pytest.mark.parametrize("write", JOB_WRITES)
def test_the_page_names_the_guards_of_a_jobs_write_as_the_code_does(write):
    condition, *_ = table("write of a job")[write]
    assert {frozenset(names(condition))} == {
        frozenset(_guards_of(job_write)) for job_write in JOB_WRITES[write]
    }


@pytest.mark.parametrize("write", JOB_WRITES)
def test_the_page_lists_the_attributes_of_each_write_of_a_job(write):
    _, writes, _ = table("write of a job")[write]
    assert names(writes) == {name for job_write in JOB_WRITES[write] for name in _written(job_write)}


def test_the_page_lists_the_legal_changes_of_status_and_no_other():
    shown = set()
    for status, *_ in table("write").values():
        before, after = status.split(" → ")
        shown |= {(before, part) for part in after.split(", ")}
    stays = {("pending", "pending"), ("processing", "processing"), ("failed", "failed"), ("none", "pending")}
    assert stays <= shown
    assert shown - stays == {(before, after) for before in Status for after in TRANSITIONS[before]}


def test_each_guard_of_a_model_says_what_breaks_without_it():
    assert set(guards.BREAKS_WITHOUT) == set(guards.Guard)
    assert set(job_guards.BREAKS_WITHOUT) == set(job_guards.JobGuard)
    assert set(debounce_guards.BREAKS_WITHOUT) == set(debounce_guards.DebounceGuard)
    assert set(slots_guards.BREAKS_WITHOUT) == set(slots_guards.SlotGuard)
    assert set(batch_guards.BREAKS_WITHOUT) == set(batch_guards.BatchGuard)
    assert set(checkpoint_guards.BREAKS_WITHOUT) == set(checkpoint_guards.CheckpointGuard)


def name_of(guard):
    """Return the name of the guard with most of the clauses of this one."""
    return max(GUARDS, key=lambda name: (clauses(GUARDS[name]) <= clauses(guard), len(clauses(GUARDS[name]))))


def clauses(guard):
    """Return the names of what a guard compares."""
    found = {
        CLAUSES[kind, name]
        for kind in ("as_read", "unset", "at_most", "above")
        for name in getattr(guard, kind)
        if name != "fence"
    }
    if "fence" in guard.as_read:
        found.add("FENCE_IS_AS_READ" if guard.status is Status.PENDING else "FENCE_IS_MINE")
    return found | HAND_OVERS[guard.is_handed_over] | {f"IS_{guard.status.upper()}"}


def _guards_of(write):
    """The names of the clauses, or of the constants, that a condition is made of."""
    if isinstance(write, tuple):
        read, _, guard = write
        named = clauses(guard)
        of_any = named - {f"IS_{read.status.upper()}"} | {"STATUS_IS_AS_READ"}
        return of_any if guard == as_it_is(read) else named
    if isinstance(write, Write):
        (clauses_of_all,) = write.guard
        return {name for clause in clauses_of_all.items() for name in _names_of(*clause)}
    return {GUARDS_BY_TEXT[write["ConditionExpression"]]}


def _names_of(field, test):
    """The names of what a guard of a job's write requires of a field."""
    if isinstance(test, AnyOf):
        return {CLAUSES_OF_JOBS[field, one] for one in test.tests}
    if isinstance(test, Not):
        return {CLAUSES_OF_JOBS[field, one] for one in (Presence.UNSET, test.value)}
    return {CLAUSES_OF_JOBS[field, test]}


def _written(update):
    """The attributes that an update sets, removes or adds to, by their own names."""
    if isinstance(update, Write):
        return {*update.sets, *update.adds}
    if isinstance(update, tuple):
        read, after, _ = update
        update = {} if after is read else conditions.swap(*update)
    clauses = re.split(r"\b(SET|REMOVE|ADD) ", update.get("UpdateExpression", ""))
    targets = []
    for word, clause in zip(clauses[1::2], clauses[2::2], strict=True):
        sets = r"(?:^|, )([#\w]+)(?:\[\d+\](?:\.\w+)?)? = "
        targets += re.findall(sets if word == "SET" else r"(?:^|, )([#\w]+)", clause)
    aliases = update.get("ExpressionAttributeNames", {})
    return {aliases.get(target, target) for target in targets}
