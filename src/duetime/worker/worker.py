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
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.clock import Clock
from duetime.declare.built_in import UNLISTED
from duetime.declare.call_result import RunCoroutine
from duetime.declare.handler_set import HandlerSet
from duetime.errors import DuetimeError, truncate
from duetime.jobs.end_hand_over import EndHandOver
from duetime.jobs.known_limits import KnownLimits
from duetime.jobs.known_pauses import KnownPauses
from duetime.jobs.known_region import KnownRegion
from duetime.jobs.plan import Plan, is_behind
from duetime.jobs.trusted_reading import REREAD_AFTER
from duetime.model.action import Action, Ending
from duetime.model.backfill import backfill_ref_of
from duetime.model.hand_over import has_timed_out
from duetime.model.lease import LeaseHeld, MustBeAlone
from duetime.model.outcome import EXPIRED, NOT_BEGUN, TIMED_OUT, UNDECIDED, Outcome
from duetime.model.work_pause import Hold
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.rate_limits import NoSetLimits, SetLimits
from duetime.ports.regions import ActiveRegions, NoRegions
from duetime.ports.wakeups import LONGEST_DELAY, Delivery, DueMessage, DueQueues, Routes, Send
from duetime.ports.work_pauses import NoWorkPauses, WorkPauses
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.run_log import RunLog
from duetime.wakeups.due_messages import delay_until, message_of, send_wake
from duetime.worker.breakers import Breakers
from duetime.worker.checkpoints import RunCheckpoints
from duetime.worker.claim_results import ClaimWon, LockFreed, Waiting
from duetime.worker.claim_run import ClaimRun
from duetime.worker.claim_with_slot import ClaimOneShot, next_message
from duetime.worker.commit import CommitStage
from duetime.worker.end_run import EndRun
from duetime.worker.execution import DeliveryResult, Execution, Steps, begun
from duetime.worker.hand_over import HandOverRun, RunExternalWork
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime.worker.pass_slots import PassSlots
from duetime.worker.paused_work import Held, PausedWork
from duetime.worker.put_offs import PutOffs
from duetime.worker.rate_turn import RateTurns
from duetime.worker.rollover import ROLL_OVER, Rollover
from duetime.worker.run_handler import ClaimedRun, RunHandler
from duetime.worker.run_many import RunMany
from duetime.worker.settle import Settle

if TYPE_CHECKING:
    from duetime.worker.claim_job_run import ClaimJobRun

log = logging.getLogger(__name__)

