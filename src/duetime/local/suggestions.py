"""What to try: commands that are valid for the app at hand, shown where the local cloud says where it listens."""

from __future__ import annotations

import shlex

from duetime.app import App
from duetime.local.example_payload import example_of

DEFAULT_PORT = 8080
"""The command line talks to this one unless it is told otherwise."""


def commands(app: App, url: str, program: str = "duetime") -> tuple[str, str, str]:
    """Three commands: schedule something, list what there is, and ask the API itself.

    `program` is how the command line is called from where the reader is.
    """
    type_name, payload = _example(app)
    elsewhere = "" if url.endswith(f":{DEFAULT_PORT}") else f" --url {url}"
    return (
        f"{program} schedule {type_name} --payload {shlex.quote(payload)} --in 3s{elsewhere}",
        f"{program} actions list{elsewhere}",
        f"curl {url}/api/v1/scheduling/query",
    )


def _example(app: App) -> tuple[str, str]:
    """The first type for which an example can be made; the very first, with a payload to fill in, if there is none."""
    for name, handler in app.handlers.items():
        if example := example_of(handler.payload):
            return name, example
    return next(iter(app.handlers)), "{…}"
