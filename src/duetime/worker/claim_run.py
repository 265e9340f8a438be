"""Step 4, *claim*: claim the run of a message on the worker's terms, whether a one-shot's or a job's."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from duetime.clock import Clock
from duetime.declare.handler_set import HandlerSet
from duetime.ids import is_one_shot
from duetime.jobs.known_region import KnownRegion
from duetime.model.expiry import NO_EXPIRY, Expiry
from duetime.model.lease import ClaimTerms
from duetime.model.quick_fields import with_fields
from duetime.ports.wakeups import Delivery, DueMessage
from duetime.retry import NEVER, RetryPolicy
from duetime.settings import Settings
from duetime.worker.claim_results import ClaimResult, ClaimWon
from duetime.worker.claim_with_slot import ClaimOneShot
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.rate_turn import Deferred, RateTurn, RateTurns, StartRefused, StartsAt

if TYPE_CHECKING:
    from duetime.worker.claim_job_run import ClaimJobRun

_SLACK = timedelta(seconds=10)
"""A queue that hides messages for at most this much longer than a lease needs no call to hide one."""


class ClaimRun:
    """Claims runs for one process, and hides their messages for as long as the lease."""

    def __init__(
        self,
        one_shots: ClaimOneShot,
        job_runs: Callable[[], ClaimJobRun],
        handlers: HandlerSet,
        heartbeat: Heartbeat,
        region: KnownRegion,
        *,
        rates: RateTurns,
        clock: Clock,
        settings: Settings,
        instance: str,
    ) -> None:
        """Make one; `job_runs` is called for the first run of a job, as few processes have any."""
        self._one_shots, self._job_runs = one_shots, cache(job_runs)
        self._handlers, self._heartbeat, self._region = handlers, heartbeat, region
        self._rates = rates
        self._clock, self._settings, self._instance = clock, settings, instance

    def __call__(self, delivery: Delivery, *, shares_process: bool) -> ClaimResult:
        """Claim the run of a delivery; return None if it needs no more work, or not in this region.

        Args:
            delivery: the delivery.
            shares_process: whether other runs share the process.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        handler = self._handlers.by_name.get(delivery.message.type)
        policy, expiry = (handler.retry, handler.expiry) if handler else (NEVER, NO_EXPIRY)
        turn = self._rates.of(delivery.message.type, delivery.message.ref.id)
        claim = self._claim(delivery, policy, expiry, turn, shares_process=shares_process)
        while isinstance(claim, StartsAt):
            self._clock.wait_until(claim.at)
            claim = self._claim(delivery, policy, expiry, turn, shares_process=shares_process)
        if isinstance(claim, Deferred):
            return None
        if isinstance(claim, ClaimWon) and turn and turn.failure:
            claim = replace(claim, failure=turn.failure)
        if (
            isinstance(claim, ClaimWon)
            and self._settings.made.queue_visibility > self._settings.lease + _SLACK
        ):
            self._heartbeat.hide(delivery, delivery.queue or self._handlers.worker)
        return claim

    def give_up(self, message: DueMessage) -> None:
        """Free the slot that was passed to an action which a pause holds.

        Raises:
            BackendUnavailable: a service did not respond; the message must come again.
        """
        self._one_shots.give_up(message.ref)

    def _claim(
        self,
        delivery: Delivery,
        policy: RetryPolicy,
        expiry: Expiry,
        turn: RateTurn | None,
        *,
        shares_process: bool,
    ) -> ClaimResult | StartRefused:
        message, now = delivery.message, self._clock.now()
        if (epoch := self._region.epoch()) is None:
            return None
        terms = self._terms(delivery, policy, now, epoch, shares_process=shares_process)
        if is_one_shot(message.ref.id):
            return self._one_shots(message, with_fields(terms, expiry=expiry), turn)
        return self._job_runs()(message.ref, terms, policy)

    def _terms(
        self, delivery: Delivery, policy: RetryPolicy, now: datetime, epoch: int, *, shares_process: bool
    ) -> ClaimTerms:
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
            shares_process=shares_process,
        )
