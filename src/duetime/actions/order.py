"""The order: the arguments of `Scheduler.schedule`, and their result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.errors import InvalidIdentifier, InvalidTime
from duetime.instant import Precision, When
from duetime.jobs.tenant_context import TenantContext
from duetime.model.action import Action
from duetime.model.debounce import check_debounce
from duetime.model.expiry import expiry_time
from duetime.model.idempotency import KeyTerms, key_terms
from duetime.model.new_action import concurrency_of, new_action, rate_key_of
from duetime.model.priority import Priority, check_priority

if TYPE_CHECKING:
    from duetime.model.predecessors import After, AfterFailure
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
    expires_at: datetime | None = None
    expires_after: timedelta | None = None
    debounce_key: str | None = None
    at_most_after: timedelta | None = None
    rate_key: str | None = None
    priority: Priority = "normal"
    after: After | None = None
    after_any_end: bool = False
    after_failure: AfterFailure = "fail"

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
        due_at = instant.due_time(self.at, now=now, tz=self.tz, precision=self.precision)
        debounce_key = None if self.debounce_key is None else ids.debounce_key(self.debounce_key)
        debounce_until = self._debounce_until(now)
        check_debounce(debounce_key, key, due_at=due_at, until=debounce_until)
        action = new_action(
            self.payload,
            due_at=due_at,
            now=now,
            tenant_id=context.tenant_id,
            actor=context.actor,
            correlation_id=None if correlation_id is None else ids.correlation_id(correlation_id),
            due_shards=settings.due_shards,
            random_bytes=context.random_bytes,
            idempotency_key=None if key is None else ids.idempotency_key(key),
            concurrency=concurrency,
            trace=trace,
            expires_at=self.expiry_from(due_at, now),
            debounce_key=debounce_key,
            debounce_until=debounce_until,
            rate_key=rate_key_of(self.payload, self.rate_key),
            is_high=check_priority(self.priority, enabled=settings.high_priority) == "high",
        )
        return self._held(action, context), key_terms(key, self.idempotency_ttl, now=now, settings=settings)

    def _held(self, action: Action, context: TenantContext) -> Action:
        """Return the action, held if it has predecessors."""
        if self.after is None and not self.after_any_end and self.after_failure == "fail":
            return action
        from duetime.actions.chains import after_rule, held  # noqa: PLC0415 - few orders have predecessors

        rule = after_rule(self.after, self.after_failure, any_end=self.after_any_end)
        if self.debounce_key is not None or self.after is None:
            problem = "is not possible with after: each call would move the due time of a held action"
            raise InvalidIdentifier("debounce_key", self.debounce_key, problem)
        return held(action, self.after, rule, context.store, context.clock.now())

    def expiry_from(self, due_at: datetime, now: datetime) -> datetime | None:
        """Return the expiry of the action with this due time; None without one."""
        return expiry_time(due_at, self.expires_at, self.expires_after, now=now, tz=self.tz)

    def _debounce_until(self, now: datetime) -> datetime | None:
        span: object = self.at_most_after
        if span is None:
            return None
        if not isinstance(span, timedelta) or span <= timedelta(0):
            problem = "is no timedelta above 0; it counts from the first call"
            raise InvalidTime(span, problem, field="at_most_after")
        return instant.due_time(span, now=now, precision=self.precision)


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """The action of an order."""

    action: Action
    is_new: bool
    """False if the idempotency key was taken: `action` is then the first one, in its present state.

    False too if the call changed the pending action of its debounce key.
    """
