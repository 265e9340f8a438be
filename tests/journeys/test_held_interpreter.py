"""A handler that holds its interpreter: no heartbeat beats, its lease ends, and another process takes over.

By the real clock.
"""

import copyreg
import ctypes
import multiprocessing
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from multiprocessing.managers import BaseManager
from types import MappingProxyType

import pytest

from duetime import App, Payload, Run, Status
from duetime.clock import SystemClock
from duetime.embedded.cloud import MemoryCloud
from duetime.scheduler import Scheduler
from duetime.settings import Made, Settings
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from tests.backends import backends

BRIEF = Settings(
    lease=timedelta(seconds=2),
    heartbeat=timedelta(seconds=0.4),
    cancel_poll=timedelta(seconds=0.1),
    clock_skew=timedelta(0),
    made=Made(queue_visibility=timedelta(seconds=60)),
)
CLOCK = SystemClock()
FOREVER = 1e9
FACES = ("store", "job_store", "queues", "_routes")
JOB = "press-print"
SLEEPER = ctypes.PyDLL(None)
"""The C library; it keeps the interpreter while one of its functions runs."""


def unchanging(items):
    return MappingProxyType(items)


copyreg.pickle(MappingProxyType, lambda proxy: (unchanging, (dict(proxy),)))  # a job's fields go to and fro


class Crunch(Payload):
    pass


def app_that(crunches):
    """An app with an action and a job that crunch."""
    app = App()

    @app.action
    def crunch(payload: Crunch, run: Run) -> None:
        crunches()

    @app.job(name=JOB)
    def crunch_job(run: Run) -> None:
        crunches()

    return app


class Remote:
    """A back end of another process."""

    def __init__(self, far, face):
        self._far, self._face = far, face

    def __getattr__(self, name):
        return lambda *args, **kwargs: self._far.call(self._face, name, args, kwargs)


class Near(BaseManager):
    """What the process that holds the interpreter reaches the back ends through."""


Near.register("far")


def hold(address, key, delivery, began, let_go):
    """Run a worker's process whose handler holds the interpreter like one long call into C."""

    def crunches():
        began.value = True
        sys.setswitchinterval(FOREVER)  # no other thread of this process gets a turn
        while not let_go.value:
            SLEEPER.usleep(10_000)

    near = Near(address=address, authkey=key)
    near.connect()
    store, jobs, queues, routes = (Remote(near.far(), face) for face in FACES)
    over = backends(store, jobs=jobs, queues=queues, routes=routes, clock=CLOCK, settings=BRIEF)
    Worker(app_that(crunches).handler_set, over, Heartbeat(over), instance="first")(delivery)


class Pair:
    """The process that holds, and this one, which has the back ends and is the second worker."""

    def __init__(self):
        self.runs, self.process = [], None
        app = app_that(lambda: self.runs.append("second"))
        self.cloud = MemoryCloud(app, clock=CLOCK, settings=BRIEF, instance="second")
        self.scheduler = Scheduler(
            self.cloud.store,
            tenant_id="acme",
            actor="test",
            clock=CLOCK,
            settings=BRIEF,
            jobs=self.cloud.job_ports,
        )
        spawned = multiprocessing.get_context("spawn")
        self.began, self.let_go = spawned.RawValue("b", False), spawned.RawValue("b", False)
        self._spawned = spawned
        self._server = BaseManager(address=("127.0.0.1", 0), authkey=b"held").get_server()
        self._server.stop_event = threading.Event()
        self._server.registry["far"] = (lambda: self, ("call",), None, None)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(SystemExit):
            self._server.serve_forever()

    def call(self, face, name, args, kwargs):
        return getattr(getattr(self.cloud, face), name)(*args, **kwargs)

    def next_delivery(self):
        while (delivery := self.cloud.turn()) is None:
            threading.Event().wait(0.02)
        return delivery

    def begin(self):
        """Have the other process work on the next delivery, until its handler holds."""
        arguments = (self._server.address, b"held", self.next_delivery(), self.began, self.let_go)
        self.process = self._spawned.Process(target=hold, args=arguments, daemon=True)
        self.process.start()
        while not self.began.value:
            assert self.process.is_alive()
            threading.Event().wait(0.02)

    def take_over(self, ref):
        """Work on what the queue delivers until the action is settled."""
        while self.cloud.store.get(ref).status is Status.PROCESSING:
            self.cloud.run(self.next_delivery())

    def end(self):
        self.let_go.value = True
        self.process.join()
        return self.process.exitcode

    def close(self):
        if self.process is not None:
            self.end()
        self._server.stop_event.set()


@pytest.fixture
def pair():
    made = Pair()
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["an action", "a job's run"])
def test_a_handler_that_holds_its_interpreter_loses_its_lease_and_its_end_changes_nothing(pair, kind):
    if kind == "an action":
        row = pair.scheduler.schedule(Crunch(), at=timedelta(0))
    else:
        row = pair.scheduler.jobs.trigger(JOB)
    pair.begin()
    assert pair.cloud.store.get(row.ref).attempts[0].instance == "first"
    pair.take_over(row.ref)
    assert pair.process.is_alive()
    settled = pair.cloud.store.get(row.ref)
    assert (settled.status, settled.attempt, settled.recoveries, settled.fence) == (Status.EXECUTED, 1, 1, 2)
    assert [(attempt.instance, attempt.ending) for attempt in settled.attempts] == [
        ("first", None),
        ("second", "executed"),
    ]
    assert pair.end() == 0
    assert pair.cloud.store.get(row.ref) == settled
    assert pair.runs == ["second"]
    if kind == "a job's run":
        job = pair.scheduler.jobs.get(JOB)
        assert (job.tally.executed, job.tally.failed, job.running) == (1, 0, None)
