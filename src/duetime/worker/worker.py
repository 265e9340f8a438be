"""Step 4, *work*: a due message becomes a claim, a run of the user's handler, and a settle.

::

    receive ── delay? ── wait out the fraction ── claim ── run ── settle (or commit)
                 │                                  │
                 └─ a fresh message for later       └─ lost to a live lease: a fresh message for its end;
                                                       otherwise nothing is left to do

`claim_run` claims: one-shots by `claim_with_slot`, runs of jobs by `claim_job_run`, which may skip them.
`run_handler` runs the handler. `end_run` settles.

A message is only a wake-up, so the worker consumes it in every case. A fresh delayed message replaces one
that must wait. SQS' count of receives therefore never moves a healthy action to the dead letters.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum

from duetime import ids, instant
from duetime.clock import Clock
from duetime.declare.built_in import CANARY_HANDLER
from duetime.declare.handler_set import HandlerSet
from duetime.errors import DuetimeError, truncate
from duetime.jobs.known_pauses import KnownPauses
from duetime.jobs.known_region import KnownRegion
from duetime.jobs.plan import Plan, is_behind
from duetime.model.built_in import CANARY
from duetime.model.lease import LeaseHeld
from duetime.model.outcome import NOT_BEGUN
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.wakeups import LONGEST_DELAY, Delivery, DueMessage, DueQueues, Routes, Send
from duetime.ports.work_pauses import NoWorkPauses, WorkPauses
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.run_log import RunLog
from duetime.wakeups.due_messages import delay_until
from duetime.worker.claim_job_run import ClaimJobRun, ClaimWon, Waiting
from duetime.worker.claim_run import ClaimRun
from duetime.worker.claim_with_slot import ClaimOneShot, next_message
from duetime.worker.commit import CommitStage
from duetime.worker.end_run import EndRun
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime.worker.put_offs import PutOffs
from duetime.worker.rollover import ROLL_OVER, Rollover
from duetime.worker.run_handler import ClaimedRun, RunHandler
from duetime.worker.settle import Settle

log = logging.getLogger(__name__)

_SOONEST_WHILE_OFF = 60


class DeliveryResult(StrEnum):
    """The result of a delivery."""

    RAN = "ran"
    NOTHING_TO_DO = "nothing to do"
    PUT_OFF = "put off"


@dataclass(frozen=True, slots=True)
class WorkerPorts:
    """The back ends of a worker."""

    store: ActionStore
    jobs: JobStore
    queues: DueQueues
    routes: Routes
    heartbeat: Heartbeat
    pauses: WorkPauses = field(default_factory=NoWorkPauses)
    regions: ActiveRegions = field(default_factory=NoRegions)


class Worker:
    """Handles deliveries for one set of handlers. Safe to call from several threads.

    Raises:
        DeclarationError: a handler needs a resource that no function provides.
    """

    def __init__(
        self,
        handlers: HandlerSet,
        ports: WorkerPorts,
        *,
        clock: Clock,
        settings: Settings,
        instance: str,
        jitter_draw: Callable[[], float] = random.random,
        meter: Meter = UNMETERED,
    ) -> None:
        handlers = replace(handlers, by_name={CANARY: CANARY_HANDLER, **handlers.by_name})
        store, jobs, heartbeat = ports.store, ports.jobs, ports.heartbeat
        self._handlers, self._queues = handlers, ports.queues
        self._clock, self._settings, self._run_log = clock, settings, RunLog(meter)
        self._pauses, self._rollover = KnownPauses(ports.pauses, clock), Rollover(handlers, ports.routes)
        self._put_offs, self._region = PutOffs(), KnownRegion(ports.regions, clock)
        self._plan = Plan(store, jobs, clock=clock, settings=settings, meter=meter)
        self._claim = ClaimRun(
            ClaimOneShot(store, jitter_draw=jitter_draw),
            ClaimJobRun(store, jobs, settings=settings),
            handlers,
            heartbeat,
            self._region,
            clock=clock,
            settings=settings,
            instance=instance,
        )
        self._run = RunHandler(handlers, heartbeat, self._rollover, clock=clock, settings=settings)
        settle = Settle(store, jobs, ports.queues, ports.routes, self._region, clock=clock)
        self._end = EndRun(
            settle, heartbeat, self._run_log, clock=clock, settings=settings, jitter_draw=jitter_draw
        )

    def __call__(self, delivery: Delivery) -> DeliveryResult:
        """Handle one delivery; the message may be deleted when this returns.

        Raises:
            BackendUnavailable: the message must come again.
        """
        message = delivery.message
        delay = self._delay_of(message)
        if delay is not None:
            return self._put_off(delivery, delay)
        if self._is_stopped(message):
            return self._while_stopped(delivery)
        if self._is_copy(message):
            return DeliveryResult.NOTHING_TO_DO
        self._clock.wait_until(message.due_at)
        since = self._clock.elapsed()
        claim = self._claim(delivery)
        return (
            self._execute(claim, delivery, since)
            if isinstance(claim, ClaimWon)
            else self._again(delivery, claim)
        )

    def _while_stopped(self, delivery: Delivery) -> DeliveryResult:
        """Send the message again, unless another one is under way: no sweep sends one meanwhile."""
        message, now = delivery.message, self._clock.now()
        if self._put_offs.is_under_way(message, instant.LATEST, now):
            return DeliveryResult.NOTHING_TO_DO
        seconds = self._delay_while_stopped(message)
        result = self._put_off(delivery, seconds)
        self._put_offs.sent(message, now + timedelta(seconds=seconds), instant.LATEST, now)
        return result

    def _again(self, delivery: Delivery, claim: LeaseHeld | Waiting | None) -> DeliveryResult:
        """Send the message of an action that was not claimed again, unless there is nothing left to claim."""
        if claim is None:
            return DeliveryResult.NOTHING_TO_DO
        if isinstance(claim, LeaseHeld):
            ends_in = delay_until(claim.until + self._settings.clock_skew, self._clock.now())
            return self._put_off(delivery, ends_in + 1)
        is_keyed = delivery.message.is_keyed or ids.is_one_shot(delivery.message.ref.id)
        return self._wait(
            replace(delivery, message=replace(delivery.message, is_keyed=is_keyed)), claim.seconds
        )

    def _wait(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        now = self._clock.now()
        message = next_message(delivery.message, now, self._settings)
        if message is None or message.replaced_until is None or self._is_copy(delivery.message):
            return DeliveryResult.NOTHING_TO_DO
        result = self._put_off(replace(delivery, message=message), seconds)
        self._put_offs.sent(message, now + timedelta(seconds=seconds), message.replaced_until, now)
        return result

    def _is_copy(self, message: DueMessage) -> bool:
        """Return whether another message replaces it. One that a sweep has sent begins the next chain."""
        until = message.replaced_until
        return until is not None and self._put_offs.is_under_way(message, until, self._clock.now())

    def _execute(self, claim: ClaimWon, delivery: Delivery, since: float) -> DeliveryResult:
        action = claim.action
        self._run_log.began(action)
        self._plan_ahead(claim)
        with spans.executing(action) as span:
            commit = self._end.commit_of(claim)
            is_cancelled = action.cancel_requested_at is not None
            run = ClaimedRun(action, delivery, commit, span, since)
            outcome = NOT_BEGUN if is_cancelled else self._run(run)
            if outcome is None:
                self._run_log.lost(action)
                span.ended(None)
                return self._put_off(delivery, visibility(self._settings))
            if commit.stage is CommitStage.IN_DOUBT:
                span.set({spans.OUTCOME: spans.IN_DOUBT})
                log.warning("its commit is in doubt, the row is left alone", extra={"action": action.id})
                return self._put_off(delivery, visibility(self._settings))
            span.ended(self._end(claim, commit, outcome))
        return DeliveryResult.RAN

    def _delay_of(self, message: DueMessage) -> int | None:
        """Return the seconds to delay the message by; None if nothing but a stop or a claim decides."""
        early = delay_until(message.due_at, self._clock.now(), self._settings.start)
        if early > 1:
            return early
        if not self._settings.enabled:
            return self._delay_while_stopped(message)
        return ROLL_OVER if self._rollover.needs_newer(message.type, message.payload_version) else None

    def _delay_while_stopped(self, message: DueMessage) -> int:
        # As long again as it has waited: a long stop costs each action four messages an hour.
        late = int((self._clock.now() - message.due_at).total_seconds())
        return min(max(late, _SOONEST_WHILE_OFF), LONGEST_DELAY)

    def _is_stopped(self, message: DueMessage) -> bool:
        """Return whether a pause, or an unknown active region, stops the action."""
        if self._pauses.of_tenant(message.ref.tenant_id) is not None:
            return True
        return not (self._region.is_active() or self._region.is_standby())

    def _put_off(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        self._queues.send([Send(self._handlers.worker, delivery.message, min(seconds, LONGEST_DELAY))])
        log.info("put off", extra={"action": delivery.message.ref.id, "seconds": seconds})
        return DeliveryResult.PUT_OFF

    def _plan_ahead(self, claim: ClaimWon) -> None:
        """Plan the job's next occurrence if no wake has done it: the run proves that the job is active."""
        if claim.job is not None and is_behind(claim.job, claim.action.attempts[-1].started_at):
            try:
                self._plan(claim.job.ref)
            except DuetimeError as error:
                log.warning("not planned ahead", extra={"job": claim.job.name, "reason": truncate(error)})
