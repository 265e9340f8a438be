"""The run: what a handler is told about the attempt that it is, and how it learns that it should stop."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from datetime import datetime

from duetime import instant
from duetime.action import Trigger
from duetime.clock import Clock
from duetime.ids import ActionId, JobName, TenantId


class RunCancelled(BaseException):
    """Raised by `Run.raise_if_cancelled`.

    Like ``asyncio.CancelledError`` it is no ``Exception``: a handler's own ``except Exception`` must not swallow it.
    """


class RunTimedOut(Exception):
    """Raised by `Run.raise_if_cancelled` past the run's deadline; the attempt fails and may be retried."""

    def __init__(self, deadline: datetime) -> None:
        self.deadline = deadline
        super().__init__(f"the run passed its deadline, {instant.text(deadline)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt at an action, as its handler sees it. All instants are in UTC."""

    id: ActionId
    type: str
    """The name of its payload's type; of a job's run, the job's."""
    tenant_id: TenantId
    actor: str
    """Who scheduled it: the identity that the run acts for."""
    correlation_id: str | None
    attempt: int
    """1 for the first; a run repeated because its worker died keeps its number."""
    fence: int
    """Grows with each claim: pass it to a resource that can refuse an older one."""
    nominal_at: datetime
    """The instant it was scheduled for; retries do not move it."""
    due_at: datetime
    """When this attempt was due."""
    deadline: datetime
    """When this attempt must have ended."""
    clock: Clock
    log: logging.LoggerAdapter[logging.Logger]
    """Writes with the action's id on each line."""
    job: JobName | None = None
    """The job whose run it is; None for a one-shot."""
    cadence: str | None = None
    """The name of the job's cadence, or of its trigger, that made it due; None where none did."""
    trigger: Trigger = Trigger.SCHEDULED
    """What made it due: it was scheduled, or a cadence did, an event, a person, or its job makes up for a miss."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set from outside when the cancel was asked for, or the lease was lost."""

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this action, and for nothing else: hand it to services that deduplicate."""
        return self.id

    def now(self) -> datetime:
        """This instant, by the clock that the scheduler goes by."""
        return self.clock.now()

    @property
    def cancelled(self) -> bool:
        """Whether this run should stop: somebody asked for it, or another worker has taken it over."""
        return self.stop.is_set()

    def raise_if_cancelled(self) -> None:
        """Stop here if asked to: a long handler calls this between its steps.

        Raises:
            RunCancelled: a cancel was asked for, or the lease was lost; let it pass through.
            RunTimedOut: the deadline has passed.
        """
        if self.cancelled:
            raise RunCancelled
        if self.now() > self.deadline:
            raise RunTimedOut(self.deadline)
