"""An app whose action holds a thread, and one job."""

from __future__ import annotations

import time

from duetime import App, Payload, Run, every

app = App()


class Hold(Payload):
    """Takes so many seconds."""

    seconds: int


@app.action(timeout=900)
def hold(payload: Hold, run: Run) -> None:
    """Hold the thread."""
    del run
    time.sleep(payload.seconds)


@app.job(every(minutes=5), name="busy-each-five-minutes")
def each_five_minutes(run: Run) -> None:
    """Do nothing."""
