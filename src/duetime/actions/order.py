"""The order: the arguments of `Scheduler.schedule`, and their result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.instant import Precision, When
from duetime.jobs.tenant_context import TenantContext
from duetime.model.action import Action
from duetime.model.idempotency import KeyTerms, key_terms
from duetime.model.new_action import concurrency_of, new_action

if TYPE_CHECKING:
    from duetime.payload import Payload


@dataclass(frozen=True, slots=True)
class Order:
    """One payload to schedule; the fields are the arguments of `Scheduler.schedule`."""

    payload: Payload
    at: When
    tz: str | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    idempotency_ttl: timedelta | None = None
    concurrency_key: str | None = None
    concurrency_limit: int = 1
    precision: Precision = "second"

    def action(self, context: TenantContext, *, trace: str | None = None) -> tuple[Action, KeyTerms | None]:
        """Return a new pending action, and the terms of its idempotency key if it has one; write nothing.

        Args:
            context: the tenant and actor that schedule.
            trace: the trace header of the caller.

        Raises:
            DuetimeError: see `Scheduler.schedule`.
        """
        now, settings = context.clock.now(), context.settings
        correlation_id, key = self.correlation_id, self.idempotency_key
        concurrency = concurrency_of(self.concurrency_key, self.concurrency_limit)
        action = new_action(
            self.payload,
            due_at=instant.due_time(self.at, now=now, tz=self.tz, precision=self.precision),
            now=now,
            tenant_id=context.tenant_id,
            actor=context.actor,
            correlation_id=None if correlation_id is None else ids.correlation_id(correlation_id),
            due_shards=settings.due_shards,
            random_bytes=context.random_bytes,
            idempotency_key=None if key is None else ids.idempotency_key(key),
            concurrency=concurrency,
            trace=trace,
        )
        return action, key_terms(key, self.idempotency_ttl, now=now, settings=settings)


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The action of an order."""

    action: Action
    is_new: bool
    """False if the idempotency key was taken: `action` is then the first one, in its present state."""
