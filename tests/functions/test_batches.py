"""A worker's function handles several messages at the same time, over moto."""

import asyncio
import logging
import threading
from contextvars import ContextVar
from datetime import timedelta

import pytest

from duetime import App, Batch, Payload, Run, Scheduler
from duetime.aws.messages import to_json
from duetime.lambdas import work
from duetime.model.metric import Metric
from duetime.testing import WorkerDied
from duetime.wakeups.due_messages import message_of
from tests.functions.conftest import Context, sample


class Errand(Payload):
    number: int
    end: str = "well"


ENDS = {
    "ValueError": lambda: ValueError("no such order"),
    "SystemExit": lambda: SystemExit(3),
    "MemoryError": MemoryError,
    "GeneratorExit": GeneratorExit,
    "group": lambda: BaseExceptionGroup("several", [KeyboardInterrupt()]),
}


class Desk:
    """Ten errands due at once, and the function that handles them in one call."""

    def __init__(self, deployed, app, metrics=lambda _: None):
        self.scheduler = Scheduler.from_env(tenant_id="acme", actor="billing")
        self.handler = work.make_handler(deployed, app.handler_set, instance="w-1", metrics=metrics)

    def schedule(self, *ends):
        self.actions = [
            self.scheduler.schedule(Errand(number=number, end=end), at=timedelta(0))
            for number, end in enumerate(ends)
        ]
        return self.actions

    def event(self):
        (template,) = sample("work")["Records"]
        records = [
            template
            | {
                "messageId": f"m-{n}",
                "receiptHandle": f"r-{n}",
                "body": to_json(message_of(action)),
            }
            for n, action in enumerate(self.actions)
        ]
        return {"Records": records}

    def failures(self, event=None, context=None):
        answer = self.handler(event or self.event(), context or Context())
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def statuses(self):
        return [self.scheduler.get(action.id).status.value for action in self.actions]


def errands(function):
    app = App()
    app.action(function)
    return app


def test_ten_runs_of_one_call_are_at_the_same_time_and_each_is_settled(deployed):
    all_run = threading.Barrier(10)

    def errand(payload: Errand, run: Run) -> None:
        all_run.wait(60)

    desk = Desk(deployed, errands(errand))
    desk.schedule(*["well"] * 10)
    assert desk.failures() == []
    assert desk.statuses() == ["executed"] * 10


@pytest.mark.parametrize("end", ENDS)
def test_whatever_one_run_raises_the_nine_others_are_executed(deployed, end):
    def errand(payload: Errand, run: Run) -> None:
        if payload.end in ENDS:
            error = ENDS[payload.end]()
            raise error

    desk = Desk(deployed, errands(errand))
    desk.schedule(*["well"] * 4, end, *["well"] * 5)
    assert desk.failures() == []
    assert desk.statuses() == ["executed"] * 4 + ["pending"] + ["executed"] * 5
    attempts = [desk.scheduler.get(action.id).attempts for action in desk.actions]
    assert [len(of_one) for of_one in attempts] == [1] * 10


def test_nine_runs_are_settled_and_counted_while_one_hangs_until_the_functions_time_out(deployed, caplog):
    may_end, counted = threading.Event(), threading.Event()

    def errand(payload: Errand, run: Run) -> None:
        if payload.end == "hangs":
            may_end.wait(60)

    class Late(Context):
        @staticmethod
        def get_remaining_time_in_millis():
            return 2_500

    desk = Desk(deployed, errands(errand), metrics=lambda _: counted.set())
    desk.schedule("hangs", *["well"] * 9)
    call = threading.Thread(target=lambda: desk.failures(context=Late()))
    call.start()
    assert counted.wait(60)  # written while the call goes on
    assert call.is_alive()
    while desk.statuses() != ["processing"] + ["executed"] * 9:
        pass
    may_end.set()
    call.join()
    assert desk.statuses() == ["executed"] * 10
    assert "runs go on at the function's time-out" in caplog.text


