"""The middle of step 4: run the handler of a claimed action, and return how it ended.

No exception leaves a run without an outcome, whatever its class. `WorkerDied` alone passes: the simulation
raises it where a process would be gone.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

from duetime import instant
from duetime._masking import hiding
from duetime.clock import Clock
from duetime.declare.handler import Handler
from duetime.declare.handler_set import HandlerSet
from duetime.declare.invocation import make_run, resolve_handler
from duetime.errors import InvalidPayload, UnknownType
from duetime.model.action import Action
from duetime.model.built_in import is_probe
from duetime.model.event_chain import running_at
from duetime.model.outcome import SUCCEEDED, Outcome, of_error, put_off
from duetime.model.redaction import sensitive_values
from duetime.model.run import Run, WorkerDied
from duetime.payload import Payload
from duetime.ports.wakeups import Delivery
from duetime.retry import Fatal
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.tracebacks import mask_traceback
from duetime.worker.commit import RunCommit
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.rollover import ROLL_OVER, Rollover

log = logging.getLogger(__name__)
log.addFilter(mask_traceback)


@dataclass(frozen=True, slots=True)
class ClaimedRun:
    """A claimed run, as its handler needs it."""

    action: Action
    delivery: Delivery
    commit: RunCommit
    span: spans.TraceSpan
    since: float
    """The clock's `elapsed` before the claim, from which the lease counts."""


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

    def __call__(self, claimed: ClaimedRun) -> Outcome | None:
        """Run the handler; return None, without running it, if the lease ended before it could begin."""
        values = partial(self._sensitive_values, claimed.action)
        with hiding(values, self._settings.secret_patterns.values()):
            return self._outcome_of(claimed)

    def _sensitive_values(self, action: Action) -> Iterable[object]:
        """Return the values of its payload that its failures must not show."""
        handler = self._handlers.by_name.get(action.type)
        if handler is None or action.payload is None:
            return ()
        try:
            return sensitive_values(json.loads(action.payload), handler.sensitive)
        except ValueError:  # a damaged payload
            return (action.payload,)

    def _outcome_of(self, claimed: ClaimedRun) -> Outcome | None:
        action = claimed.action
        if self._rollover.needs_newer(action.type, action.payload_version):  # a message may lack the version
            reason = f"its payload is of version {action.payload_version}: it waits for a newer worker"
            return put_off(timedelta(seconds=ROLL_OVER), reason)
        try:
            handler, payload = resolve_handler(action, self._handlers.by_name, self._settings)
        except (Fatal, InvalidPayload, UnknownType) as error:
            return of_error(Fatal(str(error)))
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - of a payload's own validator
            return of_error(error)
        return self._run(claimed, handler, payload)

    def _run(self, claimed: ClaimedRun, handler: Handler, payload: Payload | None) -> Outcome | None:
        action = claimed.action
        run = make_run(action, handler, self._clock, claimed.commit, claimed.commit.stop)
        try:
            if not self._call(claimed, handler, payload, run):
                return None
        except WorkerDied:
            raise
        except BaseException as error:
            about = {"action": action.id, "type": action.type, "is_failure": True}
            log.info("handler raised", extra=about, exc_info=error)
            claimed.span.raised(error)
            return of_error(error)
        if is_probe(action.type):
            return replace(SUCCEEDED, message=self._wake_facts(claimed.delivery))
        return SUCCEEDED

    def _call(self, claimed: ClaimedRun, handler: Handler, payload: Payload | None, run: Run) -> bool:
        """Call the handler under the heartbeat; return False, without the call, if the lease has ended."""
        watching = self._heartbeat.watching(
            claimed.action,
            run.stop,
            run.deadline,
            claimed.delivery,
            self._handlers.worker,
            since=claimed.since,
        )
        with watching as watched, running_at(claimed.action.depth):
            resources = self._resources.for_parameters(handler.wants)
            if not self._heartbeat.still_holds(watched):
                return False
            handler(payload, run, resources)
        return True

    def _wake_facts(self, delivery: Delivery) -> str:
        """Return how a probe's message reached this process, as JSON, for `duetime deployment verify`."""
        times = {
            "sent_at": delivery.sent_at,
            "received_at": delivery.received_at,
            "process_since": self._started_at,
        }
        return json.dumps({name: instant.text(at) for name, at in times.items() if at})
