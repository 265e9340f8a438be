"""`executed` states that the handler's body ran to its end, whatever the handler is made of."""

import asyncio
import csv
import functools
import itertools
import logging
import sqlite3
import threading
import types
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, nullcontext
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime import App, Batch, Fatal, Payload, RetryPolicy, Run, Status
from duetime.actions.why import WhySources, why
from duetime.errors import DeclarationError
from duetime.model.expiry import NO_EXPIRY
from duetime.model.metric import Metric
from duetime.model.outcome import OVERRAN
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, fake_batch, fake_run

SOURCES = WhySources(
    store=None,
    settings=Settings(),
    hold_of=lambda _: None,
    skip_of=lambda _: None,
    job_of=lambda _: None,
    expiry_of=lambda _: NO_EXPIRY,
)


class Ring(Payload):
    pass


POOLS = {}
LOOPS = {}


@pytest.fixture(autouse=True, scope="module")
def loops():
    """A pool and two event loops of the handlers' own: one stands still, and one runs in a thread."""
    POOLS["own"] = ThreadPoolExecutor(1)
    LOOPS.update(own=asyncio.new_event_loop(), of_thread=asyncio.new_event_loop())
    thread = threading.Thread(target=LOOPS["of_thread"].run_forever, daemon=True)
    thread.start()
    yield
    LOOPS["of_thread"].call_soon_threadsafe(LOOPS["of_thread"].stop)
    thread.join()
    LOOPS["own"].run_until_complete(
        asyncio.wait({*asyncio.all_tasks(LOOPS["own"]), LOOPS["own"].create_task(rest())})
    )
    for loop in LOOPS.values():
        loop.close()
    POOLS["own"].shutdown()


async def rest():
    await asyncio.sleep(0)


def plain(did):
    def ring(payload: Ring) -> None:
        did.append("whole")

    return ring


def later(did):
    async def ring(payload: Ring) -> None:
        await asyncio.sleep(0)
        did.append("whole")

    return ring


def generator(did):
    def ring(payload: Ring):
        did.append("whole")
        yield

    return ring


def async_generator(did):
    async def ring(payload: Ring):
        did.append("whole")
        yield

    return ring


def mapped(did):
    def ring(payload: Ring) -> None:
        return map(did.append, ["whole"])

    return ring


def coroutine_of_generator(did):
    @types.coroutine
    def wait():
        yield from asyncio.sleep(0).__await__()
        did.append("whole")

    def ring(payload: Ring) -> None:
        return wait()

    return ring


def pooled(did):
    def ring(payload: Ring) -> None:
        return POOLS["own"].submit(did.append, "whole")

    return ring


def own_loop(did):
    async def work():
        await rest()
        did.append("whole")

    def ring(payload: Ring) -> None:
        return LOOPS["own"].create_task(work())

    return ring


def loop_of_a_thread(did):
    async def work():
        await rest()
        did.append("whole")

    def ring(payload: Ring) -> None:
        return asyncio.run_coroutine_threadsafe(work(), LOOPS["of_thread"])

    return ring


def future_of_a_thread(did):
    async def begun():
        return asyncio.ensure_future(work())

    async def work():
        await rest()
        did.append("whole")

    def ring(payload: Ring) -> None:
        return asyncio.run_coroutine_threadsafe(begun(), LOOPS["of_thread"]).result()

    return ring


class Generating:
    """A decorator whose call is a generator, also that of its subclasses."""

    def __init__(self, function):
        functools.update_wrapper(self, function)

    def __call__(self, *args, **given):
        yield self.__wrapped__(*args, **given)


class Inheriting(Generating):
    pass


class InheritingAsync(Generating):
    async def __call__(self, *args, **given):
        yield self.__wrapped__(*args, **given)


class InheritingTwice(InheritingAsync):
    pass


class Awaitable:
    def __init__(self, call):
        self.call = call

    def __await__(self):
        yield from asyncio.sleep(0).__await__()
        return self.call()


