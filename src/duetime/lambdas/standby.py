"""A function of a region that stands by does nothing: no wake-up, no pass, no event."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from duetime.jobs.known_region import KnownRegion

log = logging.getLogger(__name__)

Event = Mapping[str, Any]
C = TypeVar("C")
Handler = Callable[[Event, C], Event]


def unless_standby(region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    """Return a handler that returns `result`, without a call, while another region is active.

    A region that is cut off goes on: what it sends only wakes.
    """
    return _if(lambda: not region.is_standby(), region, handler, result)


def if_active(region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    """Return a handler that returns `result`, without a call, unless this region is active for sure.

    Passes move cursors of jobs, so a region that is cut off must end them.
    """
    return _if(region.is_active, region, handler, result)


def _if(goes_on: Callable[[], bool], region: KnownRegion, handler: Handler[C], result: Event) -> Handler[C]:
    if not region.own:
        return handler

    def handle(event: Event, context: C) -> Event:
        if goes_on():
            return handler(event, context)
        log.info("standby, nothing done", extra={"region": region.own})
        return result

    return handle
