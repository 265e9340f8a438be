"""A run continues the trace of who scheduled it, however much later."""

from dataclasses import replace
from datetime import timedelta

from opentelemetry.trace import SpanKind, StatusCode

from duetime import App, Run, Status
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON, Charge, Flaky, Stubborn
from tests.journeys.tracing import CARRIED, is_child, one_shot, text_of
from tests.journeys.tracing import traced as traced  # noqa: PLC0414 - a fixture

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


class TestARun:
    def test_continues_the_trace_of_its_caller(self, traced, cloud):
        with traced.calling() as caller:
            action = cloud.scheduler.schedule(Charge(), at=timedelta(days=3), correlation_id="order:1")
        cloud.advance(days=4)
        schedule, execute = traced.one("Schedule"), traced.one("Execute")
        assert is_child(schedule, caller)
        assert is_child(execute, schedule)
        assert action.trace == text_of(schedule)
        assert (schedule.kind, execute.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)

    def test_has_its_id_and_its_result(self, traced, cloud):
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

    def test_scheduled_without_a_trace_begins_one(self, traced, cloud):
        cloud.memory.store.put(one_shot(trace=None))
        cloud.advance(hours=1)
        assert traced.one("Execute").parent is None

    def test_is_a_span_for_each_attempt_in_the_same_trace(self, traced, cloud):
        cloud.scheduler.schedule(Flaky(fails=1), at=timedelta(0))
        cloud.advance(hours=1)
        first, second = traced.all("Execute")
        schedule = traced.one("Schedule")
        assert is_child(first, schedule)
        assert is_child(second, schedule)
        settled = [
            tuple(span.attributes[f"duetime.{key}"] for key in ("attempt", "outcome", "status"))
            for span in (first, second)
        ]
        assert settled == [(1, "failed", "pending"), (2, "executed", "executed")]

    def test_that_fails_is_an_error_of_the_exceptions_type(self, traced, cloud):
        cloud.scheduler.schedule(Flaky(fails=9), at=timedelta(0))
        cloud.advance(hours=3)
        for execute in traced.all("Execute"):
            assert execute.status.status_code is StatusCode.ERROR
            assert execute.status.description == "ConnectionError: the bank did not answer"
            assert execute.attributes["error.type"] == "ConnectionError"
        assert [span.attributes["duetime.status"] for span in traced.all("Execute")] == [
            "pending",
            "pending",
            "failed",
        ]

    def test_that_raises_retry_is_an_error_only_on_the_last_attempt(self, traced, cloud):
        cloud.scheduler.schedule(Stubborn(says="later"), at=timedelta(0))
        cloud.advance(hours=12)
        assert [span.status.status_code for span in traced.all("Execute")] == [
            StatusCode.UNSET,
            StatusCode.UNSET,
            StatusCode.ERROR,
        ]

    def test_without_a_provider_is_an_error(self, traced, cloud):
        cloud.memory.store.put(replace(one_shot(), payload='{"order": ["no text"]}'))
        cloud.advance(hours=1)
        assert traced.one("Execute").status.status_code is StatusCode.ERROR

    def test_is_the_parent_of_actions_that_its_handler_schedules(self, traced):
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
        assert [link.context.span_id for link in execute.links] == [invocation.get_span_context().span_id]

    def test_of_a_row_with_an_invalid_trace_still_runs(self, traced, shop, cloud):
        for text in GARBAGE:
            cloud.memory.store.put(one_shot(trace=text))
        cloud.advance(hours=1)
        assert len(shop.charged) == len(GARBAGE)
        assert {span.parent for span in traced.all("Execute")} == {None}
        for action in cloud.actions():
            assert action.status is Status.EXECUTED
