"""Each run has a context of its own: nothing of its caller or of another run reaches its handler."""

import asyncio
import decimal
import io
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar
from datetime import timedelta
from decimal import Decimal
from importlib import import_module

import pytest
from aws_lambda_powertools import Logger

from duetime import App, Batch, Payload, Run
from duetime.aws.messages import to_json
from duetime.lambdas import work
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.telemetry.spans import TraceSpan
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from duetime.worker import run_handler
from tests.functions.conftest import Context, sample

WHO = ContextVar("who", default="nobody")
LINES = io.StringIO()
ENTERED, GO = threading.Event(), threading.Event()
LOGGER = Logger(service="shop", stream=LINES)


class Draft(Payload):
    number: int = 0


class Later(Payload):
    number: int = 0


class Several(Payload):
    number: int = 0


def seen():
    """Return what a handler finds of others, then leave as much behind."""
    LOGGER.info("seen")
    line = json.loads(LINES.getvalue().splitlines()[-1])
    found = (WHO.get(), Decimal("1234.56") + 0, line.get("customer"), line.get("order"))
    WHO.set("ann")
    decimal.getcontext().prec = 3
    LOGGER.append_keys(customer="ann")
    LOGGER.thread_safe_append_keys(order="o-1")
    LOGGER.info("own")
    line = json.loads(LINES.getvalue().splitlines()[-1])
    assert (line["customer"], line["order"], line["service"]) == ("ann", "o-1", "shop")
    return found


CLEAN = ("nobody", Decimal("1234.56"), None, None)
TURN = threading.Lock()


def app_that_looks():
    app, found = App(), []

    @app.action
    def draft(payload: Draft) -> None:
        with TURN:
            found.append(seen())

    @app.action
    async def later(payload: Later) -> None:
        with TURN:
            found.append(seen())
        await asyncio.sleep(0)
        assert WHO.get() == "ann"

    @app.action(many=True)
    def several(batch: Batch[Several]) -> None:
        with TURN:
            found.append(seen())

    return app, found


PAYLOADS = [kind(number=number) for number in range(4) for kind in (Draft, Later, Several)]


@pytest.fixture(autouse=True)
def caller():
    """The caller has a context too, which stays as it is."""
    token = WHO.set("the caller")
    LOGGER.append_keys(customer="the caller's")
    with decimal.localcontext() as context:
        context.prec = 4
        yield
        assert (WHO.get(), decimal.getcontext().prec) == ("the caller", 4)
    LOGGER.info("after")
    assert json.loads(LINES.getvalue().splitlines()[-1])["customer"] == "the caller's"
    LOGGER.remove_keys(["customer"])
    WHO.reset(token)


BASE = (*CLEAN[:2], "the caller's", None)
"""Keys that code appends outside of any run are those of its process."""


@pytest.mark.parametrize("worker_batch", [1, 10])
def test_runs_of_the_simulator_have_contexts_of_their_own(worker_batch):
    app, found = app_that_looks()
    cloud = SimulatedCloud(app, settings=Settings(worker_batch=worker_batch))
    for payload in PAYLOADS:
        cloud.scheduler.schedule(payload, at=timedelta(seconds=1))
    cloud.advance(minutes=1)
    assert len(found) >= 9
    assert set(found) == {BASE}


@pytest.mark.parametrize("path", [None, "actions.db"])
@pytest.mark.parametrize("worker_batch", [1, 10])
def test_runs_of_the_embedded_scheduler_have_contexts_of_their_own(path, worker_batch, tmp_path):
    app, found = app_that_looks()
    with app.embedded(path and tmp_path / path, worker_batch=worker_batch) as scheduler:
        actions = [scheduler.schedule(payload, at=timedelta(0)) for payload in PAYLOADS]
        while not all(scheduler.get(action.id).status.is_final for action in actions):
            threading.Event().wait(0.005)
    assert len(found) >= 9
    assert set(found) == {BASE}


@pytest.mark.parametrize("size", [1, len(PAYLOADS)])
def test_runs_of_a_workers_function_have_contexts_of_their_own(deployed, size):
    app, found = app_that_looks()
    scheduler = Scheduler.from_env(tenant_id="acme", actor="billing")
    handler = work.make_handler(deployed, app.handler_set, instance="w-1", metrics=lambda _: None)
    (template,) = sample("work")["Records"]
    records = [
        template | {"messageId": f"m-{n}", "receiptHandle": f"r-{n}", "body": to_json(message_of(action))}
        for n, action in enumerate(scheduler.schedule(payload, at=timedelta(0)) for payload in PAYLOADS)
    ]
    for start in range(0, len(records), size):
        handler({"Records": records[start : start + size]}, Context())
    assert found == [BASE] * (12 if size == 1 else 9)


def test_a_logger_that_a_run_makes_has_the_keys_of_that_run_alone():
    app, loggers = App(), []

    @app.action
    def draft(payload: Draft, run: Run) -> None:
        if not loggers:
            loggers.append(Logger(service="made", stream=LINES))
        loggers[0].append_keys(**{f"run_{payload.number}": 1})
        loggers[0].info("made")

    cloud = SimulatedCloud(app)
    for number in (1, 2):
        cloud.scheduler.schedule(Draft(number=number), at=timedelta(seconds=number))
    cloud.advance(minutes=1)
    loggers[0].info("made after")
    lines = [json.loads(line) for line in LINES.getvalue().splitlines() if '"message":"made' in line]
    assert [[key for key in line if key.startswith("run_")] for line in lines] == [["run_1"], ["run_2"], []]


def test_a_run_waits_for_an_import_of_powertools_that_another_thread_has_begun(monkeypatch, tmp_path):
    (tmp_path / "slow_formatter.py").write_text(
        "from tests.journeys import test_run_context as test\n"
        "test.ENTERED.set()\n"
        "assert test.GO.wait(60)\n"
        "class LambdaPowertoolsFormatter: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(run_handler, "_POWERTOOLS", "slow_formatter")
    with ThreadPoolExecutor(2) as pool:
        imported = pool.submit(import_module, "slow_formatter")
        assert ENTERED.wait(60)
        ran = pool.submit(run_handler.isolated, lambda: "ran", TraceSpan())
        done, _ = wait([ran], timeout=0.2)
        GO.set()
        assert not done
        assert ran.result(60) == "ran"
        assert "log_format" in vars(imported.result(60).LambdaPowertoolsFormatter)
    sys.modules.pop("slow_formatter")
