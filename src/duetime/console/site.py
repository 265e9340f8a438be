"""The console's files and its configuration, with headers under which a browser runs built scripts only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from duetime.model.entity_tags import tag_of


@dataclass(frozen=True, slots=True)
class SignIn:
    """The sign-in of users: OAuth's code flow with PKCE (RFC 7636), as Cognito's managed login serves it.

    Attributes:
        url: the pool's pages, such as ``https://acme.auth.eu-west-1.amazoncognito.com``.
        issuer: of the tokens, such as
            ``https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI``.
        client_id: the pool's client without a secret.
    """

    url: str
    issuer: str
    client_id: str


@dataclass(frozen=True, slots=True)
class ConsoleConfig:
    """The configuration of the page.

    Attributes:
        api: the admin API, relative to the page, such as ``api/v1``.
        sign_in: None if every visitor may call the API, as on the local cloud.
        links: the labels and URLs of further pages.
        runbook: the address of the runbook; None if it has none.
    """

    api: str
    sign_in: SignIn | None = None
    links: tuple[tuple[str, str], ...] = ()
    runbook: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``config.json``."""
        return {
            "api": self.api,
            "sign_in": asdict(self.sign_in) if self.sign_in else None,
            "links": [{"label": label, "href": href} for label, href in self.links],
            "runbook": self.runbook,
        }


BUILT: Final = Path(__file__).parent / "built"
"""``make setup`` builds the page and its assets there."""

PAGE, CONFIG, ASSETS = "/", "/config.json", "/assets/"
_NAME = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_IMMUTABLE = "public, max-age=31536000, immutable"
"""An asset's name contains the hash of its content."""


@dataclass(frozen=True, slots=True)
class FileResponse:
    """The content and headers of one file."""

    body: str
    headers: Mapping[str, str]


class Site:
    """Returns the console's files by path; None for an unknown path."""

    def __init__(self, config: ConsoleConfig, built: Path = BUILT) -> None:
        self._config, self._built = config, built
        self._headers = _headers(config)

    @property
    def is_built(self) -> bool:
        """Whether the page exists: a checkout without ``make setup`` has none."""
        return (self._built / "index.html").is_file()

    def answer(self, path: str, base: str = "") -> FileResponse | None:
        """Return the file at a path, which begins with a slash.

        Args:
            path: of the file.
            base: the path of the page, with a slash at the end. The page's links begin with it, so that they
                are right even if the browser shows the page's address without the slash. Empty: relative
                links.
        """
        if path == CONFIG:
            return self._answer(json.dumps(self._config.to_json()), "application/json", "no-cache")
        name = "index.html" if path == PAGE else path.removeprefix(ASSETS)
        is_asset = path.startswith(ASSETS)
        if path != PAGE and not (is_asset and _NAME.fullmatch(name)):
            return None
        file = self._built / ("assets" if is_asset else "") / name
        kind = _TYPES.get(file.suffix)
        if kind is None or not file.is_file():
            return None
        content = file.read_text(encoding="utf-8")
        if is_asset:
            return self._answer(content, kind, _IMMUTABLE)
        return self._answer(content.replace('="assets/', f'="{escape(base)}assets/'), kind, "no-cache")

    def _answer(self, body: str, kind: str, cache: str) -> FileResponse:
        headers = {"Content-Type": kind, "Cache-Control": cache, "ETag": tag_of(body), **self._headers}
        return FileResponse(body, headers)


def _headers(config: ConsoleConfig) -> Mapping[str, str]:
    """Return headers that admit only own scripts, calls to the API and the sign-in, and no frames."""
    sources = ["'self'"]
    if config.sign_in:
        url = urlsplit(config.sign_in.url)
        sources.append(f"{url.scheme}://{url.netloc}")
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": " ".join(sources),
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "Strict-Transport-Security": "max-age=31536000",
        "X-Content-Type-Options": "nosniff",
    }
