"""All steps wired over the tables of one process, without a thread.

`App.embedded` drives them with the real clock, a simulation with a manual one. The driver decides when to
continue and where handlers run.
"""

from __future__ import annotations

import logging
import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from duetime.actions.usage_quotas import UsageQuotas
from duetime.clock import Clock
from duetime.declare.handler import Handler
from duetime.declare.handler_set import HandlerSet
from duetime.events.count_runs import CountRuns, CountUsage
from duetime.events.publish import EventSelection, Publish, PublishedFact
from duetime.ids import JobName
from duetime.jobs.plan import LEAD
from duetime.jobs.reconcile import Reconciled
from duetime.memory.backends import MemoryBackends
from duetime.memory.job_wakes import MemoryJobWakes
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notes import MemoryBodies, MemoryBookmarks, MemoryRoutes
from duetime.memory.store import MemoryStore
from duetime.memory.wakes import MemoryEventBus, MemoryQueues, MemoryTimers
from duetime.model.batch import BatchRef
from duetime.model.change import Change
from duetime.model.priority import high_queue_of
from duetime.model.quota import has_quotas
from duetime.ports.action_store import ActionStore
from duetime.ports.backends import KeyedPorts
from duetime.ports.job_store import JobPorts, JobStore
from duetime.ports.keyed_items import Fields, Items, Kind
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.run_logs import RunLogs
from duetime.ports.undelivered import UndeliveredPorts, UndeliveredStore
from duetime.ports.wakeups import Delivery
from duetime.ports.work_pauses import PAUSE, pause_change
from duetime.settings import Settings
from duetime.telemetry.transition_log import TransitionLog, transition_of
from duetime.wakeups import system_jobs
from duetime.wakeups.arm import WITHOUT_TIMERS
from duetime.wakeups.assembly import Steps
from duetime.wakeups.dispatch import Event
from duetime.wakeups.follow import Wake
from duetime.wakeups.pass_parts import IN_WORDS, sweep, system_handlers
from duetime.wakeups.system_jobs import CATCH_UP, RECOUNT, SWEEP, SYSTEM_WORKER, PassHistory
from duetime.wakeups.wheel import BOOKMARK, TURN, WheelTimers
from duetime.worker.batch import HandleBatch
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker

if TYPE_CHECKING:
    from duetime.app import App

log = logging.getLogger(__name__)

_PASS_LIMIT = timedelta(seconds=50)


class CloudPorts(KeyedPorts):
    """The back ends of a cloud for those who call it: schedulers, and the API."""

    run_logs: RunLogs
    waiting_failures: Callable[[], int] | None = None

    def __init__(self, items: Items, store: ActionStore, jobs: JobStore, clock: Clock) -> None:
        self._items, self.store, self.jobs, self.clock = items, store, jobs, clock
        self.bookmarks, self.routes = MemoryBookmarks(), MemoryRoutes()
        self.job_ports = JobPorts(self.jobs, self.routes, MemoryJobWakes.precision)
        self.undelivered = UndeliveredPorts(UndeliveredStore(items), MemoryBodies())

    @property
    def items(self) -> Items:
        """See `KeyedPorts`."""
        return self._items

    def of_schedulers(self, settings: Settings) -> dict[str, Any]:
        """Return the back ends that `duetime.Scheduler` takes, by their names."""
        quotas = UsageQuotas(self.usage_counts, self.clock, settings) if has_quotas(settings) else None
        given = {"clock": self.clock, "settings": settings, "jobs": self.job_ports}
        return {**given, "undelivered": self.undelivered, "quotas": quotas}


