"""Deliver a notification to each chosen channel, and to each address once.

Each delivery is begun, sent and ended. A failed delivery does not stop the others. A mail service or topic
that fails several times in a row is not called for a minute: if it hangs, no other channel or digest waits.
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
from duetime.ports.circuit_breaker import CircuitBreaker
from duetime.ports.deliveries import SendPermit
from duetime.ports.notifications import Mail, Mailer, NotificationPorts, Topic
from duetime.settings import Settings

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=2)
"""Longer than any call of a mail service: after it, the call counts as dead."""

SUBJECT_LIMIT = 99
_LOCAL_PART = re.compile(r"([^\s@<>(),:;\"])[^\s@<>(),:;\"]*@")

Do = Callable[[], None]


class MailRenderer(Protocol):
    """Renders notifications."""

    def mail_of(self, notification: Notification, *, address: str, language: str, settings: Settings) -> Mail:
        """Return the mail to one address; without words in the language, in English with a note."""
        ...

    def words_of(self, notification: Notification, *, language: str) -> tuple[str, str]:
        """Return the subject and the plain text."""
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
        self._breakers = {channel: CircuitBreaker(clock) for channel in Channel}

    def __call__(self, notification: Notification, chosen: Preferences) -> None:
        """Make the deliveries that are missing.

        Raises:
            BackendUnavailable: a delivery failed, and may be repeated.
            BackendMisconfigured: a delivery needs a fix of the deployment.
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
                    "this deployment lacks the chosen channel",
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
        """Send it unless it was sent; a crash between the send and its record repeats the send."""
        breaker = self._breakers[channel]
        if breaker.is_open:
            raise BackendUnavailable(channel.value, "it failed several times, and is tried again in a minute")
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
        fields = {**log_fields(notification), "channel": channel.value, "to": masked(address) or None}
        try:
            send()
        except DeliveryRejected as refused:
            log.error(  # noqa: TRY400 - the reason is enough
                "notification rejected, it is not sent again", extra=fields | {"reason": masked(refused)}
            )
        except DuetimeError as error:
            if isinstance(error, BackendUnavailable):
                breaker.failed()
            deliveries.forget(tenant_id, delivery_id, holder=holder)
            raise
        else:
            breaker.succeeded()
            log.info("notified", extra=fields)
        deliveries.end(tenant_id, delivery_id, expires_at=expires_at)


def do_all(calls: Iterable[Do]) -> None:
    """Call each, even after errors.

    Raises:
        DuetimeError: the first error.
    """
    failure: DuetimeError | None = None
    for call in calls:
        try:
            call()
        except DuetimeError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def plain(subject: str) -> str:
    """Return a subject in printable ASCII, as SNS requires; letters lose their accents."""
    bare = unicodedata.normalize("NFKD", subject).encode("ascii", "ignore").decode()
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in bare).split())
    return line if len(line) <= SUBJECT_LIMIT else line[: SUBJECT_LIMIT - 3] + "..."


def masked(text: object) -> str:
    """Return a text for logs: mail addresses keep their first letter and domain."""
    return truncate(_LOCAL_PART.sub(r"\1…@", str(text)))


def log_fields(notification: Notification) -> dict[str, object]:
    """Return the log fields of a notification."""
    return {
        "notification": notification.kind.value,
        "tenant": notification.tenant_id,
        "notification_id": notification.id,
    }
