"""Step 4, *work*: a due message becomes a claim, a run of the user's handler, and a settle.

::

    receive ── put off? ── wait out the fraction ── claim ── run ── settle (or commit)
                  │                                   │
                  └─ a fresh message for later        └─ lost: a live lease is looked at again when it ends;
                                                         anything else needs nothing more

A one-shot is claimed by one write, or with a slot where it has a concurrency key (see `slots`); a job's run
is admitted (see `admit`), since its job has a say in it, and it may be skipped.

A message is only a wake-up: whatever comes of it, it is consumed, and one that must wait is replaced by a
fresh delayed one, so that SQS' count of receives never carries a healthy action into the dead letters.
"""

from __future__ import annotations

import logging
import random
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from duetime.clock import Clock
from duetime.declare.handler_set import HandlerSet
from duetime.declare.invocation import make_run, resolve_handler
from duetime.errors import DuetimeError, InvalidPayload, UnknownType, truncate
from duetime.ids import is_one_shot
from duetime.jobs.plan import Plan, is_behind
from duetime.model.action import Action
from duetime.model.lease import ClaimTerms, LeaseHeld, Settlement, SettleResult
from duetime.model.outcome import SUCCEEDED, Outcome, final_instead, of_error, put_off, settlement
from duetime.model.run import RunCancelled
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import LONGEST_DELAY, Delivery, DueQueues, Routes, Send
from duetime.retry import NEVER, Fatal, RetryPolicy
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.run_log import RunLog
from duetime.wakeups.due_messages import delay_until
from duetime.worker.claim_job_run import ClaimJobRun, ClaimWon, Waiting
from duetime.worker.claim_with_slot import ClaimOneShot, next_look
from duetime.worker.commit import CommitStage, RunCommit
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime.worker.settle import Settle

log = logging.getLogger(__name__)


class DeliveryResult(StrEnum):
    """What came of a delivery."""

    RAN = "ran"
    NOTHING_TO_DO = "nothing to do"
    PUT_OFF = "put off"


@dataclass(frozen=True, slots=True)
class WorkerPorts:
    """What a worker needs of the world."""

    store: ActionStore
    jobs: JobStore
    queues: DueQueues
    routes: Routes
    heartbeat: Heartbeat


