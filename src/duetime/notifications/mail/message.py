"""A notification as a mail, or as plain words."""

from __future__ import annotations

from duetime.model.notification import Notification
from duetime.notifications.mail import layout
from duetime.notifications.mail.templates import TemplateVariableMissing, template
from duetime.notifications.mail.values import address_of, clean, steps_of, subject_of, twice, values_of
from duetime.notifications.mail.words import FALLBACK, Wording, filled, words_in
from duetime.ports.notifications import Mail
from duetime.settings import Settings


def mail_of(notification: Notification, *, address: str, language: str, settings: Settings) -> Mail:
    """The mail that tells `address` of a notification.

    Raises:
        TemplateVariableMissing: its template would need more than the mail carries.
        LanguageRefused: the language's file is not what mails need.
    """
    words = words_in(language)
    told = {
        **values_of(notification, words),
        **steps_of(notification),
        "subject": subject_of(notification, words),
        "address": clean(address),
        "kind": str(notification.kind),
    }
    data = {
        **twice(told),
        **layout.link(words, address_of(notification, settings.console_url)),
        **layout.note(_fallback(language, words)),
    }
    made = template(settings.prefix, words, notification.kind, is_digest=notification.is_digest)
    if missing := made.missing(data):
        raise TemplateVariableMissing(made.name, missing)
    return Mail(address=address, template=made.name, data=data)


def words_of(notification: Notification, *, language: str) -> tuple[str, str]:
    """Its subject, and what it says as plain text, for a topic or a list."""
    words = words_in(language)
    told = {**values_of(notification, words), **steps_of(notification)}
    text = layout.summary(words, notification.kind, is_digest=notification.is_digest)
    return subject_of(notification, words), filled(text, told)


def _fallback(asked: str, words: Wording) -> str:
    """That another language was asked for, where that is so."""
    if words.language != FALLBACK or asked.partition("-")[0] == FALLBACK:
        return ""
    return filled(words["layout.fallback"], {"language": clean(asked)})
