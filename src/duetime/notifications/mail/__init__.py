"""Mails that report notifications to people, in their language.

A deploy puts `templates` into the mail service; a `Mail` names one of them and carries the values of
its variables. The words are in ``languages/``, one file each; docs/mails.md describes how to add one.
"""

from __future__ import annotations

from duetime.errors import DeclarationError
from duetime.notifications.mail.message import mail_of, words_of
from duetime.notifications.mail.templates import (
    Rendered,
    Template,
    TemplateVariableMissing,
    rendered,
    templates,
)
from duetime.notifications.mail.words import languages, mail_language

__all__ = [
    "DeclarationError",
    "Rendered",
    "Template",
    "TemplateVariableMissing",
    "languages",
    "mail_language",
    "mail_of",
    "rendered",
    "templates",
    "words_of",
]
