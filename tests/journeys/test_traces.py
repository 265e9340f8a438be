"""Traces: a run continues the trace of who scheduled it, however much later; and who traces nothing pays nothing."""

from dataclasses import replace
from datetime import timedelta

import pytest
from opentelemetry import trace as api
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from duetime import App, RetryPolicy, Run, Scheduler, Status, every
from duetime.api.views import ActionView
from duetime.catch_up import CatchUp
from duetime.errors import ActionConflict, JobNotFound
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.order import Order
from duetime.schedule import new_action
from duetime.sensitive import Redacted
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, TurnedClock
from duetime.waking import Waker
from tests.journeys.conftest import NOON, Charge, Flaky, Stubborn
from tests.journeys.diary import Diary

CARRIED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
GARBAGE = [
    "",
    "garbage",
    CARRIED.upper(),
    CARRIED + "-more",
    "01" + CARRIED[2:],
    CARRIED[:-2] + "zz",
    "00-" + "0" * 32 + "-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
    "٠٠" + CARRIED[2:],
    "x" * 100_000,
]


class Traced:
    """The spans that have ended, and a caller who traces."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def calling(self, name="checkout"):
        return self.provider.get_tracer("shop").start_as_current_span(name)

    def all(self, name=None):
        return [each for each in self.exporter.get_finished_spans() if name in {None, each.name}]

    def one(self, name):
        [found] = self.all(name)
        return found


@pytest.fixture
def traced(monkeypatch):
    """Tracing is configured, for this test alone: OpenTelemetry's own provider is set once a process."""
    configured = Traced()
    monkeypatch.setattr(api, "get_tracer_provider", lambda: configured.provider)
    return configured


def is_child(span, parent):
    return span.context.trace_id == parent.context.trace_id and span.parent.span_id == parent.context.span_id


def text_of(span):
    here = span.context
    return f"00-{here.trace_id:032x}-{here.span_id:016x}-{here.trace_flags:02x}"


class TestARun:
    def test_continues_the_trace_of_who_scheduled_it(self, traced, cloud):
        with traced.calling() as caller:
            action = cloud.scheduler.schedule(Charge(), at=timedelta(days=3), correlation_id="order:1")
        cloud.advance(days=4)
        schedule, execute = traced.one("Schedule"), traced.one("Execute")
        assert is_child(schedule, caller)
        assert is_child(execute, schedule)
        assert action.trace == text_of(schedule)
        assert (schedule.kind, execute.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)

    def test_says_which_it_is_and_what_came_of_it(self, traced, cloud):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1), correlation_id="order:1")
        cloud.advance(hours=2)
        assert dict(traced.one("Execute").attributes) == {
            "duetime.action.id": action.id,
            "duetime.action.type": action.type,
            "duetime.tenant": "acme",
            "duetime.correlation_id": "order:1",
            "duetime.trigger": "scheduled",
            "duetime.attempt": 1,
            "duetime.late_ms": 0.0,
            "duetime.outcome": "executed",
            "duetime.status": "executed",
        }
        assert traced.one("Execute").status.status_code is StatusCode.UNSET

    def test_that_nobody_traced_when_it_was_scheduled_begins_a_trace(self, traced, cloud):
        cloud._cloud.store.put(one_shot(trace=None))
        cloud.advance(hours=1)
        assert traced.one("Execute").parent is None

    def test_is_a_span_for_each_attempt_in_the_same_trace(self, traced, cloud):
        cloud.scheduler.schedule(Flaky(fails=1), at=timedelta(0))
        cloud.advance(hours=1)
        first, second = traced.all("Execute")
        schedule = traced.one("Schedule")
        assert is_child(first, schedule)
        assert is_child(second, schedule)
        told = [
            tuple(each.attributes[f"duetime.{key}"] for key in ("attempt", "outcome", "status"))
            for each in (first, second)
        ]
        assert told == [(1, "failed", "pending"), (2, "executed", "executed")]

    def test_that_fails_is_an_error_of_the_exceptions_type(self, traced, cloud):
        cloud.scheduler.schedule(Flaky(fails=9), at=timedelta(0))
        cloud.advance(hours=3)
        for execute in traced.all("Execute"):
            assert execute.status.status_code is StatusCode.ERROR
            assert execute.status.description == "ConnectionError: the bank did not answer"
            assert execute.attributes["error.type"] == "ConnectionError"
        assert [each.attributes["duetime.status"] for each in traced.all("Execute")] == [
            "pending",
            "pending",
            "failed",
        ]

    def test_that_asks_to_be_tried_later_is_no_error_until_its_attempts_are_spent(self, traced, cloud):
        cloud.scheduler.schedule(Stubborn(says="later"), at=timedelta(0))
        cloud.advance(hours=12)
        assert [each.status.status_code for each in traced.all("Execute")] == [
            StatusCode.UNSET,
            StatusCode.UNSET,
            StatusCode.ERROR,
        ]

    def test_that_nobody_can_make_is_an_error(self, traced, cloud):
        cloud._cloud.store.put(replace(one_shot(), payload='{"order": ["no text"]}'))
        cloud.advance(hours=1)
        assert traced.one("Execute").status.status_code is StatusCode.ERROR

    def test_is_the_parent_of_what_its_handler_schedules(self, traced):
        app = App()

        @app.action
        def charge(payload: Charge) -> None:
            if payload.order == "first":
                cloud.scheduler.schedule(Charge(order="second"), at=timedelta(hours=1))

        cloud = SimulatedCloud(app, start=NOON)
        cloud.scheduler.schedule(Charge(order="first"), at=timedelta(hours=1))
        cloud.advance(hours=3)
        first, second = traced.all("Execute")
        assert is_child(traced.all("Schedule")[1], first)
        assert is_child(second, traced.all("Schedule")[1])

    def test_that_commits_and_then_raises_was_executed(self, traced):
        app = App()

        @app.action
        def charge(payload: Charge, run: Run) -> None:
            run.commit([])
            raise ConnectionError("too late")

        cloud = SimulatedCloud(app, start=NOON)
        cloud.scheduler.schedule(Charge(), at=timedelta(0))
        cloud.advance(hours=1)
        execute = traced.one("Execute")
        assert execute.attributes["duetime.outcome"] == "executed"
        assert execute.status.status_code is StatusCode.UNSET

    def test_in_an_invocation_that_is_traced_is_linked_to_it(self, traced, cloud):
        cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
        with traced.calling("invocation") as invocation:
            cloud.advance(hours=2)
        execute = traced.one("Execute")
        assert is_child(execute, traced.one("Schedule"))
        assert [each.context.span_id for each in execute.links] == [invocation.get_span_context().span_id]

    def test_of_a_row_that_carries_garbage_is_made_all_the_same(self, traced, shop, cloud):
        for text in GARBAGE:
            cloud._cloud.store.put(one_shot(trace=text))
        cloud.advance(hours=1)
        assert len(shop.charged) == len(GARBAGE)
        assert {each.parent for each in traced.all("Execute")} == {None}
        for action in cloud.actions():
            assert action.status is Status.EXECUTED


