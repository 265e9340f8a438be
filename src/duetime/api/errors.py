"""What the API itself refuses, before or beside the scheduler: facts only, their HTTP form is told in `problems`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from duetime.errors import DuetimeError, truncate


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong with a request, and where."""

    where: str
    problem: str


class InvalidRequest(DuetimeError, ValueError):
    """The request can be read, but a part of it is not what the route takes; every flaw is named at once."""

    code = "invalid-request"

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        self.flaws = tuple(flaws)
        super().__init__(truncate("; ".join(f"{flaw.where} {flaw.problem}" for flaw in self.flaws)))


class MalformedBody(DuetimeError, ValueError):
    """The body is no JSON text."""

    code = "malformed-body"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"the body is no JSON: {problem}")


class BodyTooLarge(DuetimeError, ValueError):
    """The body is larger than any request needs to be."""

    code = "body-too-large"

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(f"the body is {size:,} bytes; at most {limit:,} are read")


class WrongMediaType(DuetimeError, ValueError):
    """The body says that it is something other than JSON."""

    code = "wrong-media-type"

    def __init__(self, media_type: str) -> None:
        self.media_type = media_type
        super().__init__(f"the body is {truncate(media_type, 60)!r}; send application/json")


class Forbidden(DuetimeError, PermissionError):
    """The caller's identity does not admit it."""

    code = "forbidden"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class PreconditionFailed(DuetimeError, RuntimeError):
    """What is to be changed is no longer as the client has seen it."""

    code = "precondition-failed"

    def __init__(self, etag: str) -> None:
        self.etag = etag
        super().__init__(f"it has changed meanwhile, and is now {etag}; look at it again, then decide")


class PreferencesConflict(DuetimeError, RuntimeError):
    """Somebody else changed the preferences at the same moment; nothing was changed."""

    code = "preferences-conflict"

    def __init__(self) -> None:
        super().__init__("somebody else has changed the preferences meanwhile; look at them, then decide")


class RouteNotFound(DuetimeError, LookupError):
    """Nothing is served at this path."""

    code = "route-not-found"

    def __init__(self, path: str, prefix: str) -> None:
        self.path, self.prefix = path, prefix
        super().__init__(f"nothing is served at {truncate(path, 100)!r}; the routes begin with {prefix}/")


class WrongMethod(DuetimeError, LookupError):
    """The path is served, but not with this method."""

    code = "wrong-method"

    def __init__(self, allowed: Iterable[str]) -> None:
        self.allowed = tuple(sorted(allowed))
        super().__init__(f"this path takes {' or '.join(self.allowed)}")


class Unhealthy(DuetimeError, ConnectionError):
    """A part of the service is ill; each part's state is told."""

    code = "unhealthy"

    def __init__(self, parts: Mapping[str, str]) -> None:
        self.parts = dict(parts)
        ill = (f"the {name} is {state}" for name, state in self.parts.items() if state != "ok")
        super().__init__(" and ".join(ill))
