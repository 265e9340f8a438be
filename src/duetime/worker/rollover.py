"""Whether a deploy is under way in which an older worker receives what only a newer one reads."""

from __future__ import annotations

from duetime.declare.handler_set import HandlerSet
from duetime.ports.wakeups import Routes

ROLL_OVER = 60
"""Seconds by which a run that waits for a newer worker is put off."""


class Rollover:
    """Compares the handlers of this process with those that the newest deploy has published."""

    def __init__(self, handlers: HandlerSet, routes: Routes) -> None:
        self._by_name, self._routes = handlers.by_name, routes

    def needs_newer(self, type_name: str, version: int) -> bool:
        """Return whether only a newer worker reads this type, or this version of its payload."""
        handler = self._by_name.get(type_name)
        if handler is not None and version <= handler.version:
            return False
        newest = self._routes.version_of(type_name)
        return newest is not None and (handler is None or version <= newest)