def test_when_lambda_ends_the_process_the_settled_ones_come_again_and_nothing_runs_twice(deployed):
    ran = []

    def errand(payload: Errand, run: Run) -> None:
        ran.append(payload.number)
        if payload.end == "dies":
            raise WorkerDied

    written = []
    desk = Desk(deployed, errands(errand), metrics=written.extend)
    desk.schedule("dies", *["well"] * 9)
    with pytest.raises(WorkerDied):
        desk.failures()
    assert sum(len(metric.values.get(Metric.LATENESS, ())) for metric in written) == 9
    assert desk.failures() == []
    assert sorted(ran) == list(range(10))
    assert desk.statuses() == ["processing"] + ["executed"] * 9


def test_an_unreadable_message_alone_comes_again(deployed):
    def errand(payload: Errand, run: Run) -> None: ...

    desk = Desk(deployed, errands(errand))
    desk.schedule("well", "well", "well")
    event = desk.event()
    event["Records"][1]["body"] = "{}"
    assert desk.failures(event) == ["m-1"]
    assert desk.statuses() == ["executed", "pending", "executed"]


def test_each_run_has_a_context_and_a_log_of_its_own(deployed, caplog):
    number: ContextVar[int] = ContextVar("number")
    seen, all_set = {}, threading.Barrier(5)

    def errand(payload: Errand, run: Run) -> None:
        number.set(payload.number)
        all_set.wait(60)
        seen[payload.number] = number.get()
        run.log.info("errand %s", payload.number)

    desk = Desk(deployed, errands(errand))
    actions = desk.schedule(*["well"] * 5)
    with caplog.at_level(logging.INFO, "duetime.handlers"):
        desk.failures()
    assert seen == {n: n for n in range(5)}
    lines = {record.getMessage(): record.action for record in caplog.records if hasattr(record, "action")}
    assert [lines[f"errand {n}"] for n in range(5)] == [action.id for action in actions]


def test_async_runs_share_an_event_loop_and_each_has_a_context_of_its_own(deployed):
    number: ContextVar[int] = ContextVar("number")
    loops, seen, arrived, all_there = set(), {}, [], asyncio.Event()

    async def errand(payload: Errand, run: Run) -> None:
        number.set(payload.number)
        loops.add(asyncio.get_running_loop())
        arrived.append(payload.number)
        if len(arrived) == 5:
            all_there.set()
        await all_there.wait()
        seen[payload.number] = number.get()

    desk = Desk(deployed, errands(errand))
    desk.schedule(*["well"] * 5)
    assert desk.failures() == []
    assert seen == {n: n for n in range(5)}
    assert len(loops) == 1
    assert all(loop.is_closed() for loop in loops)


def test_a_task_that_exits_the_process_ends_its_own_run_alone(deployed):
    async def leave() -> None:
        raise SystemExit(3)

    async def errand(payload: Errand, run: Run) -> None:
        if payload.end == "leaves":
            await asyncio.create_task(leave())
        for _ in range(20):
            await asyncio.sleep(0.001)

    desk = Desk(deployed, errands(errand))
    desk.schedule("well", "leaves", "well")
    assert desk.failures() == []
    assert desk.statuses() == ["executed", "pending", "executed"]


def test_a_task_that_a_run_leaves_behind_is_cancelled_at_its_end(deployed):
    ended, is_cancelled = [], asyncio.Event()

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("lingered")
            is_cancelled.set()

    async def errand(payload: Errand, run: Run) -> None:
        if payload.end == "lingers":
            task = asyncio.create_task(linger())
            await asyncio.sleep(0)
            assert not task.done()
        else:
            await is_cancelled.wait()
            ended.append("went on")

    desk = Desk(deployed, errands(errand))
    desk.schedule("lingers", "well")
    assert desk.failures() == []
    assert ended == ["lingered", "went on"]


def test_a_handler_of_many_gets_all_in_one_call_and_each_has_its_outcome(deployed):
    app, calls = App(), []

    @app.action(many=True)
    def errands_(batch: Batch[Errand]) -> None:
        calls.append([payload.number for payload, _ in batch.items])
        for payload, run in batch.items:
            if payload.end == "fails":
                batch.fail(run, ValueError("the bulk API refused it"))

    desk = Desk(deployed, app)
    desk.schedule("well", "fails", *["well"] * 8)
    assert desk.failures() == []
    assert [sorted(call) for call in calls] == [list(range(10))]
    assert desk.statuses() == ["executed", "pending"] + ["executed"] * 8
    (attempt,) = desk.scheduler.get(desk.actions[1].id).attempts
    assert attempt.message == "ValueError: the bulk API refused it"
