"""A notification as a mail, or as plain words: readable facts, safe in text and in HTML.

The mail service escapes nothing. So each value is sent twice: as text, and escaped as ``…_html``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from duetime import instant
from duetime.errors import InvalidArgument, truncate
from duetime.model.notification import Notification
from duetime.notifications.mail import layout, templates
from duetime.notifications.mail.shape import MailShape, path, shape
from duetime.notifications.mail.words import DIRECTORY, FALLBACK, Wording, filled, words_in
from duetime.ports.notifications import Mail
from duetime.settings import Settings

SUBJECT_LIMIT = 100
_IN_SUBJECT = 34
"""Characters of one value in a subject, so that the words around it remain."""
_NAMES = 20
_INSTANTS = frozenset({"due", "since", "until"})
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]+")
"""Line breaks, control characters, and marks that change the direction of the text after them."""


def clean(value: object) -> str:
    """Return a value from outside as one line of at most 500 characters."""
    encodable = str(value).encode(errors="replace").decode()
    return truncate(" ".join(_UNSEEN.sub(" ", encodable).split()))


def values_of(notification: Notification, words: Wording) -> dict[str, str]:
    """Return the text of each variable; words replace unknown facts."""
    mail = shape(notification.kind, is_digest=notification.is_digest)
    return {name: _value(name, notification, mail, words) for name in sorted(mail.variables)}


def subject_of(notification: Notification, words: Wording) -> str:
    """Return the subject: one line of at most 100 characters."""
    values = {name: truncate(value, _IN_SUBJECT) for name, value in values_of(notification, words).items()}
    section = path(notification.kind, is_digest=notification.is_digest)
    return truncate(clean(filled(words[f"{section}.subject"], values)), SUBJECT_LIMIT)


def steps_of(notification: Notification) -> dict[str, str]:
    """Return the commands of the next steps, quoted for a shell."""
    mail = shape(notification.kind, is_digest=notification.is_digest)
    ending = f" {shlex.quote(_named(notification, mail) or 'ID')}" if mail.named_by else ""
    return {step: command + ending for step, command in mail.steps.items()}


def console_address(notification: Notification, console: str) -> str:
    """Return the address of the notification's page in the console; empty without a console."""
    if not console:
        return ""
    mail = shape(notification.kind, is_digest=notification.is_digest)
    name = _named(notification, mail)
    return f"{console}/#/{mail.page}" + (f"/{quote(name, safe='')}" if name else "")


def with_html(values: Mapping[str, str]) -> dict[str, str]:
    """Return each value as text, and escaped under ``…_html``."""
    as_html = {f"{name}_html": escape(value).replace("\n", "<br>") for name, value in values.items()}
    return {**values, **as_html}


def _value(name: str, notification: Notification, mail: MailShape, words: Wording) -> str:
    if name == "tenant":
        return clean(notification.tenant_id)
    if name == "when":
        return _readable(notification.at.isoformat())
    fact = notification.facts.get(mail.facts.get(name, name))
    if name == "names":
        return "\n".join(_names(fact, words)) or words["missing.other"]
    if name == "what":
        return words.get(f"things.{fact}") or words["missing.other"]
    text = "" if fact is None else clean(fact)
    if not text:
        return words.get(f"missing.{name}") or words["missing.other"]
    return _readable(text) if name in _INSTANTS else text


def _readable(written: str) -> str:
    try:
        return f"{instant.parse(written):%Y-%m-%d %H:%M:%S} UTC"
    except InvalidArgument:
        return written


def _names(counted: Any, words: Wording) -> Iterator[str]:
    if not isinstance(counted, Mapping):
        return
    by_count = sorted(counted.items(), key=lambda item: (-int(item[1]), item[0]))
    for name, count in by_count[:_NAMES]:
        yield f"{int(count)} \N{MULTIPLICATION SIGN} {truncate(clean(name), 100) or words['missing.other']}"
    if more := sum(int(count) for _, count in by_count[_NAMES:]):
        yield filled(words["layout.others"], {"count": str(more)})


def _named(notification: Notification, mail: MailShape) -> str:
    fact = notification.facts.get(mail.named_by) if mail.named_by else None
    return "" if fact is None else clean(fact)


def mail_of(
    notification: Notification,
    *,
    address: str,
    language: str,
    settings: Settings,
    directory: Path = DIRECTORY,
) -> Mail:
    """Return the mail that reports a notification to `address`.

    Raises:
        DeclarationError: the language's file is not what mails need.
    """
    words = words_in(language, directory)
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
