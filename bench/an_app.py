"""The smallest app: what a worker hosts when its import is measured, "before the user's own imports"."""

from __future__ import annotations

from duetime import App, Payload

app = App()


class Ping(Payload):
    """Says nothing."""


@app.action
def ping(payload: Ping) -> None:
    """Do nothing."""
