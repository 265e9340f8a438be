"""A request whose path is served, as the handler passes it on to the dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duetime.api.authenticator import Caller
from duetime.api.routes import RouteMatch


@dataclass(frozen=True, slots=True)
class Within:
    """A read of the same caller that is served within another request."""

    path: str
    """Decoded, under the prefix."""
    query: str = ""
    """As it was sent."""


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """The normalised event, with what was found out about it."""

    event: dict[str, Any]
    context: Any
    match: RouteMatch
    caller: Caller | None
    """None if the path admits unauthenticated callers."""
    base: str
    """The prefix as the client called it."""
    serve: Callable[[Within], dict[str, Any]]
    """Serve a further read of the same caller."""