class Logged:
    """A decorator that is a class, as some libraries have."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args, **given):
        return self.function(*args, **given)


def wrapped(function):
    @functools.wraps(function)
    def inner(*args, **given):
        return function(*args, **given)

    return inner


def unnamed(function):
    def inner(payload: Ring):
        return function(payload)

    return inner


def awaits(function):
    async def inner(payload: Ring) -> None:
        result = function(payload)
        return await result if asyncio.iscoroutine(result) else result

    return inner


def forgets_to_await(function):
    async def inner(payload: Ring):
        return function(payload)

    return inner


def as_task(function):
    async def inner(payload: Ring):
        result = function(payload)
        return asyncio.ensure_future(result) if asyncio.iscoroutine(result) else result

    return inner


def as_awaitable(function):
    def inner(payload: Ring):
        return Awaitable(lambda: function(payload))

    return inner


def uncalled(function):
    def inner(payload: Ring):
        return functools.partial(function, payload)

    return inner


def forgotten(function):
    @functools.wraps(function)
    def inner(*args, **given):
        def call():
            return function(*args, **given)

        return call

    return inner


def nests(function):
    def inner(payload: Ring):
        return {"a": deque([Awaitable(lambda: function(payload))])}

    return inner


def nests_task(function):
    async def inner(payload: Ring):
        result = function(payload)
        return [asyncio.ensure_future(result) if asyncio.iscoroutine(result) else result]

    return inner


def as_partial(function):
    return functools.wraps(function)(functools.partial(function))


BODIES = [
    plain,
    later,
    generator,
    async_generator,
    mapped,
    coroutine_of_generator,
    pooled,
    own_loop,
    loop_of_a_thread,
    future_of_a_thread,
]
WRAPPERS = [
    wrapped, unnamed, Logged, awaits, forgets_to_await, as_task, as_awaitable, as_partial, functools.partial,
    uncalled, forgotten, nests, nests_task,
]  # fmt: skip


def end_of(function, did):
    """Return the status of an action after its handler's run; None if the declaration is rejected."""
    app = App()
    try:
        app.action(retry=RetryPolicy(attempts=1))(function)
    except DeclarationError:
        return None
    with closing(SimulatedCloud(app)) as cloud:
        action = cloud.scheduler.schedule(Ring(), at=timedelta(0))
        cloud.advance(seconds=1)
        return cloud.scheduler.get(action.id).status


@settings(max_examples=60)
@given(st.sampled_from(BODIES), st.lists(st.sampled_from(WRAPPERS), max_size=4))
def test_the_body_has_run_to_its_end_or_the_status_is_not_executed(body, wrappers):
    did = []
    function = body(did)
    for wrapper in wrappers:
        function = wrapper(function)
    status = end_of(function, did)
    assert status is not Status.EXECUTED or did == ["whole"]
    assert status in {None, Status.EXECUTED, Status.FAILED}


@pytest.mark.parametrize(
    "wrapper", [wrapped, unnamed, Logged, awaits, forgets_to_await, as_awaitable, as_partial]
)
@pytest.mark.parametrize("body", [plain, later, coroutine_of_generator, pooled, own_loop, loop_of_a_thread])
def test_an_awaitable_of_any_kind_is_awaited(body, wrapper):
    did = []
    function = wrapper(body(did))
    is_of_another_loop = body is own_loop and wrapper in {awaits, forgets_to_await, as_awaitable}
    assert end_of(function, did) is (Status.FAILED if is_of_another_loop else Status.EXECUTED)


@pytest.mark.parametrize("wrapper", [wrapped, Logged, as_partial])
@pytest.mark.parametrize("body", [generator, async_generator])
def test_a_generator_is_rejected_when_it_is_declared(body, wrapper):
    for function in (body([]), wrapper(body([])), wrapper(wrapper(body([])))):
        with pytest.raises(DeclarationError, match="has a yield"):
            App().action(function)
    with pytest.raises(DeclarationError, match="has a yield"):

        @App().job
        @wrapper
        def nightly(run: Run):
            yield


@pytest.mark.parametrize("decorator", [Generating, Inheriting, InheritingAsync, InheritingTwice])
def test_a_call_that_is_a_generator_is_rejected_when_it_is_declared(decorator):
    with pytest.raises(DeclarationError, match="has a yield"):
        App().action(decorator(plain([])))


@pytest.mark.parametrize("path", [None, "actions.db"])
@pytest.mark.parametrize("body", [later, pooled])
def test_the_embedded_scheduler_awaits_what_a_wrapper_returns(body, path, tmp_path):
    did, app = [], App()
    app.action(unnamed(body(did)))
    with app.embedded(path and tmp_path / path) as scheduler:
        action = scheduler.schedule(Ring(), at=timedelta(0))
        while not scheduler.get(action.id).status.is_final:
            threading.Event().wait(0.005)
        assert (scheduler.get(action.id).status, did) == (Status.EXECUTED, ["whole"])


@pytest.mark.parametrize("body", [later, pooled, coroutine_of_generator])
def test_a_direct_call_of_a_handler_runs_it_to_its_end(body):
    did, app = [], App()
    app.action(wrapped(body(did)))
    assert app.handlers["ring"](Ring(), fake_run()) is None
    assert did == ["whole"]


async def sleeping():
    await asyncio.sleep(0)


async def async_numbers():
    yield 1


def failed_future():
    future = Future()
    future.set_exception(ValueError("row 17 is bad"))
    return future


def future_of(result):
    future = Future()
    future.set_result(result)
    return future


class Ringer:
    def ring(self):
        pass

    __call__ = ring


NOT_DONE = {
    "function": lambda: sleeping,
    "lambda": lambda: lambda: 1,
    "method": lambda: Ringer().ring,
    "partial": lambda: functools.partial(print, 1),
    "callable": Ringer,
    "functions": lambda: [print],
    "nested": lambda: {"a": [{"b": (Future(),)}]},
    "deque": lambda: deque([Future()]),
    "set": lambda: frozenset([Future()]),
    "keys": lambda: {Future(): 1},
    "view": {"a": Future()}.values,
    "proxy": lambda: types.MappingProxyType({"a": Future()}),
    "namespace": lambda: types.SimpleNamespace(a=[Future()]),
    "result": lambda: [future_of(Future())],
}


