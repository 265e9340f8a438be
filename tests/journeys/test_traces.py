"""What callers do is in their traces, and who traces nothing pays nothing."""

from datetime import timedelta

import pytest
from opentelemetry import trace as api
from opentelemetry.trace import StatusCode

from duetime import App, RetryPolicy, Scheduler, every
from duetime.actions.order import Order
from duetime.api.views import ActionView
from duetime.errors import NotFound, StateConflict
from duetime.memory.store import MemoryStore
from duetime.model.redaction import Redacted
from duetime.testing import SimulatedCloud, TurnedClock
from duetime.wakeups.assembly import Steps
from tests.backends import backends
from tests.journeys.conftest import NOON, Charge, Flaky
from tests.journeys.recorded_job import RecordedJob
from tests.journeys.tracing import CARRIED, is_child, one_shot, text_of
from tests.journeys.tracing import traced as traced  # noqa: PLC0414 - a fixture


class TestNothingOf:
    SECRET = "4111-1111"

    def test_a_payload_is_in_any_span(self, traced, cloud):
        action = cloud.scheduler.schedule(Charge(note=self.SECRET), at=timedelta(hours=1))
        cloud.scheduler.reschedule(action.id, timedelta(hours=2))
        cloud.advance(hours=3)
        assert len(traced.all()) == 3
        assert not [span for span in traced.all() if self.SECRET in span.to_json()]

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
    def test_a_span_of_the_caller_is_shown_by_the_api_beside_the_traces_id(self, cloud):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
        redacted = Redacted(action.payload)
        shown = ActionView.in_full(action, redacted, checkpoint=None, result=None).model_dump_json()
        assert action.trace[3:35] in shown
        assert action.trace[36:52] not in shown


class TestWhoChangesAnAction:
    def test_cancels_it_in_an_own_span_linked_to_the_callers_trace(self, traced, cloud):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
        with traced.calling() as caller:
            cloud.scheduler.cancel(action.id)
        cancel, schedule = traced.one("Cancel"), traced.one("Schedule")
        assert is_child(cancel, caller)
        assert [link.context.span_id for link in cancel.links] == [schedule.context.span_id]
        assert cancel.attributes["duetime.action.id"] == action.id

    @pytest.mark.parametrize("name", ["cancel", "redrive"])
    def test_in_vain_has_a_span_that_is_an_error(self, traced, cloud, name):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(0))
        cloud.advance(hours=1)
        with pytest.raises(StateConflict, match=r"cannot .* action "):
            getattr(cloud.scheduler, name)(action.id)
        span = traced.one(name.capitalize())
        assert span.status.status_code is StatusCode.ERROR
        assert span.attributes["error.type"] == "StateConflict"

    def test_leaves_it_in_the_trace_of_its_caller(self, traced, cloud):
        with traced.calling() as caller:
            action = cloud.scheduler.schedule(Flaky(fails=3), at=timedelta(days=9))
        cloud.scheduler.reschedule(action.id, timedelta(hours=1))
        cloud.advance(hours=5)
        cloud.scheduler.redrive(action.id)
        cloud.advance(hours=5)
        assert cloud.scheduler.get(action.id).trace == action.trace
        traces = {span.context.trace_id for span in traced.all("Execute")}
        assert traces == {caller.get_span_context().trace_id}
        for name in ("Reschedule", "Redrive"):
            changed = traced.one(name)
            assert changed.context.trace_id not in traces
            assert [link.context.trace_id for link in changed.links] == [*traces]


class TestAJob:
    def test_triggered_by_a_caller_runs_in_the_callers_trace_and_names_the_caller(self, traced):
        recorded = RecordedJob(every(hours=10))
        with traced.calling() as caller:
            recorded.cloud.jobs.trigger(recorded.name)
        recorded.cloud.advance(hours=1)
        trigger, execute = traced.one("Trigger"), traced.one("Execute")
        assert is_child(trigger, caller)
        assert is_child(execute, trigger)
        for span in (trigger, execute):
            assert span.attributes["duetime.job"] == "press-print"
            assert span.attributes["duetime.trigger"] == "manual"
            assert span.attributes["duetime.triggered_by"] == "simulation"

    def test_that_is_not_there_has_a_trigger_that_is_an_error(self, traced, cloud):
        with pytest.raises(NotFound, match="no job"):
            cloud.jobs.trigger("press-nothing")
        assert traced.one("Trigger").attributes["error.type"] == "NotFound"

    def test_that_is_due_by_its_cadence_begins_a_trace_and_is_the_systems(self, traced):
        recorded = RecordedJob(every(hours=10))
        with traced.calling():
            recorded.cloud.jobs.pause(recorded.name)
            recorded.cloud.jobs.resume(recorded.name)
        recorded.cloud.advance(hours=11)
        execute = traced.one("Execute")
        assert execute.parent is None
        assert execute.attributes["duetime.trigger"] == "cadence"
        assert execute.attributes["duetime.triggered_by"] == "system"
        assert {row.trace for row in recorded.rows} == {None}


def test_many_are_scheduled_in_one_span_and_run_in_its_trace(traced, cloud):
    orders = [Order(Charge(order=str(index)), timedelta(minutes=index)) for index in range(5)]
    cloud.scheduler.schedule_many(orders)
    cloud.advance(hours=1)
    schedule = traced.one("Schedule")
    assert schedule.attributes["duetime.count"] == 5
    assert [is_child(span, schedule) for span in traced.all("Execute")] == [True] * 5


def test_a_repeat_under_a_key_links_to_the_first_callers_trace(traced, cloud):
    first = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1), idempotency_key="order:1")
    again = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1), idempotency_key="order:1")
    assert again.trace == first.trace
    [one, other] = traced.all("Schedule")
    assert not one.links
    assert [link.context.span_id for link in other.links] == [one.context.span_id]


def test_a_catch_up_counts_its_messages(traced):
    class Queue:
        def send(self, sends):
            pass

    clock, store = TurnedClock(NOON + timedelta(days=2)), MemoryStore()
    store.put_many([one_shot() for _ in range(3)])
    steps = Steps(backends(store, queues=Queue(), clock=clock))
    steps.deep_sweep(stop_at=clock.now() + timedelta(hours=1))
    assert traced.one("CatchUp").attributes["duetime.sent"] == 3


def test_an_action_in_a_transaction_of_the_callers_own_carries_the_trace(traced, deployed):
    with traced.calling() as caller:
        action, items = Scheduler.from_env(tenant_id="acme").transact_items(Charge(), at=timedelta(hours=1))
    schedule = traced.one("Schedule")
    assert is_child(schedule, caller)
    assert [item["Put"]["Item"]["trace"]["S"] for item in items] == [text_of(schedule)]
    assert action.trace == text_of(schedule)


def test_a_sampled_out_trace_stays_sampled_out(traced, cloud):
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


def test_without_a_provider_the_callers_trace_is_passed_on(cloud):
    cloud.memory.store.put(one_shot(trace=CARRIED))
    caller = api.SpanContext(1, 2, is_remote=True, trace_flags=api.TraceFlags(1))
    with api.use_span(api.NonRecordingSpan(caller)):
        action = cloud.scheduler.schedule(Charge(), at=timedelta(hours=1))
    assert action.trace == f"00-{1:032x}-{2:016x}-01"
