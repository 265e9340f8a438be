"""The simulated cloud: the real steps over memory back ends and a clock that the test turns."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from duetime import instant
from duetime.action import Action, Status
from duetime.app import App
from duetime.job_rules import RESERVED
from duetime.jobs import Jobs
from duetime.memory.cloud import MemoryCloud
from duetime.ports import Delivery
from duetime.scheduler import Scheduler
from duetime.settings import Settings

_FRACTION = timedelta(seconds=1)
"""A worker waits out the last fraction of a second; here its delivery waits until the clock is turned that far."""


class TurnedClock:
    """A clock that stands still until it is turned."""

    def __init__(self, now: datetime) -> None:
        if now.tzinfo is None:
            raise ValueError(f"{now!r} is naive; say datetime(…, tzinfo=UTC)")
        self._now = now.astimezone(UTC)

    def now(self) -> datetime:
        """Where the clock stands, in UTC."""
        return self._now

    def wait_until(self, instant: datetime) -> None:
        """Turn the clock to `instant`, never back."""
        self._now = max(self._now, instant)


class SimulatedCloud:
    """Runs an app in simulated time: ``cloud.advance(hours=3)`` does all that would happen in three hours.

    Handlers run where `advance` is called, one after the other, so a test may look at what they did.
    """

    def __init__(
        self,
        app: App,
        *,
        start: datetime = datetime(2026, 1, 1, tzinfo=UTC),
        tenant_id: str = "acme",
        actor: str = "simulation",
        settings: Settings | None = None,
    ) -> None:
        self.clock = TurnedClock(start)
        self._settings = settings or Settings()
        self._cloud = MemoryCloud(app, clock=self.clock, settings=self._settings, instance="simulated")
        self._waiting_out: list[Delivery] = []
        self.scheduler = self.scheduler_for(tenant_id, actor)

    def scheduler_for(self, tenant_id: str, actor: str = "simulation") -> Scheduler:
        """A scheduler for another tenant of the same cloud."""
        return Scheduler(
            self._cloud.store,
            tenant_id=tenant_id,
            actor=actor,
            clock=self.clock,
            settings=self._settings,
            jobs=self._cloud.job_ports,
        )

    @property
    def jobs(self) -> Jobs:
        """The jobs, as their operators see them."""
        return self.scheduler.jobs

    def deploy(self, app: App) -> tuple[str, ...]:
        """Deploy another version of the app: its handlers, and what its jobs have become, in a line each."""
        return self._cloud.deploy(app).changes

    def send_event(
        self,
        source: str,
        type: str,  # noqa: A002 - EventBridge's word
        detail: Mapping[str, Any],
        *,
        id: str | None = None,  # noqa: A002 - as above
    ) -> None:
        """Put an event on the bus; the same `id` again is the same event again."""
        at = self.now.replace(microsecond=0)
        event_id = str(uuid4()) if id is None else id
        self._cloud.event(
            {
                "id": event_id,
                "time": instant.text(at),
                "source": source,
                "detail-type": type,
                "detail": detail,
            }
        )
        self._do_what_is_due()

    @property
    def now(self) -> datetime:
        """Where the clock stands."""
        return self.clock.now()

    def actions(self, status: Status | str | None = None) -> tuple[Action, ...]:
        """Every tenant's actions, by id, but the system's own passes; only those of a status if one is given."""
        rows = self._cloud.store.rows()
        return tuple(each for each in rows if status in {None, each.status} and not _is_pass(each))

    def advance(self, span: timedelta | None = None, /, **units: float) -> None:
        """Let time pass: ``advance(minutes=5)`` or ``advance(timedelta(minutes=5))``."""
        until = self.now + (span or timedelta(**units))
        self._do_what_is_due()
        while (next_at := self._next_at()) <= until:
            self.clock.wait_until(next_at)
            self._do_what_is_due()
        self.clock.wait_until(until)

    def _next_at(self) -> datetime:
        return min([self._cloud.next_at(), *(each.message.due_at for each in self._waiting_out)])

    def _do_what_is_due(self) -> None:
        ready = [each for each in self._waiting_out if each.message.due_at <= self.now]
        self._waiting_out = [each for each in self._waiting_out if each not in ready]
        for each in ready:
            self._cloud.run(each)
        while (delivery := self._cloud.turn()) is not None:
            if self.now < delivery.message.due_at <= self.now + _FRACTION:
                self._waiting_out.append(delivery)
            else:
                self._cloud.run(delivery)


def _is_pass(row: Action) -> bool:
    return (row.job or "").startswith(RESERVED)
