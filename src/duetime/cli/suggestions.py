"""Suggests the closest command, value or job for a word that does not exist."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING

from duetime._english import nearest
from duetime.cli.arguments import JOBS, client_of
from duetime.cli.failures import CommandFailed, RequestRejected

if TYPE_CHECKING:
    from duetime.cli.client import Client

_NOT_FOUND = 404
# The number of pages of jobs that are read for a suggestion.
_MOST_PAGES = 10


def did_you_mean(written: object, known: Iterable[str]) -> str:
    """Return ``; did you mean 'list'?``, or an empty text if nothing is close."""
    meant = nearest(str(written), known)
    return f"; did you mean {meant!r}?" if meant else ""


def job_meant(arguments: argparse.Namespace, rejected: RequestRejected) -> str:
    """Return a suggestion if the scheduler has no job with the name that the arguments give."""
    written = getattr(arguments, "name", None) or getattr(arguments, "job", None)
    if rejected.status != _NOT_FOUND or not written:
        return ""
    try:
        known = _job_names(client_of(arguments))
    except CommandFailed:  # the first failure is the one to print
        return ""
    return "" if written in known else did_you_mean(written, known)


def _job_names(client: Client) -> list[str]:
    names: list[str] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = client.ask("GET", JOBS, query={"limit": "100", "cursor": cursor})
        names += [job["name"] for job in page["items"]]
        if (cursor := page["next_cursor"]) is None:
            break
    return names
