"""Suggests commands that are valid for the app, for the welcome text and the start page."""

from __future__ import annotations

import shlex

from duetime.app import App
from duetime.declare.handler import Handler
from duetime.local.example_payload import example_of

DEFAULT_PORT = 8080
"""The port that the command line uses by default."""


def commands(app: App, url: str, program: str = "duetime") -> tuple[str, ...]:
    """Return commands that schedule, list, trigger a job, and call the API.

    Args:
        app: the app.
        url: the local cloud's URL.
        program: the command that starts the command line.
    """
    return (
        *(
            f"{program} {for_type_}{elsewhere(url)}"
            for for_type_ in (*_for_types(app), "actions list", *_for_jobs(app))
        ),
        f"curl {url}/api/v1/scheduling/query",
    )


def elsewhere(url: str) -> str:
    """Return the command line's option for the URL; nothing for the default port."""
    return "" if url.endswith(f":{DEFAULT_PORT}") else f" --url {url}"


def _for_jobs(app: App) -> tuple[str, ...]:
    """Return commands that list the jobs and trigger the first one that needs no payload."""
    ready = [name for name, handler in app.handlers.items() if handler.job and not _is_bare(handler)]
    return ("jobs list", *(f"jobs trigger {name}" for name in ready[:1])) if app.jobs else ()


def _is_bare(handler: Handler) -> bool:
    """Return whether its runs need a payload that no job declares."""
    return handler.payload is not None and (handler.job is None or handler.job.payload is None)


def _for_types(app: App) -> tuple[str, ...]:
    """Return a command that schedules a type with an example payload; else one with a payload to fill in."""
    types = {
        name: handler.payload
        for name, handler in app.handlers.items()
        if handler.payload and handler.job is None
    }
    for name, payload in types.items():
        if example := example_of(payload):
            return (f"schedule {name} --payload {shlex.quote(example)} --in 3s",)
    return tuple(f"schedule {type_} --payload {shlex.quote('{…}')} --in 3s" for type_ in list(types)[:1])
