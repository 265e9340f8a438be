"""Step 4, *work*: a due message becomes a claim, a run of the user's handler, and a settle.

::

    receive ── delay? ── wait out the fraction ── claim ── run ── settle (or commit)
                 │                                  │
                 └─ a fresh message for later       └─ lost to a live lease: a fresh message for its end;
                                                       otherwise nothing is left to do

`claim_run` claims one-shots, and `claim_job_run` runs of jobs, which it may skip.
`run_handler` runs the handler. `end_run` settles.

A message is only a wake-up, so the worker consumes it in every case. A fresh delayed message replaces one
that must wait. SQS' count of receives therefore never moves a healthy action to the dead letters.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from duetime import ids, instant
from duetime.declare.built_in import UNLISTED
from duetime.declare.call_result import RunCoroutine
from duetime.declare.handler_set import HandlerSet
from duetime.errors import DuetimeError, truncate
from duetime.jobs.plan import Plan, is_behind
from duetime.jobs.trusted_reading import REREAD_AFTER, KnownPauses, KnownRegion
from duetime.model.action import Action, Ending
from duetime.model.backfill import backfill_ref_of
from duetime.model.hand_over import has_timed_out
from duetime.model.lease import LeaseHeld, MustBeAlone
from duetime.model.outcome import EXPIRED, NOT_BEGUN, TIMED_OUT, UNDECIDED, Outcome
from duetime.model.work_pause import Hold
from duetime.ports.backends import Backends
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import LONGEST_DELAY, Delivery, DueMessage, Send
from duetime.telemetry import spans
from duetime.telemetry.run_log import RunLog
from duetime.wakeups.due_messages import delay_until, message_of, send_wake
from duetime.worker.breakers import Breakers
from duetime.worker.claim_results import ClaimWon, LockFreed, Waiting
from duetime.worker.claim_run import ClaimRun, next_message
from duetime.worker.end_run import CommitStage, EndRun, RunCheckpoints, Settle
from duetime.worker.hand_over import HandOverRun, RunExternalWork
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime.worker.paused_work import Held, PausedWork
from duetime.worker.put_offs import PutOffs
from duetime.worker.run_handler import ROLL_OVER, ClaimedRun, RunHandler, RunMany

log = logging.getLogger(__name__)

_SOONEST_WHILE_OFF = timedelta(minutes=1)
_SLACK = timedelta(seconds=10)
"""A queue that hides messages for at most this much longer than a lease needs no call to hide one."""


class DeliveryResult(StrEnum):
    """The result of a delivery."""

    RAN = "ran"
    NOTHING_TO_DO = "nothing to do"
    PUT_OFF = "put off"


Steps: TypeAlias = Generator[ClaimedRun, Outcome | None, DeliveryResult]
"""Yields a run for its handler, unless that must not begin, and receives how the handler ended.

None: the lease ended before the handler began.
"""


class Execution:
    """A claimed run that waits for the outcome of its handler."""

    def __init__(self, run: ClaimedRun, steps: Steps) -> None:
        self.run, self._steps = run, steps

    def end(self, outcome: Outcome | None) -> DeliveryResult:
        """Settle the run.

        Raises:
            BackendUnavailable: the message must come again.
        """
        try:
            self._steps.send(outcome)
        except StopIteration as ended:
            return DeliveryResult(ended.value)
        raise AssertionError("a run has one handler")

    def abandon(self) -> None:
        """Leave a run that has not ended as it is; call this in the context in which it began."""
        self._steps.close()


def begun(steps: Steps) -> Execution | DeliveryResult:
    """Begin a run; return its result if its handler must not run."""
    try:
        return Execution(next(steps), steps)
    except StopIteration as ended:
        return DeliveryResult(ended.value)


class Worker:
    """Handles deliveries for one set of handlers. Safe to call from several threads.

    Raises:
        DeclarationError: a handler needs a resource that no function provides.
    """

    def __init__(
        self,
        handlers: HandlerSet,
        backends: Backends,
        heartbeat: Heartbeat,
        *,
        instance: str,
        jitter_draw: Callable[[], float] = random.random,
        meter: Meter = UNMETERED,
    ) -> None:
        handlers = replace(handlers, by_name={**UNLISTED, **handlers.by_name})
        self._handlers, self._backends, self._heartbeat = handlers, backends, heartbeat
        self._store, self._queues, self._routes = backends.store, backends.queues, backends.routes
        self._clock, self._settings = backends.clock, backends.settings
        self._meter, self._run_log, self._put_offs = meter, RunLog(meter), PutOffs()
        self._known_pauses = known = KnownPauses(backends.pauses, self._clock)
        self._breakers = Breakers(backends, known, handlers.by_name, meter)
        self._paused = PausedWork(known, handlers.worker, self._breakers.probed_by)
        self._region = region = KnownRegion(backends.regions, self._clock)
        self._plan, self._hand_over = Plan(backends, meter=meter), HandOverRun(backends, region)
        self._claim = ClaimRun(
            handlers, backends, region, self._paused, instance=instance, jitter_draw=jitter_draw
        )
        self._run = RunHandler(handlers, backends, heartbeat)
        self.run_many = RunMany(self._run, clock=self._clock)
        settle = Settle(backends, region)
        self._end = EndRun(backends, settle, heartbeat, self._run_log, jitter_draw=jitter_draw)

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
        if self._settings.made.queue_visibility > self._settings.lease + _SLACK:
            self._heartbeat.hide(delivery, delivery.queue or self._handlers.worker)
        return begun(self._execution(claim, delivery, since))

    def _knows_limits_of(self, message: DueMessage) -> bool:
        """Return whether this process knows the active region, the pauses, and the limits set for a type."""
        try:
            self._region.epoch()
            self._known_pauses.knows_any()
            self._claim.rates.require_limits(message.type)
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

        advance = AdvanceBackfill(
            self._backends, pauses=self._known_pauses, region=self._region, meter=self._meter
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
        hand_over = None if outcome.hand_over is None else self._hand_over(action, outcome.hand_over)
        if hand_over is None:
            self._breakers.give_back(action.ref)
            self._run_log.lost(action)
            span.ended(None)
            return self.put_off(delivery, visibility(self._settings))
        self._run_log.handed_over(action, hand_over)
        span.set({spans.OUTCOME: spans.HANDED_OVER, spans.STATUS: action.status.value})
        if not self._breakers.end_probe(action, outcome, is_committed=False):
            self._breakers.ended(action, outcome, is_committed=False)
        return self._after_lease(delivery, hand_over.waits_until(hand_over.at))

    def _not_begun(self, claim: ClaimWon) -> Outcome | None:
        """Return the outcome of a run whose handler must not be called."""
        if claim.action.cancel_request is not None:
            return NOT_BEGUN
        if claim.action.has_failed_predecessor:
            return Outcome(Ending.FAILED, claim.action.unmet)
        if has_timed_out(claim.action):
            last = claim.action.hand_over
            return UNDECIDED if last is not None and last.question else TIMED_OUT
        return EXPIRED if claim.is_expired else claim.failure

    def _delay_of(self, message: DueMessage) -> int | None:
        """Return the seconds to delay the message by; None if nothing but a stop or a claim decides."""
        early = delay_until(message.due_at, self._clock.now(), self._settings.start)
        if early > 1:
            return early
        if not self._settings.enabled:
            return self._delay_while_stopped(message)
        return ROLL_OVER if self._run.needs_newer(message.type, message.payload_version) else None

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
