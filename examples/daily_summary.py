"""A worked example.

Each customer gets a mail each morning, at seven where the customer lives, and gets it once.

One job a day and zone would send mails in a loop, and a failure in the middle would leave half of them
unsent. Here the job only schedules: an action for each customer, under an idempotency key of customer and
day. Each mail then has retries, a dead letter and a history of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

from duetime import App, Fatal, Order, Payload, RetryPolicy, Run, Scheduler, daily

app = App()
log = logging.getLogger("duetime.handlers.daily_summary")

AT = time(7, 0)


class Customers(Protocol):
    """The customers who get a summary."""

    def zones(self) -> Iterable[tuple[str, str]]:
        """Each customer's id and IANA zone."""
        ...

    def orders_on(self, customer: str, day: date) -> list[str]:
        """What a customer ordered on a day."""
        ...

    def address(self, customer: str) -> str | None:
        """The customer's address; None for a customer who has left."""
        ...


class Mails(Protocol):
    """Sends mails."""

    def send(self, address: str, subject: str, text: str, *, once: str) -> None:
        """Send one mail; a repeat with the same `once` sends nothing."""
        ...


class SendSummary(Payload):
    """One customer's mail of one day."""

    customer: str
    day: date


class Regulars:
    """Two customers with the same order each day; a deployment reads its own tables instead."""

    def zones(self) -> Iterable[tuple[str, str]]:
        """See `Customers`."""
        return (("ada", "Europe/Paris"), ("bob", "America/New_York"))

    def orders_on(self, customer: str, day: date) -> list[str]:
        """Return tea for every customer."""
        return [f"tea for {customer}, {day}"]

    def address(self, customer: str) -> str | None:
        """Return the address of any customer."""
        return f"{customer}@shop.example"


class LoggedMails:
    """Mails in the log; a deployment sends them by SES instead."""

    def send(self, address: str, subject: str, text: str, *, once: str) -> None:
        """See `Mails`."""
        log.info("mail to %s: %s\n%s (%s)", address, subject, text, once)


@app.resource
def customers() -> Customers:
    """The shop's customers."""
    return Regulars()


@app.resource
def mails() -> Mails:
    """The sender of mails."""
    return LoggedMails()


@app.resource
def scheduler() -> Scheduler:
    """Schedules for the shop, with the worker's own rights."""
    return Scheduler.from_env(tenant_id="shop", actor="daily-summary")


@app.job(daily("00:00", tz="UTC"), name="shop-plan-summaries", catch_up=1, title="Plan the day's summaries")
def plan_summaries(run: Run, customers: Customers, scheduler: Scheduler) -> None:
    """Schedule each customer's mail of the coming day; a second run changes nothing."""
    day = run.nominal_at.date() + timedelta(days=1)
    scheduler.schedule_many(
        Order(
            SendSummary(customer=customer, day=day - timedelta(days=1)),
            at=datetime.combine(day, AT, ZoneInfo(zone)),
            correlation_id=f"customer:{customer}",
            idempotency_key=f"summary:{customer}:{day}",
        )
        for customer, zone in customers.zones()
    )


@app.action(retry=RetryPolicy(attempts=4, backoff=[60, 300, 1800]))
def send_summary(payload: SendSummary, run: Run, customers: Customers, mails: Mails) -> None:
    """Send one mail, unless the day has no orders; fail without a retry for a customer who has left."""
    address = customers.address(payload.customer)
    if address is None:
        raise Fatal("the customer is gone")
    orders = customers.orders_on(payload.customer, payload.day)
    if orders:
        text = "\n".join(f"- {order}" for order in orders)
        mails.send(address, f"Your orders of {payload.day:%d %B}", text, once=run.idempotency_key)
