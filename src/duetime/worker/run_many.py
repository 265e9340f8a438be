"""Run a handler that takes many runs: one call for all, and an outcome for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from duetime.clock import Clock
from duetime.declare.batch import Batch, BatchItem
from duetime.declare.call_result import RunCoroutine
from duetime.declare.handler import Handler
from duetime.errors import InvalidCommit
from duetime.model.action import Ending
from duetime.model.event_chain import running_at
from duetime.model.outcome import SUCCEEDED, Outcome, of_error, put_off, returned_at
from duetime.model.run import Entry, Run, WorkerDied
from duetime.telemetry.spans import TraceSpan
from duetime.worker.commit import RunCommit
from duetime.worker.hand_over import refuse_hand_over
from duetime.worker.heartbeat import WatchedRun
from duetime.worker.run_context import isolated
from duetime.worker.run_handler import ClaimedRun, RunHandler, failed


class _ItemCommit:
    """The commit of one run of a batch: a run that has failed cannot commit any more."""

    def __init__(self, commit: RunCommit) -> None:
        self._commit = commit
        self.batch: Batch[Any] | None = None
        self.run: Run | None = None

    @property
    def entries(self) -> Sequence[Entry] | None:
        """See `duetime.model.run.Committing`, here and below."""
        return self._commit.entries

    def __call__(self, entries: Sequence[Entry]) -> None:
        if self.batch is not None and self.run is not None and self.batch.failure_of(self.run) is not None:
            raise InvalidCommit(f"batch.fail has ended the run of {self.run.id}; commit, or fail, a run once")
        self._commit(entries)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A run that may begin."""

    claimed: ClaimedRun
    run: Run
    payload: Any
    watched: WatchedRun


class RunMany:
    """Runs the handlers of one process that take many runs."""

    def __init__(self, run_handler: RunHandler, *, clock: Clock) -> None:
        self._parts, self._clock = run_handler, clock

    def __call__(
        self, claims: Sequence[ClaimedRun], run_coroutine: RunCoroutine | None = None
    ) -> Sequence[Outcome | None]:
        """Run the handler once; return the outcome of each run, None if its lease ended before.

        Args:
            claims: claimed runs of one type.
            run_coroutine: runs an async handler.
        """
        span = claims[0].span if len(claims) == 1 else TraceSpan()  # several share no trace
        return isolated(partial(self._in_context, claims, run_coroutine), span)

    def _in_context(
        self, claims: Sequence[ClaimedRun], run_coroutine: RunCoroutine | None
    ) -> Sequence[Outcome | None]:
        outcomes: dict[int, Outcome | None] = {}
        with ExitStack() as stack:
            ready: dict[int, _Ready] = {}
            for number, claimed in enumerate(claims):
                with self._parts.masking([claimed.action]):
                    prepared = self._parts.prepare(claimed)
                if isinstance(prepared, Outcome):
                    outcomes[number] = prepared
                    continue
                handler, payload = prepared
                run = claimed.run_of(handler, self._clock, _ItemCommit(claimed.commit))
                watched = stack.enter_context(self._parts.watching(claimed, run))
                ready[number] = _Ready(claimed, run, payload, watched)
            if ready:
                outcomes |= self._run(handler, ready, run_coroutine)
        return [outcomes[number] for number in range(len(claims))]

    def _run(
        self, handler: Handler, ready: Mapping[int, _Ready], run_coroutine: RunCoroutine | None
    ) -> Mapping[int, Outcome | None]:
        """Call the handler with the runs whose leases still hold."""
        actions = [item.claimed.action for item in ready.values()]
        with self._parts.masking(actions), running_at(max(action.depth for action in actions)):
            raised: BaseException | None = None
            items: dict[int, _Ready] = {}
            batch: Batch[Any] = Batch(())
            try:
                resources = self._parts.resources_for(handler)
                items = {n: item for n, item in ready.items() if self._parts.still_holds(item.watched)}
                batch = _batch_of(items.values())
                if items:
                    refuse_hand_over(handler.call_with_many(batch, resources, run_coroutine))
            except WorkerDied:
                raise
            except BaseException as error:  # noqa: BLE001 - none leaves a run without an outcome
                raised, items = error, items or dict(ready)
            return {
                number: self._outcome_of(ready[number], batch, raised) if number in items else None
                for number in ready
            }

    def _outcome_of(self, item: _Ready, batch: Batch[Any], raised: BaseException | None) -> Outcome:
        """Return the outcome of a run: its own failure comes before what the handler raised."""
        if item.run.committed is not None:
            return SUCCEEDED
        if (own := batch.failure_of(item.run)) is not None:
            return failed(item.claimed, own)
        if raised is None:
            return returned_at(self._clock.now(), item.run.deadline)
        if of_error(raised).ending is Ending.CANCELLED and not item.run.cancelled:
            return put_off(timedelta(0), "another run of its batch was cancelled: it runs again")
        return failed(item.claimed, raised)


def _batch_of(items: Iterable[_Ready]) -> Batch[Any]:
    batch = Batch[Any](BatchItem(item.payload, item.run) for item in items)
    for _, run in batch.items:
        if isinstance(run.committing, _ItemCommit):
            run.committing.batch, run.committing.run = batch, run
    return batch
