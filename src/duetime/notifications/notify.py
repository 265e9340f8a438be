"""Step 8, *notify*: notify subscribers of events on the bus.

======================================  ====================================================================
a message of the notifications' queue   its result
======================================  ====================================================================
an event of a deployment's bus          each of its notifications is counted in its window: the first few are
                                        delivered, one more starts the digest's timer, the rest are counted
a request for a window's digest         the window is closed, and one notification lists all that it counted
======================================  ====================================================================

Events without subscribers are neither counted nor stored. If this step raises, the message comes again, and
only what is missing is sent then. It has a queue of its own: nothing here can hold back an action.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from duetime import instant
from duetime.clock import Clock
from duetime.errors import UnreadableMessage
from duetime.model.notification import DigestWindow, Notification, of_event, requested_in
from duetime.notifications.deliver import Deliver, MailRenderer, do_all, log_fields
from duetime.ports.deliveries import DigestPosition
from duetime.ports.notifications import NotificationPorts
from duetime.settings import Settings

log = logging.getLogger(__name__)

REMEMBERED = timedelta(days=30)
"""How long counts and deliveries are stored: longer than a queue and its dead letters store a message."""

_LONGEST_DELAY = timedelta(minutes=15)
"""The longest delay of a message in a queue."""


class Notify:
    """Handles one message of the notifications' queue."""

    def __init__(
        self, ports: NotificationPorts, words: MailRenderer, *, clock: Clock, settings: Settings
    ) -> None:
        self._ports, self._clock, self._settings = ports, clock, settings
        self._deliver = Deliver(ports, words, clock=clock, settings=settings, remembered=REMEMBERED)

    def __call__(self, content: Mapping[str, Any]) -> None:
        """Handle it; it may be deleted when this returns.

        Raises:
            UnreadableMessage: the message has another origin.
            BackendUnavailable: it must come again.
            BackendMisconfigured: it must come again after the deployment is fixed.
        """
        window = requested_in(content)
        if window is None:
            do_all(partial(self._notify_one, notification) for notification in self._notifications(content))
        else:
            self._deliver_digest(window)

    def _notifications(self, content: Mapping[str, Any]) -> list[Notification]:
        """Return the notifications of an event; other deployments on the bus handle their own events."""
        detail = content.get("detail")
        if not isinstance(detail, Mapping):
            raise UnreadableMessage(TypeError("it has no detail"))
        if detail.get("deployment", self._settings.prefix) != self._settings.prefix:
            return []
        return list(of_event(detail))

    def _notify_one(self, notification: Notification) -> None:
        chosen = self._ports.preferences.get(notification.tenant_id)
        if not chosen.channels_for(notification.kind):
            log.debug("no subscriber for this notification", extra=log_fields(notification))
            return
        position = self._counted(notification)
        if position.number <= position.window.burst:
            self._deliver(notification, chosen)
        elif position.number == position.window.burst + 1:
            self._request_digest(position.window)
            log.info("more of a kind are sent as a digest", extra=log_fields(notification))

    def _counted(self, notification: Notification) -> DigestPosition:
        """Return its position in the present window, or in the next if a faster clock has closed this one."""
        length, burst = self._settings.near_limit, self._settings.notification_burst
        expires_at = self._clock.now() + REMEMBERED
        since = instant.floor(self._clock.now(), length)
        while True:
            window = DigestWindow(notification.tenant_id, notification.kind, since, since + length, burst)
            position = self._ports.windows.count(notification, window, expires_at=expires_at)
            if position is not None:
                return position
            since = window.until

    def _deliver_digest(self, window: DigestWindow) -> None:
        if self._left(window) > timedelta(0):
            self._request_digest(window)
            return
        digest = self._ports.windows.close(window)
        if digest is None:
            log.warning("digest of a window that counted nothing", extra={"tenant": window.tenant_id})
            return
        notification = digest.notification()
        self._deliver(notification, self._ports.preferences.get(notification.tenant_id))

    def _request_digest(self, window: DigestWindow) -> None:
        """Request the digest; a request with a shortened delay comes too early and is repeated."""
        left = min(max(self._left(window), timedelta(0)), _LONGEST_DELAY)
        self._ports.timer.at_end_of(window, delay=math.ceil(left.total_seconds()))

    def _left(self, window: DigestWindow) -> timedelta:
        """Return the time until the window is over by every machine's clock."""
        return window.until + self._settings.clock_skew - self._clock.now()
