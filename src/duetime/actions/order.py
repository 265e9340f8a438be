"""The order: what a caller wants scheduled, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duetime import ids, instant
from duetime.instant import When
from duetime.model.action import Action
from duetime.model.concurrency import concurrency_of
from duetime.model.idempotency import KeyTerms, key_terms
from duetime.model.new_action import new_action
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.payload import Payload


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be scheduled, with the arguments of `Scheduler.schedule`."""

    payload: Payload
    at: When
    tz: str | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    idempotency_ttl: timedelta | None = None
    concurrency_key: str | None = None
    concurrency_limit: int = 1

    def action(
        self,
        *,
        now: datetime,
        tenant_id: ids.TenantId,
        actor: str,
        settings: Settings,
        random_bytes: ids.Entropy,
        trace: str | None = None,
    ) -> tuple[Action, KeyTerms | None]:
        """A fresh pending action, and the terms of its idempotency key if it has one; nothing is written yet.

        Raises:
            DuetimeError: as `Scheduler.schedule`.
        """
        correlation_id, key = self.correlation_id, self.idempotency_key
        concurrency = concurrency_of(self.concurrency_key, self.concurrency_limit)
        action = new_action(
            self.payload,
            due_at=instant.resolve(self.at, now=now, tz=self.tz),
            now=now,
            tenant_id=tenant_id,
            actor=actor,
            correlation_id=None if correlation_id is None else ids.correlation_id(correlation_id),
            due_shards=settings.due_shards,
            random_bytes=random_bytes,
            idempotency_key=None if key is None else ids.idempotency_key(key),
            concurrency=concurrency,
            trace=trace,
        )
        return action, key_terms(key, self.idempotency_ttl, now=now, settings=settings)


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """What became of an order."""

    action: Action
    is_new: bool
    """False where its idempotency key was taken: then `action` is the first one, as it is now."""