class InProcessCloud(ABC):
    """Queues and timers in memory, and the steps over them and over the tables that a subclass opens."""

    store: ActionStore
    job_store: JobStore
    items: Items

    _in_phase = False
    """A sleep would hold up all steps of the process."""

    _most_timers: int | None = None
    """As many timers as there are far actions: those in memory have no quota."""

    def __init__(
        self,
        app: App,
        *,
        clock: Clock,
        settings: Settings,
        instance: str = "memory",
        wake: Callable[[], None] = lambda: None,
        meter: Meter = UNMETERED,
        regions: ActiveRegions | None = None,
        events_wait: timedelta = timedelta(0),
    ) -> None:
        """Make the steps and workers of an app.

        Args:
            app: the app.
            clock: the clock of all steps.
            settings: the deployment's.
            instance: the name of the worker in attempts.
            wake: called when there is new work.
            meter: receives the counts.
            regions: the active regions; by default there is one.
            events_wait: how long lifecycle events wait for deliveries, so that due runs start sooner.
        """
        self._events_wait = events_wait
        self.clock, self.settings, self.meter = clock, settings, meter
        self._transition_log = TransitionLog(meter)
        self.changes: deque[Wake] = deque()
        self._facts: deque[tuple[PublishedFact, datetime]] = deque()
        self._queue_of: dict[str, str] = {}
        self._wake = wake
        self.open_tables(settings)
        self.ports = ports = CloudPorts(self.items, self.store, self.job_store, clock)
        self.job_ports, self.undelivered_ports = ports.job_ports, ports.undelivered
        self.pauses, self.limits, self.routes = ports.pauses, ports.limits, ports.routes
        self.bookmarks, self.run_counts, self.usage_counts = (
            ports.bookmarks,
            ports.run_counts,
            ports.usage_counts,
        )
        self.queues = MemoryQueues(clock, settings.made.queue_visibility, on_send=wake)
        self.timers = MemoryTimers()
        self.job_wakes = MemoryJobWakes(clock)
        self._instance = instance
        self.backends = self._as_seen(
            MemoryBackends(
                clock=clock,
                settings=settings,
                store=self.store,
                jobs=self.job_store,
                queues=self.queues,
                timers=self.timers,
                job_wakes=self.job_wakes,
                bookmarks=self.bookmarks,
                routes=self.routes,
                pauses=self.pauses,
                regions=regions or NoRegions(),
                limits=self.limits,
            )
        )
        self.bus = MemoryEventBus(settings.prefix, self.event)
        self._count_runs, self._count_usage = CountRuns(self.run_counts), CountUsage(self.usage_counts)
        self._own_timers = self.backends.timers
        self._configure(settings)
        self.sweep_at = clock.now() + settings.sweep_rate
        self._catch_up_at = clock.now() + settings.catch_up_rate
        self.reconciled = self.deploy(app)

    @abstractmethod
    def open_tables(self, settings: Settings) -> None:
        """Set the stores and the items. They call `_changed` and `_record_fact` with each change."""

    @abstractmethod
    def use_due_shards(self, number: int) -> None:
        """Write rows to so many due shards from now on."""

    @abstractmethod
    def remove_expired(self, now: datetime) -> None:
        """Remove the rows whose time to live has ended."""

    @abstractmethod
    def next_sweep_at(self) -> datetime | None:
        """Return the time of the first sweep that can find a row; earlier ones are left out."""

    def _configure(self, settings: Settings) -> None:
        """Use other settings, as the functions do after a deploy; names of tables and groups stay."""
        self.settings = settings
        self.use_due_shards(settings.due_shards)
        self.queues.visibility = settings.made.queue_visibility
        self.usage_quotas = UsageQuotas(self.usage_counts, self.clock, settings)
        self._publish = Publish(EventSelection(self.job_store, self.routes, settings=settings), self.bus)
        timers = WheelTimers() if settings.timers == "wheel" else self._own_timers
        self.backends = replace(self.backends, timers=timers, settings=settings)

    def deploy(self, app: App, settings: Settings | None = None) -> Reconciled:
        """Replace the app, and optionally the settings; return the changes of its jobs.

        Raises:
            DeclarationError: a function needs a resource that nothing provides; the previous app continues.
        """
        app.complete()  # before anything changes
        if settings is not None:
            sweep(
                self.steps, self.clock.now() + _PASS_LIMIT
            )  # idle ones were left out; each writes bookmarks
            self._configure(settings)
            self._catch_up_at = min(self._catch_up_at, self.clock.now() + settings.catch_up_rate)
        manifest = app.manifest.deployed(high_priority=self.settings.high_priority)
        self.routes.publish([manifest, system_jobs.manifest(self.settings)])
        self.wire(app)
        if self.steps.region.is_standby():
            return Reconciled()
        self.steps.reconcile(system_jobs.definitions(self.settings), worker=SYSTEM_WORKER)
        reconciled = self.steps.reconcile(app.manifest.jobs, worker=app.worker)
        self.steps.repair(stop_at=self.clock.now() + _PASS_LIMIT)
        return reconciled

    def _as_seen(self, backends: MemoryBackends) -> MemoryBackends:
        return backends

    def _invoke(self, function: str, do: Callable[[], object]) -> None:
        """Call a function, as AWS would: here at once, and its errors pass through."""
        del function
        do()

    def wire(self, app: App) -> None:
        """Make the steps and workers again, as after a restart."""
        self.steps = Steps(
            self.backends, meter=self.meter, in_phase=self._in_phase, most_timers=self._most_timers
        )
        self.journal = PassHistory(self.backends, self._instance)
        self._usual, self.heartbeat = app.worker, self._heartbeat()
        self._handlers = {one.worker: one for one in (system_handlers(self.steps), app.handler_set)}
        self.workers = {name: self._worker(one, self._instance) for name, one in self._handlers.items()}

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat(self.backends)

    def _worker(self, handlers: HandlerSet, instance: str) -> Worker:
        return Worker(
            handlers,
            self.backends,
            self.heartbeat,
            instance=instance,
            jitter_draw=self._jitter_draw,
            meter=self.meter,
        )

    def handler_of(self, type_name: str) -> Handler | None:
        """Return the handler of a type in the present app."""
        return self._handlers[self._usual].by_name.get(type_name)

    def _jitter_draw(self) -> float:
        return random.random()  # noqa: S311 - spreads retries, guards nothing

    def event(self, event: Event) -> None:
        """Start the jobs whose rules match an event of the bus."""
        for wake in self.job_wakes.matching(event):
            self._invoke("event", partial(self.steps.dispatch_jobs.event, wake.ref, wake.cadence, event))
        self._wake()

    def _pass(self, job: JobName) -> None:
        if self.steps.region.is_active():
            with self.journal.recording(job) as fact:
                fact.append(IN_WORDS[job](self.steps, self.backends.clock.now() + _PASS_LIMIT))

    def _recount_if_due(self) -> None:
        if self.steps.recount.is_due():
            self._pass(RECOUNT)

    def _record_fact(self, fact: PublishedFact) -> None:
        if self.settings.events != "off":
            self._facts.append((fact, self.clock.now()))

    def _changed(self, change: Change) -> None:
        self._record_fact(change)
        if self._lets_through(change):
            self.changes.append(change)
            self._wake()

    @staticmethod
    def _lets_through(change: Change) -> bool:
        """Return whether arm receives the change."""
        is_awaited = change.new is not None and change.new.is_awaited and change.new.status.is_final
        return is_awaited or bool(change.became_pending or change.left_pending or transition_of(change))

    def _batch_written(self, ref: BatchRef) -> None:
        """Have arm look at a batch."""
        self.changes.append(ref)
        self._wake()

    def turn(self) -> Delivery | None:
        """Do all work that is due now except handlers; then take the next delivery, if there is one."""
        now = self.clock.now()
        publishes = not self._facts or now - self._facts[0][1] >= self._events_wait
        if publishes:
            self._publish_changes()
        self._arm_changes()
        for message in self.timers.fire(now):
            self._invoke("dispatch", partial(self.steps.dispatch, message))
        for wake in self.job_wakes.fire(now):
            self._invoke("dispatch", partial(self.steps.dispatch_jobs.wake, wake.ref))
        if self._sweeps(now):
            self._invoke("sweep", partial(self._pass, SWEEP))
        if now >= self._catch_up_at:
            self._catch_up_at = now + self.settings.catch_up_rate
            self._invoke("catch-up", partial(self._pass, CATCH_UP))
            self._invoke("catch-up", self._recount_if_due)
            self.remove_expired(now)
        if publishes:
            self._publish_changes()
            self._arm_changes()
        delivery = self.receive()
        if delivery is None and not publishes:
            self._publish_changes()
            self._arm_changes()
            delivery = self.receive()
        return delivery

    def receive(self) -> Delivery | None:
        """Take the next delivery, if one is there and there is room; several threads may call it."""
        high = high_queue_of(self._usual)
        if self.has_room and self.has_high_room:
            received = self.queues.receive(first=high)
        elif self.has_room:
            received = self.queues.receive(but=high)
        else:
            received = self.queues.receive(high) if self.has_high_room else None
        if received is None:
            return None
        queue, delivery = received
        self._queue_of[delivery.receipt] = queue
        return delivery

    def companions(self, delivery: Delivery) -> Iterator[Delivery]:
        """Take the further deliveries that one call of the worker handles with this one."""
        queue = self._queue_of.get(delivery.receipt, self._usual)
        for _ in range(1, self._most_in(queue)):
            received = self.queues.receive(queue)
            if received is None:
                return
            self._queue_of[received[1].receipt] = queue
            yield received[1]

    def batches_of(self, deliveries: Iterable[Delivery]) -> Iterator[Sequence[Delivery]]:
        """Yield the deliveries of each call of a worker."""
        by_queue: dict[str, list[Delivery]] = {}
        for delivery in deliveries:
            by_queue.setdefault(self._queue_of.get(delivery.receipt, self._usual), []).append(delivery)
        for queue, waiting in by_queue.items():
            most = self._most_in(queue)
            yield from (waiting[first : first + most] for first in range(0, len(waiting), most))

    def _most_in(self, queue: str) -> int:
        return 1 if queue == SYSTEM_WORKER else self.settings.worker_batch

    @property
    def has_room(self) -> bool:
        """Whether another handler may start now."""
        return True

    @property
    def has_high_room(self) -> bool:
        """Whether a handler may start now for an action with a high priority."""
        return True

    def run(self, *deliveries: Delivery) -> None:
        """Handle deliveries of one queue in one call; after an error one stays in the queue and comes again.

        Raises:
            DuetimeError: of a single delivery.
        """
        queues = [self._queue_of.pop(delivery.receipt, self._usual) for delivery in deliveries]
        worker = self.workers.get(queues[0], self.workers[self._usual])
        if len(deliveries) == 1:
            worker(deliveries[0])
            self.queues.delete(deliveries[0].receipt)
            return
        failed = self._handle_batch(worker)(deliveries)
        for number, delivery in enumerate(deliveries):
            if number in failed:
                log.error("delivery failed, it will come again", exc_info=failed[number])
            else:
                self.queues.delete(delivery.receipt)

    def _handle_batch(self, worker: Worker) -> HandleBatch:
        return HandleBatch(worker, clock=self.backends.clock)

    def next_at(self) -> datetime:
        """Return when the next work is due."""
        if self.changes or self._facts:
            return self.clock.now()
        instants = (
            self._catch_up_at,
            self.next_sweep_at(),
            self._next_message_at(),
            self.timers.next_at(),
            self.job_wakes.next_at(),
        )
        return min(instant for instant in instants if instant is not None)

    def _next_message_at(self) -> datetime | None:
        high = high_queue_of(self._usual)
        if self.has_room and self.has_high_room:
            return self.queues.next_at()
        if self.has_room:
            return self.queues.next_at(but=high)
        return self.queues.next_at(high) if self.has_high_room else None

    def _sweeps(self, now: datetime) -> bool:
        """Return whether a sweep is due now."""
        if now < self.sweep_at:
            return False
        self.sweep_at = now + self.settings.sweep_rate
        return True

    def _publish_changes(self) -> None:
        facts = [self._facts.popleft() for _ in range(len(self._facts))]
        if facts and not self.steps.region.is_standby():
            self._publish_facts(facts)
            self._count_runs(facts)
            self._count_usage(facts)

    def _publish_facts(self, facts: Sequence[tuple[PublishedFact, datetime]]) -> None:
        self._publish(facts)

    def _arm_changes(self) -> None:
        if changes := [self.changes.popleft() for _ in range(len(self.changes))]:
            self._invoke("arm", partial(self._arm_and_notice, changes))

    def close(self) -> None:  # noqa: B027 - most hold nothing
        """Release what the process holds."""

    def _arm_and_notice(self, wakes: Sequence[Wake]) -> None:
        if not self.steps.region.is_standby():
            changes = [wake for wake in wakes if not isinstance(wake, BatchRef)]
            self.steps.arm(changes)
            if any(change.ended_hand_over for change in changes):
                self.steps.after_hand_over(changes)
            self._transition_log(changes)
            if len(changes) < len(wakes) or any(change.new and change.new.is_awaited for change in changes):
                self.steps.follow(wakes)


