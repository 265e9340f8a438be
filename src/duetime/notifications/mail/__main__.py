"""Write each mail as it arrived, with sample facts, in every language. Needs Jinja2.

``python -m duetime.notifications.mail DIRECTORY``
"""

from __future__ import annotations

import sys
from pathlib import Path

from duetime.notifications.mail import languages, mail_of, rendered, templates
from duetime.notifications.mail.samples import samples
from duetime.settings import Settings


def main(directory: Path) -> None:
    """Write a ``.html`` and a ``.txt`` of each mail, named like its template.

    The language ``xx`` shows a mail in a language without words.
    """
    settings = Settings(prefix="", console_url="https://console.example.com")
    known = {template.name: template for template in templates(settings.prefix)}
    directory.mkdir(parents=True, exist_ok=True)
    for language in (*languages(), "xx"):
        for notification in samples():
            mail = mail_of(notification, address="ada@acme.example", language=language, settings=settings)
            arrived = rendered(known[mail.template], mail.data)
            file = directory / (f"{mail.template}-as-xx" if language == "xx" else mail.template)
            file.with_suffix(".html").write_text(arrived.html, encoding="utf-8")
            file.with_suffix(".txt").write_text(f"{arrived.subject}\n\n{arrived.text}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
