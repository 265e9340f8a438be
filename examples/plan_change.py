"""A worked example.

A customer takes another plan, and it takes effect when what they have paid for is over, at home.

Nothing polls for periods that end. The change is an action at that very instant; a change of mind moves or
cancels it, and the row of the subscription, not the action, decides whether it still applies.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from threading import Lock
from typing import NewType, Protocol
from zoneinfo import ZoneInfo

from duetime import Action, App, Fatal, Payload, RetryPolicy, Run, Scheduler, Status
from duetime.errors import StateConflict

app = App()

PlanScheduler = NewType("PlanScheduler", Scheduler)
"""A type of its own, so that an app may include others that schedule for other tenants."""


class ChangePlan(Payload):
    """The plan that a customer has chosen for after the paid period, and the key of the request."""

    subscription: str
    plan: str
    request: str


@dataclass(frozen=True, slots=True)
class Subscription:
    """A customer's plan, the end of its paid period, the customer's zone, and the expected change."""

    plan: str
    paid_until: date
    zone: str
    change: ChangePlan | None = None

    def ends_at(self) -> datetime:
        """The first instant that is not paid.

        If the clocks go forward at midnight, it is the instant of that change.
        """
        return datetime.combine(self.paid_until + timedelta(days=1), time(), ZoneInfo(self.zone))


class Subscriptions(Protocol):
    """The customers' subscriptions, by id.

    Each method is one write. It raises LookupError for an unknown subscription.
    """

    def expect(self, subscription: str, change: ChangePlan | None) -> Subscription:
        """Expect this change and no other; return the previous subscription."""
        ...

    def prolong(self, subscription: str, paid_until: date) -> Subscription:
        """Set the end of the paid period; return the new subscription."""
        ...

    def apply(self, change: ChangePlan) -> bool:
        """Put the subscription on its plan if that change is expected, and expect it no longer."""
        ...


class SubscriptionsInMemory:
    """A dict and a lock; a deployment has a table, and conditions."""

    def __init__(self, **subscriptions: Subscription) -> None:
        self.all, self._lock = dict(subscriptions), Lock()

    def expect(self, subscription: str, change: ChangePlan | None) -> Subscription:
        """See `Subscriptions`."""
        with self._lock:
            before = self.all[subscription]
            self.all[subscription] = replace(before, change=change)
            return before

    def prolong(self, subscription: str, paid_until: date) -> Subscription:
        """See `Subscriptions`."""
        with self._lock:
            self.all[subscription] = now = replace(self.all[subscription], paid_until=paid_until)
            return now

    def apply(self, change: ChangePlan) -> bool:
        """See `Subscriptions`."""
        with self._lock:
            found = self.all[change.subscription]
            if found.change != change:
                return False
            self.all[change.subscription] = replace(found, plan=change.plan, change=None)
            return True


@dataclass(frozen=True, slots=True)
class PlanService:
    """The service that the shop's pages call when a customer chooses a plan."""

    subscriptions: Subscriptions
    scheduler: Scheduler

    def choose(self, subscription: str, plan: str, *, request: str) -> Action:
        """Change to `plan` in place of any pending change; the same `request` again is the same change."""
        change = ChangePlan(subscription=subscription, plan=plan, request=request)
        before = self.subscriptions.expect(subscription, change)
        action = self._action(change, before.ends_at())
        if action.status is Status.EXECUTED:  # the request came again when it was done
            self.subscriptions.expect(subscription, None)
        if before.change != change:
            self._cancel(before)
        return action

    def prolong(self, subscription: str, paid_until: date) -> None:
        """Extend the paid period; a pending change moves to its end."""
        now = self.subscriptions.prolong(subscription, paid_until)
        if now.change:
            self.scheduler.reschedule(self._action(now.change, now.ends_at()).id, now.ends_at())

    def withdraw(self, subscription: str) -> bool:
        """Cancel the pending change; return False if it was applied already."""
        before = self.subscriptions.expect(subscription, None)
        self._cancel(before)
        return before.change is not None

    def _cancel(self, before: Subscription) -> None:
        if before.change:
            with suppress(StateConflict):  # it has run, or runs and finds that it is not expected
                self.scheduler.cancel(self._action(before.change, before.ends_at()).id)

    def _action(self, change: ChangePlan, at: datetime) -> Action:
        """Return the change's action; the first call schedules it, later calls find it by its key."""
        return self.scheduler.schedule(
            change,
            at=at,
            correlation_id=f"subscription:{change.subscription}",
            idempotency_key=f"plan-change:{change.request}",
            idempotency_ttl=timedelta(days=30),
        )


@app.resource
def subscriptions() -> Subscriptions:
    """Two customers who have paid for years; a deployment reads its own table instead."""
    return SubscriptionsInMemory(
        ada=Subscription("small", date(2030, 12, 31), "Europe/Paris"),
        bob=Subscription("small", date(2030, 12, 31), "America/New_York"),
    )


@app.resource
def scheduler() -> PlanScheduler:
    """Schedules for the shop."""
    return PlanScheduler(Scheduler.from_env(tenant_id="acme", actor="plan-service"))


@app.resource
def plan_service(subscriptions: Subscriptions, scheduler: PlanScheduler) -> PlanService:
    """The service for customers' choices."""
    return PlanService(subscriptions, scheduler)


@app.action(retry=RetryPolicy(attempts=5, backoff=[10, 60, 600]))
def change_plan(payload: ChangePlan, run: Run, subscriptions: Subscriptions) -> None:
    """Put the subscription on its plan, if it still applies, so a second run changes nothing."""
    try:
        applied = subscriptions.apply(payload)
    except LookupError:
        raise Fatal("the subscription has ended") from None
    result = "is now on" if applied else "does not want, or already has,"
    run.log.info("%s %s %s", payload.subscription, result, payload.plan)
