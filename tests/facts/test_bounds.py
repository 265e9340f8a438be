"""Facts exactly at their bounds, one step beside them, and at what is none of the allowed kinds."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from duetime import ids, instant
from duetime.errors import InvalidArgument, InvalidCursor, InvalidPayload
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
from duetime.model.batch import MemberStatus
from duetime.model.built_in import canary_row, is_forged
from duetime.model.change import Change
from duetime.model.content_filter import (
    LONGEST_TEXT,
    MOST_FIELDS,
    PayloadField,
    checked_error,
    checked_fields,
    has_error,
)
from duetime.model.deadline import DeadlineState, state_at, wall_seconds
from duetime.model.debounce import debounced_by
from duetime.model.deployed_shards import DeployedShards
from duetime.model.event_chain import DEPTH_FIELD, depth_of
from duetime.model.event_pattern import matches
from duetime.model.event_pattern_rules import LARGEST, problems_of
from duetime.model.expiry import Expiry
from duetime.model.hand_over import NOTE_LIMIT, QUESTION_LIMIT, Approval, HandedOver, checked_progress
from duetime.model.job import JobRef, JobSpan, Pause, SpanKind
from duetime.model.job_events import BackfillChange, SpanKept, of_backfill, of_span
from duetime.model.lifecycle import is_in_events, of_work_pause
from duetime.model.manifest import PLAIN_LIMIT, packed
from duetime.model.marks import DueMark
from duetime.model.new_action import PAYLOAD_LIMIT, written_payload
from duetime.model.predecessors import Predecessors
from duetime.model.preferences import ADDRESSES_LIMIT, Preferences
from duetime.model.read_back import differences, with_sorted_sets
from duetime.model.row_parts import Act, After, Debounced, HandOver, RunPlan
from duetime.model.selection import RunSelection, Selection
from duetime.model.usage import month_name, usage_of
from duetime.model.work_pause import (
    BreakerState,
    PausableWork,
    PauseScope,
    WorkPause,
    WorkPauseChange,
    check_end,
    held_before,
)
from duetime.payload import Payload
from duetime.ports.backfills import backfill_put, to_backfill
from duetime.ports.batches import MOST_MEMBERS, _problems
from duetime.ports.job_store import check_names
from duetime.ports.keyed_items import COUNT_LIMIT, EXACT_INSTANT, IS_NEW, value_at
from duetime.settings import Made, Settings
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


def ended_by(ending):
    return replace(ROW, status=Status.CANCELLED, attempts=(replace(RETRY, ending=ending, message="no more"),))


STOPPED = ended_by(Ending.RETRY)


class Text(Payload):
    text: str


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
    (lambda: replace(RETRIED, attempts=(replace(RETRY, finished_at=None),)).modified_at, NOON),
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
    (lambda: Debounced("k", NOON + HOUR), debounced_by("k", None, due_at=NOON, until=NOON + HOUR)),
    (lambda: debounced_by("k", None, due_at=NOON, until=NOON).until, NOON),
    (lambda: public_fields(replace(ROW, note="a note", skip_reason=SkipReason.MISSED))["reason"], "a note"),
    (lambda: public_fields(replace(ROW, skip_reason=SkipReason.MISSED))["reason"], "missed"),
    (lambda: public_fields(STOPPED)["reason"], None),
    (lambda: public_fields(replace(STOPPED, status=Status.FAILED))["reason"], "no more"),
    (lambda: public_fields(ended_by(Ending.CANCELLED))["reason"], "no more"),
    (lambda: BREAKER.lacks_a_probe(NOON), False),
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
    (lambda: Selection(runs=True), InvalidArgument),
    (lambda: Selection.parse({"runs": "yes"}, NOON), InvalidArgument),
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
]


@pytest.mark.parametrize("number", range(len(REJECTED)))
def test_what_is_beside_a_bound_is_rejected(number):
    given, error = REJECTED[number]
    with pytest.raises(error):
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
        ({"a": [{"anything-but": {"prefix": "a", "suffix": "b"}}]}, 1),
        ({"a": [{"anything-but": {"prefix": []}}]}, 1),
        ({"a": [{"prefix": {"suffix": "x"}}]}, 1),
        ({"$or": [{"a": ["b"]}, "c"]}, 1),
        ({"b": {"$or": TEN}, "c": {"$or": TEN}, "d": {"$or": TEN}}, 0),
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


JOB = JobRef("acme", "books-close")
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
TIMES = tuple(NOON + number * SECOND for number in range(MOST_AT_ONCE + 1))


SPAN = JobSpan(kind=SpanKind.MISSED, start=NOON, end=NOON + HOUR)
OVER = replace(PAUSE, ended_at=NOON, ended_by="bea")
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
        (SpanKept(JOB, SPAN), ["missed"]),
        (SpanKept(JOB, replace(SPAN, kind=SpanKind.PAUSED)), []),
    ],
)
def test_a_change_has_its_events(change, expected):
    events = {WorkPauseChange: of_work_pause, BackfillChange: of_backfill, SpanKept: of_span}[type(change)]
    assert [event.word.value for event in events(change)] == expected


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


@pytest.mark.parametrize(("events", "is_in"), [("off", False), ("all", True), ("rare", False)])
def test_a_deployment_publishes_the_events_that_it_chose(events, is_in):
    (scheduled,) = of_action(Change(None, ROW), NOON)
    assert is_in_events(scheduled, events, is_pass=False) is is_in


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
