"""The middle of step 4: run the handler of a claimed action, and return how it ended.

No exception leaves a run without an outcome, whatever its class. `WorkerDied` alone passes: the simulation
raises it where a process would be gone.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import chain

from duetime import instant
from duetime._masking import hiding
from duetime.clock import Clock
from duetime.declare.call_result import RunCoroutine
from duetime.declare.handler import Handler
from duetime.declare.handler_set import HandlerSet
from duetime.declare.invocation import make_run, resolve_handler
from duetime.errors import InvalidPayload, UnknownType
from duetime.model.action import Action
from duetime.model.built_in import is_probe
from duetime.model.event_chain import running_at
from duetime.model.hand_over import HandedOver
from duetime.model.outcome import SUCCEEDED, Outcome, leaves_of, of_error, put_off, returned_at
from duetime.model.redaction import sensitive_values
from duetime.model.run import Committing, ExternalWork, Run, WorkerDied
from duetime.payload import Payload
from duetime.ports.wakeups import Delivery
from duetime.retry import Continue, Fatal
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.tracebacks import mask_tokens, mask_traceback, traceback_of
from duetime.worker.checkpoints import RunCheckpoints
from duetime.worker.commit import RunCommit
from duetime.worker.hand_over import problem_of
from duetime.worker.heartbeat import Heartbeat, WatchedRun
from duetime.worker.rollover import ROLL_OVER, Rollover
from duetime.worker.run_context import isolated

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


class RunHandler:
    """Runs the handlers of one process."""

    def __init__(
        self,
        handlers: HandlerSet,
        heartbeat: Heartbeat,
        rollover: Rollover,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        """Make one.

        Raises:
            DeclarationError: a handler needs a resource that no function provides.
        """
        self._handlers, self._resources = handlers, handlers.resources()
        self._heartbeat, self._rollover = heartbeat, rollover
        self._clock, self._settings, self._started_at = clock, settings, clock.now()

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

    def prepare(self, claimed: ClaimedRun) -> Outcome | tuple[Handler, Payload | None]:
        """Return the handler and the payload of a run, or the outcome of one that cannot begin."""
        action = claimed.action
        if self._rollover.needs_newer(action.type, action.payload_version):  # a message may lack the version
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
