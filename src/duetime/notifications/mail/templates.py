"""The templates that a deploy puts into the mail service, and what the service makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from duetime.errors import DuetimeError
from duetime.model.notification import NotificationKind
from duetime.notifications.mail import layout
from duetime.notifications.mail.shape import every
from duetime.notifications.mail.words import VARIABLE, Wording, filled, languages, words_in

NAME_LIMIT = 64
"""Characters, of which SES admits letters, digits, ``-`` and ``_``."""
_DIGEST = 8


class TemplateVariableMissing(DuetimeError, LookupError):
    """What a mail carries lacks variables of its template: the service would take it, and send nothing."""

    code = "template-variable-missing"

    def __init__(self, template: str, variables: Sequence[str]) -> None:
        self.template, self.variables = template, tuple(variables)
        super().__init__(f"the template {template} needs what the mail lacks: {', '.join(self.variables)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One template, as the mail service keeps it."""

    name: str
    subject: str
    text: str
    html: str

    @property
    def variables(self) -> frozenset[str]:
        """What a mail must carry."""
        return frozenset(VARIABLE.findall(self.subject + self.text + self.html))

    def missing(self, data: Mapping[str, str]) -> list[str]:
        """The variables that are not among `data`."""
        return sorted(self.variables - data.keys())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A mail as it arrives."""

    subject: str
    text: str
    html: str


def templates(prefix: str) -> Sequence[Template]:
    """Every kind's, for single notifications and digests, in every language.

    Raises:
        LanguageRefused: a language's file is not what mails need.
    """
    return [*_all(prefix)]


def template(prefix: str, words: Wording, kind: NotificationKind, *, is_digest: bool) -> Template:
    """The template of one kind in one language."""
    return Template(
        name=name(prefix, kind, words.language, is_digest=is_digest),
        subject="{{subject}}",
        text=layout.text(words, kind, is_digest=is_digest),
        html=layout.html(words, kind, is_digest=is_digest),
    )


def name(prefix: str, kind: NotificationKind, language: str, *, is_digest: bool) -> str:
    """The template's name. Behind a long prefix, the end of the kind gives way to a hash of it."""
    told = str(kind).translate(_DASHED) + ("-digest" if is_digest else "")
    room = NAME_LIMIT - len(prefix) - len(f"-{language}")
    if len(told) > room:
        told = f"{told[: room - _DIGEST - 1]}-{sha256(told.encode()).hexdigest()[:_DIGEST]}"
    return f"{prefix}{told}-{language}"


def rendered(template: Template, data: Mapping[str, str]) -> Rendered:
    """What the mail service makes of a template: for looking at.

    Raises:
        TemplateVariableMissing: `data` lacks some of its variables.
    """
    if missing := template.missing(data):
        raise TemplateVariableMissing(template.name, missing)
    return Rendered(
        subject=filled(template.subject, data),
        text=filled(template.text, data),
        html=filled(template.html, data),
    )


def _all(prefix: str) -> Iterator[Template]:
    for language in languages():
        words = words_in(language)
        for kind, is_digest in every():
            yield template(prefix, words, kind, is_digest=is_digest)


_DASHED = str.maketrans("._", "--")
