"""The example app: the actions and jobs of a subscription service. The shop includes it."""

from datetime import timedelta
from uuid import UUID

from duetime import App, Payload, RetryPolicy, Run, daily, every, on_event, weekly

app = App(default_tz="Europe/Paris")


class ApplyPlanChange(Payload):
    """A customer's next plan, from a later day on."""

    subscription_id: UUID
    new_plan_id: UUID


class SendReceipt(Payload):
    """A receipt, to be sent some time after the payment."""

    order: str
    fails: int = 0
    """The number of first attempts that fail, to show a retry."""


@app.action
def apply_plan_change(payload: ApplyPlanChange, run: Run) -> None:
    """Put the subscription on its new plan."""
    run.log.info("subscription %s is now on plan %s", payload.subscription_id, payload.new_plan_id)


@app.action(retry=RetryPolicy(attempts=3, backoff=[5, 10]), timeout=timedelta(seconds=30))
async def send_receipt(payload: SendReceipt, run: Run) -> None:
    """Send the receipt; a handler may be async."""
    if run.attempt <= payload.fails:
        raise ConnectionError(f"the mail server did not answer for order {payload.order}")
    run.log.info("receipt for order %s sent", payload.order)


class Report(Payload):
    """The figures of a report."""

    of: str


class PaymentReceived(Payload):
    """A payment in the bank's event."""

    order: str
    cents: int


@app.job(every(seconds=10), title="Queue of payments")
def watch_payments(run: Run) -> None:
    """Check the payments that the bank has not answered."""
    run.log.info("no payment has waited since %s", run.nominal_at)


@app.job(daily("03:15"), retry=RetryPolicy(attempts=3, backoff=60), catch_up=1, title="Nightly clean-up")
def clean_up(run: Run) -> None:
    """Remove unused carts; a missed night is caught up."""
    run.log.info("carts from before %s are gone", run.nominal_at)


@app.job(weekly("mon", "08:00"), payload=Report(of="sales"), overlap="queue_one", title="Weekly report")
def write_report(payload: Report, run: Run) -> None:
    """Write last week's report, on Monday morning in Paris."""
    run.log.info("the report of %s is written", payload.of)


@app.job(on_event("bank", "PaymentReceived"), title="Payments booked")
def book_payment(payload: PaymentReceived, run: Run) -> None:
    """Book a payment once for each event of the bank, also if the event is delivered again."""
    run.log.info("%d cents booked for order %s", payload.cents, payload.order)
