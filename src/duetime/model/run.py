"""The run: what a handler is told about the attempt that it is, and how it learns that it should stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from duetime import instant
from duetime.clock import Clock
from duetime.errors import InvalidCommit
from duetime.ids import ActionId, JobName, TenantId
from duetime.model.action import Trigger

MOST_ENTRIES = 98
"""DynamoDB takes 100 writes in a transaction: the settle is one, the unlocking of a job or the freeing of a slot another."""

Entry = Mapping[str, Any]
"""One of the ``TransactItems`` of a low-level DynamoDB client: ``{"Put": …}``, Update, Delete or ConditionCheck."""


class RunCancelled(BaseException):
    """Raised by `Run.raise_if_cancelled`.

    Like ``asyncio.CancelledError`` it is no ``Exception``: a handler's own ``except Exception`` must not swallow it.
    """


class RunTimedOut(Exception):
    """Raised by `Run.raise_if_cancelled` past the run's deadline; the attempt fails and may be retried."""

    def __init__(self, deadline: datetime) -> None:
        self.deadline = deadline
        super().__init__(f"the run passed its deadline, {instant.text(deadline)}")


class Committing(Protocol):
    """What `Run.commit` commits with."""

    @property
    def entries(self) -> Sequence[Entry] | None:
        """What was committed; None while nothing is."""
        ...

    def __call__(self, entries: Sequence[Entry]) -> None:
        """Write the entries and settle the action, all or nothing; see `Run.commit`."""
        ...


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
    committing: Committing = field(repr=False, compare=False)
    """What `commit` commits with."""
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

    def commit(self, entries: Iterable[Entry]) -> None:
        """Write the handler's own entries and settle its action as executed in one transaction: exactly once.

        When this returns, the action is executed and the run is over: return. Whatever the handler does or raises after
        that changes nothing in the action. A cancel that was asked for does not stop a commit.

        Args:
            entries: of ``TransactItems`` for a low-level DynamoDB client, at most 98, none for the action's own row; an
                empty list settles alone.

        Raises:
            CommitRefused: the condition of an entry did not hold; nothing was written, and the run goes on: catch it and
                do something else, or let it pass and fail.
            RunCancelled: another worker has taken this run over; nothing was written. Let it pass through.
            BackendUnavailable: nobody knows whether it was written. Let it pass: the action is left as it is, and is
                repeated after its lease if nothing was.
            BackendMisconfigured: DynamoDB refuses the entries as they are, or the worker's role may not write them.
            Unsupported: this back end cannot write the entries.
            InvalidCommit: these are no such entries.
            AlreadyCommitted: this run has committed.
        """
        self.committing(_checked(entries))

    @property
    def committed(self) -> Sequence[Entry] | None:
        """The entries that this run has committed; None while it has not."""
        return self.committing.entries


_KINDS = ("Put", "Update", "Delete", "ConditionCheck")


def _checked(entries: Iterable[Any]) -> Sequence[Entry]:
    given = tuple(entries)
    if len(given) > MOST_ENTRIES:
        raise InvalidCommit(f"{len(given)} entries; beside the settle there is room for {MOST_ENTRIES}")
    for place, entry in enumerate(given):
        if not isinstance(entry, Mapping) or len(entry) != 1 or not {*entry} <= {*_KINDS}:
            raise InvalidCommit(f"entry {place} is {entry!r}; it must be one of {', '.join(_KINDS)}")
    return given
