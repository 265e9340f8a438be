"""docs/protocol.md says what the code does.

Its tables are read and held against conditions, transitions and guards.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from duetime.aws import (
    backfills,
    batches,
    change_conditions,
    conditions,
    debounce,
    idempotency,
    job_conditions,
    optimistic,
    rates,
    slot_conditions,
)
from duetime.aws.items import to_item
from duetime.instant import LATEST
from duetime.memory.store import MemoryStore
from duetime.model.action import TRANSITIONS, SkipReason, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.debounce import coalesced
from duetime.model.run_stats import EndedRun
from duetime.model.transition import released, skipped, started
from duetime.ports.jobs import LockRequirement
from duetime_contract.handing_over import HALF, TERMS, completion
from duetime_contract.job_specimens import nightly, occurrence, taking
from duetime_contract.specimens import (
    CALLER,
    EXPIRY,
    HOUR,
    LEASE_END,
    NOON,
    end,
    running,
    scheduled,
    terms,
)
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
CALL = replace(scheduled(STORE), payload_offloaded=True, payload_size=5_000, payload_version=2)
HELD = replace(ROW, due_at=LATEST, first_due_at=NOON, after="batch:import-2027-03")
WRITES = {
    "claim": conditions.claim(terms()),
    "take over": conditions.take_over(terms(), RUN),
    "heartbeat": conditions.renew(RUN, NOON),
    "checkpoint": conditions.checkpoint(RUN, Checkpoint("1", RUN.fence, 1)),
    "settle": conditions.settle(RUN, end(Status.FAILED, message="because")),
    "settle by commit": conditions.settle(RUN, end(Status.EXECUTED)),
    "settle for retry": conditions.settle(
        RUN, replace(end(Status.PENDING, message="because"), continues=True)
    ),
    "hand over": conditions.hand_over(RUN, TERMS),
    "heartbeat by token": conditions.beat(RUN, NOON, now=NOON, progress=HALF),
    "report": conditions.report(RUN, HALF),
    "settle by token": conditions.settle(RUN, completion(NOON, status=Status.FAILED, result="1")),
    "settle for retry by token": conditions.settle(RUN, completion(NOON, status=Status.PENDING)),
    "cancel": change_conditions.cancel(ROW, by=CALLER, at=NOON, kept_until=EXPIRY),
    "ask to cancel": change_conditions.ask_to_cancel(RUN, by=CALLER, at=NOON),
    "reschedule": change_conditions.reschedule(ROW, NOON + HOUR, by=CALLER, at=NOON, expires_at=EXPIRY),
    "coalesce": change_conditions.coalesce(ROW, to_item(coalesced(ROW, CALL, by=CALLER, at=NOON))),
    "redrive": change_conditions.redrive(ROW, NOON + HOUR, "0", by=CALLER, at=NOON),
    "redrive with a key": change_conditions.redrive_with_key(ROW, NOON + HOUR, "0", by=CALLER, at=NOON),
    "dismiss": change_conditions.dismiss(ROW, "done by hand", by=CALLER, at=NOON),
    "release": change_conditions.release(HELD, released(HELD, now=NOON, unmet="its predecessor failed")),
    "defer": change_conditions.defer(ROW, NOON + HOUR, "a pause"),
    "skip": change_conditions.end_pending(
        ROW, skipped(ROW, SkipReason.REQUESTED, note="requested", by=CALLER, at=NOON, kept_until=EXPIRY)
    ),
}
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
STORED = replace(DEAD, checkpoint=Checkpoint("1", DEAD.fence, 1))
JOB_WRITES = {
    "change": [job_conditions.change(JOB, JOB, redefines=True)],
    "begin a backfill": [job_conditions.next_revision(JOB)],
    "move the cursor": [job_conditions.move_cursor(JOB, NOON, NOON + HOUR)],
    "postpone maintenance": [job_conditions.postpone(JOB, NOON + HOUR, 2)],
    "claim: its row": [optimistic.claim_row(PLANNED, started(PLANNED, terms()))],
    "take over: its row": [optimistic.claim_row(DEAD, started(DEAD, terms(LEASE_END)))],
    "take over: its row, with a checkpoint": [
        optimistic.claim_row(STORED, started(STORED, terms(LEASE_END)))
    ],
    "claim: the job unchanged": [job_conditions.claim_job(taking(PLANNED, JOB, LockRequirement.UNCHANGED))],
    "claim: the lock": [job_conditions.claim_job(taking(PLANNED, JOB))],
    "claim: the lock, after waiting": [job_conditions.claim_job(taking(PLANNED, WAITING))],
    "claim: a dead one's lock": [job_conditions.claim_job(taking(PLANNED, JOB, dead=DEAD))],
    "claim: the first lock after `allow`": [job_conditions.claim_job(taking(PLANNED, JOB, unlocked=()))],
    "claim: the dead one's row": [optimistic.still_dead(DEAD)],
    "claim: a settled one's row": [optimistic.still_dead(PLANNED)],
    "claim: a removed one's row": [optimistic.still_dead(None)],
    "settle: the unlock": [job_conditions.unlock(PLANNED.ref, item) for item in ENDS],
    "end pending: the unlock": [job_conditions.unlock(PLANNED.ref)],
    "end pending: no more waiting": [job_conditions.stop_waiting(PLANNED.ref)],
    "wait": [job_conditions.wait(replace(JOB, unlocked_since=None), PLANNED.ref)],
    "wait in another's place": [job_conditions.wait(replace(WAITING, running=DEAD.ref), DEAD.ref)],
    "count": [job_conditions.count(item) for item in ENDS],
}
"""Each as often as it takes to see all that it may write."""

JOB_GUARDS_BY_TEXT = {
    text: name
    for module in (optimistic, job_conditions)
    for name, text in vars(module).items()
    if name.isupper() and isinstance(text, str)
}


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
    parts = WRITES[write]["ConditionExpression"].split(" AND ")
    assert names(condition) == {GUARDS_BY_TEXT[part] for part in parts}


def test_the_page_names_the_guard_of_the_put_as_the_code_does():
    _, condition, *_ = table("write")["schedule"]
    assert names(condition) == {GUARDS_BY_TEXT[conditions.ROW_IS_ABSENT]}


def test_the_page_names_the_guards_of_idempotency_keys_as_the_code_does():
    guards = {name for name, text in vars(idempotency).items() if name.isupper() and isinstance(text, str)}
    shown = {name for cells in table("key").values() for name in names(cells[0]) | names(cells[1])}
    assert shown == guards - {"SERVICE"}


def test_the_page_names_the_guards_of_debounce_keys_as_the_code_does():
    guards = {name for name, text in vars(debounce).items() if name.isupper() and isinstance(text, str)}
    shown = {name for cells in table("debounce key").values() for name in names(cells[0]) | names(cells[1])}
    assert shown == guards


def test_the_page_names_the_guards_of_batches_as_the_code_does():
    guards = {name for name, text in vars(batches).items() if name.isupper() and isinstance(text, str)}
    shown = {name for cells in table("batch").values() for name in names(cells[0])}
    of_a_row = GUARDS_BY_TEXT[change_conditions.add_follower(ROW.id)["ConditionExpression"]]
    assert shown == guards & {"BATCH_IS_ABSENT", "BATCH_IS_AS_READ"} | {of_a_row}


def test_the_page_names_the_guards_of_backfills_as_the_code_does():
    shown = {name for cells in table("backfill").values() for name in names(cells[0])}
    own = {name for name, text in vars(backfills).items() if name.endswith("_IS_AS_READ") and text}
    assert shown == own | {GUARDS_BY_TEXT[conditions.ROW_IS_ABSENT]}


def test_the_page_names_the_guards_of_concurrency_keys_as_the_code_does():
    own = {name for name, text in vars(slot_conditions).items() if name.isupper() and isinstance(text, str)}
    of_rows = {
        "STATUS_IS_AS_READ",
        "FENCE_IS_MINE",
        "GENERATION_IS_AS_READ",
        "LEASE_IS_AS_READ",
        "ROW_IS_ABSENT",
    }
    of_rows |= {"CHECKPOINT_IS_AS_READ", "CHECKPOINT_IS_ABSENT"}
    shown = {name for cells in table("slots").values() for name in names(cells[0]) | names(cells[1])}
    assert shown == own - {"SERVICE"} | of_rows


def test_the_page_names_the_guards_of_rate_limits_as_the_code_does():
    own = {name for name, text in vars(rates).items() if name.isupper() and isinstance(text, str)}
    shown = {name for cells in table("counters").values() for name in names(cells[0])}
    assert shown == own - {"SERVICE"}


def test_every_guard_of_the_code_is_on_the_page():
    shown = {name for cells in table("write").values() for name in names(cells[1])}
    shown |= {name for cells in table("batch").values() for name in names(cells[0]) if "BATCH" not in name}
    of_standby = {"EPOCH_IS_NOT_LATER"}
    assert shown | of_standby == set(GUARDS_BY_TEXT.values())
    assert all(f"`{name}`" in PAGE.read_text() for name in of_standby)


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


def test_every_guard_of_the_jobs_code_is_on_the_page():
    shown = {name for cells in table("write of a job").values() for name in names(cells[0])}
    assert shown == set(JOB_GUARDS_BY_TEXT.values())


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


def _guards_of(update):
    """The names of the constants that a condition is made of; there must be nothing else in it."""
    rest, found = update["ConditionExpression"], set()
    for text, name in JOB_GUARDS_BY_TEXT.items():
        if re.search(rf"(?<![\w#]){re.escape(text)}(?!\w)", rest):
            rest, _ = rest.replace(text, ""), found.add(name)
    assert set(re.findall(r"\w+|[^\s()]", rest)) <= {"AND", "OR", "NOT"}
    return found


def _written(update):
    """The attributes that an update sets, removes or adds to, by their own names."""
    clauses = re.split(r"\b(SET|REMOVE|ADD) ", update.get("UpdateExpression", ""))
    targets = []
    for word, clause in zip(clauses[1::2], clauses[2::2], strict=True):
        sets = r"(?:^|, )([#\w]+)(?:\[\d+\](?:\.\w+)?)? = "
        targets += re.findall(sets if word == "SET" else r"(?:^|, )([#\w]+)", clause)
    aliases = update.get("ExpressionAttributeNames", {})
    return {aliases.get(target, target) for target in targets}
