"""Checks that the console and its sign-in respond."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urljoin

from duetime._english import counted
from duetime.verify.trial import Result, State

Fetch = Callable[[str], tuple[int, bytes]]
"""Gets a URL without following redirects; returns its status and body, and status 0 if no server responds."""

_OK = 200
_MARK = b'<div id="root">'
_ASSET = re.compile(rb'(?:src|href)="([^"]+)"')
_CONSOLE, _SIGN_IN = "console", "sign-in"


def check_pages(url: str, fetch: Fetch, *, is_named: bool) -> list[Result]:
    """Check the page at a URL, its assets, its configuration, and the sign-in that this names.

    Args:
        url: of the page, with a slash at the end.
        fetch: gets a URL.
        is_named: whether the operator named the URL; otherwise a missing console is skipped.
    """
    expected = "the page and its files load"
    status, page = fetch(url)
    if status != _OK or _MARK not in page:
        state: State = "failed" if is_named else "skipped"
        problem = f"no console at {url} ({status or 'no response'})"
        return [Result(_CONSOLE, state, expected, problem, "name the stack's output Console: --console")]
    assets = [urljoin(url, found.decode()) for found in _ASSET.findall(page)]
    broken = [asset for asset in assets if fetch(asset)[0] != _OK]
    status, written = fetch(urljoin(url, "config.json"))
    if broken or status != _OK:
        problem = f"missing: {', '.join(broken or ['config.json'])}"
        return [Result(_CONSOLE, "failed", expected, problem, "build the console, and deploy again")]
    loaded = Result(_CONSOLE, "ok", expected, f"the page and {counted(len(assets), 'file')}")
    return [loaded, _sign_in(json.loads(written)["sign_in"], url, fetch)]


def _sign_in(sign_in: dict[str, Any] | None, url: str, fetch: Fetch) -> Result:
    expected = "the issuer and the sign-in page respond"
    if sign_in is None:
        return Result(_SIGN_IN, "skipped", expected, "this console has none")
    query = {
        "client_id": sign_in["client_id"],
        "response_type": "code",
        "scope": "openid",
        "redirect_uri": url,
    }
    places = {
        "issuer": f"{sign_in['issuer']}/.well-known/openid-configuration",
        "sign-in page": f"{sign_in['url']}/login?{urlencode(query)}",
    }
    statuses = {name: fetch(place)[0] for name, place in places.items()}
    wrong = [f"{name}: {status or 'no response'}" for name, status in statuses.items() if status != _OK]
    if wrong:
        remedy = "check that this machine reaches both; compare the client's callback URLs with the console's"
        return Result(_SIGN_IN, "failed", expected, "; ".join(wrong), remedy)
    return Result(_SIGN_IN, "ok", expected, "both respond")
