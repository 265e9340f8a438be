"""A request whose path is served, as the handler passes it on to the dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duetime.api.authenticator import Caller
from duetime.api.routes import RouteMatch


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
    serve: Callable[[str, str], dict[str, Any]]
    """Serve a GET of the same caller: its decoded path under the prefix, and its query as it was sent."""
