"""The layout of all mails, as text and as HTML.

A language provides the words; a shape provides the rows and commands. A deploy or the local cloud renders
``layout.html.jinja`` when it makes the templates; Lambda functions never render it. The HTML has no tables,
scripts or images. Its styles are inline; classes only carry the colours of a dark screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from duetime.model.notification import NotificationKind
from duetime.notifications.mail.shape import path, shape
from duetime.notifications.mail.words import VARIABLE, Wording

if TYPE_CHECKING:
    from jinja2 import Template

_HTML = Path(__file__).with_name("layout.html.jinja")
_LINK_STYLE = "display:inline-block;padding:10px 18px;border-radius:6px;text-decoration:none;font-weight:bold"


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a class: of its letters and of the background."""

    ink: str
    ground: str


LIGHT: Mapping[str, Palette] = {
    "page": Palette("#1f2430", "#eef0f3"),
    "card": Palette("#1f2430", "#ffffff"),
    "soft": Palette("#565e6c", "#ffffff"),
    "foot": Palette("#565e6c", "#eef0f3"),
    "code": Palette("#1f2430", "#f1f3f6"),
    "link": Palette("#ffffff", "#1a5fb4"),
    "info": Palette("#0b4f85", "#e3f0fb"),
    "warning": Palette("#714500", "#fff1cc"),
    "error": Palette("#8f1d14", "#fde7e4"),
}
DARK: Mapping[str, Palette] = {
    "page": Palette("#e8eaed", "#101318"),
    "card": Palette("#e8eaed", "#1b1f26"),
    "soft": Palette("#aab2bf", "#1b1f26"),
    "foot": Palette("#aab2bf", "#101318"),
    "code": Palette("#e8eaed", "#2a303a"),
    "link": Palette("#0d1b2a", "#8ec5ff"),
    "info": Palette("#b5dcff", "#0f3350"),
    "warning": Palette("#ffdf99", "#463100"),
    "error": Palette("#ffc9c3", "#4d1713"),
}


def text(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """Return the template of a mail as text."""
    footer = f"{words['layout.why']}\n{words['layout.stop']}"
    return f"{summary(words, kind, is_digest=is_digest)}\n{{{{link}}}}\n-- \n{footer}\n{{{{note}}}}\n"


def summary(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """Return the text template without the link and the footer."""
    mail, section = shape(kind, is_digest=is_digest), path(kind, is_digest=is_digest)
    colon = words["layout.colon"]
    heading = f"{words[f'severity.{kind.severity}']}{colon}{words[f'{section}.heading']}"
    lines = [heading, "", words[f"{section}.sentence"], ""]
    for row in mail.rows:
        gap = f"{colon.rstrip()}\n" if row == "names" else colon
        lines.append(f"{words[f'labels.{row}']}{gap}{{{{{row}}}}}")
    lines += ["", words["layout.next"]]
    for step in mail.steps:
        lines += ["", f"{words[f'{section}.{step}']}{colon.rstrip()}", f"  {{{{{step}}}}}"]
    return "\n".join(lines) + "\n"


def html(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """Return the template of a mail as HTML. Needs Jinja2."""
    mail, section = shape(kind, is_digest=is_digest), path(kind, is_digest=is_digest)
    return _html_template().render(
        language=words.language,
        direction=words["layout.direction"],
        severity=str(kind.severity),
        severity_word=words[f"severity.{kind.severity}"],
        heading=words[f"{section}.heading"],
        sentence=words[f"{section}.sentence"],
        rows=[(row, words[f"labels.{row}"]) for row in mail.rows],
        next=words["layout.next"],
        steps=[(step, words[f"{section}.{step}"]) for step in mail.steps],
        colon=words["layout.colon"].rstrip(),
        why=words["layout.why"],
        stop=words["layout.stop"],
    )


def link(words: Wording, address: str) -> dict[str, str]:
    """Return the link to the console as text and as HTML; both are empty without an address."""
    if not address:
        return {"link": "", "link_html": ""}
    console = words["layout.console"]
    anchor = f'<a href="{escape(address)}" {_colours("link")};{_LINK_STYLE}">{_word(console)}</a>'
    return {
        "link": f"{console}{words['layout.colon'].rstrip()}\n  {address}\n",
        "link_html": f'<p style="margin:20px 0 0">{anchor}</p>',
    }


def note(line: str) -> dict[str, str]:
    """Return the last line of the footer as text and as HTML; both are empty without a line."""
    as_html = f'<p style="margin:8px 0 0">{escape(line)}</p>' if line else ""
    return {"note": f"{line}\n" if line else "", "note_html": as_html}


@cache
def _html_template() -> Template:
    from jinja2 import Environment  # noqa: PLC0415 - only synthesis and the local cloud have it
    from markupsafe import Markup  # noqa: PLC0415

    environment = Environment(
        autoescape=True,
        variable_start_string="[[",  # doubled braces are SES's variables
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["word"] = lambda word: Markup(_word(word))  # noqa: S704 - `_word` escapes
    environment.globals["colours"] = lambda name: Markup(_colours(name))  # noqa: S704 - constants
    environment.globals["dark"] = DARK
    return environment.from_string(_HTML.read_text(encoding="utf-8"))


def _word(word: str) -> str:
    """Escape a word for HTML. Its variables become the escaped ones, each with its own text direction."""
    return VARIABLE.sub(r"<bdi>{{\1_html}}</bdi>", escape(word, quote=False))


def _colours(name: str) -> str:
    """Return a class with its light colours, and leave the style attribute open for more."""
    palette = LIGHT[name]
    return f'class="{name}" style="color:{palette.ink};background-color:{palette.ground}'