class Worker:
    """Handles deliveries for one set of handlers. Safe to call from several threads.

    Raises:
        DeclarationError: a handler asks for a resource that nothing makes.
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
        self._handlers, self._ports, self._resources = handlers, ports, handlers.resources()
        self._clock, self._settings, self._instance = clock, settings, instance
        self._chance, self._tell = jitter_draw, RunLog(meter)
        self._admit = ClaimJobRun(ports.store, ports.jobs, settings=settings)
        self._claim_alone = ClaimOneShot(ports.store, jitter_draw=jitter_draw)
        self._plan = Plan(ports.store, ports.jobs, clock=clock, settings=settings, meter=meter)
        self._release = Settle(ports.store, ports.jobs, ports.queues, ports.routes, clock=clock)

    def __call__(self, delivery: Delivery) -> DeliveryResult:
        """Handle one delivery; the message may be deleted when this returns.

        Raises:
            BackendUnavailable: the message must come again.
        """
        wait = self._must_wait(delivery)
        if wait is not None:
            return self._put_off(delivery, wait)
        self._clock.wait_until(delivery.message.due_at)
        claim = self._claim(delivery)
        if isinstance(claim, LeaseHeld):
            return self._put_off(delivery, self._until(claim.until + self._settings.clock_skew) + 1)
        if isinstance(claim, Waiting):
            return self._look_again(delivery, claim)
        if claim is None:
            return DeliveryResult.NOTHING_TO_DO
        self._tell.began(claim.action)
        self._plan_ahead(claim)
        with spans.executing(claim.action) as span:
            commit = self._commit_of(claim)
            outcome = self._run(claim.action, commit, delivery, span)
            if commit.stage is CommitStage.IN_DOUBT:
                span.set({spans.OUTCOME: spans.IN_DOUBT})
                return self._leave(claim.action, delivery)
            span.ended(self._end(claim, commit, outcome))
        return DeliveryResult.RAN

    def _must_wait(self, delivery: Delivery) -> int | None:
        """Seconds for which the message must be put off, None if it need not."""
        message = delivery.message
        early = self._until(message.due_at)
        if early > 1:
            return early
        if not self._settings.enabled:
            return self._while_off(message.due_at)
        if self._is_rolling_over(message.type, message.payload_version):
            return _ROLL_OVER
        return None

    def _while_off(self, due_at: datetime) -> int:
        """As long again as it has waited: a minute at first, 15 minutes in the end.

        A short stop is over soon for all, and in a long one each action costs four messages an hour, not
        sixty. Nor does it wait for the next of them: the first sweep after the stop sends what is later than
        `grace` by then.
        """
        late = self._clock.now() - due_at
        return min(max(int(late.total_seconds()), _SOONEST_WHILE_OFF), LONGEST_DELAY)

    def _is_rolling_over(self, type_name: str, version: int) -> bool:
        """Whether a deploy is under way.

        A newer worker reads a type, or a version of it, that this one does not.
        """
        handler = self._handlers.by_name.get(type_name)
        if handler is not None and version <= handler.version:
            return False
        newest = self._ports.routes.version_of(type_name)
        return newest is not None and (handler is None or version <= newest)

    def _until(self, instant: datetime) -> int:
        return delay_until(instant, self._clock.now())

    def _put_off(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        self._ports.queues.send([Send(self._handlers.worker, delivery.message, min(seconds, LONGEST_DELAY))])
        log.info("put off", extra={"action": delivery.message.ref.id, "seconds": seconds})
        return DeliveryResult.PUT_OFF

    def _look_again(self, delivery: Delivery, waiting: Waiting) -> DeliveryResult:
        again = next_look(delivery.message, self._clock.now(), self._settings)
        if again is None:
            return DeliveryResult.NOTHING_TO_DO
        return self._put_off(replace(delivery, message=again), waiting.seconds)

    def _claim(self, delivery: Delivery) -> ClaimWon | LeaseHeld | Waiting | None:
        now, ref = self._clock.now(), delivery.message.ref
        handler = self._handlers.by_name.get(delivery.message.type)
        policy = handler.retry if handler else NEVER
        terms = ClaimTerms(
            now=now,
            lease_until=now + self._settings.lease,
            skew=self._settings.clock_skew,
            nonce=secrets.token_urlsafe(9),
            instance=self._instance,
            queued_at=delivery.queued_at,
            retry=policy.text(),
        )
        claim = (
            self._claim_alone(delivery.message, terms)
            if is_one_shot(ref.id)
            else self._admit(ref, terms, policy)
        )
        if isinstance(claim, ClaimWon) and self._settings.queue_visibility > self._settings.lease + _SLACK:
            self._ports.heartbeat.hide(delivery, self._handlers.worker)
        return claim

    def _plan_ahead(self, claim: ClaimWon) -> None:
        """Plan the job's next occurrence with this one, if no wake has done it.

        A run proves that the job lives.
        """
        if claim.job is not None and is_behind(claim.job, claim.action.attempts[-1].started_at):
            try:
                self._plan(claim.job.ref)
            except DuetimeError as error:
                log.warning("not planned ahead", extra={"job": claim.job.name, "reason": truncate(error)})

    def _run(self, action: Action, commit: RunCommit, delivery: Delivery, span: spans.TraceSpan) -> Outcome:
        if self._is_rolling_over(action.type, action.payload_version):  # its message did not say so
            reason = f"its payload is of version {action.payload_version}: it waits for a newer worker"
            return put_off(timedelta(seconds=_ROLL_OVER), reason)
        try:
            handler, payload = resolve_handler(action, self._handlers.by_name, self._settings)
        except (Fatal, InvalidPayload, UnknownType) as error:
            return of_error(Fatal(str(error)))
        run = make_run(action, handler, self._clock, commit, commit.stop)
        try:
            with self._ports.heartbeat.watching(
                action, run.stop, run.deadline, delivery, self._handlers.worker
            ):
                handler(payload, run, self._resources.for_parameters(handler.wants))
        except (Exception, RunCancelled) as error:
            log.info("handler raised", extra={"action": action.id, "type": action.type}, exc_info=error)
            span.raised(error)
            return of_error(error)
        return SUCCEEDED

    def _commit_of(self, held: ClaimWon) -> RunCommit:
        def executed() -> Settlement:
            now, retention = self._clock.now(), self._settings.retention
            return settlement(SUCCEEDED, held.action, NEVER, now=now, retention=retention, jitter_draw=0)

        return RunCommit(
            held,
            threading.Event(),
            release=self._release,
            heartbeat=self._ports.heartbeat,
            executed=executed,
        )

    def _leave(self, action: Action, delivery: Delivery) -> DeliveryResult:
        """Look again when the lease has ended.

        If the commit in doubt was made, there is nothing left to do.
        """
        log.warning("its commit is in doubt, the row is left alone", extra={"action": action.id})
        return self._put_off(delivery, visibility(self._settings))

    def _end(self, held: ClaimWon, commit: RunCommit, outcome: Outcome) -> Settlement | None:
        """Settle, if the handler has not committed, or was taken over when it tried.

        None where the lease was lost.
        """
        action = held.action
        if commit.stage is CommitStage.OPEN:
            return self._settle(held, outcome)
        if commit.settlement is None:
            self._tell.lost(action)
        else:
            self._tell.ended(action, SUCCEEDED, commit.settlement)
            if outcome is not SUCCEEDED:
                log.warning(
                    "raised after its commit, the action stays executed",
                    extra={"action": action.id, "reason": outcome.message},
                )
        return commit.settlement

    def _settle(self, held: ClaimWon, outcome: Outcome) -> Settlement | None:
        action = held.action
        settled = settlement(
            outcome,
            action,
            RetryPolicy.parse(action.retry or NEVER.text()),
            now=self._clock.now(),
            retention=self._settings.retention,
            jitter_draw=self._chance(),  # spreads retries
        )
        result = self._release(held, settled)
        if result is SettleResult.CANCEL_REQUESTED:
            settled = final_instead(settled, retention=self._settings.retention)
            result = self._release(held, settled)
        if result is SettleResult.SETTLED:
            self._tell.ended(action, outcome, settled)
            return settled
        self._tell.lost(action)
        return None


_ROLL_OVER = 60
_SOONEST_WHILE_OFF = 60
_SLACK = timedelta(seconds=10)
