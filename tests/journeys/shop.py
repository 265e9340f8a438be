"""A shop that publishes events: an action for each payload, and a job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from duetime import App, Fatal, Payload, Retry, RetryPolicy, Run, daily
from duetime.testing import SimulatedCloud

SCHEMA = Draft202012Validator(
    json.loads(Path(__file__).parents[2].joinpath("docs/lifecycle-event.schema.json").read_text())
)


class Invoice(Payload):
    number: int


class Shout(Payload, in_events=True):
    text: str


class Whisper(Payload, version=2, in_events=True, sensitive=("text", "to.name")):
    text: str
    to: tuple[dict[str, Any], ...] = ()


def shop() -> App:
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=60))
    def send_invoice(payload: Invoice) -> None:
        if payload.number == 1:
            raise Fatal("no such invoice")
        if payload.number == 2:
            raise Retry("busy", after=60)

    @app.action
    def shout(payload: Shout) -> None: ...

    @app.action
    def whisper(payload: Whisper) -> None: ...

    @app.job(daily("03:15"), name="nightly-clean-up")
    def nightly(run: Run) -> None: ...

    return app


def types(cloud: SimulatedCloud, name: str) -> list[str]:
    """The types of the events that speak of an action or a job."""
    return [event["detail-type"] for event in cloud.events() if f"/{name}/" in event["detail"]["id"]]
