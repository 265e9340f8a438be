"""A commit and the heartbeat of its run keep out of one another's way, by the real clock."""

import threading
from datetime import timedelta

import pytest

from duetime import App, Run, Status
from duetime.clock import SystemClock
from duetime.embedded.cloud import MemoryCloud
from duetime.errors import CommitRejected
from duetime.scheduler import Scheduler
from tests.hooked import hook_backend
from tests.journeys.books import BOOKED, REFUSED, Book
from tests.journeys.test_heartbeat import BRISK, _until


def _raise(error):
    raise error


class Beating:
    """A run by the real clock, with a heartbeat that a test can hold up in the middle of a beat."""

    def __init__(self, on_commit):
        self.app, self.go, self.done = App(), threading.Event(), threading.Event()
        self.beats, self.hold, self.let_go = 0, False, threading.Event()
        self.is_beating = self.is_held_up = False
        self.run = None

        def book(payload: Book, run: Run) -> None:
            self.run = run
            self.go.wait(30)
            for _ in range(2):
                try:
                    run.commit([BOOKED])
                    break
                except CommitRejected:
                    self.go.clear()
                    self.go.wait(30)
            self.done.wait(30)

        self.app.action(book)
        self.cloud = MemoryCloud(self.app, clock=SystemClock(), settings=BRISK)
        self.cloud.store.on_commit = on_commit
        hook_backend(self.cloud, "store", self.app).hooks.update(peek=self._held_up, renew=self._held_up)
        scheduler = Scheduler(
            self.cloud.store, tenant_id="acme", actor="test", clock=SystemClock(), settings=BRISK
        )
        self.action = scheduler.schedule(Book(), at=timedelta(0))
        self.thread = threading.Thread(target=lambda: self.cloud.run(self.cloud.turn()))
        self.thread.start()
        _until(lambda: self.run is not None)

    def _held_up(self, beat, *given):
        self.is_beating = True
        if self.hold:
            self.is_held_up = True
            self.let_go.wait(30)
        answer = beat(*given)
        self.beats += 1
        self.is_beating = False
        return answer

    @property
    def row(self):
        return self.cloud.store.get(self.action.ref)

    @property
    def rests(self):
        return bool(self.cloud.heartbeat.resting)

    def end(self):
        for signal in (self.let_go, self.go, self.done):
            signal.set()
        self.thread.join(30)


@pytest.fixture
def beating():
    made = []

    def make(on_commit):
        made.append(Beating(on_commit))
        return made[-1]

    yield make
    for watch in made:
        watch.end()


def test_no_beat_is_under_way_when_a_commit_is_sent(beating):
    seen = []
    worker = beating(lambda _entries: seen.append(worker.is_beating))
    worker.hold = True
    _until(lambda: worker.is_held_up)
    worker.go.set()
    _until(lambda: worker.rests)
    assert seen == []
    worker.let_go.set()
    _until(lambda: seen)
    assert seen == [False]


def test_after_a_commit_the_run_is_neither_renewed_nor_stopped(beating):
    worker = beating(lambda _entries: None)
    worker.go.set()
    _until(lambda: worker.row.status is Status.EXECUTED)
    beats = worker.beats
    threading.Event().wait(3 * BRISK.cancel_poll.total_seconds())
    assert (worker.beats, worker.run.cancelled) == (beats, False)


def test_a_run_with_a_rejected_commit_still_holds_its_lease(beating):
    answers = [REFUSED]
    worker = beating(lambda _entries: _raise(answers.pop()) if answers else None)
    worker.go.set()
    _until(lambda: not answers)
    before = worker.row.lease_until
    _until(lambda: worker.row.lease_until > before)
    worker.go.set()
    _until(lambda: worker.row.status is Status.EXECUTED)
