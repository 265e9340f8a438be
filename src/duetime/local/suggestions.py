"""What to try: commands that are valid for the app at hand, shown where the local cloud says where it listens."""

from __future__ import annotations

import shlex

from duetime.app import App
from duetime.declare.handler import Handler
from duetime.local.example_payload import example_of

DEFAULT_PORT = 8080
"""The command line talks to this one unless it is told otherwise."""


def commands(app: App, url: str, program: str = "duetime") -> tuple[str, ...]:
    """A few commands: schedule something, list what there is, trigger a job, and ask the API itself.

    `program` is how the command line is called from where the reader is.
    """
    return (
        *(
            f"{program} {for_type_}{elsewhere(url)}"
            for for_type_ in (*_for_types(app), "actions list", *_for_jobs(app))
        ),
        f"curl {url}/api/v1/scheduling/query",
    )


def elsewhere(url: str) -> str:
    """What the command line must be told of where the local cloud is: nothing, at its usual port."""
    return "" if url.endswith(f":{DEFAULT_PORT}") else f" --url {url}"


def _for_jobs(app: App) -> tuple[str, ...]:
    """List the jobs, and trigger the first that needs no payload of the reader's own."""
    ready = [name for name, handler in app.handlers.items() if handler.job and not _is_bare(handler)]
    return ("jobs list", *(f"jobs trigger {name}" for name in ready[:1])) if app.jobs else ()


def _is_bare(handler: Handler) -> bool:
    """Whether its runs take a payload, and nothing says one."""
    return handler.payload is not None and (handler.job is None or handler.job.payload is None)


def _for_types(app: App) -> tuple[str, ...]:
    """Schedule the first type for which an example can be made; else the very first, with a payload to fill in."""
    types = {
        name: handler.payload
        for name, handler in app.handlers.items()
        if handler.payload and handler.job is None
    }
    for name, payload in types.items():
        if example := example_of(payload):
            return (f"schedule {name} --payload {shlex.quote(example)} --in 3s",)
    return tuple(f"schedule {type_} --payload {shlex.quote('{…}')} --in 3s" for type_ in list(types)[:1])