@pytest.mark.parametrize("returned", NOT_DONE.values(), ids=NOT_DONE)
def test_what_would_still_have_to_be_called_or_awaited_fails_at_any_depth(returned):
    def plain_one(payload: Ring):
        return returned()

    async def async_one(payload: Ring):
        return returned()

    for function in (plain_one, async_one):
        app = App()
        app.action(function)
        with pytest.raises(Fatal, match="nothing does that"):
            app.handlers["ring"](Ring(), fake_run())


def test_a_task_that_its_handler_returns_unfinished_fails():
    did, app = [], App()

    @app.action
    async def ring(payload: Ring):
        async def work():
            await asyncio.sleep(30)
            did.append(1)

        return {"tasks": [asyncio.create_task(work())]}

    with pytest.raises(Fatal, match="returned 'dict'"):
        app.handlers["ring"](Ring(), fake_run())
    assert did == []


@pytest.mark.parametrize("returned", [lambda: [failed_future()], lambda: {"a": (1, failed_future())}])
def test_the_exception_of_a_future_that_has_failed_is_that_of_the_call(returned):
    app = App()

    @app.action
    def ring(payload: Ring):
        return returned()

    with pytest.raises(ValueError, match="row 17 is bad"):
        app.handlers["ring"](Ring(), fake_run())


def test_a_result_that_contains_itself_or_much_is_looked_at_briefly():
    app, own = App(), [list(range(2_000)) for _ in range(2_000)]
    own.insert(0, own)

    @app.action
    def ring(payload: Ring):
        return own

    assert app.handlers["ring"](Ring(), fake_run()) is None


@pytest.mark.parametrize(
    ("returned", "is_done"),
    [
        (lambda: sqlite3.connect(":memory:").execute("SELECT 1"), True),
        (lambda: csv.reader(["a,b"]), True),
        (lambda: iter([1]), True),
        (lambda: map(print, [1]), False),
        (lambda: itertools.chain([1]), False),
        (lambda: enumerate(map(print, [1])), False),
        (lambda: [sleeping()], False),
        (lambda: {"a": sleeping()}, False),
        (asynccontextmanager(async_numbers), False),
        (lambda: [Future()], False),
        (lambda: [future_of(1)], True),
        (lambda: {"a": [1]}, True),
        (lambda: [Ring], True),
    ],
    ids=[
        "cursor",
        "reader",
        "list",
        "map",
        "itertools",
        "enumerate",
        "coroutines",
        "dict",
        "context",
        "future",
        "done",
        "values",
        "class",
    ],
)
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_only_what_does_its_work_as_it_is_read_fails_as_a_result(returned, is_done):
    app = App()

    @app.action
    def ring(payload: Ring):
        return returned()

    with nullcontext() if is_done else pytest.raises(Fatal, match="nothing does that"):
        app.handlers["ring"](Ring(), fake_run())


def test_a_batch_is_awaited_behind_a_wrapper():
    did, app = [], App()

    @app.action(many=True)
    @wrapped
    async def ring(batch: Batch[Ring]) -> None:
        await asyncio.sleep(0)
        did.extend(batch.items)

    app.handlers["ring"].call_with_many(fake_batch(Ring(), Ring()))
    assert len(did) == 2


def test_a_handler_that_swallows_its_cancellation_has_timed_out():
    app = App()

    @app.action(retry=RetryPolicy(attempts=1), timeout=timedelta(milliseconds=20))
    async def ring(payload: Ring) -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Ring(), at=timedelta(0))
    cloud.advance(seconds=1)
    assert cloud.scheduler.get(action.id).failure_reason.startswith(
        "RunTimedOut: the run passed its deadline"
    )


def test_a_run_past_its_time_out_is_executed_and_marked(caplog):
    app = App()

    @app.action(timeout=timedelta(seconds=2))
    def ring(payload: Ring, run: Run) -> None:
        run.clock.wait_until(run.deadline + timedelta(seconds=3))

    cloud = SimulatedCloud(app)
    action = cloud.scheduler.schedule(Ring(), at=timedelta(0))
    with caplog.at_level(logging.WARNING):
        cloud.advance(minutes=1)
    found = cloud.scheduler.get(action.id)
    assert found.status is Status.EXECUTED
    assert found.attempts[-1].message == f"{OVERRAN} by 3.0 s"
    assert found.failure_reason is None
    assert why(found, cloud.clock.now(), SOURCES).sentence.endswith(f". {OVERRAN.capitalize()} by 3.0 s.")
    assert len(cloud.metrics.values(Metric.OVERRAN)) == 1
    assert [record.reason for record in caplog.records if record.message == "overran"] == [
        f"{OVERRAN} by 3.0 s"
    ]
