"""The failures of commands. A message is one line that names the fix."""

from __future__ import annotations

from collections.abc import Iterable

from duetime._english import nearest
from duetime.errors import DuetimeError

_SERVER_ERROR = 500


def did_you_mean(written: object, known: Iterable[str]) -> str:
    """Return ``; did you mean 'list'?``, or an empty text if nothing is close."""
    meant = nearest(str(written), known)
    return f"; did you mean {meant!r}?" if meant else ""


class BadUsage(DuetimeError, ValueError):
    """The command line itself is wrong: exit status 2."""

    code = "bad-usage"


class CommandFailed(DuetimeError, RuntimeError):
    """The command could not do its work: exit status 1."""

    code = "command-failed"


class NoResponse(CommandFailed):
    """The request got no response of the API."""


class NoAnswer(NoResponse):
    """No server responds at the URL."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            f"no scheduler responds at {url} ({reason}): start one with `duetime local --app module:name`,"
            " or set --url"
        )


class TimedOut(NoResponse):
    """The server at the URL did not respond in time."""

    def __init__(self, url: str, method: str, seconds: float) -> None:
        done = "" if method == "GET" else "; the change may have been made, so look before you repeat it"
        super().__init__(
            f"time-out: {url} did not respond within {seconds:g} seconds{done}:"
            f" wait longer with --timeout {2 * seconds:g}, or set DUETIME_TIMEOUT={2 * seconds:g}"
        )


class GatewayTimedOut(NoResponse):
    """The gateway at the URL did not wait for the API's response."""

    def __init__(self, url: str, method: str) -> None:
        done = "" if method == "GET" else "; the change may have been made, so look before you repeat it"
        super().__init__(
            f"time-out: the gateway at {url} did not wait for the response (504){done}:"
            " repeat it, with a smaller --limit if the command has one; --timeout does not change this"
        )


class StrangeAnswer(CommandFailed):
    """The server at the URL is not duetime's API."""

    def __init__(self, url: str, status: int, message: str | None) -> None:
        super().__init__(
            f"{url} answers {status}"
            + (f" {message!r}" if message else "")
            + ", which is not a response of duetime: check --url"
        )


class RequestRejected(CommandFailed):
    """The API rejects the request with a reason."""

    def __init__(self, status: int, title: str, detail: str, fix: str = "") -> None:
        self.status = status
        message = detail if status < _SERVER_ERROR else f"{title}: {detail}"
        super().__init__(f"{message}: {fix}" if fix else message)
