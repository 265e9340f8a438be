"""The run: the facts that a handler receives about its attempt, and the request to stop."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from duetime import instant
from duetime.clock import Clock
from duetime.errors import InvalidArgument, StateConflict, Unsupported, truncate
from duetime.ids import ActionId, JobName, TenantId
from duetime.model.action import Trigger
from duetime.model.checkpoint import Checkpoint, checkpoint_text

if TYPE_CHECKING:
    from duetime.model.hand_over import HandedOver, OnReject
    from duetime.model.row_parts import Progress

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


class Checkpointing(Protocol):
    """Stores checkpoints for `Run.checkpoint`."""

    @property
    def latest(self) -> Checkpoint | None:
        """The latest checkpoint of the action; None without one."""

    def __call__(self, text: str) -> None:
        """Store a checkpoint; see `Run.checkpoint`."""


class Committing(Protocol):
    """Commits for `Run.commit`."""

    @property
    def entries(self) -> Sequence[Entry] | None:
        """The committed entries; None before a commit."""

    def __call__(self, entries: Sequence[Entry]) -> None:
        """Write the entries and settle the action, all or nothing; see `Run.commit`."""


class ExternalWork(Protocol):
    """Serves `Run.token` and `Run.progress`."""

    @property
    def token(self) -> str:
        """The token of the run's hand-over."""

    def report(self, progress: Progress) -> None:
        """Store a progress, unless one was stored seconds ago."""


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
    checkpointing: Checkpointing = field(repr=False, compare=False)
    """Stores checkpoints for `checkpoint`."""
    job: JobName | None = None
    """The job whose run it is; None for a one-shot."""
    cadence: str | None = None
    """The name of the job's cadence or trigger that made it due; None without one."""
    trigger: Trigger = Trigger.SCHEDULED
    """The cause that made it due.

    A schedule call, a cadence, an event, a person, a backfill, or a missed time that its job catches up.
    """
    depth: int = 0
    """How many events in a row led to it. An event that the handler puts itself should have it in its detail,
    as ``duetime_depth``, so that two jobs cannot start each other for ever."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by the worker after a request to cancel, or after the lease was lost."""
    external: ExternalWork | None = field(default=None, repr=False, compare=False)
    """Serves `token` and `progress`; None: this run cannot be handed over."""

    @property
    def idempotency_key(self) -> str:
        """A key shared by all attempts at this action only; pass it to services that deduplicate."""
        return self.id

    @property
    def is_backfill(self) -> bool:
        """Whether a backfill runs this nominal time of the job; see `Jobs.backfill`."""
        return self.trigger is Trigger.BACKFILL

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

    def checkpoint(self, value: object) -> None:
        """Store a value for the next run of this action, which gets it as `last_checkpoint`.

        Call it after the work that it stands for, and before ``raise Continue()``. If the run dies in
        between, the next one repeats that work.

        Args:
            value: a JSON value of at most 2,048 bytes, such as ``{"done": 1000}``. It replaces the former.

        Raises:
            InvalidArgument: it is no JSON value, None, or too large; nothing was stored.
            RunCancelled: another worker has taken this run over; nothing was stored. Let it pass through.
            BackendUnavailable: it may or may not be stored; repeat the call, or let it pass.
            StateConflict: this run has committed, or its commit is in doubt.
        """
        self.checkpointing(checkpoint_text(value))

    @property
    def last_checkpoint(self) -> Any:
        """The latest checkpoint of this action, by this run or an earlier one; None without one."""
        latest = self.checkpointing.latest
        return None if latest is None else latest.value

    def commit(self, entries: Iterable[Entry]) -> None:
        """Write the handler's own entries and settle its action as executed in one transaction: exactly once.

        After this call the action is executed and the run is over; return from the handler. What the handler
        does or raises after that does not change the action. A requested cancel does not stop a commit.

        Args:
            entries: of ``TransactItems`` for a low-level DynamoDB client, at most 98, none for the action's
                own row; an empty list settles alone.

        Raises:
            CommitRejected: the condition of an entry did not hold; nothing was written, and the run goes on:
                catch it and do something else, or let it pass and fail.
            RunCancelled: another worker has taken this run over; nothing was written. Let it pass through.
            BackendUnavailable: the entries may or may not be written. Let it pass: the action is unchanged,
                and if nothing was written it is repeated after its lease.
            BackendMisconfigured: DynamoDB refuses the entries as they are, or the worker's role may not write
                them.
            Unsupported: this back end cannot write the entries.
            InvalidArgument: an entry is malformed, or there are too many.
            StateConflict: this run has committed.
        """
        self.committing(_checked(entries))

    @property
    def token(self) -> str:
        """The token with which an external party completes this run, once the handler has handed it over.

        Raises:
            Unsupported: this run was made without a scheduler.
        """
        if self.external is None:
            raise Unsupported("this run has no token: no scheduler runs it; fake_run(token=…) sets one")
        return self.external.token

    def hand_over(self, *, timeout: timedelta, heartbeat: timedelta | None = None) -> HandedOver:
        """Return a hand-over, which the handler must return: ``return run.hand_over(…)``.

        The action stays `processing` without a worker, until the party that has `token` calls
        `Scheduler.complete` or `Scheduler.fail`. Pass the token on before the handler returns.

        Args:
            timeout: when the hand-over fails without a completion: 10 seconds to 366 days; 48 hours under a
                concurrency key. The retry policy decides what follows.
            heartbeat: the longest time between two calls of `Scheduler.heartbeat`; after it, the run counts
                as lost, and the handler runs again. None: no heartbeat is needed.

        Raises:
            InvalidArgument: a time is out of range, or the heartbeat is longer than the time-out.
        """
        from duetime.model.hand_over import HandedOver  # noqa: PLC0415 - few handlers hand over

        return HandedOver(timeout, heartbeat)

    def await_approval(
        self, question: str, *, timeout: timedelta, on_reject: OnReject = "fail", by_another: bool = False
    ) -> HandedOver:
        """Return a hand-over that people end; the handler must return it: ``return run.await_approval(…)``.

        The action stays `processing` without a worker, until `Scheduler.approve` or `Scheduler.reject`. An
        approval executes it, with the result ``{"approved": true, "by": …, "reason": …}``.

        Args:
            question: what people decide, such as ``"Refund 900 € to Ann?"``: 1 to 500 printable characters.
                Notifications, mails and lists contain it, so leave out what not all may see.
            timeout: when the approval fails without a decision, as in `hand_over`. The retry policy decides
                what follows.
            on_reject: ``"fail"``: a rejection fails the action, without a retry. ``"execute"``: it executes
                the action, and the result has ``"approved": false``.
            by_another: the person who scheduled the action over the API, or triggered the job's run, cannot
                approve it. Without such a request in the audit trail, as after `Scheduler.schedule`, it can
                only be rejected.

        Raises:
            InvalidArgument: the question is empty or too long, or a value is out of range.
        """
        from duetime.model.hand_over import Approval, HandedOver  # noqa: PLC0415 - few handlers hand over

        return HandedOver(timeout, None, Approval(question, on_reject, by_another))

    def progress(self, share: float, note: str = "") -> None:
        """Store how far this run is, for the API, the command line and the console.

        At most one call in five seconds writes, and a share of 1. A failure is only logged.

        Args:
            share: from 0 to 1.
            note: such as ``"12,000 of 30,000"``, at most 200 characters.

        Raises:
            InvalidArgument: the share or the note is none of these.
        """
        from duetime.model.hand_over import checked_progress  # noqa: PLC0415 - few handlers report

        progress = checked_progress(share, note)
        if self.external is not None:
            self.external.report(progress)

    @property
    def committed(self) -> Sequence[Entry] | None:
        """The entries that this run has committed; None while it has not."""
        return self.committing.entries


_KINDS = ("Put", "Update", "Delete", "ConditionCheck")


def _checked(entries: Iterable[Any]) -> Sequence[Entry]:
    given = tuple(entries)
    if len(given) > MOST_ENTRIES:
        raise InvalidArgument(
            f"cannot commit {len(given)} entries; beside the settle there is room for {MOST_ENTRIES}"
        )
    for index, entry in enumerate(given):
        if not isinstance(entry, Mapping) or len(entry) != 1 or not {*entry} <= {*_KINDS}:
            problem = f"entry {index} is {truncate(repr(entry))}; it must be one of {', '.join(_KINDS)}"
            raise InvalidArgument(f"cannot commit: {problem}", field="entries")
    return given


def already_committed(action_id: str) -> StateConflict:
    """Return the error of a second commit of one run; it wrote nothing."""
    what = f"the run of {action_id} has committed"
    return StateConflict(what, "commit all that belongs together at once", code="already-committed")
