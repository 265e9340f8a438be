"""The failures of commands. A message is one line that names the fix."""

from __future__ import annotations

from collections.abc import Iterable

from duetime._english import nearest
from duetime.errors import DuetimeError, OperationFailed

_SERVER_ERROR = 500


def did_you_mean(written: object, known: Iterable[str]) -> str:
    """Return ``; did you mean 'list'?``, or an empty text if nothing is close."""
    meant = nearest(str(written), known)
    return f"; did you mean {meant!r}?" if meant else ""


class BadUsage(DuetimeError, ValueError):
    """The command line itself is wrong: exit status 2."""

    code = "bad-usage"


class NoResponse(OperationFailed):
    """The request got no response of the API."""


class RequestRejected(OperationFailed):
    """The API rejects the request with a reason."""

    def __init__(self, status: int, title: str, detail: str, fix: str = "") -> None:
        self.status = status
        message = detail if status < _SERVER_ERROR else f"{title}: {detail}"
        super().__init__(f"{message}: {fix}" if fix else message)


def strange_answer(url: str, status: int, message: str | None) -> OperationFailed:
    """Return the error of a URL whose server is not duetime's API."""
    shown = f" {message!r}" if message else ""
    return OperationFailed(f"{url} answers {status}{shown}, which is not a response of duetime: check --url")
