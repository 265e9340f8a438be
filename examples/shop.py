"""A shop at work: all the examples in one worker, and customers who keep it busy.

``make run`` runs it on the local cloud.

Within a minute there is something of each kind to look at: what was executed, fails, is tried again, was
moved or cancelled, runs just now, and is due tomorrow; dead letters, notifications, and a second tenant.
After that it is a few actions a minute.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import NewType, Protocol
from uuid import UUID, uuid5

from duetime import App, Fatal, Order, Payload, RetryPolicy, Run, Scheduler, every
from examples import billing, daily_summary, ingestion, nightly_clean_up, plan_change, reindex, stale_records
from examples.billing import ApplyPlanChange, SendReceipt
from examples.plan_change import PlanService

app = App()
app.include(billing, plan_change, daily_summary, nightly_clean_up, reindex, stale_records, ingestion)

Acme = NewType("Acme", Scheduler)
Globex = NewType("Globex", Scheduler)
"""Two tenants, which see nothing of each other."""

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
BUSY_SIGNALS = 3
"""The number of calls in a row that fail, enough for a notification of a failing job."""
REST = 4
"""After the first minute, one tick in this many plays a scene."""
NAMES = UUID("5b1f6d0a-3c1e-4d0e-9a53-6f0f5b1c2d3e")


class Bus(Protocol):
    """The bus on which the shop's other systems publish events."""

    def put(self, source: str, kind: str, detail: Mapping[str, object]) -> None:
        """Publish an event."""
        ...


class EventBridge:
    """The account's default event bus."""

    def put(self, source: str, kind: str, detail: Mapping[str, object]) -> None:
        """See `Bus`."""
        import boto3  # noqa: PLC0415 - the declaration of the app does not need it

        boto3.client("events").put_events(
            Entries=[{"Source": source, "DetailType": kind, "Detail": json.dumps(detail)}]
        )


class PackParcel(Payload):
    """A parcel to pack by hand, which takes some seconds."""

    order: str


class ChargeCard(Payload):
    """A payment of an order by card."""

    order: str
    stolen: bool = False


@app.resource
def acme() -> Acme:
    """Schedules for the shop itself."""
    return Acme(Scheduler.from_env(tenant_id="acme", actor="customers"))


@app.resource
def globex() -> Globex:
    """Schedules for another shop on the same deployment."""
    return Globex(Scheduler.from_env(tenant_id="globex", actor="customers"))


@app.resource
def bus() -> Bus:
    """The bus for the shop's events."""
    return EventBridge()


@app.action(timeout=timedelta(seconds=30))
def pack_parcel(payload: PackParcel, run: Run) -> None:
    """Pack for eight seconds, and stop within one second on request."""
    for _ in range(8):
        run.raise_if_cancelled()
        run.clock.wait_until(run.now() + SECOND)
    run.log.info("the parcel of %s is packed", payload.order)


@app.action
def charge_card(payload: ChargeCard, run: Run) -> None:
    """Charge the card; fail without a retry if it is stolen."""
    if payload.stolen:
        raise Fatal("the card was stolen")
    run.log.info("order %s is paid", payload.order)


@app.job(every(seconds=20), name="shop-count-stock", retry=RetryPolicy(attempts=2, backoff=3), title="Stock")
def count_stock(run: Run, acme: Acme) -> None:
    """Count the stock; at each third count the scanner fails once."""
    if run.attempt == 1 and _runs_before(run, acme) % 3 == 1:
        raise ConnectionError("the scanner did not answer")


@app.job(every(seconds=10), name="shop-call-courier", retry=RetryPolicy(attempts=1), title="Courier")
def call_courier(run: Run, acme: Acme) -> None:
    """Request the pick-up of parcels.

    Of 180 calls (half an hour) the first three fail: enough in a row for a notification.
    """
    if _runs_before(run, acme) % 180 < BUSY_SIGNALS:
        raise TimeoutError("the courier did not pick up")


@app.job(every(seconds=15), name="shop-traffic", retry=RetryPolicy(attempts=1), title="Customers")
def traffic(run: Run, acme: Acme, globex: Globex, bus: Bus, plan_service: PlanService) -> None:
    """Play the shop's customers: three scenes at once, then one scene a minute."""
    number, name = _runs_before(run, acme), f"{run.nominal_at:%H%M%S}"
    scenes = (
        partial(_order, name, acme),
        partial(_change_minds, name, acme, plan_service),
        partial(_elsewhere, name, globex, bus),
    )
    if number < len(scenes):
        scenes[number]()
    elif number % REST == 0:
        scenes[number // REST % len(scenes)]()


def _runs_before(run: Run, scheduler: Scheduler) -> int:
    """Return the number of ended runs of its job, from the job's row: a new process continues the count."""
    tally = scheduler.jobs.get(run.job or "").tally
    return tally.executed + tally.failed


def _order(name: str, acme: Scheduler) -> None:
    """Place an order with its follow-ups, and two that fail."""
    order, all_of_it = f"o-{name}", f"order:o-{name}"
    acme.schedule_many(
        [
            Order(ChargeCard(order=order), at=SECOND, correlation_id=all_of_it),
            Order(PackParcel(order=order), at=3 * SECOND, correlation_id=all_of_it),
            Order(SendReceipt(order=order, fails=2), at=SECOND, correlation_id=all_of_it),
            Order(SendReceipt(order=f"{order}-lost", fails=9), at=SECOND),
            Order(ChargeCard(order=f"{order}-stolen", stolen=True), at=SECOND),
        ]
    )


def _change_minds(name: str, acme: Scheduler, plan_service: PlanService) -> None:
    """Change one plan soon, one earlier than first scheduled, and one not at all.

    Ada takes another plan than last time.
    """
    soon, moved, dropped = (
        acme.schedule(_plan_change(f"{name}-{n}"), at=n * MINUTE, correlation_id="customer:bob")
        for n in (0, 30, 60)
    )
    acme.reschedule(moved.id, soon.due_at + MINUTE)
    acme.cancel(dropped.id)
    acme.schedule(SendReceipt(order=f"o-{name}-monthly"), at=timedelta(days=1), correlation_id="customer:bob")
    plan_service.choose("ada", "large", request=f"ada-{name}")


def _elsewhere(name: str, globex: Scheduler, bus: Bus) -> None:
    """Sell something for the other tenant.

    Publish three changes of one guide within a moment, a payment, and new prices.
    """
    order = f"g-{name}"
    globex.schedule(ChargeCard(order=order), at=SECOND, correlation_id=f"order:{order}")
    globex.schedule(SendReceipt(order=order), at=60 * MINUTE, correlation_id=f"order:{order}")
    globex.schedule(PackParcel(order=order), at=3 * SECOND, correlation_id=f"order:{order}")
    globex.schedule(ChargeCard(order=f"{order}-stolen", stolen=True), at=SECOND)
    for _ in range(3):
        bus.put("shop.documents", "DocumentChanged", {"document": "how-to-brew-tea", "kind": "guide"})
    bus.put("bank", "PaymentReceived", {"order": f"o-{name}", "cents": 950})
    bus.put("prices.example", "Published", {"source": "prices"})


def _plan_change(name: str) -> ApplyPlanChange:
    return ApplyPlanChange(
        subscription_id=uuid5(NAMES, "bob"), new_plan_id=uuid5(NAMES, f"the plan of {name}")
    )
