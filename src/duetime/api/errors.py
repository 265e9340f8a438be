"""Errors of the API itself. The module `problems` defines their HTTP form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from duetime.errors import DuetimeError, truncate


@dataclass(frozen=True, slots=True)
class Flaw:
    """One invalid part of a request, and its location."""

    where: str
    problem: str


class InvalidRequest(DuetimeError, ValueError):
    """The request is valid JSON, but the route rejects parts of it; the error lists every flaw."""

    code = "invalid-request"

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        self.flaws = tuple(flaws)
        super().__init__(truncate("; ".join(f"{flaw.where} {flaw.problem}" for flaw in self.flaws)))


class MalformedBody(DuetimeError, ValueError):
    """The body is not JSON."""

    code = "malformed-body"

    def __init__(self, problem: str) -> None:
        super().__init__(f"the body is no JSON: {problem}")


class BodyTooLarge(DuetimeError, ValueError):
    """The body is larger than any request needs to be."""

    code = "body-too-large"

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the body is {size:,} bytes; at most {limit:,} are read")


class ReadsTooLarge(DuetimeError, ValueError):
    """One of several reads does not fit into their response, or into its time."""

    code = "reads-too-large"

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; send this read alone")


class WrongMediaType(DuetimeError, ValueError):
    """The content type is not JSON."""

    code = "wrong-media-type"

    def __init__(self, media_type: str) -> None:
        super().__init__(f"the body is {truncate(media_type, 60)!r}; send application/json")


class Forbidden(DuetimeError, PermissionError):
    """The caller lacks a permission, a role or a tenant."""

    code = "forbidden"


class PreconditionFailed(DuetimeError, RuntimeError):
    """The target has changed since the client read it."""

    code = "precondition-failed"

    def __init__(self, etag: str) -> None:
        super().__init__(f"it has changed meanwhile, and is now {etag}; look at it again, then decide")


class PreferencesConflict(DuetimeError, RuntimeError):
    """Another caller changed the preferences concurrently; nothing was changed."""

    code = "preferences-conflict"

    def __init__(self) -> None:
        super().__init__("another caller has changed the preferences meanwhile; read them, then decide")


class RouteNotFound(DuetimeError, LookupError):
    """No route has this path."""

    code = "route-not-found"

    def __init__(self, path: str, prefix: str) -> None:
        super().__init__(
            f"nothing is served at {truncate(path, 100)!r}; {prefix}/openapi.json lists the routes"
        )


class WrongMethod(DuetimeError, LookupError):
    """The path has no such method."""

    code = "wrong-method"

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = tuple(sorted(allowed))
        super().__init__(f"this path takes {' or '.join(self.allowed)}")


class Unhealthy(DuetimeError, ConnectionError):
    """A part of the service is unhealthy; the error has each part's state."""

    code = "unhealthy"

    def __init__(self, parts: Mapping[str, str]) -> None:
        self.parts = dict(parts)
        ill = (f"the {name} is {state}" for name, state in self.parts.items() if state != "ok")
        super().__init__(" and ".join(ill))
