"""Facts exactly at their bounds, one step beside them, and at what is none of the allowed kinds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from duetime import ids, instant
from duetime.actions.order import debounced_by
from duetime.errors import (
    DeclarationError,
    InvalidArgument,
    InvalidCursor,
    InvalidPayload,
    KeyConflict,
    NotFound,
)
from duetime.model import transition
from duetime.model.action import CONTINUES, Action, Attempt, Ending, SkipReason, Status, Trigger
from duetime.model.action_events import of_action, public_fields
from duetime.model.backfill import (
    MOST_AT_ONCE,
    MOST_TIMES,
    Backfill,
    BackfillOrder,
    BackfillRef,
    BackfillState,
)
from duetime.model.batch import MemberStatus, batch_name
from duetime.model.built_in import canary_row, check_type, is_forged
from duetime.model.change import Change
from duetime.model.checkpoint import Checkpoint
from duetime.model.content_filter import (
    LONGEST_TEXT,
    MOST_FIELDS,
    PayloadField,
    checked_error,
    checked_fields,
    fields_of,
    has_error,
)
from duetime.model.deadline import DeadlineState, deadline_at, state_at, wall_seconds
from duetime.model.decision import Decision
from duetime.model.deployed_shards import DeployedShards
from duetime.model.event_chain import DEPTH_FIELD, depth_of
from duetime.model.event_pattern import matches
from duetime.model.event_pattern_rules import LARGEST, problems_of
from duetime.model.expiry import Expiry, check_expiry, expiry_of, expiry_time
from duetime.model.hand_over import (
    LONGEST,
    NOTE_LIMIT,
    QUESTION_LIMIT,
    SHORTEST,
    Approval,
    HandedOver,
    checked_progress,
    checked_result,
    has_timed_out,
    progress_of,
)
from duetime.model.hand_over_token import Token
from duetime.model.idempotency import HeldKey, key_terms
from duetime.model.job import (
    Definition,
    Job,
    JobRef,
    JobSpan,
    Origin,
    Pause,
    SpanKind,
    current_definition,
    job_ref_of,
    replaced_definition,
)
from duetime.model.job_events import BackfillChange, JobChange, SpanKept, of_backfill, of_job, of_span
from duetime.model.json_value import JSON_LIMIT, is_too_large, json_text
from duetime.model.lifecycle import is_in_events, of_work_pause
from duetime.model.manifest import PLAIN_LIMIT, WorkerRoute, packed
from duetime.model.marks import DueMark, FailedMark
from duetime.model.new_action import PAYLOAD_LIMIT, rate_key_of, written_payload
from duetime.model.predecessors import Predecessors, decide, waits_for
from duetime.model.preferences import ADDRESSES_LIMIT, Preferences
from duetime.model.priority import check_priority, declared_priority
from duetime.model.quota import Quota, has_quotas, limit_of
from duetime.model.read_back import differences, with_sorted_sets
from duetime.model.recount import RecountReport
from duetime.model.row_parts import Act, After, Debounced, HandOver, RunPlan
from duetime.model.run_counts import count_of
from duetime.model.selection import RunSelection, Selection, check_limit
from duetime.model.usage import day_name, month_name, size_of, usage_changes, usage_of
from duetime.model.work_pause import (
    BreakerState,
    PausableWork,
    PauseScope,
    WorkPause,
    WorkPauseChange,
    check_end,
    held_before,
    hold_of,
    pause_of_tenant,
    skip_of,
)
from duetime.payload import Payload
from duetime.ports.backfills import backfill_put, to_backfill
from duetime.ports.batches import MOST_MEMBERS, _problems
from duetime.ports.job_store import check_names
from duetime.ports.keyed_items import COUNT_LIMIT, EXACT_INSTANT, IS_NEW, value_at
from duetime.settings import LONGEST_KEY_TTL, SHORTEST_KEY_TTL, Made, Settings
from tests.facts.test_batch_counts import OPEN

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
TICK, SECOND, MINUTE, HOUR = (timedelta(microseconds=n) for n in (1, 10**6, 6 * 10**7, 36 * 10**8))
RUN = ids.occurrence_id("books-close", 1, NOON)
ROW = Action(
    tenant_id="acme",
    id=ids.new_action_id(NOON),
    type="errand",
    due_at=NOON,
    due_shard="0",
    created_by="ada",
    payload=None,
)
RETRY = Attempt(queued_at=NOON, started_at=NOON, instance="w", finished_at=NOON, ending=Ending.RETRY)
RETRIED = replace(ROW, id=RUN, attempt=1, attempts=(RETRY,))
WORK = PausableWork(tenant_id="acme", id=ROW.id, type="errand", due_at=NOON)
PAUSE = WorkPause(
    id="p-1", scope=PauseScope.TYPE, name="errand", reason="an audit", by="ann", since=NOON - HOUR
)
LOWERED = DeployedShards(16, 32, NOON)
CHANGED = Act(NOON + HOUR, "bea")
LATE = replace(ROW, id=ids.backfill_run_id("books", 1, NOON, "00000000"), planned=RunPlan(NOON + HOUR))
HELD = replace(ROW, due_at=instant.LATEST, after=After(RUN))
MANUAL = replace(ROW, id=ids.manual_run_id("books", 1, NOON), payload="{}")
OFTEN = Settings(made=Made(canary=5 * MINUTE))
MADE = canary_row(NOON, OFTEN, 1)
BREAKER = BreakerState(open_for=HOUR, probes_at=NOON, probe=ROW.id, probe_until=NOON + HOUR)


JOB = JobRef("acme", "books-close")
LONG_ADDRESS = f"ab@{'.'.join(['b' * 61] * 4)}.com"
STARTED = replace(RETRY, started_at=NOON + HOUR, finished_at=None, ending=None)
OTHER = ids.member_id(ROW.id, 1)
HELD = replace(HELD, after=After(ROW.id))
HANDED = replace(
    ROW, status=Status.PROCESSING, lease_until=NOON + HOUR, hand_over=HandOver(0, NOON, NOON + HOUR, "k", 60)
)
TIMED_OUT = replace(
    ROW,
    attempts=(replace(RETRY, finished_at=None), STARTED),
    hand_over=HandOver(1, NOON, NOON + HOUR, "k"),
)
HELD_KEY = HeldKey.for_action(ROW, NOON)
FOR_YEARS = Settings(retention=timedelta(days=1_000))
FAILED, FAILED_MARK = frozenset({Status.FAILED}), str(FailedMark.from_row(ROW))
ROUTE = WorkerRoute(1, "w", has_high_queue=True)
DAILY = Definition(name="books-close", type="errand", cadences=("daily 12:00",))
TITLED = replace(DAILY, title="Books")
KEYED_JOB = Job(
    ref=JOB,
    definition=DAILY,
    origin=Origin.RUNTIME,
    since=NOON - HOUR,
    anchor=NOON,
    cursor=NOON,
    maintain_at=NOON,
    idempotency_key="k",
    idempotency_until=NOON,
)
FIRST_PAUSE = Pause(since=NOON, by="ann")
OVER = replace(PAUSE, ended_at=NOON, ended_by="bea")
OF_TENANT = replace(PAUSE, scope=PauseScope.TENANT, name="acme")
REPORT = RecountReport(began_at=NOON, since=NOON, until=NOON)
FINDING = "a finding"


BACKFILL = Backfill(
    ref=BackfillRef(JOB, ids.new_backfill_id()),
    version=1,
    start=NOON,
    until=NOON + HOUR,
    total=3,
    begun_by="ada",
    begun_at=NOON,
    rest_from=NOON,
    rest_until=NOON + HOUR,
)
EXAMINED = replace(BACKFILL, rest_from=NOON + HOUR)


STOPPING, WAITS = replace(ROW, cancel_request=CHANGED), replace(ROW, waits_for=RUN)
GONE = replace(KEYED_JOB, removed_at=NOON)


def failed(times):
    return replace(KEYED_JOB, tally=replace(KEYED_JOB.tally, consecutive_failures=times))


def paused_twice(later=2 * HOUR):
    late = Pause(since=NOON + TICK, by="bea", until=NOON + later)
    return replace(FIRST_PAUSE, until=NOON + HOUR).beside(late)


def lateness(**changed):
    ended = {"status": Status.FAILED, "attempt": 1, "attempts": (RETRY,), "planned": RunPlan(NOON)} | changed
    return count_of(Change(replace(ROW, status=Status.PROCESSING), replace(ROW, **ended)), NOON).lateness


def ended_by(ending):
    return replace(ROW, status=Status.CANCELLED, attempts=(replace(RETRY, ending=ending, message="no more"),))


STOPPED = ended_by(Ending.RETRY)


class Text(Payload):
    text: str


class Unlimited(Payload):
    type_rate = None


def preferences(*addresses):
    return Preferences(tenant_id="acme", addresses=addresses)


def of_size(size):
    return Text(text="x" * (size - len(Text(text="").to_json())))


VALUES = [
    (lambda: state_at(NOON, None, NOON), DeadlineState.OPEN),
    (lambda: state_at(NOON, None, NOON + TICK), DeadlineState.MISSED),
    (lambda: wall_seconds("23:59:59"), 86_399),
    (lambda: DeployedShards(16, 32, NOON).most(NOON - TICK), 32),
    (lambda: DeployedShards(16, 32, NOON).most(NOON), 16),
    (lambda: depth_of({"detail": {DEPTH_FIELD: 1}}), 1),
    (lambda: depth_of({"detail": {DEPTH_FIELD: -1}}), 0),
    (lambda: matches({"a": [{"prefix": "x"}]}, {"a": 5}), False),
    (lambda: matches({"a": [{"anything-but": {"prefix": "x"}}]}, {}), False),
    (lambda: HandOver(1, NOON, NOON + HOUR, "k").waits_until(NOON), NOON + HOUR),
    (lambda: HandOver(1, NOON, NOON + HOUR, "k", 60).waits_until(NOON), NOON + MINUTE),
    (lambda: checked_progress(1, "x" * NOTE_LIMIT).note, "x" * NOTE_LIMIT),
    (lambda: checked_progress(1, "").note, ""),
    (lambda: Approval("?" * QUESTION_LIMIT).question, "?" * QUESTION_LIMIT),
    (lambda: packed("x" * PLAIN_LIMIT), "x" * PLAIN_LIMIT),
    (lambda: packed("x" * PLAIN_LIMIT + "x")[:2], "z:"),
    (lambda: written_payload(of_size(PAYLOAD_LIMIT))[1], PAYLOAD_LIMIT),
    (lambda: checked_error("x" * LONGEST_TEXT), "x" * LONGEST_TEXT),
    (lambda: len(checked_fields({f"f{n}": "x" * LONGEST_TEXT for n in range(MOST_FIELDS)})), MOST_FIELDS),
    (lambda: len(preferences(*["a@b.example"] * ADDRESSES_LIMIT).addresses), ADDRESSES_LIMIT),
    (lambda: [*differences(1, 1.5)], [""]),
    (lambda: [*differences(NOON, NOON.replace(tzinfo=None))], [""]),
    (lambda: with_sorted_sets(("b", "a", "c"), ["b", "a"]), ["b", "a"]),
    (lambda: usage_of({month_name(NOON - timedelta(days=31)): 3}, NOON).pending, 3),
    (lambda: PAUSE.covers(WORK), True),
    (lambda: PAUSE.covers(replace(WORK, type="duetime-canary")), False),
    (lambda: replace(PAUSE, name="duetime-canary").covers(replace(WORK, type="duetime-canary")), False),
    (lambda: replace(PAUSE, ended_at=NOON).ended_early, True),
    (lambda: replace(PAUSE, ended_at=NOON, until=NOON).ended_early, False),
    (lambda: replace(PAUSE, scope=PauseScope.TENANT, name="acme", tenant_id="acme").subject, "tenant acme"),
    (lambda: BREAKER.again_at(NOON), NOON + MINUTE),
    (lambda: replace(BREAKER, probe_until=NOON + SECOND).again_at(NOON), NOON + SECOND),
    (lambda: Expiry(HOUR).of(ROW), NOON + HOUR),
    (lambda: Expiry(HOUR).of(replace(ROW, id=RUN)), None),
    (lambda: replace(ROW, waits_for=RUN).waits_for_run, True),
    (lambda: replace(ROW, waits_for=RUN, attempt=1).waits_for_run, False),
    (lambda: replace(ROW, redriven_after=1).tried_since, NOON),
    (lambda: replace(ROW, attempt=1).is_retrying, False),
    (lambda: replace(ROW, attempt=1, attempts=(RETRY,)).is_retrying, True),
    (lambda: replace(ROW, attempt=1, attempts=(replace(RETRY, message=CONTINUES),)).is_retrying, False),
    (lambda: replace(ROW, attempt=1, attempts=(replace(RETRY, ending=None),)).is_retrying, False),
    (lambda: replace(RETRY, ending=Ending.FAILED, message=CONTINUES).is_continued, False),
    (lambda: Selection(due_until=NOON).has_due_range, True),
    (lambda: Selection(due_after=NOON).has_due_range, True),
    (lambda: Selection().has_due_range, False),
    (lambda: RunSelection(statuses=frozenset(), retrying=True).admits(ROW), False),
    (lambda: RunSelection(statuses=frozenset(), retrying=True).admits(RETRIED), True),
    (lambda: RunSelection(statuses=frozenset()).admits(RETRIED), False),
    (lambda: value_at({"waiting": [1]}, "waiting[0]"), 1),
    (lambda: value_at({"waiting": [1]}, "waiting[1]"), None),
    (lambda: EXACT_INSTANT.load(instant.text(NOON)), NOON),
    (lambda: EXACT_INSTANT.load(instant.text(instant.EARLIEST)), instant.EARLIEST),
    (lambda: EXACT_INSTANT.load(instant.text(instant.LATEST)), instant.LATEST),
    (lambda: wall_seconds("00:30"), 1_800),
    (
        lambda: DeployedShards(16, 32, NOON).after(DeployedShards(8, 16, NOON), NOON),
        DeployedShards(16, 32, NOON),
    ),
    (
        lambda: DeployedShards(16).after(DeployedShards(16, 32, NOON), NOON - TICK),
        DeployedShards(16, 32, NOON),
    ),
    (lambda: DeployedShards(16).after(DeployedShards(32), NOON), DeployedShards(16, 32, NOON + 24 * HOUR)),
    (lambda: matches({"a": [1]}, {"a": True}), False),
    (lambda: matches({"a": [1]}, {}), False),
    (lambda: ROW.trigger, Trigger.SCHEDULED),
    (lambda: replace(ROW, id=RUN).trigger, Trigger.CADENCE),
    (lambda: replace(ROW, id=ids.event_run_id("books", NOON, "x")).trigger, Trigger.EVENT),
    (lambda: replace(ROW, id=ids.manual_run_id("books", 1, NOON)).trigger, Trigger.MANUAL),
    (lambda: LATE.trigger, Trigger.BACKFILL),
    (lambda: replace(LATE, id=RUN, planned=RunPlan(NOON, "x", catches_up=True)).trigger, Trigger.CATCH_UP),
    (lambda: LATE.tried_since, NOON + HOUR),
    (lambda: replace(LATE, id=RUN).tried_since, NOON),
    (lambda: replace(ROW, changed=CHANGED).tried_since, NOON),
    (lambda: replace(ROW, changed=CHANGED, redriven_after=1).tried_since, NOON + HOUR),
    (lambda: MemberStatus.from_row(replace(ROW, changed=CHANGED)).redriven_at, None),
    (lambda: MemberStatus.from_row(replace(ROW, changed=CHANGED, redriven_after=1)).redriven_at, NOON + HOUR),
    (lambda: replace(ROW, waits_for=RUN, status=Status.PROCESSING).waits_for_run, False),
    (lambda: HELD.is_held, True),
    (lambda: replace(HELD, after=None).is_held, False),
    (lambda: replace(HELD, status=Status.CANCELLED).is_held, False),
    (lambda: replace(HELD, due_at=instant.LATEST - TICK).is_held, False),
    (lambda: RETRIED.modified_by, "w"),
    (lambda: replace(RETRIED, attempts=(STARTED,)).modified_at, NOON + HOUR),
    (lambda: replace(RETRIED, attempts=(replace(RETRY, finished_at=NOON + HOUR),)).modified_at, NOON + HOUR),
    (lambda: replace(RETRIED, changed=CHANGED).modified_by, "bea"),
    (lambda: replace(RETRIED, status=Status.PROCESSING).is_retrying, False),
    (lambda: replace(RETRIED, redriven_after=1).is_retrying, False),
    (lambda: replace(ROW, id=RUN, payload="{}").as_listed().payload, None),
    (lambda: MANUAL.as_listed().payload, "{}"),
    (lambda: replace(MANUAL, payload_size=2).as_listed().payload, None),
    (lambda: has_error(RETRIED, "any"), False),
    (lambda: PayloadField.parse("payload.a = 1"), ("a", "1")),
    (lambda: BACKFILL.needs_steps, True),
    (lambda: replace(BACKFILL, ended_at=NOON).needs_steps, False),
    (lambda: replace(BACKFILL, state=BackfillState.PAUSED).needs_steps, False),
    (lambda: replace(BACKFILL, state=BackfillState.PAUSED, open=(NOON,)).needs_steps, True),
    (lambda: BACKFILL.overlaps(NOON + HOUR, NOON + 2 * HOUR), False),
    (lambda: BACKFILL.overlaps(NOON - HOUR, NOON), False),
    (lambda: BACKFILL.overlaps(NOON - HOUR, NOON + TICK), True),
    (lambda: replace(BACKFILL, open=(NOON,)).counted({NOON: Status.PROCESSING}).open, (NOON,)),
    (lambda: replace(BACKFILL, open=(NOON, NOON + TICK)).counted({NOON: Status.FAILED}).open, (NOON + TICK,)),
    (lambda: replace(BACKFILL, order=BackfillOrder.NEWEST).exhausted().rest_until, NOON),
    (lambda: debounced_by("k", None, due_at=NOON, until=NOON + HOUR), Debounced("k", NOON + HOUR)),
    (lambda: debounced_by("k", None, due_at=NOON, until=NOON).until, NOON),
    (lambda: public_fields(replace(ROW, note="a note", skip_reason=SkipReason.MISSED))["reason"], "a note"),
    (lambda: public_fields(replace(ROW, skip_reason=SkipReason.MISSED))["reason"], "missed"),
    (lambda: public_fields(STOPPED)["reason"], None),
    (lambda: public_fields(replace(STOPPED, status=Status.FAILED))["reason"], "no more"),
    (lambda: public_fields(ended_by(Ending.CANCELLED))["reason"], "no more"),
    (lambda: BREAKER.lacks_a_probe(NOON), False),
    (lambda: replace(BREAKER, probe_until=None).lacks_a_probe(NOON), True),
    (lambda: BREAKER.lacks_a_probe(NOON + HOUR), True),
    (lambda: replace(BREAKER, probes_at=NOON + 2 * HOUR).lacks_a_probe(NOON + HOUR), False),
    (lambda: replace(PAUSE, until=NOON).is_over(NOON), True),
    (lambda: held_before([replace(PAUSE, until=NOON)], WORK, NOON), None),
    (lambda: held_before([replace(PAUSE, until=NOON + TICK)], WORK, NOON + TICK).id, "p-1"),
    (lambda: held_before([replace(PAUSE, until=NOON + TICK)], WORK, NOON), None),
    (lambda: check_end(None, is_required=False), None),
    (lambda: check_end(NOON, is_required=True), None),
    (lambda: Change(ROW, replace(ROW, generation=2)).left_pending, ROW),
    (lambda: Change(ROW, replace(ROW, note="x")).left_pending, None),
    (lambda: is_forged(MADE, OFTEN), False),
    (lambda: is_forged(replace(MADE, due_at=NOON), OFTEN), True),
    (lambda: is_forged(canary_row(NOON + MINUTE, OFTEN, 1), OFTEN), True),
    (lambda: Predecessors.from_names([ROW.id] * 3).ids, (ROW.id,)),
    (lambda: len(Predecessors.from_names(ids.member_id(ROW.id, n) for n in range(20)).ids), 20),
    (lambda: replace(LATE, planned=None).tried_since, NOON),
    (lambda: replace(RETRIED, status=Status.EXECUTED).failure_reason, None),
    (lambda: replace(ROW, status=Status.FAILED, hand_over=HandOver(0, NOON, NOON, "k")).handed_over, None),
    (lambda: HANDED.heartbeat_at, NOON + HOUR - MINUTE),
    (lambda: replace(HANDED, lease_until=NOON + MINUTE).heartbeat_at, None),
    (lambda: replace(HANDED, lease_until=NOON + MINUTE + TICK).heartbeat_at, NOON + TICK),
    (lambda: HANDED.has_timed_out_at(NOON + HOUR), True),
    (lambda: has_error(STOPPED, "NO …re"), True),
    (lambda: has_error(STOPPED, "more…no"), False),
    (lambda: matches({"a": ["x"]}, {"a": "y"}), False),
    (lambda: matches({"a": [{"anything-but": ["x"]}]}, {"a": "x"}), False),
    (lambda: matches({"a": [{"anything-but": ["x"]}]}, {}), False),
    (lambda: Change(None, ROW).became_pending, ROW),
    (lambda: Change(ROW, replace(ROW, note="x")).became_pending, None),
    (lambda: Change(ROW, replace(ROW, generation=2)).became_pending, replace(ROW, generation=2)),
    (lambda: Change(ROW, replace(ROW, status=Status.CANCELLED)).left_pending, ROW),
    (lambda: Change(replace(ROW, status=Status.FAILED), None).left_pending, None),
    (lambda: Checkpoint("1", 7, 2).replaces(Checkpoint("1", 7, 2)), False),
    (lambda: Checkpoint("1", 8, 1).replaces(Checkpoint("1", 7, 2)), True),
    (lambda: deadline_at(replace(DAILY, deadline="12:00"), NOON, "UTC"), NOON + 24 * HOUR),
    (lambda: deadline_at(replace(DAILY, deadline="12:01"), NOON, "UTC"), NOON + MINUTE),
    (
        lambda: [
            replace(DAILY, **found).has_deadline for found in ({}, {"deadline": "12:00"}, {"within": 1})
        ],
        [0, 1, 1],
    ),
    (lambda: Decision(is_approved=True, by="ann").result(None), '{"approved":true,"by":"ann","reason":null}'),
    (lambda: Decision(is_approved=False, by="ann", reason="no").result(None), None),
    (lambda: Decision(is_approved=False, by="ann", reason="no").outcome("execute").ending, Ending.EXECUTED),
    (lambda: Expiry(HOUR).of(replace(ROW, expires_at=NOON)), NOON),
    (lambda: Expiry().of(ROW), None),
    (lambda: expiry_time(NOON, None, None, now=NOON), None),
    (lambda: expiry_time(NOON, None, TICK, now=NOON - HOUR), NOON + TICK),
    (lambda: expiry_time(NOON, NOON + TICK, None, now=NOON - HOUR), NOON + TICK),
    (lambda: expiry_time(NOON, datetime(2026, 6, 1, 15), None, now=NOON, tz="Europe/Paris"), NOON + HOUR),
    (lambda: check_expiry(NOON, NOON + TICK), None),
    (lambda: check_expiry(NOON, None), None),
    (lambda: Approval("?").terms, None),
    (lambda: HandedOver(HOUR, heartbeat=HOUR).heartbeat, HOUR),
    (lambda: HandedOver(SHORTEST).timeout, SHORTEST),
    (lambda: HandedOver(LONGEST).timeout, LONGEST),
    (lambda: HandedOver(HOUR).by(ROW, NOON).key, ""),
    (lambda: checked_progress(0, "").share, 0),
    (lambda: progress_of(None, ""), None),
    (lambda: has_timed_out(TIMED_OUT), True),
    (lambda: has_timed_out(replace(TIMED_OUT, attempts=(STARTED,))), False),
    (lambda: has_timed_out(replace(TIMED_OUT, attempts=(RETRY, STARTED))), False),
    (lambda: has_timed_out(replace(TIMED_OUT, hand_over=HandOver(1, NOON, NOON + HOUR + TICK, "k"))), False),
    (lambda: has_timed_out(replace(TIMED_OUT, hand_over=HandOver(1, NOON - TICK, NOON, "k"))), False),
    (lambda: checked_result(None), None),
    (lambda: HELD_KEY.first(ROW, ROW, NOON).id, ROW.id),
    (lambda: HELD_KEY.first(ROW, replace(ROW, status=Status.FAILED), NOON - TICK).id, ROW.id),
    (lambda: HELD_KEY.first(ROW, replace(ROW, status=Status.FAILED), NOON), None),
    (lambda: HELD_KEY.first(ROW, None, NOON), None),
    (lambda: key_terms("k", SHORTEST_KEY_TTL, now=NOON, settings=Settings()).until, NOON + SHORTEST_KEY_TTL),
    (lambda: key_terms("k", LONGEST_KEY_TTL, now=NOON, settings=FOR_YEARS).until, NOON + LONGEST_KEY_TTL),
    (lambda: job_ref_of(ROW), None),
    (lambda: job_ref_of(RETRIED), JOB),
    (lambda: job_ref_of(replace(RETRIED, planned=RunPlan(NOON, job_tenant="globex"))).tenant_id, "globex"),
    (lambda: [*FIRST_PAUSE.stretches(NOON + HOUR)], [(NOON, NOON + HOUR, FIRST_PAUSE)]),
    (lambda: [*FIRST_PAUSE.stretches(NOON)], []),
    (lambda: FIRST_PAUSE.beside(Pause(since=NOON + TICK, by="bea", until=NOON + HOUR)).by, "ann"),
    (lambda: FIRST_PAUSE.beside(Pause(since=NOON + TICK, by="bea")).since, NOON),
    (lambda: KEYED_JOB.holds_key("k", NOON - TICK), True),
    (lambda: KEYED_JOB.holds_key("k", NOON), False),
    (lambda: KEYED_JOB.holds_key("another", NOON - TICK), False),
    (lambda: current_definition(KEYED_JOB).since, NOON - HOUR),
    (lambda: replaced_definition(KEYED_JOB, KEYED_JOB), None),
    (lambda: replaced_definition(KEYED_JOB, replace(KEYED_JOB, version=2, since=NOON)).until, NOON),
    (lambda: replaced_definition(KEYED_JOB, replace(KEYED_JOB, definition=TITLED)).id, "1.1"),
    (lambda: replaced_definition(KEYED_JOB, replace(KEYED_JOB, definition=TITLED)).until, NOON - HOUR),
    (
        lambda: replaced_definition(
            replace(KEYED_JOB, origin=Origin.CODE), replace(KEYED_JOB, definition=TITLED)
        ),
        None,
    ),
    (lambda: len(json_text("x" * (JSON_LIMIT - 2))), JSON_LIMIT),
    (lambda: [is_too_large(text) for text in (None, "x" * JSON_LIMIT, "x" * JSON_LIMIT + "x")], [0, 0, 1]),
    (lambda: str(FailedMark.parse(FAILED_MARK, {"acme"})), FAILED_MARK),
    (lambda: [ROUTE.queue(is_high=high) for high in (False, True)], ["w", "w_high"]),
    (lambda: ROUTE._replace(is_high=True).queue(is_high=False), "w_high"),
    (lambda: ROUTE._replace(has_high_queue=False).queue(is_high=True), "w"),
    (lambda: rate_key_of(Text(text="x"), None), None),
    (lambda: decide(HELD, {RUN: replace(ROW, status=Status.EXECUTED)}, {}).decision.value, "run"),
    (lambda: decide(HELD, {ROW.id: replace(ROW, status=Status.FAILED)}, {}).decision.value, "fail"),
    (lambda: decide(HELD, {ROW.id: ROW}, {}).decision.value, "wait"),
    (lambda: [*waits_for(HELD, {ROW.id: ROW}, {})], [f"action {ROW.id}, which is pending"]),
    (lambda: [*waits_for(HELD, {ROW.id: replace(ROW, status=Status.FAILED)}, {})], []),
    (lambda: Predecessors.of([ROW, OTHER]).ids, (ROW.id, OTHER)),
    (lambda: [has_quotas(Settings(tenants=names)) for names in ("acme", "acme globex", "*")], [0, 1, 1]),
    (
        lambda: [limit_of(Settings(tenants="*"), name, Quota.JOBS) for name in ("acme", ids.SYSTEM_TENANT)],
        [1_000, None],
    ),
    (
        lambda: limit_of(Settings(tenants="*", quotas={"acme": "jobs=5", "*": "jobs=6"}), "acme", Quota.JOBS),
        5,
    ),
    (lambda: limit_of(Settings(tenants="acme", quotas={"*": "jobs=6"}), "acme", Quota.JOBS), 6),
    (lambda: limit_of(Settings(tenants="acme"), "acme", Quota.JOBS), None),
    (lambda: check_priority("high", enabled=True), "high"),
    (lambda: REPORT.plus([FINDING], {"a": 2}).in_words(), "1 job, 2 nominal times, 1 finding"),
    (lambda: REPORT.plus([FINDING], {}).findings, (FINDING,)),
    (
        lambda: REPORT.with_one_shots([FINDING], {"a": 2}),
        replace(REPORT, one_shots={"a": 2}, found=1, findings=(FINDING,)),
    ),
    (lambda: Selection(statuses=FAILED).is_failed_only, True),
    (lambda: Selection(statuses=FAILED, retrying=True).is_failed_only, False),
    (lambda: Selection(statuses=FAILED).has_runs, True),
    (
        lambda: [Selection(**found).has_runs for found in ({}, {"job": "books"}, {"action_ids": (RUN,)})],
        [0, 1, 1],
    ),
    (lambda: [Selection(**found).is_scan for found in ({}, {"error": "x"}, {"payload": ("a",)})], [0, 1, 1]),
    (lambda: Selection(runs=False).is_unrestricted, True),
    (lambda: [Selection(runs=False).admits(row) for row in (ROW, RETRIED)], [1, 0]),
    (lambda: [Selection(statuses=frozenset(), retrying=True).admits(row) for row in (ROW, RETRIED)], [0, 1]),
    (lambda: Selection(retrying=True).admits(ROW), True),
    (lambda: Selection(statuses=frozenset()).admits(RETRIED), False),
    (lambda: Selection(statuses=FAILED).admits(replace(ROW, status=Status.FAILED)), True),
    (
        lambda: Selection(statuses=FAILED).admits(replace(ROW, status=Status.FAILED, dismissed_reason="x")),
        False,
    ),
    (lambda: [Selection(error=text).admits(STOPPED) for text in ("no", "yes")], [1, 0]),
    (lambda: RunSelection(nominal_after=NOON).admits(RETRIED), False),
    (lambda: RunSelection(nominal_until=NOON).admits(RETRIED), True),
    (lambda: [check_limit(limit, 5) for limit in (1, 5)], [None, None]),
    (lambda: transition.asked_to_cancel(ROW, by="bea", at=NOON + HOUR), replace(ROW, cancel_request=CHANGED)),
    (
        lambda: transition.rescheduled(ROW, NOON + TICK, by="bea", at=NOON + HOUR, expires_at=NOON + HOUR),
        replace(ROW, due_at=NOON + TICK, generation=2, changed=CHANGED, expires_at=NOON + HOUR),
    ),
    (
        lambda: transition.dismissed(ROW, "x", by="bea", at=NOON + HOUR),
        replace(ROW, dismissed_reason="x", changed=CHANGED),
    ),
    (
        lambda: usage_changes([(Change(None, replace(ROW, payload="{}")), NOON)]),
        {("acme", "m202606"): 1, ("acme", "d20260601"): 2},
    ),
    (
        lambda: usage_changes([(Change(ROW, replace(ROW, status=Status.FAILED)), NOON)]),
        {("acme", "m202606"): -1},
    ),
    (
        lambda: usage_changes(
            [(Change(None, replace(one, payload="{}")), NOON) for one in (RETRIED, MADE, STOPPED)]
        ),
        {},
    ),
    (lambda: usage_changes([(Change(ROW, replace(ROW, payload="{}")), NOON)]), {}),
    (lambda: paused_twice().by, "bea"),
    (lambda: paused_twice(HOUR / 2).by, "ann"),
    (lambda: replace(HANDED, hand_over=HandOver(0, NOON, NOON + HOUR, "k")).heartbeat_at, None),
    (lambda: MemberStatus.from_row(replace(ROW, redriven_after=1)).redriven_at, None),
    (lambda: DeployedShards(16).after(DeployedShards(16), NOON), DeployedShards(16)),
    (lambda: len(preferences(LONG_ADDRESS).addresses), 1),
    (lambda: [*differences(NOON.time(), NOON.time().replace(fold=1))], [""]),
    (lambda: paused_twice().since, NOON),
    (lambda: count_of(Change(None, replace(MADE, status=Status.FAILED)), NOON), None),
    (
        lambda: [count_of(Change(None, replace(STOPPED, id=name)), NOON).name for name in (ROW.id, RUN)],
        ["errand", "books-close"],
    ),
    (lambda: decide(replace(HELD, after=After(ROW.id, "any")), {ROW.id: STOPPED}, {}).decision.value, "run"),
    (
        lambda: decide(replace(HELD, after=After(ROW.id, "skip")), {ROW.id: STOPPED}, {}).decision.value,
        "skip",
    ),
    (lambda: OF_TENANT.covers(replace(WORK, type="duetime-canary")), True),
    (
        lambda: replace(OF_TENANT, name=ids.SYSTEM_TENANT).covers(replace(WORK, tenant_id=ids.SYSTEM_TENANT)),
        False,
    ),
    (lambda: "was paused" in replace(PAUSE, breaker=BREAKER, ended_at=NOON).story(NOON), True),
    (lambda: [event.at for event in of_work_pause(WorkPauseChange(None, PAUSE))], [NOON - HOUR]),
    (lambda: [event.at for event in of_work_pause(WorkPauseChange(PAUSE, OVER))], [NOON]),
    (lambda: replace(STOPPED, status=Status.EXECUTED).failure_reason, None),
    (
        lambda: [event.at for event in of_action(Change(ROW, replace(WAITS, generation=2)), NOON + HOUR)],
        [NOON + HOUR],
    ),
    (lambda: [event.at for event in of_action(Change(None, ROW), NOON + HOUR)], [NOON]),
    (lambda: size_of(replace(ROW, payload_size=9)), 9),
    (lambda: usage_of({day_name(NOON): 5, month_name(NOON): 3}, NOON), (3, 5)),
    (lambda: replace(PAUSE, until=NOON).holds_until(WORK), NOON),
    (lambda: replace(PAUSE, scope=PauseScope.TENANT, name="acme").covers(WORK), True),
    (lambda: [replace(PAUSE, tenant_id=name).covers(WORK) for name in ("acme", "globex")], [1, 0]),
    (lambda: [*replace(PAUSE, breaker=BREAKER).looks([HOUR], SECOND)], [NOON + 2 * HOUR]),
    (
        lambda: [*replace(PAUSE, breaker=replace(BREAKER, probe_until=None)).looks([HOUR], SECOND)],
        [NOON + HOUR],
    ),
    (lambda: len([*replace(PAUSE, until=NOON, spread=12 * MINUTE).looks([], SECOND)]), 2),
    (lambda: len([*replace(PAUSE, until=NOON, spread=12 * MINUTE + TICK).looks([], SECOND)]), 3),
    (lambda: PAUSE.story(NOON), "the type errand is paused without an end, by ann: an audit"),
    (
        lambda: replace(PAUSE, breaker=BREAKER).story(NOON),
        "the type errand is paused until a probe succeeds, by ann: an audit",
    ),
    (
        lambda: replace(PAUSE, until=NOON).story(NOON),
        "the type errand was paused until 2026-06-01T12:00:00Z, by ann: an audit",
    ),
    (
        lambda: replace(PAUSE, until=NOON).story(NOON - TICK),
        "the type errand is paused until 2026-06-01T12:00:00Z, by ann: an audit",
    ),
    (lambda: replace(PAUSE, tenant_id="acme").subject, "type errand of acme"),
    (lambda: [hold_of([PAUSE], WORK, NOON, without=name) is None for name in (None, "p-1")], [0, 1]),
    (lambda: skip_of([replace(PAUSE, skips=True, name="x")], WORK), None),
    (lambda: held_before([replace(PAUSE, until=NOON + TICK, name="x")], WORK, NOON + TICK), None),
    (lambda: pause_of_tenant([replace(OF_TENANT, until=NOON), OF_TENANT], "acme", NOON - TICK), OF_TENANT),
    (lambda: pause_of_tenant([replace(OF_TENANT, until=NOON)], "acme", NOON), None),
    (
        lambda: [BACKFILL.settled(NOON), replace(EXAMINED, ended_at=NOON).settled(NOON + TICK).ended_at],
        [BACKFILL, NOON],
    ),
    (
        lambda: [EXAMINED.settled(NOON).ended_at, replace(EXAMINED, open=(NOON,)).settled(NOON).ended_at],
        [NOON, None],
    ),
    (lambda: replace(BACKFILL, state=BackfillState.CANCELLED).settled(NOON).ended_at, NOON),
    (lambda: BACKFILL.changed_to(BackfillState.PAUSED, by="x", at=NOON).state, BackfillState.PAUSED),
    (lambda: BACKFILL.exhausted().rest_from, NOON + HOUR),
    (lambda: EXAMINED.examined(NOON, is_left_out=True).left_out, 1),
    (lambda: EXAMINED.examined(NOON, is_left_out=False).open, (NOON,)),
    (lambda: replace(BACKFILL, order=BackfillOrder.NEWEST).examined(NOON, is_left_out=True).rest_until, NOON),
    (
        lambda: [
            getattr(replace(BACKFILL, open=(NOON,)).counted({NOON: status}), status.value)
            for status in Status
            if status.is_final
        ],
        [1, 1, 1, 1],
    ),
    (lambda: BACKFILL.counted({NOON: Status.FAILED}), BACKFILL),
    (lambda: count_of(Change(None, MADE), NOON), None),
    (lateness, 0),
    (lambda: lateness(waits_for=RUN), None),
    (lambda: lateness(attempt=2), None),
    (lambda: lateness(id=LATE.id), None),
    (lambda: lateness(attempts=(replace(RETRY, ending=Ending.CANCELLED),)), None),
    (lambda: count_of(Change(replace(ROW, status=Status.PROCESSING), ROW), NOON), None),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_a_fact_has_its_value_at_the_bound(number):
    found, expected = VALUES[number]
    assert found() == expected


REJECTED = [
    *((lambda text=text: wall_seconds(text), ValueError) for text in ("06:60", "06:00:60", "٠٦:٠٠")),
    (lambda: matches({"a": 5}, {}), ValueError),
    (lambda: matches({"a": [{"prefix": "x", "suffix": "y"}]}, {"a": "x"}), ValueError),
    (lambda: matches({"a": [{"almost": "x"}]}, {"a": "x"}), ValueError),
    (lambda: checked_progress(1, "two\nlines"), InvalidArgument),
    (lambda: checked_progress(1, "x" * NOTE_LIMIT + "x"), InvalidArgument),
    (lambda: Approval("?" * QUESTION_LIMIT + "?"), InvalidArgument),
    (lambda: Approval("?", by_another="yes"), InvalidArgument),
    (lambda: HandedOver(None), InvalidArgument),
    (lambda: HandedOver(HOUR, heartbeat=SECOND), InvalidArgument),
    (lambda: written_payload(of_size(PAYLOAD_LIMIT + 1)), InvalidPayload),
    (lambda: checked_error("x" * LONGEST_TEXT + "x"), InvalidArgument),
    (lambda: checked_fields(["a"]), InvalidArgument),
    (lambda: checked_fields({}), InvalidArgument),
    (lambda: checked_fields({"a": ["b"]}), InvalidArgument),
    (lambda: checked_fields({"a": "x" * LONGEST_TEXT + "x"}), InvalidArgument),
    (lambda: checked_fields(dict.fromkeys("abcdefgh"[: MOST_FIELDS + 1], 1)), InvalidArgument),
    (lambda: preferences(*["a@b.example"] * (ADDRESSES_LIMIT + 1)), InvalidArgument),
    (lambda: preferences("a" * 400 + "@b.example"), InvalidArgument),
    (lambda: preferences("b" + LONG_ADDRESS), InvalidArgument),
    (lambda: Selection(runs=True), InvalidArgument),
    *((lambda runs=runs: Selection.parse({"runs": runs}, NOON), InvalidArgument) for runs in ("yes", 0)),
    (lambda: DueMark.parse(f"{instant.text(NOON)} {RUN}"), InvalidCursor),
    (lambda: EXACT_INSTANT.load("2026-06-01T12:00:00Z"), InvalidArgument),
    (lambda: EXACT_INSTANT.load("1969-12-31T23:59:59.000000Z"), InvalidArgument),
    *((lambda text=text: wall_seconds(text), ValueError) for text in ("6:00:00", "-1:00", "06:-1", "24:00")),
    *((lambda text=text: PayloadField.parse(text), InvalidArgument) for text in ("customer", "=42")),
    (lambda: debounced_by("k", None, due_at=NOON, until=NOON - TICK), InvalidArgument),
    (lambda: debounced_by(None, None, due_at=NOON, until=NOON), InvalidArgument),
    (lambda: debounced_by("k", "k", due_at=NOON, until=None), InvalidArgument),
    (lambda: check_end(None, is_required=True), InvalidArgument),
    (lambda: checked_error("…"), InvalidArgument),
    (lambda: checked_error(5), InvalidArgument),
    (lambda: Selection(runs=False, job="books-close"), InvalidArgument),
    (lambda: RunSelection(nominal_after=NOON, nominal_until=NOON), InvalidArgument),
    (lambda: HandedOver(HOUR, heartbeat=HOUR + TICK), InvalidArgument),
    (lambda: HandedOver(SHORTEST - TICK), InvalidArgument),
    (lambda: Approval("?", on_reject="retry"), InvalidArgument),
    (lambda: Approval(" "), InvalidArgument),
    (lambda: Approval("two\nlines"), InvalidArgument),
    *((lambda share=share: checked_progress(share, ""), InvalidArgument) for share in (True, "1", -0.1, 1.5)),
    (lambda: progress_of(None, "a note"), InvalidArgument),
    (lambda: check_type("duetime-canary"), InvalidPayload),
    (lambda: batch_name(ROW.id), InvalidArgument),
    (lambda: checked_fields({"a..b": 1}), InvalidArgument),
    (lambda: fields_of(["a=1", "a=2"]), InvalidArgument),
    (lambda: Decision(is_approved=False, by="ann"), InvalidArgument),
    (lambda: Decision(is_approved=True, by="ann", reason="two\nlines"), InvalidArgument),
    (lambda: expiry_of(None, "explode"), DeclarationError),
    *(
        (lambda span=span: expiry_time(NOON, None, span, now=NOON), InvalidArgument)
        for span in (timedelta(0), "1h")
    ),
    (lambda: expiry_time(NOON, "noon", None, now=NOON), InvalidArgument),
    (lambda: expiry_time(NOON, NOON + HOUR, HOUR, now=NOON), InvalidArgument),
    (lambda: expiry_time(NOON, NOON, None, now=NOON - HOUR), InvalidArgument),
    (lambda: HELD_KEY.first(replace(ROW, payload="1"), ROW, NOON), KeyConflict),
    (lambda: key_terms(None, HOUR, now=NOON, settings=Settings()), InvalidArgument),
    (lambda: key_terms("k", SHORTEST_KEY_TTL - TICK, now=NOON, settings=Settings()), InvalidArgument),
    (lambda: key_terms("k", LONGEST_KEY_TTL + TICK, now=NOON, settings=FOR_YEARS), InvalidArgument),
    (lambda: json_text("x" * (JSON_LIMIT - 1)), InvalidArgument),
    (lambda: FailedMark.parse(FAILED_MARK, {"globex"}), InvalidCursor),
    (lambda: FailedMark.parse(FAILED_MARK.replace("00.000000Z", "00Z"), {"acme"}), InvalidCursor),
    (lambda: FailedMark.parse(FAILED_MARK.replace(ROW.id, "x"), {"acme"}), InvalidCursor),
    (lambda: rate_key_of(Unlimited(), "k"), InvalidArgument),
    (lambda: Predecessors.from_names(ids.member_id(ROW.id, n) for n in range(21)), InvalidArgument),
    (lambda: Predecessors.from_names([]), InvalidArgument),
    *((lambda text=text: Token.parse(text), NotFound) for text in (None, "", "é", "x" * 2_000)),
    (lambda: declared_priority("low"), DeclarationError),
    (lambda: check_priority("low", enabled=True), InvalidArgument),
    (lambda: check_priority("high", enabled=False), InvalidArgument),
    *((lambda limit=limit: check_limit(limit, 5), InvalidArgument) for limit in (0, 6, "1")),
]


@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_what_is_beside_a_bound_is_rejected(number):
    given, error = REJECTED[number]
    with pytest.raises(error):
        given()


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (lambda: debounced_by(None, None, due_at=NOON, until=NOON + HOUR), "T13:00"),
        (lambda: debounced_by("k", None, due_at=NOON, until=NOON - HOUR), "T11:00.*T12:00"),
        (lambda: check_expiry(NOON, NOON - HOUR), "T11:00.*T12:00"),
        (lambda: expiry_time(NOON, "noon", None, now=NOON), "noon"),
    ],
)
def test_a_refusal_shows_what_was_given_and_what_is_allowed(given, shown):
    with pytest.raises(InvalidArgument, match=shown):
        given()


WILDCARDS = "a*" * 10
TEN = [{"a": [number]} for number in range(10)]


@pytest.mark.parametrize(
    ("pattern", "problems"),
    [
        ({"a": ["x" * (LARGEST - len('{"a":[""]}'))]}, 0),
        ({"a": ["x" * (LARGEST + 1 - len('{"a":[""]}'))]}, 1),
        ({"a": [{"wildcard": WILDCARDS}]}, 0),
        ({"a": [{"wildcard": f"{WILDCARDS}b*"}]}, 1),
        ({"a": [1.23456789012345]}, 0),
        ({"a": [1.234567890123456]}, 1),
        ({"a": [{"numeric": [">", 1, "<", 2]}]}, 0),
        ({"a": [{"numeric": [">", 1, "<", 2, "<", 3]}]}, 1),
        ({"a": [{"numeric": [">", 1, ">", 2]}]}, 1),
        ({"a": [{"numeric": ["=", 1, "<", 2]}]}, 1),
        ({"a": [{"anything-but": {"prefix": "a", "suffix": "b"}}]}, 1),
        ({"a": [{"anything-but": {"prefix": []}}]}, 1),
        ({"a": [{"prefix": {"suffix": "x"}}]}, 1),
        ({"$or": [{"a": ["b"]}, "c"]}, 1),
        ({"b": {"$or": TEN}, "c": {"$or": TEN}, "d": {"$or": TEN}}, 0),
        ({name: [*"abcdefghijk"] for name in "abc"}, 0),
        ({"b": {"$or": TEN}, "c": {"$or": TEN}, "d": {"$or": [*TEN, {"a": ["x"]}]}}, 1),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_pattern_has_as_many_problems(pattern, problems):
    assert len(problems_of(pattern)) == problems


@pytest.mark.parametrize(
    ("changed", "problems"),
    [
        ({}, 0),
        ({"first_id": RUN}, 1),
        ({"followers": (RUN,)}, 1),
        ({"followers": (ROW.id,) * 1_000}, 0),
        ({"followers": (ROW.id,) * 1_001}, 1),
        ({"size": MOST_MEMBERS}, 0),
        ({"size": MOST_MEMBERS + 1}, 1),
        ({"prefix": 10}, 0),
        ({"prefix": 11}, 1),
        ({"prefix": -1}, 1),
        ({"short_list": (9,) * 100}, 0),
        ({"short_list": (9,) * 101}, 1),
        ({"short_list": (10,)}, 1),
    ],
)
def test_an_item_of_a_batch_has_as_many_problems(changed, problems):
    batch = replace(OPEN, **{"first_id": ROW.id, "on_complete": None} | changed)
    assert len([*_problems(batch)]) == problems


TIMES = tuple(NOON + number * SECOND for number in range(MOST_AT_ONCE + 1))


SPAN = JobSpan(kind=SpanKind.MISSED, start=NOON, end=NOON + HOUR)
CANCELLED = {"state": BackfillState.CANCELLED, "changed_at": NOON, "changed_by": "ada"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (WorkPauseChange(None, PAUSE), ["paused"]),
        (WorkPauseChange(PAUSE, OVER), ["resumed"]),
        (WorkPauseChange(PAUSE, replace(PAUSE, skips=True)), []),
        (WorkPauseChange(OVER, replace(OVER, reason="no more")), []),
        (BackfillChange(None, BACKFILL), ["backfill_started"]),
        (BackfillChange(BACKFILL, replace(BACKFILL, ended_at=NOON)), ["backfill_ended"]),
        (
            BackfillChange(replace(BACKFILL, ended_at=NOON), replace(BACKFILL, ended_at=NOON, failed=1)),
            [],
        ),
        (BackfillChange(BACKFILL, replace(BACKFILL, **CANCELLED)), ["backfill_cancelled"]),
        (Change(None, MANUAL), ["triggered"]),
        (Change(None, replace(MANUAL, status=Status.SKIPPED)), ["skipped"]),
        (Change(None, replace(ROW, id=RUN)), ["planned"]),
        (Change(ROW, STOPPING), ["cancel_requested"]),
        (Change(STOPPING, replace(STOPPING, note="x")), []),
        (Change(ROW, replace(WAITS, generation=2)), ["deferred"]),
        (Change(WAITS, replace(WAITS, generation=2)), []),
        (Change(WAITS, replace(ROW, generation=2)), ["rescheduled"]),
        (Change(ROW, replace(ROW, generation=2, rate_slot=NOON)), ["deferred"]),
        (Change(HELD, replace(ROW, generation=2)), ["released"]),
        (Change(HELD, replace(HELD, generation=2)), ["rescheduled"]),
        (Change(HANDED, replace(HANDED, note="x")), []),
        (Change(HANDED, replace(HANDED, recoveries=1)), ["recovered"]),
        (
            Change(HANDED, replace(HANDED, fence=1, hand_over=replace(HANDED.hand_over, fence=1))),
            ["handed_over"],
        ),
        (JobChange(None, KEYED_JOB), ["registered"]),
        (JobChange(GONE, KEYED_JOB), ["registered"]),
        (JobChange(KEYED_JOB, GONE), ["dropped"]),
        (JobChange(GONE, GONE), []),
        (JobChange(KEYED_JOB, KEYED_JOB), []),
        (JobChange(KEYED_JOB, KEYED_JOB, is_redefined=True), ["changed"]),
        (JobChange(KEYED_JOB, replace(KEYED_JOB, version=2)), ["changed"]),
        *(
            (JobChange(failed(before), failed(after)), words)
            for before, after, words in [
                (1, 2, []),
                (2, 3, ["failing"]),
                (3, 4, []),
                (3, 0, ["succeeding"]),
                (2, 0, []),
                (3, 1, []),
            ]
        ),
        (BackfillChange(BACKFILL, replace(BACKFILL, changed_at=NOON)), []),
        (BackfillChange(BACKFILL, replace(BACKFILL, changed_at=NOON, state=BackfillState.COMPLETED)), []),
        (SpanKept(JOB, SPAN), ["missed"]),
        (SpanKept(JOB, replace(SPAN, kind=SpanKind.PAUSED)), []),
    ],
)
def test_a_change_has_its_events(change, expected):
    events = {
        Change: partial(of_action, at=NOON),
        JobChange: partial(of_job, at=NOON),
        WorkPauseChange: of_work_pause,
        BackfillChange: of_backfill,
        SpanKept: of_span,
    }[type(change)]
    assert [event.word.value for event in events(change)] == expected


def test_what_a_job_leaves_open_is_none_in_its_event():
    named = replace(KEYED_JOB, registered_by="ann", definition=replace(TITLED, category="money"))
    found = [event for job in (KEYED_JOB, named) for event in of_job(JobChange(None, job), NOON)]
    facts = [(event.by, event.about["title"], event.about["category"]) for event in found]
    assert facts == [(None, None, None), ("ann", "Books", "money")]


@pytest.mark.parametrize(
    ("change", "may_have_one"),
    [
        (JobChange(None, KEYED_JOB), True),
        (JobChange(KEYED_JOB, replace(KEYED_JOB, cursor=NOON + HOUR)), False),
        (JobChange(KEYED_JOB, KEYED_JOB, is_redefined=True), True),
        (JobChange(KEYED_JOB, GONE), True),
        (JobChange(KEYED_JOB, failed(1)), True),
    ],
)
def test_few_changes_of_a_job_may_have_an_event(change, may_have_one):
    assert change.may_have_event is may_have_one


def test_a_row_has_an_event_when_it_is_written_and_none_when_it_is_removed():
    assert [event.word.value for event in of_action(Change(None, ROW), NOON)] == ["scheduled"]
    assert not list(of_action(Change(ROW, None), NOON))


def test_what_a_span_leaves_open_is_none_in_its_event():
    (plain,) = of_span(SpanKept(JOB, SPAN))
    (full,) = of_span(SpanKept(JOB, replace(SPAN, by="ann", cadence="early", reason="an outage")))
    assert [(event.by, event.about["cadence"], event.about["reason"]) for event in (plain, full)] == [
        (None, None, None),
        ("ann", "early", "an outage"),
    ]


@pytest.mark.parametrize(
    ("events", "is_pass", "are_in"),
    [
        ("off", False, [False, False, False]),
        ("all", False, [True, True, True]),
        ("rare", False, [False, True, True]),
        ("all", True, [False, True, False]),
    ],
)
def test_a_deployment_publishes_the_events_that_it_chose(events, is_pass, are_in):
    (scheduled,) = of_action(Change(None, ROW), NOON)
    (ended,) = of_action(Change(HANDED, replace(ROW, status=Status.FAILED)), NOON)
    (paused,) = of_work_pause(WorkPauseChange(None, PAUSE))
    assert [is_in_events(one, events, is_pass=is_pass) for one in (scheduled, ended, paused)] == are_in


@pytest.mark.parametrize(
    ("changed", "is_valid"),
    [
        ({}, True),
        ({"ref": BackfillRef(JOB, "mine")}, False),
        ({"at_once": 0}, False),
        ({"at_once": MOST_AT_ONCE}, True),
        ({"at_once": MOST_AT_ONCE + 1}, False),
        ({"open": TIMES[:-1]}, True),
        ({"open": TIMES}, False),
        ({"total": 0}, True),
        ({"total": -1}, False),
        ({"total": MOST_TIMES}, True),
        ({"total": MOST_TIMES + 1}, False),
        ({"failed": COUNT_LIMIT}, True),
        ({"failed": COUNT_LIMIT + 1}, False),
        ({"failed": -1}, False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_the_item_of_a_backfill_has_numbers_within_their_bounds(changed, is_valid):
    backfill = replace(BACKFILL, **changed)
    write = backfill_put(backfill, guard=IS_NEW)
    item = {"pk": write.key.partition, "sk": write.key.sort, **write.put}
    if is_valid:
        assert to_backfill(item) == backfill
        return
    with pytest.raises(ValueError, match=r"sk names|at_once is|total is"):
        to_backfill(item)


@pytest.mark.parametrize(
    ("changed", "is_valid"),
    [({}, True), ({"pk": "acme#no name"}, False), ({"name": "books"}, False), ({"tenant": "globex"}, False)],
    ids=str,
)
def test_the_state_of_a_job_names_the_job_of_its_key(changed, is_valid):
    state = {"pk": "acme#books-close", "tenant": "acme", "name": "books-close", "maintenance_shard": "0"}
    if is_valid:
        check_names(state | changed)
        return
    with pytest.raises(ValueError, match=r"names the job|is '"):
        check_names(state | changed)


def test_a_pause_beside_others_is_the_part_that_began_first_and_is_not_over():
    first = Pause(since=NOON, by="ann", until=NOON + HOUR)
    both = first.beside(Pause(since=NOON + MINUTE, by="bea", until=NOON + 2 * HOUR))
    assert [both.at(NOON + span).by for span in (TICK, MINUTE, HOUR, HOUR + TICK)] == [
        "ann",
        "ann",
        "ann",
        "bea",
    ]
    assert both.at(NOON) == both
