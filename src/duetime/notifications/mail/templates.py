"""The templates that a deploy puts into the mail service, and the mails rendered from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from duetime.errors import DuetimeError
from duetime.model.notification import NotificationKind
from duetime.notifications.mail import layout
from duetime.notifications.mail.shape import every, shape
from duetime.notifications.mail.words import DIRECTORY, VARIABLE, Wording, filled, languages, words_in

NAME_LIMIT = 64
"""Characters of a name. SES allows letters, digits, ``-`` and ``_``."""
_HASH_LENGTH = 8
_DASHED = str.maketrans("._", "--")


class TemplateVariableMissing(DuetimeError, LookupError):
    """A mail's data lacks variables of its template: the service would accept the mail and never send it."""

    code = "template-variable-missing"

    def __init__(self, template: str, variables: Sequence[str]) -> None:
        self.template, self.variables = template, tuple(variables)
        super().__init__(f"the template {template} needs what the mail lacks: {', '.join(self.variables)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One template, as the mail service stores it."""

    name: str
    subject: str
    text: str
    html: str

    @property
    def variables(self) -> frozenset[str]:
        """The variables that a mail must carry."""
        return frozenset(VARIABLE.findall(self.subject + self.text + self.html))

    def require(self, available: frozenset[str]) -> None:
        """Check that every variable is available.

        Raises:
            TemplateVariableMissing: some are not.
        """
        if missing := sorted(self.variables - available):
            raise TemplateVariableMissing(self.name, missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """A mail as it arrives."""

    subject: str
    text: str
    html: str


def templates(prefix: str, directory: Path = DIRECTORY) -> Sequence[Template]:
    """Return a template of every kind, single and digest, in every language of `directory`. Needs Jinja2.

    Raises:
        DeclarationError: a language's file is not what mails need.
        TemplateVariableMissing: the layout uses a variable that the mails of that kind do not carry.
    """
    return [
        _template(prefix, words_in(language, directory), kind, is_digest=is_digest)
        for language in languages(directory)
        for kind, is_digest in every()
    ]


def name(prefix: str, kind: NotificationKind, language: str, *, is_digest: bool) -> str:
    """Return a template's name. After a long prefix, a hash replaces the end of the kind."""
    dashed = str(kind).translate(_DASHED) + ("-digest" if is_digest else "")
    room = NAME_LIMIT - len(prefix) - len(f"-{language}")
    if len(dashed) > room:
        dashed = f"{dashed[: room - _HASH_LENGTH - 1]}-{sha256(dashed.encode()).hexdigest()[:_HASH_LENGTH]}"
    return f"{prefix}{dashed}-{language}"


def rendered(template: Template, data: Mapping[str, str]) -> Rendered:
    """Return the mail that the mail service renders from a template, for display.

    Raises:
        TemplateVariableMissing: `data` lacks some of its variables.
    """
    template.require(frozenset(data))
    return Rendered(
        subject=filled(template.subject, data),
        text=filled(template.text, data),
        html=filled(template.html, data),
    )


def _template(prefix: str, words: Wording, kind: NotificationKind, *, is_digest: bool) -> Template:
    template = Template(
        name=name(prefix, kind, words.language, is_digest=is_digest),
        subject="{{subject}}",
        text=layout.text(words, kind, is_digest=is_digest),
        html=layout.html(words, kind, is_digest=is_digest),
    )
    template.require(shape(kind, is_digest=is_digest).data_names)
    return template
