"""The console's configuration, which its page reads from ``config.json``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


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
    """

    api: str
    sign_in: SignIn | None = None
    links: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``config.json``."""
        return {
            "api": self.api,
            "sign_in": asdict(self.sign_in) if self.sign_in else None,
            "links": [{"label": label, "href": href} for label, href in self.links],
        }
