"""The journal of a simulation: who did what when, in lines."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime.app import App
from duetime.clock import Clock
from duetime.embedded.cloud import MemoryCloud
from duetime.memory.backends import MemoryBackends
from duetime.model.action import Action, Status
from duetime.model.change import Change
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.regions import ActiveRegions
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.worker.batch import HandleBatch, Step, in_turn
from duetime.worker.worker import Worker

LONGEST = 20_000
"""Lines of a journal; older ones are dropped."""
MOST_TURNS = 10_000
"""Turns within a second after which a simulation may be stuck: it has ten more for each row and message."""
_SECOND = timedelta(seconds=1)

_Line = tuple[datetime, str, str, str | Callable[[], str]]


class SimulationStuck(AssertionError):
    """A simulation makes no progress: it would run for ever."""


class Journal:
    """Records what happens. Lines are formatted when they are read, so an unread journal is cheap."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: deque[_Line] = deque(maxlen=LONGEST)

    def record(self, who: str, about: str, what: str | Callable[[], str]) -> None:
        """Record a line.

        Args:
            who: the process.
            about: the action's id or the job's name.
            what: what happened.
        """
        self._lines.append((self._clock.now(), who, about, what))

    def record_change(self, who: str, change: Change) -> None:
        """Record the change of a row."""
        row = change.new or change.old
        if row is not None:
            self.record(who, row.id, lambda: description_of(change))

    def lines(self, about: str | None = None) -> Iterator[str]:
        """Yield the lines, optionally of one action or job."""
        for at, who, subject, what in self._lines:
            if about is None or subject == about:
                words = what if isinstance(what, str) else what()
                moment = f"{at:%m-%d %H:%M:%S}.{at.microsecond // 1000:03}"
                yield f"{moment}  {who:<12} {short(subject):<30} {words}"

    def __str__(self) -> str:
        return "\n".join(self.lines())


class JournaledCloud(MemoryCloud):
    """A memory cloud with a journal, in one thread."""

    def _handle_batch(self, worker: Worker) -> HandleBatch:
        return HandleBatch(
            worker, clock=self.backends.clock, concurrently=self._concurrently, shares_loop=False
        )

    def _concurrently(self, steps: Sequence[Step]) -> None:
        in_turn(steps)

    def __init__(
        self,
        app: App,
        *,
        clock: Clock,
        settings: Settings,
        story: Journal,
        meter: Meter = UNMETERED,
        regions: ActiveRegions | None = None,
    ) -> None:
        self._story = story
        self._since, self._turns, self._most_turns = clock.now(), 0, MOST_TURNS
        super().__init__(
            app, clock=clock, settings=settings, instance="simulated", meter=meter, regions=regions
        )

    def turn(self) -> Delivery | None:
        """See `MemoryCloud.turn`.

        Raises:
            SimulationStuck: time stands, though there were more turns than work, as of a handler that
                schedules itself at once.
        """
        self._turns += 1
        if self.clock.now() - self._since >= _SECOND:
            self._since, self._turns = self.clock.now(), 0
        if self._turns == MOST_TURNS:
            self._most_turns = MOST_TURNS + 10 * (len(self.store.rows()) + len(self.queues.messages))
        if self._turns >= MOST_TURNS and self._turns > self._most_turns:
            latest = "\n".join(deque(self._story.lines(), maxlen=20))
            raise SimulationStuck(
                f"there were {self._turns:,} turns since {instant.text(self._since)}, and time stands:"
                f" a handler may schedule itself at once. The latest lines of the story:\n{latest}"
            )
        return super().turn()

    def _changed(self, change: Change) -> None:
        self._story.record_change("", change)
        super()._changed(change)

    def story(self, about: str | None = None) -> str:
        """Return the journal, optionally of one action or job."""
        return "\n".join(self._story.lines(about))

    def seen_by_caller(self, name: str | None) -> MemoryBackends:
        """Return the back ends of an external caller; with faults if it has a name."""
        del name
        return self.backends

    def random_bytes(self, size: int) -> bytes:
        """Return random bytes for ids."""
        return os.urandom(size)


def short(subject: str) -> str:
    """Return a short form of an id: the end of a one-shot's, or an occurrence's job, version and time."""
    if not ids.is_action_id(subject):
        return subject
    if ids.is_one_shot(subject):
        return f"…{subject[-6:]}"
    version = ids.version_of(subject)
    at = ids.nominal_at(subject)
    backfill = ids.backfill_of(subject)
    kind = f" of backfill {backfill}" if backfill else " by hand" if ids.is_manual_run(subject) else ""
    return f"{ids.job_of(subject)} {'event' if version is None else f'v{version}'} {at:%H:%M:%S}{kind}"


def description_of(change: Change) -> str:
    """Describe the change of a row."""
    old, new = change.old, change.new
    if new is None:
        return "is removed"
    if old is None:
        return f"{new.status.value}, due {_time(new.due_at)}, {new.type} for {new.tenant_id}"
    if new.status is Status.PROCESSING:
        return _description_of_run(old, new)
    if new.status is Status.PENDING:
        return (
            f"{old.status.value} → pending, due {_time(new.due_at)}, generation {new.generation}"
            + _ending(new)
        )
    why = f", {new.skip_reason.value}: {new.note or ''}" if new.skip_reason else ""
    return f"{old.status.value} → {new.status.value}{why}" + _ending(new)


def _description_of_run(old: Action, new: Action) -> str:
    until = "" if new.lease_until is None else f", lease until {_time(new.lease_until)}"
    if len(new.attempts) > len(old.attempts):
        word = "taken over" if old.status is Status.PROCESSING else "claimed"
        return f"{word}: fence {new.fence}, attempt {new.attempt}{until}"
    if new.fence != old.fence:
        return f"fenced off: fence {new.fence}"
    if new.cancel_request is not None and new.cancel_request != old.cancel_request:
        return f"requested to stop by {new.cancel_request.by}"
    if new.hand_over != old.hand_over:
        return f"handed over{until}"
    reported = None if new.progress == old.progress else new.progress
    progress = f", progress {reported.share:g} {reported.note}" if reported else ""
    return f"lease renewed{until}{progress}" if new.lease_until != old.lease_until else f"reports{progress}"


def _ending(row: Action) -> str:
    last = row.attempts[-1] if row.attempts else None
    if last is None or last.ending is None:
        return ""
    return f" (attempt {row.attempt} {last.ending.value}{f': {last.message}' if last.message else ''})"


def _time(at: datetime) -> str:
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03}"
