"""Notifications on the local cloud: what would be sent goes to the outbox."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, Final

from duetime import ids
from duetime.clock import Clock
from duetime.embedded.embedded import Threads
from duetime.ids import EVENT_SOURCE, SYSTEM_TENANT, TenantId
from duetime.local.outbox import Outbox
from duetime.memory.notifications import MemoryDigestTimer
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.notifications import mail
from duetime.notifications.mail import Template, TemplateVariableMissing, rendered, templates
from duetime.notifications.notify import Notify
from duetime.ports.backends import KeyedPorts
from duetime.ports.notifications import Mail, NotificationPorts
from duetime.settings import Settings

log = logging.getLogger(__name__)

TENANTS: Final = (ids.tenant("acme"), SYSTEM_TENANT)
"""The default tenant, and the tenant of the jobs that code declares."""

SENDER: Final = "duetime@localhost.example"
"""The sender of mails, unless the settings name one."""

# The language at the end of a template's name.
_LANGUAGE = re.compile(r"-([a-z]{2,3}(?:-[A-Z]{2})?)$", re.ASCII)


class LocalNotifications:
    """Passes the deployment's events to `duetime.notifications.notify`, one after the other in a thread.

    Args:
        keyed: preferences, inboxes, deliveries and windows.
        outbox: receives the events, mails and messages.
        clock: of the local cloud.
        settings: returns the present ones.
    """

    def __init__(
        self, keyed: KeyedPorts, outbox: Outbox, clock: Clock, settings: Callable[[], Settings]
    ) -> None:
        self._outbox, self._settings = outbox, settings
        self._timer, self._clock = MemoryDigestTimer(clock), clock
        self._ports = NotificationPorts(
            preferences=keyed.preferences,
            inbox=keyed.inbox,
            deliveries=keyed.deliveries,
            windows=keyed.windows,
            timer=self._timer,
            mailer=self,
            topic=self,
        )
        self._thread = Threads("duetime-notify", 1)

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of the bus; only duetime's own become notifications."""
        if event["source"] == EVENT_SOURCE:
            self._outbox.put_event(event["detail-type"], id=event["id"], detail=event["detail"])
            self._thread.submit(partial(self._notify, event))

    def take_digests(self) -> None:
        """Take the requests of digests that are due."""
        for request in self._timer.take_due():
            self._thread.submit(partial(self._notify, request))

    @property
    def next_at(self) -> datetime | None:
        """When the first digest is due; None without any."""
        return self._timer.next_at

    def stop(self) -> None:
        """Wait for what has begun."""
        self._thread.stop()

    def send(self, mail: Mail) -> None:
        """Put a mail into the outbox; as in SES, one that lacks a variable of its template is not sent."""
        try:
            made = rendered(_templates(self._settings().prefix)[mail.template], mail.data)
        except TemplateVariableMissing as error:
            log.warning("mail is not sent: %s", error)
            return
        language = _LANGUAGE.search(mail.template)
        self._outbox.put_mail(
            mail.data.get("kind", ""),
            address=mail.address,
            language=language[1] if language else "",
            subject=made.subject,
            text=made.text,
            html=made.html,
        )

    def publish(self, subject: str, message: str, attributes: Mapping[str, str]) -> None:
        """Put a message of the topic into the outbox."""
        kind = attributes.get("notification", "")
        self._outbox.put_message(kind, subject=subject, text=message, attributes=attributes)

    def _notify(self, content: Mapping[str, Any]) -> None:
        try:
            Notify(self._ports, mail, clock=self._clock, settings=self._settings())(content)
        except Exception:
            log.exception("a notification failed")


@lru_cache(maxsize=4)
def _templates(prefix: str) -> Mapping[str, Template]:
    return {template.name: template for template in templates(prefix)}


def everything_to(address: str, tenant_id: TenantId) -> Preferences:
    """Return preferences for all kinds in all channels, in English.

    Raises:
        InvalidArgument: the address is invalid.
    """
    return Preferences(
        tenant_id=tenant_id,
        channels=dict.fromkeys(NotificationKind, frozenset(Channel)),
        addresses=(address,),
        admin_addresses=(address,),
        changed_by="local",
    )


def choose_everything(address: str, keyed: KeyedPorts, clock: Clock) -> None:
    """Send every notification of these tenants to `address`; a chosen preference is replaced."""
    for tenant_id in TENANTS:
        chosen = replace(everything_to(address, tenant_id), changed_at=clock.now())
        keyed.preferences.put(replace(chosen, revision=keyed.preferences.get(tenant_id).revision))
