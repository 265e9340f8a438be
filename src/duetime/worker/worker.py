"""Step 4, *work*: a due message becomes a claim, a run of the user's handler, and a settle.

::

    receive ── delay? ── wait out the fraction ── claim ── run ── settle (or commit)
                 │                                  │
                 └─ a fresh message for later       └─ lost to a live lease: a fresh message for its end;
                                                       otherwise nothing is left to do

`claim_with_slot` claims one-shots: by one write, or with a slot of a concurrency key. `claim_job_run` claims
runs of jobs, and may skip them.

A message is only a wake-up, so the worker consumes it in every case. A fresh delayed message replaces one
that must wait. SQS' count of receives therefore never moves a healthy action to the dead letters.
"""

from __future__ import annotations

import json
import logging
import random
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial

from duetime import instant
from duetime._masking import hiding
from duetime.clock import Clock
from duetime.declare.built_in import CANARY_HANDLER
from duetime.declare.handler_set import HandlerSet
from duetime.declare.invocation import make_run, resolve_handler
from duetime.errors import DuetimeError, InvalidPayload, UnknownType, truncate
from duetime.ids import is_one_shot
from duetime.jobs.known_pauses import KnownPauses
from duetime.jobs.plan import Plan, is_behind
from duetime.model.action import Action
from duetime.model.built_in import CANARY, is_probe, retention_of
from duetime.model.event_chain import running_at
from duetime.model.lease import ClaimTerms, LeaseHeld, Settlement, SettleResult
from duetime.model.outcome import NOT_BEGUN, SUCCEEDED, Outcome, final_instead, of_error, put_off, settlement
from duetime.model.redaction import sensitive_values
from duetime.model.run import WorkerDied
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobStore
from duetime.ports.meter import UNMETERED, Meter
from duetime.ports.wakeups import LONGEST_DELAY, Delivery, DueMessage, DueQueues, Routes, Send
from duetime.ports.work_pauses import NoWorkPauses, WorkPauses
from duetime.retry import NEVER, Fatal, RetryPolicy
from duetime.settings import Settings
from duetime.telemetry import spans
from duetime.telemetry.run_log import RunLog
from duetime.telemetry.tracebacks import mask_traceback
from duetime.wakeups.due_messages import delay_until
from duetime.worker.claim_job_run import ClaimJobRun, ClaimWon, Waiting
from duetime.worker.claim_with_slot import ClaimOneShot, next_message
from duetime.worker.commit import CommitStage, RunCommit
from duetime.worker.heartbeat import Heartbeat, visibility
from duetime.worker.put_offs import PutOffs
from duetime.worker.settle import Settle

log = logging.getLogger(__name__)
log.addFilter(mask_traceback)


