"""Deliver: a notification goes into each channel that was asked for, and to each address once.

Each delivery is begun, sent, and ended; one that fails keeps none of the others from being sent.
"""

from __future__ import annotations

import logging
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import Protocol

from duetime.clock import Clock
from duetime.errors import BackendUnavailable, DuetimeError, truncate
from duetime.model.notification import Channel, DeliveryRejected, Notification
from duetime.model.preferences import Preferences
from duetime.ports.notifications import Mail, Mailer, NotificationPorts, SendPermit, Topic
from duetime.settings import Settings

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
"""Longer than any call of a mail service: a call that has not ended by then is dead."""

SUBJECT_LIMIT = 99
_LOCAL_PART = re.compile(r"([^\s@<>(),:;\"])[^\s@<>(),:;\"]*@")

Do = Callable[[], None]


class MailRenderer(Protocol):
    """What notifications say."""

    def mail_of(self, notification: Notification, *, address: str, language: str, settings: Settings) -> Mail:
        """The mail to one address; in English, which it then says, if there are no words in the language."""
        ...

    def words_of(self, notification: Notification, *, language: str) -> tuple[str, str]:
        """Subject and plain text."""
        ...


class Deliver:
    """Delivers one notification as its tenant's preferences say."""

    def __init__(
        self,
        ports: NotificationPorts,
        words: MailRenderer,
        *,
        clock: Clock,
        settings: Settings,
        remembered: timedelta,
    ) -> None:
        self._ports, self._words = ports, words
        self._clock, self._settings, self._remembered = clock, settings, remembered

    def __call__(self, notification: Notification, chosen: Preferences) -> None:
        """Deliver what was not delivered yet.

        Raises:
            BackendUnavailable: something was not sent, and may be tried again.
            BackendMisconfigured: something cannot be sent until the deployment is fixed.
        """
        do_all(self._deliveries(notification, chosen))

    def _deliveries(self, notification: Notification, chosen: Preferences) -> Iterator[Do]:
        channels, language = chosen.channels_for(notification.kind), chosen.language
        topic, mailer = self._ports.topic, self._ports.mailer
        if Channel.IN_APP in channels:
            expires_at = self._clock.now() + self._settings.retention
            yield partial(self._ports.inbox.add, notification, expires_at=expires_at)
        if Channel.SNS in channels and topic is not None:
            send = partial(self._publish, topic, notification, language)
            yield partial(self._once, notification, Channel.SNS, "", send)
        if Channel.EMAIL in channels and mailer is not None:
            for address in dict.fromkeys(chosen.addresses_for(notification.kind)):
                send = partial(self._mail, mailer, notification, address, language)
                yield partial(self._once, notification, Channel.EMAIL, address, send)
        for channel, port in ((Channel.SNS, topic), (Channel.EMAIL, mailer)):
            if channel in channels and port is None:
                log.warning(
                    "this deployment has not the channel that was asked for",
                    extra={"tenant": notification.tenant_id, "channel": channel.value},
                )

    def _publish(self, topic: Topic, notification: Notification, language: str) -> None:
        subject, text = self._words.words_of(notification, language=language)
        attributes = {
            "tenant": notification.tenant_id,
            "notification": notification.kind.value,
            "severity": notification.kind.severity.value,
            "deployment": self._settings.prefix,
        }
        topic.publish(plain(subject) or notification.kind.value, text, attributes)

    def _mail(self, mailer: Mailer, notification: Notification, address: str, language: str) -> None:
        mailer.send(
            self._words.mail_of(notification, address=address, language=language, settings=self._settings)
        )

    def _once(self, notification: Notification, channel: Channel, address: str, send: Do) -> None:
        """Send it, unless it was sent; between its sending and its end there is no safety but haste."""
        tenant_id, now = notification.tenant_id, self._clock.now()
        delivery_id, holder = f"{notification.id}:{channel}:{address}", secrets.token_urlsafe(9)
        deliveries, expires_at = self._ports.deliveries, now + self._remembered
        begun = deliveries.begin(
            tenant_id, delivery_id, holder=holder, now=now, until=now + LEASE, expires_at=expires_at
        )
        if begun is SendPermit.SENT:
            return
        if begun is SendPermit.HELD:
            raise BackendUnavailable("the delivery", f"another is sending {notification.id} ({channel})")
        fields = _log_fields(notification, channel, address)
        try:
            send()
        except DeliveryRejected as refused:
            log.error(  # noqa: TRY400 - the reason is enough
                "notification rejected, it is not sent again", extra=fields | {"reason": masked(refused)}
            )
        except DuetimeError:
            deliveries.forget(tenant_id, delivery_id, holder=holder)
            raise
        else:
            log.info("notified", extra=fields)
        deliveries.end(tenant_id, delivery_id, expires_at=expires_at)


def do_all(doings: Iterable[Do]) -> None:
    """Do each, whatever becomes of the others.

    Raises:
        DuetimeError: what the first one raised that failed.
    """
    failure: DuetimeError | None = None
    for do in doings:
        try:
            do()
        except DuetimeError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def plain(subject: str) -> str:
    """A subject in printable ASCII, as SNS wants it; letters lose their accents."""
    bare = unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode()
    line = " ".join("".join(channel_ if channel_.isprintable() else " " for channel_ in bare).split())
    return line if len(line) <= SUBJECT_LIMIT else line[: SUBJECT_LIMIT - 3] + "..."


def masked(text: object) -> str:
    """A text for logs: of mail addresses the first letter and the domain alone."""
    return truncate(_LOCAL_PART.sub(r"\1…@", str(text)))


def _log_fields(notification: Notification, channel: Channel, address: str) -> dict[str, object]:
    return {
        "notification": notification.kind.value,
        "tenant": notification.tenant_id,
        "notification_id": notification.id,
        "channel": channel.value,
        "to": masked(address) or None,
    }
