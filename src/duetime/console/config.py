"""The console's configuration, which its page reads from ``config.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SignIn:
    """Where people sign in: OAuth's code flow with PKCE (RFC 7636), as Cognito's managed login serves it."""

    url: str
    """Of the pool's pages, such as ``https://acme.auth.eu-west-1.amazoncognito.com``."""
    issuer: str
    """Who its tokens are from.

    The pool, such as ``https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbCdEfGhI``.
    """
    client_id: str
    """Of the pool's client without a secret."""


@dataclass(frozen=True, slots=True)
class ConsoleConfig:
    """Where the API is, and how one signs in."""

    api: str
    """The admin API, seen from the page: ``api/v1`` is beside it."""
    sign_in: SignIn | None = None
    """None if every visitor may call the API, as on the local cloud."""
    links: tuple[tuple[str, str], ...] = ()
    """The labels and URLs of further pages."""

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``config.json``."""
        return {
            "api": self.api,
            "sign_in": asdict(self.sign_in) if self.sign_in else None,
            "links": [{"label": label, "href": href} for label, href in self.links],
        }
