"""Serves the outbox over HTTP below ``/outbox``, to this machine only, without a sign-in."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from html import escape
from typing import Any, Final

from werkzeug.exceptions import BadRequest, NotFound
from werkzeug.wrappers import Request, Response

from duetime import instant
from duetime.local.metrics import Metrics
from duetime.local.outbox import KEPT, Outbox, SentMail

PATH: Final = "/outbox"
_USUAL = 100
_SHOWN = 20
_MAIL = re.compile(r"/mails/([0-9]{1,9})(\.txt)?", re.ASCII)
_HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
}
"""A mail contains foreign text: it must run no script and load nothing."""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>duetime, the outbox</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }}
  th, td {{ text-align: left; padding: .25rem 1.5rem .25rem 0; vertical-align: top; }}
  :root {{ color-scheme: light dark; }}
</style>
</head>
<body>
<h1>The outbox</h1>
<p>What the <a href="/">local cloud</a> has sent; nothing leaves this machine.
The latest {limit:,} of each kind are stored.</p>
<ul>
{links}
</ul>
{mails}</body>
</html>
"""

_MAILS = """<h2>The latest mails</h2>
<table>
<thead><tr><th scope="col">Mail</th><th scope="col">To</th><th scope="col">Subject</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
"""

_LINKS = {
    "events": "the lifecycle events that were put on the bus",
    "mails": "the mails, as they arrive",
    "messages": "the messages of the topic",
    "metrics": "what the functions count and measure",
}


class OutboxPages:
    """Answers requests below `PATH`."""

    def __init__(self, outbox: Outbox, metrics: Metrics) -> None:
        self._outbox = outbox
        boxes = {name: getattr(outbox, name) for name in ("events", "mails", "messages")}
        self._lists: Mapping[str, Callable[[str | None, int], Sequence[Mapping[str, Any]]]] = {
            **{f"/{name}": _listing(box) for name, box in boxes.items()},
            "/metrics": _metering(metrics),
        }

    def __call__(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            NotFound: the path is unknown.
            BadRequest: the limit is invalid.
        """
        path = request.path.removeprefix(PATH)
        if path in {"", "/"}:
            return Response(self._page(), content_type="text/html; charset=utf-8")
        if listed := self._lists.get(path):
            items = listed(request.args.get("type"), _limit(request))
            return Response(json.dumps({"items": items}), content_type="application/json")
        found = _MAIL.fullmatch(path)
        mail = self._outbox.mails.get(int(found[1])) if found else None
        if found is None or mail is None:
            raise NotFound
        if found[2]:
            return Response(f"{mail.subject}\n\n{mail.text}", content_type="text/plain; charset=utf-8")
        return Response(mail.html, content_type="text/html; charset=utf-8", headers=_HARMLESS)

    def _page(self) -> str:
        links = (f'<li><a href="{PATH}/{name}">{name}</a>: {text}</li>' for name, text in _LINKS.items())
        rows = "\n".join(map(_row, self._outbox.mails.list(limit=_SHOWN)))
        return _PAGE.format(
            limit=KEPT, links="\n".join(links), mails=_MAILS.format(rows=rows) if rows else ""
        )


def _listing(box: Any) -> Callable[[str | None, int], Sequence[Mapping[str, Any]]]:
    return lambda type_, limit: [
        {**asdict(item), "at": instant.text(item.at)} for item in box.list(type=type_, limit=limit)
    ]


def _metering(metrics: Metrics) -> Callable[[str | None, int], Sequence[Mapping[str, Any]]]:
    return lambda name, limit: [asdict(series) for series in metrics.list() if name in {None, series.name}][
        :limit
    ]


def _limit(request: Request) -> int:
    written = request.args.get("limit", str(_USUAL))
    if not re.fullmatch(r"[0-9]{1,4}", written, re.ASCII) or not 1 <= int(written) <= KEPT:
        raise BadRequest(f"limit is {written[:20]!r}; allowed is 1 to {KEPT:,}")
    return int(written)


def _row(mail: SentMail) -> str:
    name = f'<a href="{PATH}/mails/{mail.number}">{mail.number}</a>'
    text = f'<a href="{PATH}/mails/{mail.number}.txt">text</a>'
    cells = (f"{name}, {text}", escape(mail.address), escape(mail.subject))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
