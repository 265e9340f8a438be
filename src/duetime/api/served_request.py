"""A request whose path is served, as the handler passes it on to the dispatcher."""

from __future__ import annotations

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
