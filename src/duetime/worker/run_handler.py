"""The middle of step 4: run the handler of a claimed action, and return how it ended.

No exception leaves a run without an outcome, whatever its class. `WorkerDied` alone passes: the simulation
raises it where a process would be gone.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from contextvars import Context, ContextVar
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any, TypeVar

from duetime import instant
from duetime._masking import hiding
from duetime.clock import Clock
from duetime.declare.batch import Batch, BatchItem
from duetime.declare.call_result import RunCoroutine
from duetime.declare.handler import Handler
from duetime.declare.handler_set import HandlerSet
from duetime.declare.invocation import make_run, resolve_handler
from duetime.errors import InvalidArgument, InvalidPayload, UnknownType
from duetime.model.action import Action, Ending
from duetime.model.built_in import is_probe
from duetime.model.event_chain import running_at
from duetime.model.hand_over import HandedOver
from duetime.model.outcome import SUCCEEDED, Outcome, leaves_of, of_error, put_off, returned_at
from duetime.model.redaction import sensitive_values
from duetime.model.run import Committing, Entry, ExternalWork, Run, WorkerDied
from duetime.payload import Payload
from duetime.ports.backends import Backends
from duetime.ports.wakeups import Delivery
from duetime.retry import Continue, Fatal
from duetime.telemetry import spans
from duetime.telemetry.spans import TraceSpan
from duetime.telemetry.tracebacks import mask_tokens, mask_traceback, traceback_of
from duetime.worker.end_run import RunCheckpoints, RunCommit
from duetime.worker.hand_over import problem_of, refuse_hand_over
from duetime.worker.heartbeat import Heartbeat, WatchedRun

log = logging.getLogger(__name__)
log.addFilter(mask_traceback)
logging.getLogger("duetime.handlers").addFilter(mask_tokens)


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A claimed run, as its handler needs it."""

    action: Action
    delivery: Delivery
    commit: RunCommit
    checkpoints: RunCheckpoints
    span: spans.TraceSpan
    since: float
    """The clock's `elapsed` before the claim, from which the lease counts."""
    external: ExternalWork

    def run_of(self, handler: Handler, clock: Clock, committing: Committing) -> Run:
        """Return the run for its handler, which commits by `committing`."""
        return make_run(
            self.action,
            handler,
            clock,
            committing,
            self.commit.stop,
            checkpointing=self.checkpoints,
            external=self.external,
        )


def failed(claimed: ClaimedRun, error: BaseException) -> Outcome:
    """Log what a run's handler raised, and return its outcome.

    Raises:
        WorkerDied: the handler raised it, alone or in a group.
    """
    leaves = leaves_of(error)
    for leaf in leaves:
        if isinstance(leaf, WorkerDied):
            raise leaf
    if all(isinstance(leaf, Continue) for leaf in leaves):
        return claimed.checkpoints.outcome_of_continue()
    action = claimed.action
    about = {"action": action.id, "tenant": action.tenant_id, "type": action.type}
    log.info("handler raised", extra=about, exc_info=error)
    claimed.span.raised(error)
    return replace(of_error(error), traceback=traceback_of(error))


ROLL_OVER = 60
"""Seconds by which a run that waits for a newer worker is put off."""


T = TypeVar("T")

_POWERTOOLS = "aws_lambda_powertools.logging.formatter"
_keys_of_run: ContextVar[dict[Any, dict[str, Any]] | None] = ContextVar("log keys of the run", default=None)


def isolated(call: Callable[[], T], span: TraceSpan) -> T:
    """Call a function in a context of its own, below a span; return what it returns.

    The context is empty, but for the span: nothing of a caller or of another run reaches it. It holds the
    context variables, and so the context of ``decimal``. Powertools keeps the keys of a logger in its
    formatter, which all runs of a process share; within a run, the formatter has keys of that run.
    """
    return Context().run(_begin, call, span)


def _begin(call: Callable[[], T], span: TraceSpan) -> T:
    if _POWERTOOLS in sys.modules:  # perhaps of an import that another thread has begun: that is waited for
        import_module(_POWERTOOLS).LambdaPowertoolsFormatter.log_format = _LogFormat()
        _keys_of_run.set({})
    with span.current():
        return call()


class _LogFormat:
    """Replaces a formatter's ``log_format``: a run changes a copy of its own."""

    def __get__(self, formatter: Any, _owner: object = None) -> Any:
        if formatter is None:
            return self
        keys, of_run = vars(formatter)["log_format"], _keys_of_run.get()
        return keys if of_run is None else of_run.setdefault(formatter, dict(keys))

    def __set__(self, formatter: Any, keys: dict[str, Any]) -> None:
        of_run = _keys_of_run.get()
        if of_run is None:
            vars(formatter)["log_format"] = keys
        else:  # also of a logger that the run makes
            vars(formatter).setdefault("log_format", dict(keys))
            of_run[formatter] = keys