class TestNothingOf:
    SECRET = "4111-1111"

    def test_a_payload_is_in_any_span(self, traced, cloud):
        action = cloud.scheduler.schedule(Charge(note=self.SECRET), at=timedelta(hours=1))
        cloud.scheduler.reschedule(action.id, timedelta(hours=2))
        cloud.advance(hours=3)
        assert len(traced.all()) == 3
        assert not [each for each in traced.all() if self.SECRET in each.to_json()]

    def test_a_traceback_or_a_long_message_is_in_any_span(self, traced):
        app = App()

        @app.action(retry=RetryPolicy(attempts=1))
        def charge(payload: Charge) -> None:
            raise ValueError("x" * 10_000)

        cloud = SimulatedCloud(app, start=NOON)
        cloud.scheduler.schedule(Charge(), at=timedelta(0))
        cloud.advance(hours=1)
        execute = traced.one("Execute")
        [event] = execute.events
        assert set(event.attributes) == {"exception.type", "exception.message"}
        assert len(event.attributes["exception.message"]) == 500
        assert len(execute.status.description) == 500

    @pytest.mark.usefixtures("traced")
    def test_a_trace_is_in_what_the_api_shows(self, cloud):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
        assert (
            action.trace[3:35] not in ActionView.in_full(action, Redacted(action.payload)).model_dump_json()
        )


class TestWhoChangesAnAction:
    def test_cancels_it_in_a_span_of_their_own_linked_to_who_scheduled_it(self, traced, cloud):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
        with traced.calling() as caller:
            cloud.scheduler.cancel(action.id)
        cancel, schedule = traced.one("Cancel"), traced.one("Schedule")
        assert is_child(cancel, caller)
        assert [each.context.span_id for each in cancel.links] == [schedule.context.span_id]
        assert cancel.attributes["duetime.action.id"] == action.id

    @pytest.mark.parametrize("name", ["cancel", "redrive"])
    def test_in_vain_has_a_span_that_is_an_error(self, traced, cloud, name):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(0))
        cloud.advance(hours=1)
        with pytest.raises(ActionConflict):
            getattr(cloud.scheduler, name)(action.id)
        span = traced.one(name.capitalize())
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes["error.type"] == "ActionConflict"

    def test_leaves_it_in_the_trace_of_who_scheduled_it(self, traced, cloud):
        with traced.calling() as caller:
            action = cloud.scheduler.schedule(Flaky(fails=3), at=timedelta(days=9))
        cloud.scheduler.reschedule(action.id, timedelta(hours=1))
        cloud.advance(hours=5)
        cloud.scheduler.redrive(action.id)
        cloud.advance(hours=5)
        assert cloud.scheduler.get(action.id).trace == action.trace
        traces = {each.context.trace_id for each in traced.all("Execute")}
        assert traces == {caller.get_span_context().trace_id}
        for name in ("Reschedule", "Redrive"):
            changed = traced.one(name)
            assert changed.context.trace_id not in traces
            assert [each.context.trace_id for each in changed.links] == [*traces]


