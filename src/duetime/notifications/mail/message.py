"""A notification as a mail, or as plain words."""

from __future__ import annotations

from duetime.model.notification import Notification
from duetime.notifications.mail import layout, templates
from duetime.notifications.mail.values import (
    clean,
    console_address,
    steps_of,
    subject_of,
    values_of,
    with_html,
)
from duetime.notifications.mail.words import FALLBACK, Wording, filled, words_in
from duetime.ports.notifications import Mail
from duetime.settings import Settings


def mail_of(notification: Notification, *, address: str, language: str, settings: Settings) -> Mail:
    """Return the mail that reports a notification to `address`.

    Raises:
        LanguageRejected: the language's file is not what mails need.
    """
    words = words_in(language)
    texts = {
        **values_of(notification, words),
        **steps_of(notification),
        "subject": subject_of(notification, words),
        "address": clean(address),
        "kind": str(notification.kind),
    }
    data = {
        **with_html(texts),
        **layout.link(words, console_address(notification, settings.console_url)),
        **layout.note(_fallback(language, words)),
    }
    template = templates.name(
        settings.prefix, notification.kind, words.language, is_digest=notification.is_digest
    )
    return Mail(address=address, template=template, data=data)


def words_of(notification: Notification, *, language: str) -> tuple[str, str]:
    """Return the subject and the plain text of a notification, for a topic or a list."""
    words = words_in(language)
    values = {**values_of(notification, words), **steps_of(notification)}
    text = layout.summary(words, notification.kind, is_digest=notification.is_digest)
    return subject_of(notification, words), filled(text, values)


def _fallback(requested: str, words: Wording) -> str:
    """Return the line that explains why the mail is in English; empty if the recipient chose English."""
    if words.language != FALLBACK or requested.partition("-")[0] == FALLBACK:
        return ""
    return filled(words["layout.fallback"], {"language": clean(requested)})