class RunHandler:
    """Runs the handlers of one process."""

    def __init__(self, handlers: HandlerSet, backends: Backends, heartbeat: Heartbeat) -> None:
        """Make one.

        Raises:
            DeclarationError: a handler needs a resource that no function provides.
        """
        self._handlers, self._resources = handlers, handlers.resources()
        self._heartbeat, self._routes = heartbeat, backends.routes
        self._clock, self._settings, self._started_at = (
            backends.clock,
            backends.settings,
            backends.clock.now(),
        )

    def __call__(self, claimed: ClaimedRun, run_coroutine: RunCoroutine | None = None) -> Outcome | None:
        """Run the handler; return None, without running it, if the lease ended before it could begin.

        `run_coroutine` runs an async handler.
        """
        return isolated(partial(self._in_context, claimed, run_coroutine), claimed.span)

    def _in_context(self, claimed: ClaimedRun, run_coroutine: RunCoroutine | None) -> Outcome | None:
        with self.masking([claimed.action]):
            prepared = self.prepare(claimed)
            return prepared if isinstance(prepared, Outcome) else self._run(claimed, *prepared, run_coroutine)

    def masking(self, actions: Sequence[Action]) -> AbstractContextManager[None]:
        """Mask, within the block, what failures of these actions must not show."""
        return hiding(partial(self._all_sensitive_values, actions), self._settings.secret_patterns.values())

    def _all_sensitive_values(self, actions: Sequence[Action]) -> Iterable[object]:
        return chain.from_iterable(map(self._sensitive_values, actions))

    def _sensitive_values(self, action: Action) -> Iterable[object]:
        handler = self._handlers.by_name.get(action.type)
        if handler is None or action.payload is None:
            return ()
        try:
            return sensitive_values(json.loads(action.payload), handler.sensitive)
        except ValueError:  # a damaged payload
            return (action.payload,)

    def needs_newer(self, type_name: str, version: int) -> bool:
        """Return whether only a newer worker reads this type, or this version of its payload.

        During a deploy, an older worker may receive what the newest one has published.
        """
        handler = self._handlers.by_name.get(type_name)
        if handler is not None and version <= handler.version:
            return False
        newest = self._routes.version_of(type_name)
        return newest is not None and (handler is None or version <= newest)

    def prepare(self, claimed: ClaimedRun) -> Outcome | tuple[Handler, Payload | None]:
        """Return the handler and the payload of a run, or the outcome of one that cannot begin."""
        action = claimed.action
        if self.needs_newer(action.type, action.payload_version):  # a message may lack the version
            reason = f"its payload is of version {action.payload_version}: it waits for a newer worker"
            return put_off(timedelta(seconds=ROLL_OVER), reason)
        try:
            return resolve_handler(action, self._handlers.by_name, self._settings)
        except (Fatal, InvalidPayload, UnknownType) as error:
            return of_error(Fatal(str(error)))
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - of a payload's own validator
            return replace(of_error(error), traceback=traceback_of(error))

    def _run(
        self,
        claimed: ClaimedRun,
        handler: Handler,
        payload: Payload | None,
        run_coroutine: RunCoroutine | None,
    ) -> Outcome | None:
        action = claimed.action
        run = claimed.run_of(handler, self._clock, claimed.commit)
        try:
            with self.watching(claimed, run) as watched, running_at(action.depth):
                resources = self.resources_for(handler)
                if not self.still_holds(watched):
                    return None
                returned = handler(payload, run, resources, run_coroutine)
        except BaseException as error:  # noqa: BLE001 - none leaves a run without an outcome
            return failed(claimed, error)
        if isinstance(returned, HandedOver):
            problem = problem_of(returned, action)
            return failed(claimed, problem) if problem else replace(SUCCEEDED, hand_over=returned)
        if is_probe(action.type):
            return replace(SUCCEEDED, message=self._wake_facts(claimed.delivery))
        return returned_at(self._clock.now(), run.deadline)

    def watching(self, claimed: ClaimedRun, run: Run) -> AbstractContextManager[WatchedRun]:
        """Beat for a run within the block."""
        return self._heartbeat.watching(
            claimed.action,
            run.stop,
            run.deadline,
            claimed.delivery,
            claimed.delivery.queue or self._handlers.worker,
            since=claimed.since,
        )

    def still_holds(self, watched: WatchedRun) -> bool:
        """Return whether a lease still holds, just before the handler begins."""
        return self._heartbeat.still_holds(watched)

    def resources_for(self, handler: Handler) -> Mapping[str, object]:
        """Return the resources of a handler, by its parameters.

        Raises:
            ResourceFailed: a factory raised.
        """
        return self._resources.for_parameters(handler.wants)

    def _wake_facts(self, delivery: Delivery) -> str:
        """Return how a probe's message reached this process, as JSON, for `duetime deployment verify`."""
        times = {
            "sent_at": delivery.sent_at,
            "received_at": delivery.received_at,
            "process_since": self._started_at,
        }
        return json.dumps({name: instant.text(at) for name, at in times.items() if at})


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
            raise InvalidArgument(
                f"cannot commit: batch.fail has ended the run of {self.run.id}; commit, or fail, a run once"
            )
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
