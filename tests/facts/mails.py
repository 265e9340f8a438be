"""Mails of every kind and language, as recipients see them."""

from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

from duetime.model.notification import NotificationKind
from duetime.notifications.mail import languages, mail_of, rendered, templates
from duetime.notifications.mail.samples import sample, samples
from duetime.notifications.mail.words import DIRECTORY
from duetime.settings import Settings
from tests.cases import for_each

NOON = datetime(2030, 6, 1, 12, tzinfo=UTC)
PLAIN = Settings()
WITH_CONSOLE = Settings(console_url="https://console.example.com")
FAILED = sample(NotificationKind.ACTION_FAILED, is_digest=False)
EVERY = [(notification, language) for notification in samples() for language in languages()]
each_mail = for_each("notification, language", EVERY)


def received_mail(notification, language="en", settings=PLAIN, directory=DIRECTORY):
    """Return the mail as it arrives, in the words of the languages in `directory`."""
    mail = mail_of(
        notification,
        address="ada@acme.example",
        language=language,
        settings=settings,
        directory=directory,
    )
    [template] = [
        template for template in templates(settings.prefix, directory) if template.name == mail.template
    ]
    return rendered(template, mail.data)


def with_facts(notification=FAILED, **facts):
    return replace(notification, facts={**notification.facts, **facts})


class Page(HTMLParser):
    """The elements, attributes and words of an HTML page."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.words, self.attributes = [], "", {}
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes.setdefault(tag, []).append(dict(attrs))

    def handle_data(self, data):
        self.words += data