class MemoryCloud(InProcessCloud):
    """Tables, queues, timers, and the steps over them, in memory."""

    store: MemoryStore
    job_store: MemoryJobStore
    items: MemoryItems

    def open_tables(self, settings: Settings) -> None:
        """See `InProcessCloud`, here and below."""
        self.store = MemoryStore(
            due_shards=settings.due_shards, on_change=self._changed, on_batch=self._batch_written
        )
        self.job_store = MemoryJobStore(self.store, on_change=self._record_fact)
        self.items = MemoryItems(self._item_written)

    def _item_written(self, kind: Kind, old: Fields | None, new: Fields | None) -> None:
        if kind is PAUSE and new is not None and (change := pause_change(old, new)):
            self._record_fact(change)

    def use_due_shards(self, number: int) -> None:
        """Rows that are there stay in their shards."""
        self.store.due_shards = tuple(map(str, range(number)))

    def remove_expired(self, now: datetime) -> None:
        """With their idempotency keys, and keyed items."""
        for items in (self.store, self.items, self.job_store.items):
            items.remove_expired(now)

    def next_sweep_at(self) -> datetime | None:
        """From the earliest rows and jobs, in whole turns of the sweep."""
        looks = self._rearms or self.store.has_held()
        overdue_at = self.sweep_at if looks else self._overdue_at()
        maintain_at = self.job_store.earliest_maintenance()
        finds = [
            instant for instant in (overdue_at, maintain_at and maintain_at - LEAD) if instant is not None
        ]
        if not finds:
            return None
        idle = max(min(finds) - self.sweep_at, timedelta(0))
        return self.sweep_at + -(-idle // self.settings.sweep_rate) * self.settings.sweep_rate

    @property
    def _rearms(self) -> bool:
        """Whether each pass sets timers for rows of the wheel."""
        return self.settings.timers == "eventbridge" and bool(self.bookmarks.read(BOOKMARK))

    def _overdue_at(self) -> datetime | None:
        """Return when the sweep, or the wheel, finds the row that is due first."""
        earliest = self.store.earliest_due()
        if earliest is None:
            return None
        has_wheel = self.settings.timers == "wheel" or any(
            map(self.bookmarks.read, (BOOKMARK, WITHOUT_TIMERS))
        )
        if has_wheel:
            return earliest + TURN - self.settings.near_limit
        return earliest + (
            timedelta(0) if self.items.partitions[PAUSE.partition].items else self.settings.grace
        )
