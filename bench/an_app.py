"""The smallest app, which the measured worker hosts."""

from __future__ import annotations

from duetime import App, Payload

app = App()


class Ping(Payload):
    """A payload without fields."""


@app.action
def ping(payload: Ping) -> None:
    """Do nothing."""
