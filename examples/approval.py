"""A worked example: a large refund waits for a manager's decision, and is paid after it.

The action that asks waits for an approval, and nothing runs meanwhile. A mail leads to the console.
The refund itself is held until that action is executed.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from duetime import Action, App, Payload, RetryPolicy, Run, Scheduler

app = App()

LARGE = 100
"""From this amount on, a manager decides."""


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


class BankInMemory:
    """A dict; a deployment has a bank."""

    def __init__(self) -> None:
        self.paid: dict[str, int] = {}

    def pay(self, order: str, amount: int, key: str) -> None:
        """See `Bank`."""
        self.paid.setdefault(f"{order} {key}", amount)


@app.resource
def bank() -> Bank:
    """The shop's bank."""
    return BankInMemory()


@app.action(retry=RetryPolicy(attempts=2, backoff=[60]))
def ask_manager(payload: AskManager, run: Run) -> object:
    """Wait eight hours for a decision; then ask once more."""
    question = f"Refund {payload.amount} € for {payload.order}?"
    return run.await_approval(question, timeout=timedelta(hours=8))


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
