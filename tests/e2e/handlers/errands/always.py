"""What is in both deployments."""

import os
from datetime import timedelta

from duetime import App, Fatal, RetryPolicy, Run, manual, on_event
from errands import Collapse, Deliver, LoseParcel, OrderPlaced, RunErrand

app = App()
BRIEFLY = timedelta(seconds=4)


@app.action(timeout=BRIEFLY)
def run_errand(payload: RunErrand, run: Run) -> None:
    """Do it."""
    run.log.info("done: %s", payload.what)


@app.action(retry=RetryPolicy(attempts=1), timeout=BRIEFLY)
def collapse(payload: Collapse, run: Run) -> None:
    """Die at the first claim, as a machine does: no exception, no settle."""
    if run.fence == 1:
        os._exit(1)


@app.action(timeout=BRIEFLY)
def lose_parcel(payload: LoseParcel) -> None:
    """Fail for good, with a word that is no text of HTML's."""
    raise Fatal(f"parcel {payload.number} is <lost>")


@app.job("0 * * * *", name="errands-hourly", timeout=BRIEFLY)
def hourly(run: Run) -> None:
    """To be paused, and triggered all the same."""
    run.log.info("done")


@app.job(on_event("shop", "OrderPlaced"), name="errands-order", timeout=BRIEFLY)
def pack(payload: OrderPlaced, run: Run) -> None:
    """Pack it."""
    run.log.info("packed: %s", payload.order)


@app.job(manual(), name="errands-delivery", timeout=BRIEFLY, failure_threshold=2)
def deliver(payload: Deliver) -> None:
    """Arrive or not."""
    if not payload.arrives:
        raise Fatal("no one was at home")
