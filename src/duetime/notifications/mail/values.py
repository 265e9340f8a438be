"""What a mail's variables stand for: facts as people read them, safe wherever the mail service puts them.

The service escapes nothing. So each variable comes twice: as text, and as ``…_html``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote

from duetime import instant
from duetime.errors import InvalidTime, truncate
from duetime.model.notification import Notification
from duetime.notifications.mail.shape import MailShape, path, shape
from duetime.notifications.mail.words import Wording, filled

SUBJECT_LIMIT = 100
_IN_SUBJECT = 34
"""Characters of one value there, so that words remain."""
_NAMES = 20
_INSTANTS = frozenset({"due", "since", "until"})
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff]+")
"""Line breaks, control characters, and what turns the direction of the text that follows."""


def clean(value: object) -> str:
    """A value from outside as one line of at most 500 characters."""
    encodable = str(value).encode(errors="replace").decode()
    return truncate(" ".join(_UNSEEN.sub(" ", encodable).split()))


def values_of(notification: Notification, words: Wording) -> dict[str, str]:
    """What is told of a notification, by variable, as text. What is not known is said in words."""
    made = shape(notification.kind, is_digest=notification.is_digest)
    return {name: _value(name, notification, made, words) for name in sorted(made.variables)}


def subject_of(notification: Notification, words: Wording) -> str:
    """Its subject: one line of at most 100 characters."""
    values = {name: truncate(value, _IN_SUBJECT) for name, value in values_of(notification, words).items()}
    where = path(notification.kind, is_digest=notification.is_digest)
    return truncate(clean(filled(words[f"{where}.subject"], values)), SUBJECT_LIMIT)


def steps_of(notification: Notification) -> dict[str, str]:
    """The commands for what to do next, ready to be pasted."""
    made = shape(notification.kind, is_digest=notification.is_digest)
    ending = f" {shlex.quote(_named(notification, made) or 'ID')}" if made.named_by else ""
    return {step: command + ending for step, command in made.steps.items()}


def address_of(notification: Notification, console: str) -> str:
    """The address of its page in the console; empty where there is no console."""
    if not console:
        return ""
    made = shape(notification.kind, is_digest=notification.is_digest)
    name = _named(notification, made)
    return f"{console}/#/{made.page}" + (f"/{quote(name, safe='')}" if name else "")


def twice(values: Mapping[str, str]) -> dict[str, str]:
    """Each as text, and as HTML."""
    as_html = {f"{name}_html": escape(value).replace("\n", "<br>") for name, value in values.items()}
    return {**values, **as_html}


def _value(name: str, notification: Notification, made: MailShape, words: Wording) -> str:
    if name == "tenant":
        return clean(notification.tenant_id)
    if name == "when":
        return _readable(notification.at.isoformat())
    fact = notification.facts.get(made.facts.get(name, name))
    if name == "names":
        return "\n".join(_names(fact, words)) or words["missing.other"]
    if name == "what":
        return words.get(f"things.{fact}") or words["missing.other"]
    told = "" if fact is None else clean(fact)
    if not told:
        return words.get(f"missing.{name}") or words["missing.other"]
    return _readable(told) if name in _INSTANTS else told


def _readable(written: str) -> str:
    try:
        return f"{instant.parse(written):%Y-%m-%d %H:%M:%S} UTC"
    except InvalidTime:
        return written


def _names(counted: Any, words: Wording) -> Iterator[str]:
    """How many of each, the most frequent first."""
    if not isinstance(counted, Mapping):
        return
    by_count = sorted(counted.items(), key=lambda item: (-int(item[1]), item[0]))
    for name, count in by_count[:_NAMES]:
        yield f"{int(count)} \N{MULTIPLICATION SIGN} {truncate(clean(name), 100) or words['missing.other']}"
    if more := sum(int(count) for _, count in by_count[_NAMES:]):
        yield filled(words["layout.others"], {"count": str(more)})


def _named(notification: Notification, made: MailShape) -> str:
    fact = notification.facts.get(made.named_by) if made.named_by else None
    return "" if fact is None else clean(fact)
