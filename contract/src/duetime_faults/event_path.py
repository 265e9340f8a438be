"""The path of an event in a simulated cloud: stream, publish, bus, queue and notify, each with faults.

Its faults have dice of their own, so the same seed makes the same runs with and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any

from duetime.clock import Clock
from duetime.events.publish import EventSelection, Publish, PublishedFact
from duetime.ids import EVENT_SOURCE
from duetime.memory.backends import MemoryBackends
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.notifications import (
    MemoryMailer,
    MemoryTopic,
)
from duetime.memory.wakes import MemoryEventBus
from duetime.model import event_pattern
from duetime.model.change import Change
from duetime.model.job_events import JobChange
from duetime.model.notification import DigestWindow, Notification, event_detail, of_event
from duetime.notifications.notify import Notify
from duetime.ports.deliveries import Deliveries, Windows
from duetime.ports.notifications import Inbox, Mail, NotificationPorts, PreferencesStore
from duetime.settings import Settings
from duetime.testing.faults import Faults
from duetime.testing.journey import Journal
from duetime_faults.calls import TIME_OUTS
from duetime_faults.deliveries import LATEST_MESSAGE, Batch, FaultyStream, id_of, place_of
from duetime_faults.dice import Dice
from duetime_faults.event_invariants import Outcome, broken_in
from duetime_faults.faulty import FaultInjector
from duetime_faults.processes import Judge, Process, ProcessClock, Processes

Record = tuple[PublishedFact, datetime]
"""A change in a stream, and when it was written."""

_VISIBILITY = TIME_OUTS["notify"] + timedelta(seconds=30)


class NotificationWords:
    """Mails and messages that contain the id of their notification alone."""

    def mail_of(self, notification: Notification, *, address: str, language: str, settings: Settings) -> Mail:
        """See `duetime.notifications.deliver.MailRenderer`, here and below."""
        del language, settings
        return Mail(address=address, template=notification.kind.value, data={"id": notification.id})

    def words_of(self, notification: Notification, *, language: str) -> tuple[str, str]:
        """See `mail_of`."""
        del language
        return notification.kind.value, notification.id


@dataclass(frozen=True, slots=True)
class _Digests:
    """Delayed messages in the queue."""

    put: Callable[[Mapping[str, Any], timedelta], None]

    def at_end_of(self, window: DigestWindow, *, delay: int) -> None:
        """See `duetime.ports.notifications.DigestTimer`."""
        self.put(window.request, timedelta(seconds=delay))


class EventPath:
    """Publishes changes and notifies of them, in processes.

    Args:
        real: the back ends without faults.
        bus: delivers events to `receive`, and to the jobs that they start.
        processes: run the functions.
        faults: those of the cloud; the seed draws others here.
        story: the journal.
        judge: judges the end of a process.
        settings: the deployment's.
    """

    def __init__(
        self,
        real: MemoryBackends,
        bus: MemoryEventBus,
        processes: Processes,
        *,
        clock: Clock,
        faults: Faults,
        story: Journal,
        judge: Judge,
        settings: Settings,
    ) -> None:
        self.dice = Dice(replace(faults, seed=~faults.seed))
        self._real, self._bus, self._processes, self._clock = real, bus, processes, clock
        self._story, self._judge = story, judge
        self._trouble = FaultInjector(self.dice, processes, story)
        self._stream = FaultyStream[Record](clock, self.dice, story, _place_of, _id_of, is_repaired=False)
        self._queue: list[tuple[datetime, int, Mapping[str, Any]]] = []
        self._numbers = count()
        items = MemoryItems()
        self.preferences, self.inbox, self.windows = PreferencesStore(items), Inbox(items), Windows(items)
        self.mailer, self.topic, self._deliveries = MemoryMailer(), MemoryTopic(), Deliveries(items)
        self._expected: dict[str, Mapping[str, Any]] = {}
        self._published: set[str] = set()
        self._bursts: set[int] = set()
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Use other settings, as the functions do after a deploy."""
        self._settings = settings
        self._bursts.add(settings.notification_burst)
        between, real = self._trouble.between, self._real
        self._selection = EventSelection(real.jobs, real.routes, settings=settings)
        faulty = EventSelection(between(real.jobs, "jobs"), between(real.routes, "routes"), settings=settings)
        self._publish = Publish(faulty, between(self._bus, "bus"))
        ports = NotificationPorts(
            preferences=between(self.preferences, "preferences"),
            inbox=between(self.inbox, "inbox"),
            deliveries=between(self._deliveries, "deliveries"),
            windows=between(self.windows, "windows"),
            timer=between(_Digests(self._put), "digests"),
            mailer=between(self.mailer, "mailer"),
            topic=between(self.topic, "topic"),
        )
        clock = ProcessClock(self._processes)
        self._notify = Notify(ports, NotificationWords(), clock=clock, settings=settings)

    def add(self, facts: Sequence[Record]) -> None:
        """Add changes to the stream, and remember the events that must follow from those of rows."""
        for fact, at in facts:
            self._stream.add((fact, at))
            if not isinstance(fact, JobChange):  # its events depend on the definition when it is published
                for event in self._selection(fact, at):
                    self._expected[event.id] = event.detail(self._settings.prefix)

    def receive(self, event: Mapping[str, Any]) -> None:
        """Take an event from the bus; the rule puts it into the queue, sometimes twice."""
        if event["source"] != EVENT_SOURCE:
            return
        self._published.add(event["detail"]["id"])
        if self._makes_notifications(event["detail"]):
            self._put(event, timedelta(0))

    def _makes_notifications(self, detail: Mapping[str, Any]) -> bool:
        pattern = {"detail": event_detail(self._settings.prefix)}
        return event_pattern.matches(pattern, {"detail": detail})

    def _put(self, content: Mapping[str, Any], delay: timedelta) -> None:
        faults = self.dice.faults
        copies = 2 if self.dice.hits(faults.double) else 1
        for _ in range(copies):
            late = self.dice.span(LATEST_MESSAGE) if self.dice.hits(faults.delay) else timedelta(0)
            self._enqueue(content, delay + late)

    def _enqueue(self, content: Mapping[str, Any], delay: timedelta) -> None:
        heappush(self._queue, (self._clock.now() + delay, next(self._numbers), content))

    def next_at(self) -> datetime | None:
        """Return when the next work is due."""
        queued = self._queue[0][0] if self._queue else None
        times = (self._stream.next_at(), self._trouble.late.next_at(), queued)
        return min((at for at in times if at is not None), default=None)

    def turn(self) -> None:
        """Do what is due now."""
        self._trouble.late.arrive()
        while (batch := self._stream.read()) is not None:
            self._start(
                "publish", partial(self._publish, batch.records), partial(self._published_batch, batch)
            )
        while self._queue and self._queue[0][0] <= self._clock.now():
            content = heappop(self._queue)[2]
            self._start("notify", partial(self._notify, content), partial(self._notified, content))

    def _start(self, function: str, do: Callable[[], object], over: Callable[[bool], None]) -> None:
        ends_at = self._clock.now() + TIME_OUTS[function]
        process = Process(function, self.dice.skew(), ends_at=ends_at)
        self._processes.start(process, do, lambda error: over(self._judge(function, "", error)))

    def _published_batch(self, batch: Batch[Record], is_success: bool) -> None:
        (self._stream.done if is_success else self._stream.failed)(batch)

    def _notified(self, content: Mapping[str, Any], is_success: bool) -> None:
        if not is_success or self.dice.hits(self.dice.faults.double):
            self._enqueue(content, _VISIBILITY)

    def broken(self) -> Iterator[str]:
        """Yield a line for each broken invariant of events and notifications; see `event_invariants`."""
        notifications = [item for detail in self._expected.values() for item in self._made_of(detail)]
        yield from broken_in(
            Outcome(
                unpublished=self._expected.keys() - self._published,
                notifications=notifications,
                preferences=self.preferences,
                windows=self.windows,
                inbox=self.inbox,
                mails=self.mailer.sent,
                messages=[text for _, text, _ in self.topic.published],
                most_alone=max(self._bursts),
                faults=self._trouble.hits["notify"],
                now=self._clock.now(),
            )
        )

    def _made_of(self, detail: Mapping[str, Any]) -> Iterator[Notification]:
        return of_event(detail) if self._makes_notifications(detail) else iter(())


def _place_of(record: Record) -> str:
    return place_of(record[0]) if isinstance(record[0], Change) else type(record[0]).__name__


def _id_of(record: Record) -> str:
    return id_of(record[0]) if isinstance(record[0], Change) else ""