_ROLL_OVER = 60
_SOONEST_WHILE_OFF = 60
_SLACK = timedelta(seconds=10)


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
        self._handlers, self._ports, self._resources = handlers, ports, handlers.resources()
        self._clock, self._settings, self._instance = clock, settings, instance
        self._jitter_draw, self._run_log, self._started_at = jitter_draw, RunLog(meter), clock.now()
        self._claim_job_run = ClaimJobRun(ports.store, ports.jobs, settings=settings)
        self._claim_one_shot = ClaimOneShot(ports.store, jitter_draw=jitter_draw)
        self._plan = Plan(ports.store, ports.jobs, clock=clock, settings=settings, meter=meter)
        self._pauses, self._put_offs = KnownPauses(ports.pauses, clock), PutOffs()
        self._settle = Settle(ports.store, ports.jobs, ports.queues, ports.routes, clock=clock)

    def __call__(self, delivery: Delivery) -> DeliveryResult:
        """Handle one delivery; the message may be deleted when this returns.

        Raises:
            BackendUnavailable: the message must come again.
        """
        delay = self._delay_of(delivery.message)
        if delay is not None:
            return self._put_off(delivery, delay)
        if delivery.message.replaced_until is not None and self._is_copy(delivery.message):
            return DeliveryResult.NOTHING_TO_DO
        self._clock.wait_until(delivery.message.due_at)
        since = self._clock.elapsed()
        claim = self._claim(delivery)
        if claim is None:
            return DeliveryResult.NOTHING_TO_DO
        now = self._clock.now()
        if isinstance(claim, LeaseHeld):
            return self._put_off(delivery, delay_until(claim.until + self._settings.clock_skew, now) + 1)
        if isinstance(claim, Waiting):
            return self._wait(delivery, claim, now)
        return self._execute(claim, delivery, since)

    def _wait(self, delivery: Delivery, claim: Waiting, now: datetime) -> DeliveryResult:
        message = next_message(delivery.message, now, self._settings)
        if message is None or self._is_copy(message):
            return DeliveryResult.NOTHING_TO_DO
        result = self._put_off(replace(delivery, message=message), claim.seconds)
        self._put_offs.sent(message.ref, now + timedelta(seconds=claim.seconds), now)
        return result

    def _is_copy(self, message: DueMessage) -> bool:
        return self._put_offs.is_under_way(message.ref, self._clock.now())

    def _execute(self, claim: ClaimWon, delivery: Delivery, since: float) -> DeliveryResult:
        self._run_log.began(claim.action)
        self._plan_ahead(claim)
        with spans.executing(claim.action) as span:
            commit = self._commit_of(claim)
            is_cancelled = claim.action.cancel_requested_at is not None
            outcome = NOT_BEGUN if is_cancelled else self._run(claim.action, commit, delivery, span, since)
            if outcome is None:
                self._run_log.lost(claim.action)
                span.ended(None)
                return self._put_off(delivery, visibility(self._settings))
            if commit.stage is CommitStage.IN_DOUBT:
                span.set({spans.OUTCOME: spans.IN_DOUBT})
                log.warning(
                    "its commit is in doubt, the row is left alone", extra={"action": claim.action.id}
                )
                return self._put_off(delivery, visibility(self._settings))
            span.ended(self._end(claim, commit, outcome))
        return DeliveryResult.RAN

    def _delay_of(self, message: DueMessage) -> int | None:
        """Return the seconds to delay the message by; None if its action may be claimed now."""
        now = self._clock.now()
        early = delay_until(message.due_at, now)
        if early > 1:
            return early
        if not self._settings.enabled or self._pauses.of_tenant(message.ref.tenant_id) is not None:
            # As long again as the message has waited: a long stop costs each action four messages an hour.
            late = int((now - message.due_at).total_seconds())
            return min(max(late, _SOONEST_WHILE_OFF), LONGEST_DELAY)
        return _ROLL_OVER if self._is_rolling_over(message.type, message.payload_version) else None

    def _is_rolling_over(self, type_name: str, version: int) -> bool:
        """Return whether a deploy is under way: only a newer worker reads this type or version."""
        handler = self._handlers.by_name.get(type_name)
        if handler is not None and version <= handler.version:
            return False
        newest = self._ports.routes.version_of(type_name)
        return newest is not None and (handler is None or version <= newest)

    def _put_off(self, delivery: Delivery, seconds: int) -> DeliveryResult:
        self._ports.queues.send([Send(self._handlers.worker, delivery.message, min(seconds, LONGEST_DELAY))])
        log.info("put off", extra={"action": delivery.message.ref.id, "seconds": seconds})
        return DeliveryResult.PUT_OFF

    def _claim(self, delivery: Delivery) -> ClaimWon | LeaseHeld | Waiting | None:
        now, message = self._clock.now(), delivery.message
        handler = self._handlers.by_name.get(message.type)
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
        if is_one_shot(message.ref.id):
            claim = self._claim_one_shot(message, terms)
        else:
            claim = self._claim_job_run(message.ref, terms, policy)
        if isinstance(claim, ClaimWon) and self._settings.queue_visibility > self._settings.lease + _SLACK:
            self._ports.heartbeat.hide(delivery, self._handlers.worker)
        return claim

    def _plan_ahead(self, claim: ClaimWon) -> None:
        """Plan the job's next occurrence if no wake has done it: the run proves that the job is active."""
        if claim.job is not None and is_behind(claim.job, claim.action.attempts[-1].started_at):
            try:
                self._plan(claim.job.ref)
            except DuetimeError as error:
                log.warning("not planned ahead", extra={"job": claim.job.name, "reason": truncate(error)})

    def _run(
        self, action: Action, commit: RunCommit, delivery: Delivery, span: spans.TraceSpan, since: float
    ) -> Outcome | None:
        """Run the handler; return None, without running it, if the lease ended before it could begin."""
        with hiding(partial(self._sensitive_values, action), self._settings.secret_patterns.values()):
            return self._run_handler(action, commit, delivery, span, since)

    def _sensitive_values(self, action: Action) -> Iterable[object]:
        """Return the values of its payload that its failures must not show."""
        handler = self._handlers.by_name.get(action.type)
        if handler is None or action.payload is None:
            return ()
        return sensitive_values(json.loads(action.payload), handler.sensitive)

    def _run_handler(
        self, action: Action, commit: RunCommit, delivery: Delivery, span: spans.TraceSpan, since: float
    ) -> Outcome | None:
        if self._is_rolling_over(action.type, action.payload_version):  # a message may lack the version
            reason = f"its payload is of version {action.payload_version}: it waits for a newer worker"
            return put_off(timedelta(seconds=_ROLL_OVER), reason)
        try:
            handler, payload = resolve_handler(action, self._handlers.by_name, self._settings)
        except (Fatal, InvalidPayload, UnknownType) as error:
            return of_error(Fatal(str(error)))
        except WorkerDied:
            raise
        except BaseException as error:  # noqa: BLE001 - of a payload's own validator
            return of_error(error)
        run = make_run(action, handler, self._clock, commit, commit.stop)
        try:
            with (
                self._ports.heartbeat.watching(
                    action, run.stop, run.deadline, delivery, self._handlers.worker, since=since
                ) as watched,
                running_at(action.depth),
            ):
                resources = self._resources.for_parameters(handler.wants)
                if not self._ports.heartbeat.still_holds(watched):
                    return None
                handler(payload, run, resources)
        except WorkerDied:
            raise
        except BaseException as error:
            about = {"action": action.id, "type": action.type, "is_failure": True}
            log.info("handler raised", extra=about, exc_info=error)
            span.raised(error)
            return of_error(error)
        return replace(SUCCEEDED, message=self._wake_facts(delivery)) if is_probe(action.type) else SUCCEEDED

    def _wake_facts(self, delivery: Delivery) -> str:
        """Return how a probe's message reached this process, as JSON, for `duetime deployment verify`."""
        times = {
            "sent_at": delivery.sent_at,
            "received_at": delivery.received_at,
            "process_since": self._started_at,
        }
        return json.dumps({name: instant.text(at) for name, at in times.items() if at})

    def _commit_of(self, held: ClaimWon) -> RunCommit:
        def executed() -> Settlement:
            now, retention = self._clock.now(), self._retention_of(held.action)
            return settlement(SUCCEEDED, held.action, NEVER, now=now, retention=retention, jitter_draw=0)

        heartbeat = self._ports.heartbeat
        return RunCommit(held, threading.Event(), settle=self._settle, heartbeat=heartbeat, executed=executed)

    def _end(self, held: ClaimWon, commit: RunCommit, outcome: Outcome) -> Settlement | None:
        """Settle a run without a commit, and log its end; return None if the lease was lost."""
        if commit.stage is CommitStage.OPEN:
            settled = self._settle_outcome(held, outcome)
        else:
            settled = commit.settlement
            if settled is not None and outcome.ending is not SUCCEEDED.ending:
                log.warning(
                    "raised after its commit, the action stays executed",
                    extra={"action": held.action.id, "reason": outcome.message},
                )
            outcome = SUCCEEDED
        if settled is None:
            self._run_log.lost(held.action)
        else:
            self._run_log.ended(held.action, outcome, settled)
        return settled

    def _retention_of(self, action: Action) -> timedelta:
        return retention_of(action.type, self._settings.retention)

    def _settle_outcome(self, held: ClaimWon, outcome: Outcome) -> Settlement | None:
        settled = settlement(
            outcome,
            held.action,
            RetryPolicy.parse(held.action.retry or NEVER.text()),
            now=self._clock.now(),
            retention=self._retention_of(held.action),
            jitter_draw=self._jitter_draw(),  # spreads retries
        )
        result = self._settle(held, settled)
        if result is SettleResult.CANCEL_REQUESTED:
            settled = final_instead(settled, retention=self._retention_of(held.action))
            result = self._settle(held, settled)
        return settled if result is SettleResult.SETTLED else None
