"""A worked example: a partner gets a signed webhook an hour after each order, unless it is withdrawn.

No handler is needed: duetime's own worker posts it, and repeats it by the partner's answers.
"""

from __future__ import annotations

from datetime import timedelta

from duetime import Action, Scheduler
from duetime.targets import Webhook, WebhookHost

HOST = "hooks.partner.example"
PARTNER = WebhookHost(host=HOST, secret="env:PARTNER_SECRET")  # noqa: S106 - a reference
"""On the local cloud; a stack calls `grant_target`."""

AFTER = timedelta(hours=1)
"""A customer may withdraw an order until then."""


class Partner:
    """What the shop's website calls."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler

    def announce(self, order: str, items: int) -> Action:
        """Announce an order to the partner, once for each order."""
        return self.scheduler.schedule(
            Webhook(url=f"https://{HOST}/orders", body={"order": order, "items": items}),
            at=AFTER,
            idempotency_key=f"announce:{order}",
        )

    def withdraw(self, announcement: str) -> None:
        """Withdraw an order: no webhook is sent."""
        self.scheduler.cancel(announcement)
