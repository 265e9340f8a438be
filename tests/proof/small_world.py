"""A small world: a few hand-overs and one small batch on the memory back end, in a few milliseconds.

The steps are the real ones: claim, hand over, complete, fail, heartbeat, take-over, redrive, count, release
and sweep. A seed chooses which of them is next, and what goes wrong at each call of the store: it is
throttled, its response is lost, it is repeated, it arrives late, its process dies, or other steps come in
between.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

from duetime import App, DuetimeError, Fatal, Order, Payload, Run
from duetime.errors import BackendUnavailable
from duetime.memory.backends import MemoryBackends
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.notes import MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryQueues, MemoryTimers
from duetime.model.action import Status
from duetime.model.batch import BatchState
from duetime.model.hand_over_token import Token
from duetime.ports.wakeups import Send
from duetime.retry import RetryPolicy
from duetime.scheduler import Scheduler
from duetime.settings import Settings
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from duetime_faults.faulty import READS, REPEATED
from tests.proof.settle_record import OF_RUNS, SettleRecord, Ticket

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
SETTINGS = Settings(
    max_recoveries=2,
    events="off",
    lease=30 * SECOND,
    heartbeat=5 * SECOND,
    catch_up_rate=1_800 * SECOND,  # three bands of lateness: most of a world's time is its sweeps
)
BATCH, MEMBERS, MOVES = "films", 4, 30
LONGEST_REST = 60
"""Moves of the clock in which all must end once the faults are over."""

TIMEOUTS, HEARTBEATS = [20, 60, 400], [None, 10, 20]
STEPS_OF_CLOCK = [0, 0, 1, 5, 12, 31, 70, 410]
"""Seconds."""

USUAL, RACY = 0.12, 0.4
"""The rates of faults: the second is that of the calls that decide a race."""
DECIDING = frozenset({"settle", "beat", "hand_over", "change_batch", "release"})
KINDS = ["throttle", "lose", "repeat", "late", "crash", "crash after", "between", "between after"]
WEIGHTS = [1, 2, 2, 3, 1, 1, 6, 4]


class Film(Payload):
    """Is handed over, or without a time-out done at once."""

    number: int
    timeout: int | None = None
    heartbeat: int | None = None


class Report(Payload):
    pass


class Crashed(BaseException):
    """A process died."""


class StillHeartbeat(Heartbeat):
    """Renews nothing: a run that is slow loses its lease."""

    def _begin(self, watched):
        self._watched.add(watched)

    def _end(self, watched):
        self._watched.discard(watched)


class FaultyStore:
    """The store as processes see it: each call may meet a fault."""

    def __init__(self, store, world):
        self._store, self._world = store, world

    def __getattr__(self, name):
        found = getattr(self._store, name)
        if not callable(found):
            return found
        if name in OF_RUNS:
            found = partial(self._world.record.by_run, self._store, name, found)
        call = partial(self._world.call, name, found)
        self.__dict__[name] = call
        return call


class SmallWorld:
    """The world of a seed; each second one has more races of counts than of tokens."""

    current = None
    """The world whose handlers run: one app serves all worlds, since making one takes longer than a world."""

    def __init__(self, seed):
        self.draw = Random(f"small {seed}")  # noqa: S311 - the same world for the same seed
        self.clock, self.depth, self.has_faults = TurnedClock(NOON), 0, False
        self.counts_more = seed % 2 == 1
        self.late, self.records, self.tickets, self.bad, self.busy = [], [], {}, set(), set()
        self.record = SettleRecord(self.clock)
        self.store = MemoryStore(on_change=self.changed, on_batch=self.records.append)
        self.queues = MemoryQueues(self.clock, SETTINGS.made.queue_visibility)
        faulty = FaultyStore(self.store, self)
        backends = MemoryBackends(
            clock=self.clock,
            settings=SETTINGS,
            store=faulty,
            jobs=MemoryJobStore(self.store, on_change=lambda _fact: None),
            queues=self.queues,
            timers=MemoryTimers(),
            job_wakes=MemoryJobWakes(self.clock),
            bookmarks=MemoryBookmarks(),
            routes=ROUTES,
        )
        self.timers = backends.timers
        self.steps = Steps(backends)
        self.workers = [self.worker(backends, name) for name in ("a", "b", "c")]
        self.scheduler = self.caller(faulty)

    def caller(self, store):
        return Scheduler(
            store,
            tenant_id="acme",
            actor="clerk",
            clock=self.clock,
            settings=SETTINGS,
            random_bytes=self.draw.randbytes,
        )

    def worker(self, seen, name):
        heartbeat = StillHeartbeat(seen)
        return Worker(APP.handler_set, seen, heartbeat, instance=name, jitter_draw=lambda: 0.5)

    def changed(self, change):
        self.record.changed(change)
        self.records.append(change)

    def live(self):
        """Live through the world; return what does not hold of it."""
        SmallWorld.current = self
        self.fill()
        self.has_faults = True
        for _ in range(MOVES):
            self.move()
        self.has_faults = False
        self.rest()
        return self.record.broken(self)

    def fill(self):
        """Schedule two lone hand-overs, and a batch whose members are handed over or done at once."""
        caller = self.caller(self.store)
        self.alone = [caller.schedule(self.film(-1 - one), at=self.clock.now()).id for one in range(2)]
        self.bad = {
            number for number in range(MEMBERS) if self.draw.random() < (0.6 if self.counts_more else 0.3)
        }
        films = [self.film(number, lone=False) for number in range(MEMBERS)]
        with caller.batch(BATCH, on_complete=Report()) as batch:
            batch.schedule_many([Order(film, at=self.clock.now()) for film in films])

    def film(self, number, *, lone=True):
        if not lone and (self.counts_more or self.draw.random() < 0.5):
            return Film(number=number)
        timeout = self.draw.choice(TIMEOUTS)
        heartbeat = self.draw.choice(HEARTBEATS)
        return Film(number=number, timeout=timeout, heartbeat=heartbeat)

    def handle(self, payload, run):
        """Handle a film: hand it over, or end it."""
        if payload.timeout is not None:
            ticket = Ticket(run.token, run.id, Token.parse(run.token).fence)
            self.tickets.setdefault(ticket.text, ticket)
        if self.has_faults and self.draw.random() < 0.3:  # its party is quicker, or its lease ends
            self.between()
        if payload.timeout is not None:
            heartbeat = None if payload.heartbeat is None else payload.heartbeat * SECOND
            return run.hand_over(timeout=payload.timeout * SECOND, heartbeat=heartbeat)
        if payload.number in self.bad:
            raise Fatal("the reel is torn")
        return None

    def call(self, name, method, *args, **more):
        """Call the store, or inject a fault; reads meet only steps in between."""
        if not self.has_faults or self.draw.random() >= (RACY if name in DECIDING else USUAL):
            return method(*args, **more)
        (kind,) = self.draw.choices(KINDS, WEIGHTS)
        call = partial(method, *args, **more)
        if kind == "between":
            self.between()
        if name in READS or kind in {"between", "between after"}:
            answer = call()
            if kind == "between after":
                self.between()
            return answer
        return self.wrong(kind, name, call)

    def wrong(self, kind, name, call):
        if kind == "late":
            self.late.append(call)
        elif kind in {"lose", "crash after"}:
            call()
        elif kind == "repeat" and name in REPEATED:
            call()
            return call()
        elif kind == "repeat":
            return call()
        if kind.startswith("crash"):
            raise Crashed
        raise BackendUnavailable(name, f"{kind} by the world")

    def between(self):
        """Let other steps come in between, and time pass."""
        if self.depth < 2:  # three processes suffice for the protocol's races
            self.depth += 1
            if self.draw.random() < 0.3:  # a lease ends, and its action is taken over
                self.try_to(self.pass_time)
                self.try_to(self.deliver)
            for _ in range(self.draw.choice([1, 1, 2, 3])):
                self.move()
            self.depth -= 1

    def move(self):
        """Do one step by chance."""
        moves = [self.deliver, self.stream, self.party, self.pass_time, self.sweep, self.meddle, self.arrive]
        (move,) = self.draw.choices(
            moves, [8, 5, 3, 3, 3, 6, 2] if self.counts_more else [8, 5, 8, 4, 1, 3, 2]
        )
        self.try_to(move)

    def try_to(self, move):
        """Do a step; it may fail, or its process may die."""
        with suppress(DuetimeError, Crashed):
            move()

    def deliver(self):
        """Have a free worker handle a message; sometimes the message stays, or comes twice."""
        free = [worker for worker in self.workers if worker not in self.busy]
        received = self.queues.receive() if free else None
        if received is None:
            return
        queue, delivery = received
        worker = free[0] if len(free) == 1 else self.draw.choice(free)
        if self.has_faults and self.draw.random() < 0.15:
            self.queues.send([Send(queue, delivery.message, self.draw.choice([0, 5, 40]))])
        self.busy.add(worker)
        try:
            worker(delivery)
        finally:
            self.busy.discard(worker)
        if not self.has_faults or self.draw.random() < 0.9:
            self.queues.delete(delivery.receipt)

    def stream(self):
        """Handle some records: in order, or shuffled, repeated or lost."""
        some = [self.records.pop(0) for _ in range(min(len(self.records), self.draw.choice([1, 2, 5, 20])))]
        if self.has_faults and some:
            fate = self.draw.random()
            if fate < 0.1:
                return
            if fate < 0.3:
                self.draw.shuffle(some)
            if fate > 0.85:
                self.records += some
        self.follow(some)

    def follow(self, wakes):
        changes = [wake for wake in wakes if hasattr(wake, "new")]
        self.steps.arm(changes)
        if any(change.ended_hand_over for change in changes):
            self.steps.after_hand_over(changes)
        self.steps.follow(wakes)

    def party(self):
        """Call with a token: the latest, or any; now and then twice."""
        if not self.tickets:
            return
        tickets = list(self.tickets.values())
        ticket = self.draw.choice(tickets[-3:] if self.draw.random() < 0.6 else tickets)
        retry = self.draw.random() < 0.7
        call, ends_as = self.draw.choices(
            [
                (lambda: self.scheduler.heartbeat(ticket.text, progress=0.5), None),
                (lambda: self.scheduler.complete(ticket.text, result=ticket.fence), Status.EXECUTED),
                (lambda: self.scheduler.fail(ticket.text, "jammed", retry=retry), Status.FAILED),
            ],
            [2, 4, 1],
        )[0]
        for _ in range(self.draw.choice([1, 1, 2])):
            self.record.called(ticket, call, ends_as, self.store)

    def pass_time(self):
        self.clock.wait_until(self.clock.now() + self.draw.choice(STEPS_OF_CLOCK) * SECOND)
        for message in self.timers.fire(self.clock.now()):
            self.steps.dispatch(message)

    def sweep(self):
        stop_at = self.clock.now() + 50 * SECOND
        self.steps.sweep(stop_at=stop_at)
        self.steps.sweep_held(stop_at=stop_at)

    def catch_up(self):
        """Sweep all: a sweep's bands do not reach what was long overdue at the first sweep."""
        stop_at = self.clock.now() + 50 * SECOND
        self.sweep()
        self.steps.deep_sweep(stop_at=stop_at)
        self.steps.sweep_held.check_all(stop_at=stop_at)

    def meddle(self):
        """Cancel an action, or redrive what failed."""
        if self.draw.random() < 0.25:
            self.scheduler.cancel(self.draw.choice(list(self.store.table.by_ref)).id)
            return
        if self.draw.random() < 0.7:
            self.bad = {number for number in self.bad if self.draw.random() < 0.3}
            self.scheduler.batches.redrive(BATCH)
        else:
            self.scheduler.redrive(self.draw.choice(self.alone))

    def arrive(self):
        """Let one of the late writes arrive."""
        if self.late:
            self.late.pop(self.draw.randrange(len(self.late)))()

    def rest(self):
        """Let the late writes arrive and all time-outs pass; the sweep finds what the faults have left."""
        while self.late:
            with suppress(DuetimeError):
                self.arrive()
        for number in range(LONGEST_REST):
            if number % 3 == 0:
                self.catch_up()
            self.do_all()
            if self.is_done():
                return
            self.clock.wait_until(self.clock.now() + min(20 * 1.5**number, 1_200) * SECOND)
            for message in self.timers.fire(self.clock.now()):
                self.steps.dispatch(message)

    def do_all(self):
        """Do what is due now."""
        while True:
            wakes = self.records[:]
            self.records.clear()
            if wakes:
                self.follow(wakes)
            received = self.queues.receive()
            if received is None and not self.records:
                return
            if received is not None:
                self.workers[0](received[1])
                self.queues.delete(received[1].receipt)

    def is_done(self):
        batch = self.batch()
        is_counted = batch.state is BatchState.COMPLETE and batch.recount_at is None
        return is_counted and all(row.status.is_final for row in self.store.rows())

    def batch(self):
        return self.scheduler.batches.get(BATCH)

    def members(self):
        return [row for row in self.store.rows() if row.batch == BATCH]

    def report(self):
        """Check that no member is left when the completion action runs."""
        left = [row for row in self.members() if not row.status.is_final and not row.redriven_after]
        if left:
            self.record.problems.append(f"the batch is complete while {len(left)} members are left")


def _app():
    app = App()

    @app.action(retry=RetryPolicy(attempts=3, backoff=[2, 10]))
    def film(payload: Film, run: Run):
        return SmallWorld.current.handle(payload, run)

    @app.action
    def report(payload: Report, run: Run) -> None:
        del payload, run
        SmallWorld.current.report()

    app.complete()
    return app


APP = _app()
ROUTES = MemoryRoutes([APP.manifest])


def first_broken(seeds):
    """Return the first small world in which something is wrong, and what; None if there is none."""
    for seed in seeds:
        if problems := SmallWorld(seed).live():
            return seed, problems
    return None


def final_counts(rows):
    """Return how many rows have each final status."""
    statuses = [row.status for row in rows]
    return tuple(
        statuses.count(one) for one in (Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.SKIPPED)
    )
