"""A worked example: a large refund waits for a manager's decision, and is paid after it.

The action that asks mails a link with its token, and is handed over: nothing runs while the manager thinks.
The refund itself is held until that action is executed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NewType, Protocol

from duetime import Action, App, Payload, RetryPolicy, Run, Scheduler

app = App()

LARGE = 100
"""From this amount on, a manager decides."""

ShopScheduler = NewType("ShopScheduler", Scheduler)


class Mail(Protocol):
    """Sends mails to managers."""

    def send(self, subject: str, link: str) -> None:
        """Send one."""
        ...


class Bank(Protocol):
    """Pays refunds."""

    def pay(self, order: str, amount: int, key: str) -> None:
        """Pay once for each key."""
        ...


class AskManager(Payload):
    """Ask whether a refund may be paid."""

    order: str
    amount: int


class PayRefund(Payload):
    """Pay a refund."""

    order: str
    amount: int


class PrintedMail:
    """A deployment has a mail service."""

    def send(self, subject: str, link: str) -> None:
        """See `Mail`."""
        print(f"{subject}: {link}")  # noqa: T201 - in place of a mail


class BankInMemory:
    """A dict; a deployment has a bank."""

    def __init__(self) -> None:
        self.paid: dict[str, int] = {}

    def pay(self, order: str, amount: int, key: str) -> None:
        """See `Bank`."""
        self.paid.setdefault(f"{order} {key}", amount)


@app.resource
def mail() -> Mail:
    """The managers' mail."""
    return PrintedMail()


@app.resource
def bank() -> Bank:
    """The shop's bank."""
    return BankInMemory()


@app.action(retry=RetryPolicy(attempts=2, backoff=[60]))
def ask_manager(payload: AskManager, run: Run, mail: Mail) -> object:
    """Mail the question, and wait eight hours; then ask once more."""
    link = f"https://shop.example/refunds?token={run.token}"
    mail.send(f"Refund {payload.amount} € for {payload.order}?", link)
    return run.hand_over(timeout=timedelta(hours=8))


@app.action(retry=RetryPolicy(attempts=5, backoff=[10, 60, 600]))
def pay_refund(payload: PayRefund, run: Run, bank: Bank) -> None:
    """Pay the refund, once for each action."""
    bank.pay(payload.order, payload.amount, run.idempotency_key)


class Refunds:
    """What the shop's website calls."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def request(self, order: str, amount: int) -> Action:
        """Pay a small refund now, and a large one after a manager's approval."""
        now, pay = timedelta(0), PayRefund(order=order, amount=amount)
        if amount < LARGE:
            return self.scheduler.schedule(pay, at=now, idempotency_key=f"refund:{order}")
        ask = self.scheduler.schedule(
            AskManager(order=order, amount=amount), at=now, idempotency_key=f"ask:{order}"
        )
        return self.scheduler.schedule(pay, at=now, after=[ask.id], idempotency_key=f"refund:{order}")

    def approve(self, token: str, manager: str) -> None:
        """Let the refund be paid; the page has checked that the manager may approve."""
        self.scheduler.complete(token, result={"approved_by": manager})

    def reject(self, token: str, manager: str, why: str) -> None:
        """End the question, and with it the refund."""
        self.scheduler.fail(token, f"{manager} rejected it: {why}", retry=False)
