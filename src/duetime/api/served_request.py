"""A request whose path is served, as the handler passes it on to the dispatcher."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from duetime.api.authenticator import Caller
from duetime.api.routes import RouteMatch


@dataclass(frozen=True, slots=True)
class Within:
    """A request of the same caller that is served within another."""

    path: str
    """Decoded, under the prefix."""
    query: str = ""
    """As it was sent."""
    method: str = "GET"
    body: str | None = None
    etag: str | None = None


class ServedProblem(Exception):
    """A request that was served within another failed, so the outer one has the same response."""

    def __init__(self, response: Mapping[str, Any]) -> None:
        super().__init__(response["body"])
        self.response = response


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
    is_former: bool
    """Whether the client called a former path."""
    serve: Callable[[Within], dict[str, Any]]
    """Serve a further request of the same caller."""
    is_within: bool = False
    """Whether it is served within another, which has confirmed it if it makes a change."""
