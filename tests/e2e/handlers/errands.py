"""The app that the end-to-end tests deploy. Nothing tells from outside what ran but the actions' own rows."""

import os
from datetime import timedelta

from duetime import App, Payload, RetryPolicy, Run

app = App()
BRIEFLY = timedelta(seconds=4)


class RunErrand(Payload):
    """Something is to be done."""

    what: str


class Collapse(Payload):
    """Something kills the worker in mid-run, once."""


@app.action(timeout=BRIEFLY)
def run_errand(payload: RunErrand, run: Run) -> None:
    """Do it."""
    run.log.info("done: %s", payload.what)


@app.action(retry=RetryPolicy(attempts=1), timeout=BRIEFLY)
def collapse(payload: Collapse, run: Run) -> None:
    """Die at the first claim, as a machine does: no exception, no settle."""
    if run.fence == 1:
        os._exit(1)
