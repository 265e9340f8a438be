"""How a command fails: each in one line that names the fix."""

from __future__ import annotations

from duetime.errors import DuetimeError


class BadUsage(DuetimeError, ValueError):
    """The command line itself is wrong: exit status 2."""

    code = "bad-usage"


class CommandFailed(DuetimeError, RuntimeError):
    """What was asked could not be done: exit status 1."""

    code = "command-failed"


class NoAnswer(CommandFailed):
    """Nobody serves the API there."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(
            f"no scheduler answers at {url} ({reason}): start one with `duetime local --app module:name`,"
            " or say --url"
        )


class StrangeAnswer(CommandFailed):
    """Something serves there, but not duetime's API."""

    def __init__(self, url: str, status: int, told: str | None) -> None:
        self.url, self.status = url, status
        super().__init__(
            f"{url} answers {status}"
            + (f" {told!r}" if told else "")
            + ", not as duetime does: is --url right?"
        )


class RequestRejected(CommandFailed):
    """The API refuses, and says why."""

    def __init__(self, status: int, title: str, detail: str, fix: str = "") -> None:
        self.status = status
        told = detail if status < _SERVER_ERROR else f"{title}: {detail}"
        super().__init__(f"{told}: {fix}" if fix else told)


_SERVER_ERROR = 500