class TestAJob:
    def test_that_somebody_triggers_runs_in_their_trace_and_says_who(self, traced):
        diary = Diary(every(hours=10))
        with traced.calling() as caller:
            diary.cloud.jobs.trigger(diary.name)
        diary.cloud.advance(hours=1)
        trigger, execute = traced.one("Trigger"), traced.one("Execute")
        assert is_child(trigger, caller)
        assert is_child(execute, trigger)
        for span in (trigger, execute):
            assert span.attributes["duetime.job"] == "press-print"
            assert span.attributes["duetime.trigger"] == "manual"
            assert span.attributes["duetime.triggered_by"] == "simulation"

    def test_that_is_not_there_has_a_trigger_that_is_an_error(self, traced, cloud):
        with pytest.raises(JobNotFound):
            cloud.jobs.trigger("press-nothing")
        assert traced.one("Trigger").attributes["error.type"] == "JobNotFound"

    def test_that_is_due_by_its_cadence_begins_a_trace_and_is_the_systems(self, traced):
        diary = Diary(every(hours=10))
        with traced.calling():
            diary.cloud.jobs.pause(diary.name)
            diary.cloud.jobs.resume(diary.name)
        diary.cloud.advance(hours=11)
        execute = traced.one("Execute")
        assert execute.parent is None
        assert execute.attributes["duetime.trigger"] == "cadence"
        assert execute.attributes["duetime.triggered_by"] == "system"
        assert {row.trace for row in diary.rows} == {None}


def test_many_are_scheduled_in_one_span_and_run_in_its_trace(traced, cloud):
    orders = [Order(Charge(order=str(each)), timedelta(minutes=each)) for each in range(5)]
    cloud.scheduler.schedule_many(orders)
    cloud.advance(hours=1)
    schedule = traced.one("Schedule")
    assert schedule.attributes["duetime.count"] == 5
    assert [is_child(each, schedule) for each in traced.all("Execute")] == [True] * 5


def test_a_repeat_under_a_key_is_linked_to_who_scheduled_it_first(traced, cloud):
    first = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1), idempotency_key="order:1")
    again = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1), idempotency_key="order:1")
    assert again.trace == first.trace
    [one, other] = traced.all("Schedule")
    assert not one.links
    assert [each.context.span_id for each in other.links] == [one.context.span_id]


def test_a_catch_up_says_how_many_it_has_sent(traced):
    class Queue:
        def send(self, sends):
            pass

    clock, store = TurnedClock(NOON + timedelta(days=2)), MemoryStore()
    store.put_many([one_shot() for _ in range(3)])
    waker = Waker(store, Queue(), MemoryRoutes([]), clock=clock, settings=Settings())
    CatchUp(waker, MemoryBookmarks(), clock=clock, settings=Settings())(
        stop_at=clock.now() + timedelta(hours=1)
    )
    assert traced.one("CatchUp").attributes["duetime.sent"] == 3


def test_an_action_in_a_transaction_of_the_callers_own_carries_the_trace(traced, deployed):
    with traced.calling() as caller:
        action, items = Scheduler.from_env(tenant_id="acme").transact_items(Charge(), at=timedelta(hours=1))
    schedule = traced.one("Schedule")
    assert is_child(schedule, caller)
    assert [each["Put"]["Item"]["trace"]["S"] for each in items] == [text_of(schedule)]
    assert action.trace == text_of(schedule)


def test_a_sampled_out_trace_is_carried_as_such(traced, cloud):
    unsampled = api.SpanContext(1, 2, is_remote=True, trace_flags=api.TraceFlags(0))
    with api.use_span(api.NonRecordingSpan(unsampled)):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    cloud.advance(hours=2)
    assert action.trace.startswith(f"00-{1:032x}-")
    assert int(action.trace[-2:], 16) & api.TraceFlags.SAMPLED == 0
    assert traced.all() == []


def test_without_a_provider_nothing_is_in_the_row(shop, cloud):
    action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    cloud.advance(hours=2)
    assert action.trace is None
    assert len(shop.charged) == 1


def test_without_a_provider_a_trace_from_elsewhere_is_passed_on(cloud):
    cloud._cloud.store.put(one_shot(trace=CARRIED))
    caller = api.SpanContext(1, 2, is_remote=True, trace_flags=api.TraceFlags(1))
    with api.use_span(api.NonRecordingSpan(caller)):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    assert action.trace == f"00-{1:032x}-{2:016x}-01"


def one_shot(*, trace=None):
    """A pending row due at noon, as some caller's Lambda has put it."""
    return new_action(
        Charge(),
        due_at=NOON,
        now=NOON,
        tenant_id="acme",
        actor="simulation",
        correlation_id=None,
        due_shards=8,
        trace=trace,
    )