_SOONEST_WHILE_OFF = timedelta(minutes=1)


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
    limits: SetLimits = field(default_factory=NoSetLimits)


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
        handlers = replace(handlers, by_name={**UNLISTED, **handlers.by_name})
        store, jobs, heartbeat = ports.store, ports.jobs, ports.heartbeat
        self._handlers, self._store, self._jobs = handlers, store, jobs
        self._queues, self._routes = ports.queues, ports.routes
        self._clock, self._settings, self._meter, self._run_log = clock, settings, meter, RunLog(meter)
        self._known_pauses = known = KnownPauses(ports.pauses, clock)
        self._breakers = Breakers(
            ports.pauses, known, handlers.by_name, clock=clock, settings=settings, meter=meter
        )
        self._paused = PausedWork(known, handlers.worker, self._breakers.probed_by)
        self._rollover = Rollover(handlers, ports.routes)
        self._put_offs, self._region = PutOffs(), KnownRegion(ports.regions, clock)
        self._rates = RateTurns(handlers.by_name, store, KnownLimits(ports.limits, clock))
        self._plan = Plan(store, jobs, clock=clock, settings=settings, meter=meter)
        end_hand_over = EndHandOver(store, lambda: jobs, settings=settings)
        self._hand_over = HandOverRun(store, self._region, clock, end_hand_over)
        pass_slots = PassSlots(store, ports.queues, ports.routes, clock=clock, skew=settings.clock_skew)
        self._claim = ClaimRun(
            ClaimOneShot(
                store,
                pass_slots,
                jitter_draw=jitter_draw,
                retention=settings.retention,
                paused=self._paused,
            ),
            partial(_claim_job_run, store, jobs, settings=settings, paused=self._paused),
            handlers,
            heartbeat,
            self._region,
            rates=self._rates,
            clock=clock,
            settings=settings,
            instance=instance,
        )
        self._run = RunHandler(handlers, heartbeat, self._rollover, clock=clock, settings=settings)
        self.run_many = RunMany(self._run, clock=clock)
        settle = Settle(
            store, jobs, ports.queues, ports.routes, self._region, clock=clock, pass_slots=pass_slots
        )
        self._end = EndRun(
            settle, heartbeat, self._run_log, store, clock=clock, settings=settings, jitter_draw=jitter_draw
        )

    def __call__(
        self, delivery: Delivery, *, shares_process: bool = False, run_coroutine: RunCoroutine | None = None
    ) -> DeliveryResult | MustBeAlone:
        """Handle one delivery; the message may be deleted when this returns a `DeliveryResult`.

        Args:
            delivery: the delivery.
            shares_process: whether other runs share the process. After `MustBeAlone`, repeat alone.
            run_coroutine: runs an async handler; by default on an event loop of its own.

        Raises:
            BackendUnavailable: the message must come again.
        """
        execution = self.begin(delivery, shares_process=shares_process)
        if not isinstance(execution, Execution):
            return execution
        try:
            outcome = self._outcome(execution.run, run_coroutine)
        except BaseException:  # of a process that dies
            execution.abandon()
            raise
        return execution.end(outcome)

    def _outcome(self, run: ClaimedRun, run_coroutine: RunCoroutine | None) -> Outcome | None:
        if not self.takes_many(run.delivery):
            return self._run(run, run_coroutine)
        (outcome,) = self.run_many([run], run_coroutine)
        return outcome

    def takes_many(self, delivery: Delivery) -> bool:
        """Return whether the delivery's handler takes many runs at once."""
        handler = self._handlers.by_name.get(delivery.message.type)
        return handler is not None and handler.takes_many

    def timeout_of(self, delivery: Delivery) -> timedelta:
        """Return the longest time that the delivery's handler may run."""
        handler = self._handlers.by_name.get(delivery.message.type)
        return timedelta(0) if handler is None else handler.timeout

    def begin(self, delivery: Delivery, *, shares_process: bool) -> DeliveryResult | MustBeAlone | Execution:
        """Claim the run of a delivery when it is due; return what else became of the delivery.

        Args:
            delivery: the delivery.
            shares_process: whether other runs share the process.

        Raises:
            BackendUnavailable: the message must come again.
        """
        message = delivery.message
        delay = self._delay_of(message)
        if delay is not None:
            return self.put_off(delivery, delay)
        if not self._knows_limits_of(message):
            return self._come_again(delivery, self._delay_while_stopped(message, REREAD_AFTER))
        hold = self._hold_of(message)
        if hold is not None:
            return self._while_held(delivery, hold)
        if self._is_copy(message):
            return DeliveryResult.NOTHING_TO_DO
        self._clock.wait_until(message.due_at)
        since = self._clock.elapsed()
        try:
            claim = self._claim(delivery, shares_process=shares_process)
        except DuetimeError:
            self._breakers.give_back(message.ref)
            raise
        if not isinstance(claim, ClaimWon):
            self._breakers.give_back(message.ref)
            return claim if isinstance(claim, MustBeAlone) else self._again(delivery, claim)
        return begun(self._execution(claim, delivery, since))

    def _knows_limits_of(self, message: DueMessage) -> bool:
        """Return whether this process knows the active region, the pauses, and the limits set for a type."""
        try:
            self._region.epoch()
            self._known_pauses.knows_any()
            self._rates.require_limits(message.type)
        except DuetimeError as error:
            log.warning("no run begins", extra={"type": message.type, "reason": truncate(error)})
            return False
        return True

    def _hold_of(self, message: DueMessage) -> Hold | None:
        """Return what holds a due message; None if its run may begin, also as the probe of a breaker."""
        hold = self._paused.hold_of(message)
        if hold is None or not self._breakers.try_probe(hold, message):
            return hold
        self._clock.wait_until(message.due_at)
        return None

    def _while_held(self, delivery: Delivery, hold: Hold) -> DeliveryResult:
        """Send the message again for the instant at which the hold ends, if that is near.

        The sweep wakes what waits longer. While a breaker is open, the message comes again to probe it.
        """
        message, now, breaker = delivery.message, self._clock.now(), hold.pause.breaker
        if message.is_keyed:
            self._claim.give_up(message)
        if breaker is not None:
            seconds = delay_until(breaker.again_at(now), now, start="second")
            return self._come_again(delivery, min(self._delay_while_stopped(message), seconds))
        if hold.until - now > timedelta(seconds=LONGEST_DELAY):
            return DeliveryResult.NOTHING_TO_DO
        return self.put_off(delivery, delay_until(hold.until, now, start="second"))

    def _come_again(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        """Send the message again, with a delay, unless one that comes by then replaces it."""
        message, now = delivery.message, self._clock.now()
        comes_at = now + timedelta(seconds=seconds)
        until = message.replaced_until or instant.LATEST
        if self._put_offs.is_under_way(message, until, now, by=comes_at):
            return DeliveryResult.NOTHING_TO_DO
        result = self.put_off(delivery, seconds)
        self._put_offs.sent(message, comes_at, until, now)
        return result

    def _again(
        self, delivery: Delivery, claim: LeaseHeld | Waiting | LockFreed | Held | None
    ) -> DeliveryResult:
        """Send the message of an action that was not claimed again, unless there is nothing left to claim."""
        if claim is None:
            return DeliveryResult.NOTHING_TO_DO
        if isinstance(claim, LockFreed):
            waiting = message_of(claim.waiting)
            due_at = min(waiting.due_at, self._clock.now())
            send_wake(replace(waiting, due_at=due_at), self._queues, self._routes, self._clock)
            return DeliveryResult.NOTHING_TO_DO
        if isinstance(claim, LeaseHeld):
            return self._after_lease(delivery, claim.until)
        if isinstance(claim, Held):  # by a key, which only the row has
            keyed = replace(delivery, message=replace(delivery.message, is_keyed=True))
            return self._while_held(keyed, claim.hold)
        is_keyed = delivery.message.is_keyed or ids.is_one_shot(delivery.message.ref.id)
        return self._wait(
            replace(delivery, message=replace(delivery.message, is_keyed=is_keyed)), claim.seconds
        )

    def _after_lease(self, delivery: Delivery, lease_until: datetime) -> DeliveryResult:
        """Send the message again for the end of a lease, unless one that comes by then replaces it."""
        ends_at = lease_until + self._settings.clock_skew
        return self._come_again(delivery, min(delay_until(ends_at, self._clock.now()) + 1, LONGEST_DELAY))

    def _wait(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        now = self._clock.now()
        message = next_message(delivery.message, now, self._settings)
        if message is None or message.replaced_until is None or self._is_copy(delivery.message):
            return DeliveryResult.NOTHING_TO_DO
        result = self.put_off(replace(delivery, message=message), seconds)
        self._put_offs.sent(message, now + timedelta(seconds=seconds), message.replaced_until, now)
        return result

    def _is_copy(self, message: DueMessage) -> bool:
        """Return whether another message replaces it. One that a sweep has sent begins the next chain."""
        until = message.replaced_until
        return until is not None and self._put_offs.is_under_way(message, until, self._clock.now())

    def _execution(self, claim: ClaimWon, delivery: Delivery, since: float) -> Steps:
        """Yield the run whose handler is next, receive its outcome, and end the run."""
        action = claim.action
        self._run_log.began(action)
        self._plan_ahead(claim)
        with spans.executing(action) as span:
            commit = self._end.commit_of(claim)
            external = RunExternalWork(action, self._store, self._clock, commit.stop)
            checkpoints = RunCheckpoints(action, self._store, commit)
            run = ClaimedRun(action, delivery, commit, checkpoints, span, since, external)
            outcome = self._not_begun(claim) or (yield run)
            if outcome is None:
                self._breakers.give_back(action.ref)
                self._run_log.lost(action)
                span.ended(None)
                return self.put_off(delivery, visibility(self._settings))
            if commit.stage is CommitStage.IN_DOUBT:
                self._breakers.give_back(action.ref)
                span.set({spans.OUTCOME: spans.IN_DOUBT})
                log.warning(
                    "its commit is in doubt, the row is left alone",
                    extra={"action": action.id, "tenant": action.tenant_id},
                )
                return self.put_off(delivery, visibility(self._settings))
            if outcome.hand_over is not None and commit.stage is CommitStage.OPEN:
                return self._end_by_hand_over(claim, delivery, outcome, span)
            is_committed, counted = (
                commit.stage is not CommitStage.OPEN,
                self._breakers.as_counted(action, outcome),
            )
            is_probe = self._breakers.end_probe(action, outcome, is_committed=is_committed)
            settled = self._end(claim, commit, counted)
            span.ended(settled)
            if not is_probe:
                self._breakers.ended(action, outcome, is_committed=is_committed)
        if settled is not None and settled.status.is_final:
            self._advance_backfill(action)
        return DeliveryResult.RAN

    def _advance_backfill(self, action: Action) -> None:
        """Begin the next run of the backfill whose run has ended; after an error, the sweep does."""
        ref = backfill_ref_of(action)
        if ref is None:
            return
        from duetime.jobs.advance_backfill import AdvanceBackfill  # noqa: PLC0415 - most workers need none

        store, clock, settings = self._store, self._clock, self._settings
        pauses, region = self._known_pauses, self._region
        advance = AdvanceBackfill(
            store,
            self._jobs,
            clock=clock,
            settings=settings,
            pauses=pauses,
            region=region,
            meter=self._meter,
        )
        try:
            advance(ref)
        except DuetimeError as error:
            log.warning("backfill not advanced", extra={"backfill": ref.id, "reason": truncate(error)})

    def _end_by_hand_over(
        self, claim: ClaimWon, delivery: Delivery, outcome: Outcome, span: spans.TraceSpan
    ) -> DeliveryResult:
        """Hand the action over, and send its message for the end of the hand-over's lease."""
        action = claim.action
        terms = None if outcome.hand_over is None else self._hand_over(action, outcome.hand_over)
        if terms is None:
            self._breakers.give_back(action.ref)
            self._run_log.lost(action)
            span.ended(None)
            return self.put_off(delivery, visibility(self._settings))
        self._run_log.handed_over(action, terms)
        span.set({spans.OUTCOME: spans.HANDED_OVER, spans.STATUS: action.status.value})
        if not self._breakers.end_probe(action, outcome, is_committed=False):
            self._breakers.ended(action, outcome, is_committed=False)
        return self._after_lease(delivery, terms.waits_until)

    def _not_begun(self, claim: ClaimWon) -> Outcome | None:
        """Return the outcome of a run whose handler must not be called."""
        if claim.action.cancel_requested_at is not None:
            return NOT_BEGUN
        if claim.action.has_failed_predecessor:
            return Outcome(Ending.FAILED, claim.action.unmet)
        if has_timed_out(claim.action):
            return TIMED_OUT if claim.action.question is None else UNDECIDED
        return EXPIRED if claim.is_expired else claim.failure

    def _delay_of(self, message: DueMessage) -> int | None:
        """Return the seconds to delay the message by; None if nothing but a stop or a claim decides."""
        early = delay_until(message.due_at, self._clock.now(), self._settings.start)
        if early > 1:
            return early
        if not self._settings.enabled:
            return self._delay_while_stopped(message)
        return ROLL_OVER if self._rollover.needs_newer(message.type, message.payload_version) else None

    def _delay_while_stopped(self, message: DueMessage, soonest: timedelta = _SOONEST_WHILE_OFF) -> int:
        # As long again as it has waited: a long stop costs each action four messages an hour.
        late = max(self._clock.now() - message.due_at, soonest)
        return min(int(late.total_seconds()), LONGEST_DELAY)

    def put_off(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        """Send the message again, with a delay."""
        queue = delivery.queue or self._handlers.worker
        self._queues.send([Send(queue, delivery.message, min(seconds, LONGEST_DELAY))])
        log.info(
            "put off",
            extra={
                "action": delivery.message.ref.id,
                "tenant": delivery.message.ref.tenant_id,
                "seconds": seconds,
            },
        )
        return DeliveryResult.PUT_OFF

    def _plan_ahead(self, claim: ClaimWon) -> None:
        """Plan the job's next occurrence if no wake has done it: the run proves that the job is active."""
        if claim.job is not None and is_behind(claim.job, claim.action.attempts[-1].started_at):
            try:
                self._plan(claim.job.ref)
            except DuetimeError as error:
                log.warning("not planned ahead", extra={"job": claim.job.name, "reason": truncate(error)})


def _claim_job_run(
    store: ActionStore, jobs: JobStore, *, settings: Settings, paused: PausedWork
) -> ClaimJobRun:
    from duetime.worker.claim_job_run import ClaimJobRun  # noqa: PLC0415 - many processes run one-shots alone

    return ClaimJobRun(store, jobs, settings=settings, paused=paused)
