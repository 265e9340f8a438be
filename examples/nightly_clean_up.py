"""A worked example: each night, unused carts are removed, a bounded batch at a time.

One run that removes everything is too long for a Lambda on the day that there is much to remove, and begins
again each time it fails. Here the night's job only schedules the first batch, and each full batch schedules
the next: none runs long, each is retried by itself, and the night ends when a batch was not full.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NewType, Protocol

from duetime import App, Payload, RetryPolicy, Run, Scheduler, daily

app = App(default_tz="Europe/Paris")

BATCH = 100
KEPT = timedelta(days=30)

CleanUpScheduler = NewType("CleanUpScheduler", Scheduler)


class Carts(Protocol):
    """The shop's carts."""

    def left_before(self, instant: datetime, limit: int) -> Sequence[str]:
        """Return the ids of at most `limit` carts without a change since then."""
        ...

    def remove(self, cart: str) -> None:
        """Remove one cart; a missing one is no error."""
        ...


class RemoveCarts(Payload):
    """One batch of one night."""

    night: datetime
    batch: int = 1


class CartsInMemory:
    """Carts by id, with the time of their last change; a deployment reads its own table instead."""

    def __init__(self, **touched: datetime) -> None:
        self.touched = touched

    def left_before(self, instant: datetime, limit: int) -> Sequence[str]:
        """See `Carts`."""
        return [cart for cart, at in sorted(self.touched.items()) if at < instant][:limit]

    def remove(self, cart: str) -> None:
        """See `Carts`."""
        self.touched.pop(cart, None)


@app.resource
def carts() -> Carts:
    """The shop's carts."""
    return CartsInMemory()


@app.resource
def scheduler() -> CleanUpScheduler:
    """Schedules for the shop."""
    return CleanUpScheduler(Scheduler.from_env(tenant_id="acme", actor="nightly-clean-up"))


@app.job(daily("02:30"), name="carts-nightly-clean-up", catch_up=1, title="Remove abandoned carts")
def begin_the_night(run: Run, scheduler: CleanUpScheduler) -> None:
    """Schedule the first batch.

    In Paris 02:30 is skipped once a year and comes twice once a year. Each night has one run.
    """
    _schedule(RemoveCarts(night=run.nominal_at), scheduler)


@app.action(retry=RetryPolicy(attempts=3, backoff=60), timeout=timedelta(minutes=5))
def remove_carts(payload: RemoveCarts, run: Run, carts: Carts, scheduler: CleanUpScheduler) -> None:
    """Remove one batch, and stop between two carts on request; a full batch schedules the next."""
    found = carts.left_before(payload.night - KEPT, BATCH)
    for cart in found:
        run.raise_if_cancelled()
        carts.remove(cart)
    run.log.info("batch %d: %d carts removed", payload.batch, len(found))
    if len(found) == BATCH:
        _schedule(RemoveCarts(night=payload.night, batch=payload.batch + 1), scheduler)


def _schedule(batch: RemoveCarts, scheduler: Scheduler) -> None:
    """Schedule a batch once; a repeated run schedules no second one."""
    night = f"clean-up:{batch.night:%Y%m%dT%H%M%S}"
    scheduler.schedule(batch, at=timedelta(0), correlation_id=night, idempotency_key=f"{night}:{batch.batch}")
