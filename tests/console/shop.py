"""An app whose payloads choose how actions end, so that the console has all kinds of actions."""

import threading
from datetime import timedelta

from duetime import App, Payload, RetryPolicy, Run, cron, daily, every

app = App(default_tz="Europe/Paris")
TOKENS: dict[str, str] = {}
"""The tokens of handed-over actions, as their parties have them."""


class Parcel(Payload, sensitive=("street",)):
    """What is to be sent."""

    order: str
    fails: int = 0
    street: str = ""
    lines: tuple[str, ...] = ()


class Letter(Payload):
    """Is accepted at the second attempt only, ten minutes later."""


class Wait(Payload):
    """Takes so many seconds."""

    seconds: float


class Ferry(Payload):
    """Is handed over to the harbour, half done."""


@app.action(retry=RetryPolicy(attempts=3, backoff=1))
def load_ferry(payload: Ferry, run: Run) -> object:
    """Hand over the token with the work."""
    TOKENS[run.id] = run.token
    run.progress(0.5, "1 of 2 decks")
    return run.hand_over(timeout=timedelta(hours=1))


class Refund(Payload):
    """Waits for a person's decision."""

    order: str


@app.action
def ask_for_refund(payload: Refund, run: Run) -> object:
    """Ask whether to refund an order."""
    return run.await_approval(f"Refund 900 € for {payload.order}?", timeout=timedelta(hours=1))


@app.action(retry=RetryPolicy(attempts=2, backoff=1))
def send_parcel(payload: Parcel, run: Run) -> None:
    """Send a parcel; the first attempts fail as often as it says."""
    if run.attempt <= payload.fails:
        raise ConnectionError(f"no driver for order {payload.order}")


@app.action(retry=RetryPolicy(attempts=2, backoff=600))
def send_letter(payload: Letter, run: Run) -> None:
    """Send a letter, which the post office takes at the second attempt."""
    if run.attempt == 1:
        raise ConnectionError("the post office is closed")


@app.action(timeout=timedelta(seconds=840))
def wait(payload: Wait, run: Run) -> None:
    """Run until the time is over or a stop is requested."""
    for _ in range(int(payload.seconds * 5)):
        run.raise_if_cancelled()
        threading.Event().wait(0.2)


@app.job(every(seconds=2), title="Watch the ramp", category="yard")
def watch_ramp(run: Run) -> None:
    """Look at what waits on the ramp."""


@app.job(cron("30 2 * * *", tz="Europe/Paris"), title="Nightly count", category="stock")
def count_stock(run: Run) -> None:
    """Count what is there, at half past two, an hour that one night in March does not have."""


@app.job(daily("06:00"), retry=RetryPolicy(attempts=1), title="Order more", category="stock")
def order_more(run: Run) -> None:
    """Order what is short; the supplier does not answer."""
    raise TimeoutError("the supplier does not answer")
