"""The run: the facts that a handler receives about its attempt, and the request to stop."""

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
"""DynamoDB takes 100 writes in a transaction.

The settle is one, the unlocking of a job or the freeing of a slot another.
"""

Entry = Mapping[str, Any]
"""One of the ``TransactItems`` of a low-level DynamoDB client.

``{"Put": …}``, Update, Delete or ConditionCheck.
"""


class RunCancelled(BaseException):
    """Raised by `Run.raise_if_cancelled`.

    Like ``asyncio.CancelledError`` it is no ``Exception``: a handler's own ``except Exception`` must not
    swallow it.
    """


class WorkerDied(BaseException):
    """Ends a worker's process in the middle of a run: nothing is settled, and another worker takes over.

    For tests of recovery. Any other exception of a handler fails the attempt, ``SystemExit`` too.
    """


class RunTimedOut(Exception):
    """Raised by `Run.raise_if_cancelled` past the run's deadline; the attempt fails and may be retried."""

    def __init__(self, deadline: datetime) -> None:
        self.deadline = deadline
        super().__init__(f"the run passed its deadline, {instant.text(deadline)}")


class Committing(Protocol):
    """Commits for `Run.commit`."""

    @property
    def entries(self) -> Sequence[Entry] | None:
        """The committed entries; None before a commit."""

    def __call__(self, entries: Sequence[Entry]) -> None:
        """Write the entries and settle the action, all or nothing; see `Run.commit`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One attempt at an action, for its handler. All instants are in UTC."""

    id: ActionId
    type: str
    """The name of its payload's type; of a job's run, the job's."""
    tenant_id: TenantId
    actor: str
    """The identity that scheduled it, for which the run acts."""
    correlation_id: str | None
    attempt: int
    """1 for the first; a run repeated because its worker died keeps its number."""
    fence: int
    """Grows with each claim: pass it to a resource that can refuse an older one."""
    nominal_at: datetime
    """The instant that the cadence or the caller named; retries do not change it."""
    due_at: datetime
    """When this attempt was due."""
    deadline: datetime
    """When this attempt must have ended."""
    clock: Clock
    log: logging.LoggerAdapter[logging.Logger]
    """Writes with the action's id on each line."""
    committing: Committing = field(repr=False, compare=False)
    """Commits for `commit`."""
    job: JobName | None = None
    """The job whose run it is; None for a one-shot."""
    cadence: str | None = None
    """The name of the job's cadence or trigger that made it due; None without one."""
    trigger: Trigger = Trigger.SCHEDULED
    """The cause that made it due.

    A schedule call, a cadence, an event, a person, or a miss that its job makes up for.
    """
    depth: int = 0
    """How many events in a row led to it. An event that the handler puts itself should have it in its detail,
    as ``duetime_depth``, so that two jobs cannot start each other for ever."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by the worker after a request to cancel, or after the lease was lost."""

    @property
    def idempotency_key(self) -> str:
        """A key shared by all attempts at this action only; pass it to services that deduplicate."""
        return self.id

    def now(self) -> datetime:
        """Return the present time of the scheduler's clock."""
        return self.clock.now()

    @property
    def cancelled(self) -> bool:
        """Whether this run should stop: a cancel was requested, or another worker has taken it over."""
        return self.stop.is_set()

    def raise_if_cancelled(self) -> None:
        """Stop here after a request to stop; a long handler calls this between its steps.

        Raises:
            RunCancelled: a cancel was requested, or the lease was lost; let it pass through.
            RunTimedOut: the deadline has passed.
        """
        if self.cancelled:
            raise RunCancelled
        if self.now() > self.deadline:
            raise RunTimedOut(self.deadline)

    def commit(self, entries: Iterable[Entry]) -> None:
        """Write the handler's own entries and settle its action as executed in one transaction: exactly once.

        After this call the action is executed and the run is over; return from the handler. What the handler
        does or raises after that does not change the action. A requested cancel does not stop a commit.

        Args:
            entries: of ``TransactItems`` for a low-level DynamoDB client, at most 98, none for the action's
                own row; an empty list settles alone.

        Raises:
            CommitRefused: the condition of an entry did not hold; nothing was written, and the run goes on:
                catch it and do something else, or let it pass and fail.
            RunCancelled: another worker has taken this run over; nothing was written. Let it pass through.
            BackendUnavailable: the entries may or may not be written. Let it pass: the action is unchanged,
                and if nothing was written it is repeated after its lease.
            BackendMisconfigured: DynamoDB refuses the entries as they are, or the worker's role may not write
                them.
            Unsupported: this back end cannot write the entries.
            InvalidCommit: an entry is malformed, or there are too many.
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
    for index, entry in enumerate(given):
        if not isinstance(entry, Mapping) or len(entry) != 1 or not {*entry} <= {*_KINDS}:
            raise InvalidCommit(f"entry {index} is {entry!r}; it must be one of {', '.join(_KINDS)}")
    return given
