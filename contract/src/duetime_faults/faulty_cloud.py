"""The memory cloud with faults: functions run in processes, and AWS' retries are simulated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from duetime.app import App
from duetime.errors import DuetimeError
from duetime.events.publish import PublishedFact
from duetime.instant import LATEST
from duetime.jobs.plan import LEAD
from duetime.jobs.reconcile import Reconciled
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.backends import MemoryBackends
from duetime.model.action import Action, ActionRef
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.model.job import JobRef
from duetime.model.priority import high_queue_of
from duetime.model.run import WorkerDied
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.regions import ActiveRegions
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing.faults import Faults
from duetime.testing.journey import Journal, JournaledCloud, SimulationStuck
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.dispatch import Event
from duetime.wakeups.due_scanner import is_cursor
from duetime.wakeups.follow import Wake
from duetime.wakeups.sweep import BOOKMARK as SWEEP_MARKS
from duetime.wakeups.sweep import LOOK, bands
from duetime.wakeups.system_jobs import SYSTEM_WORKER
from duetime.wakeups.wheel import BOOKMARK as WHEEL_MARKS
from duetime.wakeups.wheel import TURN
from duetime.worker.batch import Step
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from duetime_faults.calls import FunctionCalls
from duetime_faults.deliveries import Batch, FaultyQueues, FaultyStream, id_of, place_of
from duetime_faults.dice import Dice
from duetime_faults.event_path import EventPath
from duetime_faults.faulty import Args, FaultInjector
from duetime_faults.message_counts import MessageCounts
from duetime_faults.processes import Crashed, Process, ProcessClock, Processes, TimedOut, Workers
from duetime_faults.run_tallies import RunTallies
from duetime_faults.simulated_heartbeat import SimulatedHeartbeat
from duetime_faults.watch import InvariantWatch

MOST_PASSES = 8
"""The most sweeps in succession that may leave a job unmaintained, though no call about it hangs."""

MOST_TURNS = 25
"""The most sweeps in succession that may leave a shard where it was, while the due index and SQS respond."""

MOST_TIME_OUTS = 3
"""How often Lambda may end arm at its time-out for the same batch: those behind it in its shard wait."""


@dataclass(eq=False, slots=True)
class PassLiveness:
    """Counts the sweeps that did not reach what is due: those that ended, succeeding or at their time-out.

    Sweeps that crash at random do not count: by chance, eight in succession do.
    """

    broken: list[str] = field(default_factory=list)
    _waiting: Counter[tuple[JobRef, datetime]] = field(default_factory=Counter)
    _marks: Counter[tuple[str, str]] = field(default_factory=Counter)

    def swept(self, due: Iterable[tuple[JobRef, datetime]], marks: Mapping[str, str] | None) -> None:
        """Count a sweep.

        Args:
            due: the jobs that were due before it began and still are, and since when; without those about
                which calls hang.
            marks: how far the wheel and each band of the sweep have come, by shard; None while the due index
                or SQS hangs: such a sweep counts for no shard.
        """
        self._waiting = Counter({job: self._waiting[job] + 1 for job in set(due)})
        for (ref, since), passes in self._waiting.items():
            if passes == MOST_PASSES:
                self.broken.append(f"{ref.name} is due since {since:%H:%M:%S}, and {passes} sweeps left it")
        if marks is None:
            return
        self._marks = Counter({item: self._marks[item] + 1 for item in marks.items()})
        for (shard, mark), passes in self._marks.items():
            if passes == MOST_TURNS:
                self.broken.append(f"{shard} is read up to {mark}, and {passes} sweeps left it")


MAX_RECEIVES = 5
"""Receives of a message before it becomes a dead letter."""
_MOST_DEPLOYS = 1_000


class FaultyCloud(JournaledCloud):
    """A memory cloud whose `turn` also runs the handlers, at most `concurrency` at once."""

    concurrency = 100_000
    _in_phase = True
    event_path: EventPath | None = None
    """Set by `follow_events`."""

    def __init__(
        self,
        app: App,
        *,
        clock: TurnedClock,
        settings: Settings,
        faults: Faults,
        story: Journal,
        meter: Meter = UNMETERED,
        regions: ActiveRegions | None = None,
    ) -> None:
        self.dice = Dice(faults)
        self.processes = Processes(clock)
        self.trouble = FaultInjector(self.dice, self.processes, story, self._row_of, self._not_answered)
        self.stream = FaultyStream[Wake](clock, self.dice, story, place_of, id_of)
        self.calls = FunctionCalls(self.dice, self.processes, story, self._judge)
        self._workers, self._counts, self._liveness = Workers(self.dice), MessageCounts(), PassLiveness()
        self._swept_at, self._lost_at = clock.now(), self.dice.lost_at(clock.now())
        self._works: dict[tuple[str, int], Worker] = {}
        self._hearts: list[SimulatedHeartbeat] = []
        self.dice.are_fair = True  # the first deploy has no faults
        super().__init__(app, clock=clock, settings=settings, story=story, meter=meter, regions=regions)
        self.dice.are_fair = False

    def _as_seen(self, backends: MemoryBackends) -> MemoryBackends:
        self._real, self._tallies = backends, RunTallies(backends.jobs)
        self.watch = InvariantWatch(
            self.processes, backends.jobs, backends.store.key_slots, self.trouble.late
        )
        return self.seen_by(None)

    def _configure(self, settings: Settings) -> None:
        super()._configure(settings)
        self._real = replace(self._real, settings=settings)
        ahead = (TURN - settings.near_limit,) if settings.timers == "wheel" else ()
        self._looks = (*bands(settings), *ahead)
        hearts = SimulatedHeartbeat(self.seen_by(None), self.processes, self._judge)
        self._hearts.append(hearts)  # those before go on with the runs that they watch
        if self.event_path is not None:
            self.event_path.configure(settings)

    def follow_events(self) -> EventPath:
        """Let publish and notify run as processes with faults; otherwise changes are published at once."""
        self.event_path = EventPath(
            self._real,
            self.bus,
            self.processes,
            clock=self.clock,
            faults=self.dice.faults,
            story=self._story,
            judge=self._judge,
            settings=self.settings,
        )
        return self.event_path

    def event(self, event: Event) -> None:
        """Start the jobs whose rules match an event of the bus, and notify of it."""
        super().event(event)
        if self.event_path is not None:
            self.event_path.receive(event)

    def seen_by_caller(self, name: str | None) -> MemoryBackends:
        """Return the back ends of a caller outside; with a name they have faults."""
        return self._real if name is None else self.seen_by(Process(name, self.dice.skew()))

    def random_bytes(self, size: int) -> bytes:
        """Return random bytes for ids."""
        return self.dice.random_bytes(size)

    def seen_by(self, caller: Process | None) -> MemoryBackends:
        """Return the faulty back ends of the running process, or of an external caller."""
        queues = FaultyQueues(self._real.queues, self.dice, self._story, self.clock, self._counts)
        real, between = self._real, partial(self.trouble.between, caller=caller)
        return MemoryBackends(
            clock=ProcessClock(self.processes, caller),
            settings=self.settings,
            store=between(real.store, "store"),
            jobs=between(real.jobs, "jobs"),
            queues=between(queues, "queues"),
            timers=between(real.timers, "timers"),
            job_wakes=between(real.job_wakes, "wakes"),
            bookmarks=between(real.bookmarks, "bookmarks"),
            routes=between(real.routes, "routes"),
            pauses=between(real.pauses, "pauses"),
            limits=between(real.limits, "limits"),
            regions=self._regions_of(real, between),
        )

    def _regions_of(self, real: MemoryBackends, between: Callable[..., Any]) -> ActiveRegions:
        """Return the access to the active region, with faults if there is a standby region."""
        regions: ActiveRegions = between(real.regions, "regions") if real.regions.own else real.regions
        return regions

    def _row_of(self, ref: ActionRef) -> Action | None:
        return self._real.store.get(ref)

    def _not_answered(self, what: str, args: Args) -> None:
        if what == "queues.send":
            for send in args[0]:
                self._counts.unanswered(send.message.ref)

    def deploy(self, app: App, settings: Settings | None = None) -> Reconciled:
        """Deploy until it succeeds; other processes go on meanwhile, and time may pass."""
        done: list[Reconciled] = []
        for _ in range(_MOST_DEPLOYS):
            over: list[BaseException | None] = []
            self.processes.start(
                Process("deploy", self.dice.skew()), partial(self._deploy, app, settings, done), over.append
            )
            while not over:
                self.clock.wait_until(self.next_at())
                self.turn()
            self._judge("deploy", "", over[0])
            if done:
                return done[0]
        raise SimulationStuck(f"{_MOST_DEPLOYS} deploys in a row have failed") from over[0]

    def _deploy(self, app: App, settings: Settings | None, done: list[Reconciled]) -> None:
        done.append(super().deploy(app, settings))

    def wire(self, app: App) -> None:
        """Replace the app; running workers keep the previous one, and later runs have new workers."""
        super().wire(app)
        self._works.clear()

    def _changed(self, change: Change) -> None:
        process = self.processes.current
        self._story.record_change(process.name, change)
        self.watch.check(process, change)
        self._tallies.check(change)
        self._record_fact(change)
        if self._lets_through(change):
            self.stream.add(change)

    def _batch_written(self, ref: BatchRef) -> None:
        self.stream.add(ref)

    def broken(self) -> Iterator[str]:
        """Yield a line for each forbidden write, wrong count, and action with too many messages."""
        yield from self.watch.broken
        yield from self._tallies.broken()
        yield from self._liveness.broken
        yield from self._counts.broken(self.store.rows())
        if self.event_path is not None:
            yield from self.event_path.broken()

    def turn(self) -> None:
        """Do what is due now; `next_at` returns the time of what becomes due by that."""
        while True:
            self._lose_all()
            self.processes.resume_due()
            self.trouble.late.arrive()
            if self.event_path is not None:
                self.event_path.dice.are_fair = self.dice.are_fair
                self.event_path.turn()
            for hearts in self._hearts:
                hearts.beat(self.clock)
            self.calls.make_due()
            delivery = super().turn()
            if delivery is None:
                return
            self.run(delivery, *self.companions(delivery))

    def _lose_all(self) -> None:
        """Lose all messages, if that is due, also those of runs."""
        if self.clock.now() < self._lost_at:
            return
        self._lost_at = LATEST
        if not self.dice.are_fair:
            self._story.record("queue", "", "✗ all messages are lost")
            for receipt in self.queues.messages:
                self.queues.delete(receipt)

    def next_at(self) -> datetime:
        """Return when the next work is due."""
        sources = (self.processes, self.stream, self.calls, self.trouble.late)
        events_at = None if self.event_path is None else self.event_path.next_at()
        others = [events_at, *(source.next_at() for source in sources)] + [
            hearts.next_at() for hearts in self._hearts
        ]
        return min([super().next_at(), self._lost_at, *(other for other in others if other is not None)])

    def _sweeps(self, now: datetime) -> bool:
        return super()._sweeps(now) and self._would_find(now)

    def _would_find(self, now: datetime) -> bool:
        """Return whether a sweep would find a row; empty sweeps are skipped, since most are empty."""
        maintain_at = self.job_store.earliest_maintenance()
        if self._rearms or self.store.has_held() or (maintain_at is not None and maintain_at - LEAD <= now):
            return True
        lateness = [now - due_at for shard in self.store.unsettled().values() for due_at in shard]
        since = now - self._swept_at + self.dice.faults.skew
        try:
            pauses = self.pauses.list() if lateness else ()
        except DuetimeError:
            return True  # the sweep fails as it would
        looks = (at for pause in pauses for at in pause.looks(bands(self.settings), self.settings.clock_skew))
        return any(look <= late < look + since for late in lateness for look in self._looks) or any(
            at <= now < at + since for at in looks
        )

    def _publish_facts(self, facts: Sequence[tuple[PublishedFact, datetime]]) -> None:
        if self.event_path is None:
            super()._publish_facts(facts)
        else:
            self.event_path.add(facts)

    def _arm_changes(self) -> None:
        while (batch := self.stream.read()) is not None:
            if batch.records:
                self.processes.start(
                    self.calls.process("arm"),
                    partial(self._arm_and_notice, batch.records),
                    partial(self._armed, batch),
                )
            else:
                self.stream.done(batch)

    def _armed(self, batch: Batch[Wake], error: BaseException | None) -> None:
        batch.time_outs += isinstance(error, TimedOut)
        if batch.time_outs == MOST_TIME_OUTS:
            self._liveness.broken.append(f"a batch of arm was ended at its time-out {MOST_TIME_OUTS} times")
        finish = self.stream.done if self._judge("arm", "", error) else self.stream.failed
        finish(batch)

    def _invoke(self, function: str, do: Callable[[], object]) -> None:
        self.calls.invoke(function, do, self._called)

    def _called(self, function: str, began_at: datetime, error: BaseException | None) -> None:
        if function == "sweep":
            was_hit = self.trouble.hit_at.get(function, began_at) > began_at
            if error is None and not was_hit:  # else it may have left some
                self._swept_at = began_at
            if not isinstance(error, Crashed) or isinstance(error, TimedOut):
                self._liveness.swept(self._unmaintained(began_at), self._marks())

    def _marks(self) -> Mapping[str, str] | None:
        """Return how far the wheel and the bands of the sweep have come, by shard; a finished look stays.

        None while the due index or SQS hangs: a band with a due row cannot move then.
        """
        if self.trouble.hangs("store.due") or self.trouble.hangs("queues.send"):
            return None
        return {
            f"{name} {shard}": mark
            for name in (SWEEP_MARKS, WHEEL_MARKS)
            for shard, mark in self.bookmarks.read(name).items()
            if is_cursor(mark) or not shard.startswith(LOOK)
        }

    def _unmaintained(self, since: datetime) -> Iterator[tuple[JobRef, datetime]]:
        """Yield the jobs that were due at an instant and still are.

        Without those of paused tenants, and those about which calls hang.
        """
        pauses = KnownPauses(self.pauses, self.clock)
        refs, _ = self.job_store.due_for_maintenance(since, limit=1_000, cursor=None)
        for ref in (ref for ref in refs if isinstance(ref, JobRef)):
            job = self.job_store.get(ref)
            is_held = pauses.of_tenant(ref.tenant_id) is not None or self.trouble.hangs_about(ref.name)
            if job is not None and not is_held:
                yield ref, job.maintain_at

    @property
    def has_room(self) -> bool:
        """See `MemoryCloud.has_room`."""
        return self._workers.busy - self._workers.busy_in(high_queue_of(self._usual)) < self.concurrency

    @property
    def has_high_room(self) -> bool:
        """See `MemoryCloud.has_high_room`: the high queue has a concurrency of its own, as in AWS."""
        return self._workers.busy_in(high_queue_of(self._usual)) < self.concurrency

    def run(self, *deliveries: Delivery) -> None:
        """Run deliveries of one queue in a process of the worker; a failed one comes again."""
        queues = [self._queue_of.pop(delivery.receipt) for delivery in deliveries]
        queue, given = queues[0], [one for one in deliveries if not self._is_given_up(queues[0], one)]
        if not given:
            return
        number = self._workers.hire(queue)
        process = self._workers.process(queue, number, is_system=queue == SYSTEM_WORKER)
        failed: dict[int, BaseException] = {}

        def over(error: BaseException | None) -> None:
            self._workers.let_go(queue, number)
            has_ended = self._judge(process.name, given[0].message.ref.id, error)
            for position, delivery in enumerate(given if has_ended else ()):
                wrong = failed.get(position)
                if self._judge(process.name, delivery.message.ref.id, wrong) and not self.dice.hits(
                    self.dice.faults.double
                ):
                    self.queues.delete(delivery.receipt)

        work = self._work_of(queue, number)
        self.processes.start(process, partial(self._handle, work, given, failed), over)

    def _handle(self, work: Worker, deliveries: Sequence[Delivery], failed: dict[int, BaseException]) -> None:
        if len(deliveries) == 1:
            work(deliveries[0])
        else:
            failed |= self._handle_batch(work)(deliveries)

    def _concurrently(self, steps: Sequence[Step]) -> None:
        self.processes.at_once(steps)

    def _is_given_up(self, queue: str, delivery: Delivery) -> bool:
        """Return whether a message has come too often; then it is a dead letter."""
        if self._workers.receives(delivery.receipt) <= MAX_RECEIVES:
            return False
        self.queues.delete(delivery.receipt)
        self.calls.give_up(queue, delivery.message.ref.id)
        return True

    def _jitter_draw(self) -> float:
        return self.dice.random.random()

    def _work_of(self, queue: str, number: int) -> Worker:
        if (queue, number) not in self._works:
            self._works[queue, number] = self._worker(
                self._handlers.get(queue, self._handlers[self._usual]), f"{queue}-{number}"
            )
        return self._works[queue, number]

    def _heartbeat(self) -> Heartbeat:
        return self._hearts[-1]

    def _judge(self, who: str, about: str, error: BaseException | None) -> bool:
        if error is None:
            return True
        if not isinstance(error, WorkerDied | DuetimeError):
            raise error
        if isinstance(error, TimedOut):
            self._story.record(who, about, "✗ is ended at its time-out")
        elif not isinstance(error, Crashed):
            self._story.record(who, about, f"fails: {type(error).__name__}: {error}")
        return False
