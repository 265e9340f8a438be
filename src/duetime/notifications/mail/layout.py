"""The one layout of all mails, as text and as HTML. Its words come from a language, what it tells from a shape.

HTML without tables, scripts or images: styles are inline, and classes only bring the colours of a dark screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from duetime.model.notification import NotificationKind
from duetime.notifications.mail.shape import path, shape
from duetime.notifications.mail.words import VARIABLE, Wording


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a class: of its letters and of what is behind them."""

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

_LETTERS = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
_FIXED = "font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_FITS = "overflow-wrap:anywhere;word-break:break-word"


def text(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """The template of a mail as text."""
    foot = f"{words['layout.why']}\n{words['layout.stop']}"
    return f"{summary(words, kind, is_digest=is_digest)}\n{{{{link}}}}\n-- \n{foot}\n{{{{note}}}}\n"


def summary(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """What a mail says, without its link and its foot."""
    made, where = shape(kind, is_digest=is_digest), path(kind, is_digest=is_digest)
    colon = words["layout.colon"]
    lines = [
        f"{words[f'severity.{kind.severity}']}{colon}{words[f'{where}.heading']}",
        "",
        words[f"{where}.sentence"],
        "",
    ]
    for row in made.rows:
        gap = f"{colon.rstrip()}\n" if row == "names" else colon
        lines.append(f"{words[f'labels.{row}']}{gap}{{{{{row}}}}}")
    lines += ["", words["layout.next"]]
    for step in made.steps:
        lines += ["", f"{words[f'{where}.{step}']}{colon.rstrip()}", f"  {{{{{step}}}}}"]
    return "\n".join(lines) + "\n"


def html(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    """The template of a mail as HTML."""
    where = path(kind, is_digest=is_digest)
    heading, sentence = _html(words[f"{where}.heading"]), _html(words[f"{where}.sentence"])
    severity, colon = str(kind.severity), words["layout.colon"].rstrip()
    return f"""<!doctype html>
<html lang="{words.language}" dir="{words["layout.direction"]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>{{{{subject_html}}}}</title>
<style>
:root {{ color-scheme: light dark; supported-color-schemes: light dark; }}
a:not(.link) {{ color: inherit; }}
@media (prefers-color-scheme: dark) {{
{_dark_rules()}
}}
</style>
</head>
<body {_look("page", f"margin:0;padding:16px;font-size:16px;line-height:1.5;{_LETTERS}")}>
<div {_look("card", "max-width:600px;margin:0 auto;border-radius:8px;overflow:hidden")}>
<p {_look(severity, "margin:0;padding:10px 24px;font-size:14px;font-weight:bold")}>{_html(words[f"severity.{severity}"])}</p>
<div style="padding:20px 24px 24px">
<h1 style="margin:0 0 12px;font-size:22px;line-height:1.3;{_FITS}">{heading}</h1>
<p style="margin:0 0 20px;{_FITS}">{sentence}</p>
<dl style="margin:0 0 24px">
{_rows(words, kind, is_digest=is_digest)}
</dl>
<h2 style="margin:0 0 8px;font-size:17px">{_html(words["layout.next"])}</h2>
{_steps(words, kind, is_digest=is_digest, colon=_html(colon))}
{{{{link_html}}}}
</div>
</div>
<div {_look("foot", f"max-width:552px;margin:0 auto;padding:16px 24px;font-size:13px;{_FITS}")}>
<p style="margin:0 0 8px">{_html(words["layout.why"])}</p>
<p style="margin:0">{_html(words["layout.stop"])}</p>
{{{{note_html}}}}
</div>
</body>
</html>
"""


def link(words: Wording, address: str) -> dict[str, str]:
    """What leads to the console, as text and as HTML; nothing, where no console is."""
    if not address:
        return {"link": "", "link_html": ""}
    style = "display:inline-block;padding:10px 18px;border-radius:6px;text-decoration:none;font-weight:bold"
    console = words["layout.console"]
    as_html = f'<p style="margin:20px 0 0"><a href="{escape(address)}" {_look("link", style)}>{_html(console)}</a></p>'
    return {"link": f"{console}{words['layout.colon'].rstrip()}\n  {address}\n", "link_html": as_html}


def note(told: str) -> dict[str, str]:
    """A last line of the foot, as text and as HTML; or none."""
    as_html = f'<p style="margin:8px 0 0">{escape(told)}</p>' if told else ""
    return {"note": f"{told}\n" if told else "", "note_html": as_html}


def _rows(words: Wording, kind: NotificationKind, *, is_digest: bool) -> str:
    return "\n".join(
        f"<dt {_look('soft', 'margin:0;font-size:13px')}>{_html(words[f'labels.{row}'])}</dt>"
        f'<dd style="margin:0 0 10px;{_FITS}"><bdi>{{{{{row}_html}}}}</bdi></dd>'
        for row in shape(kind, is_digest=is_digest).rows
    )


def _steps(words: Wording, kind: NotificationKind, *, is_digest: bool, colon: str) -> str:
    where = path(kind, is_digest=is_digest)
    style = f"margin:0 0 14px;padding:10px 12px;border-radius:6px;font-size:14px;white-space:pre-wrap;{_FITS};{_FIXED}"
    return "\n".join(
        f'<p style="margin:0 0 4px">{_html(words[f"{where}.{step}"])}{colon}</p>\n'
        f'<pre dir="ltr" {_look("code", style)}>{{{{{step}_html}}}}</pre>'
        for step in shape(kind, is_digest=is_digest).steps
    )


def _html(word: str) -> str:
    """A word as HTML: its variables are those that are escaped too, and keep their direction to themselves."""
    return VARIABLE.sub(r"<bdi>{{\1_html}}</bdi>", escape(word, quote=False))


def _look(name: str, style: str) -> str:
    tone = LIGHT[name]
    return f'class="{name}" style="color:{tone.ink};background-color:{tone.ground};{style}"'


def _dark_rules() -> str:
    return "\n".join(
        f".{name} {{ color: {tone.ink} !important; background-color: {tone.ground} !important; }}"
        for name, tone in DARK.items()
    )
