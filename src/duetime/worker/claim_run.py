"""Step 4, *claim*: claim the run of a message on the worker's terms, whether a one-shot's or a job's."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta

from duetime.clock import Clock
from duetime.declare.handler_set import HandlerSet
from duetime.ids import is_one_shot
from duetime.jobs.known_region import KnownRegion
from duetime.model.lease import ClaimTerms, LeaseHeld
from duetime.ports.wakeups import Delivery
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings
from duetime.worker.claim_job_run import ClaimJobRun, ClaimWon, Waiting
from duetime.worker.claim_with_slot import ClaimOneShot
from duetime.worker.heartbeat import Heartbeat

_SLACK = timedelta(seconds=10)
"""A queue that hides messages for at most this much longer than a lease needs no call to hide one."""


class ClaimRun:
    """Claims runs for one process, and hides their messages for as long as the lease."""

    def __init__(
        self,
        one_shots: ClaimOneShot,
        job_runs: ClaimJobRun,
        handlers: HandlerSet,
        heartbeat: Heartbeat,
        region: KnownRegion,
        *,
        clock: Clock,
        settings: Settings,
        instance: str,
    ) -> None:
        self._one_shots, self._job_runs = one_shots, job_runs
        self._handlers, self._heartbeat, self._region = handlers, heartbeat, region
        self._clock, self._settings, self._instance = clock, settings, instance

    def __call__(self, delivery: Delivery) -> ClaimWon | LeaseHeld | Waiting | None:
        """Claim the run of a delivery; return None if it needs no more work, or not in this region.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        handler = self._handlers.by_name.get(delivery.message.type)
        policy = handler.retry if handler else NEVER
        claim = self._claim(delivery, policy)
        if isinstance(claim, ClaimWon) and self._settings.queue_visibility > self._settings.lease + _SLACK:
            self._heartbeat.hide(delivery, self._handlers.worker)
        return claim

    def _claim(self, delivery: Delivery, policy: RetryPolicy) -> ClaimWon | LeaseHeld | Waiting | None:
        message, now = delivery.message, self._clock.now()
        if (epoch := self._region.epoch()) is None:
            return None
        terms = self._terms(delivery, policy, now, epoch)
        if is_one_shot(message.ref.id):
            return self._one_shots(message, terms)
        return self._job_runs(message.ref, terms, policy)

    def _terms(self, delivery: Delivery, policy: RetryPolicy, now: datetime, epoch: int) -> ClaimTerms:
        """Return the terms. `now` was read before the epoch: the lease ends in the next one's quiet time."""
        return ClaimTerms(
            now=now,
            lease_until=now + self._settings.lease,
            skew=self._settings.clock_skew,
            nonce=secrets.token_urlsafe(9),
            instance=self._instance,
            queued_at=delivery.queued_at,
            retry=policy.text(),
            epoch=epoch,
        )
