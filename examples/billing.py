"""The example app: what a subscription service schedules. ``make run`` runs it on the local cloud."""

from datetime import timedelta
from uuid import UUID

from duetime import App, Payload, RetryPolicy, Run

app = App()


class ApplyPlanChange(Payload):
    """A customer has chosen another plan, from a later day on."""

    subscription_id: UUID
    new_plan_id: UUID


class SendReceipt(Payload):
    """A receipt is sent some time after the payment."""

    order: str
    fails: int = 0
    """How many attempts fail first: to see a retry."""


@app.action
def apply_plan_change(payload: ApplyPlanChange, run: Run) -> None:
    """Put the subscription on its new plan."""
    run.log.info("subscription %s is now on plan %s", payload.subscription_id, payload.new_plan_id)


@app.action(retry=RetryPolicy(attempts=3, backoff=[5, 10]), timeout=timedelta(seconds=30))
async def send_receipt(payload: SendReceipt, run: Run) -> None:
    """Send the receipt; async handlers work as plain ones do."""
    if run.attempt <= payload.fails:
        raise ConnectionError(f"the mail server did not answer for order {payload.order}")
    run.log.info("receipt for order %s sent", payload.order)
