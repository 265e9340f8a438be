"""The token of a hand-over: it names the tenant, the id and the fence of one run.

Its key is the nonce of the claim whose run first handed the action over. The row keeps that key, so a used
token is recognised, and the deployment stores no secret. See docs/adr/0049.
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256

from duetime import ids
from duetime.errors import DuetimeError
from duetime.ids import SYSTEM_TENANT, ActionId
from duetime.model.action import Action, ActionRef
from duetime.model.hand_over import unknown_token

PREFIX = "dt_"
"""The beginning of each token. Without it, one in 64 would look like an option of the command line."""

TOKEN_LIMIT = 600
"""Characters of a token: more is refused unread."""

_TAG = 16
"""Bytes of a token's tag."""


@dataclass(frozen=True, slots=True)
class Token:
    """The contents of a token."""

    ref: ActionRef
    fence: int
    tag: bytes

    def is_made_with(self, key: str | None) -> bool:
        """Return whether this key made the token."""
        return key is not None and hmac.compare_digest(self.tag, _tag(self.ref, self.fence, key))

    @classmethod
    def parse(cls, text: object) -> Token:
        """Read a token; its tag is not checked.

        Raises:
            NotFound: no run writes such a token.
        """
        if not isinstance(text, str) or len(text) > TOKEN_LIMIT:
            raise unknown_token()
        try:
            coded = text.removeprefix(PREFIX)
            packed = urlsafe_b64decode(coded + "=" * (-len(coded) % 4))
            tag = packed[:_TAG]
            named = packed[_TAG:]
            fence, tenant_id, action_id = named.decode().split("\n")
            owner = SYSTEM_TENANT if tenant_id == SYSTEM_TENANT else ids.tenant(tenant_id)
            ref = ActionRef(owner, ActionId(action_id))
            number = int(fence)
        except (ValueError, DuetimeError):
            raise unknown_token() from None
        if not ids.is_action_id(action_id) or token_text(ref, number, tag) != text:
            raise unknown_token()
        return cls(ref, number, tag)


def token_of(claimed: Action) -> str:
    """Return the token of a claimed run."""
    return token_text(claimed.ref, claimed.fence, _tag(claimed.ref, claimed.fence, key_of(claimed) or ""))


def key_of(row: Action) -> str | None:
    """Return the key of the tokens of a row."""
    return row.hand_over.key if row.hand_over else row.nonce


def token_text(ref: ActionRef, fence: int, tag: bytes) -> str:
    """Return the text of a token."""
    return PREFIX + urlsafe_b64encode(tag + _named(ref, fence)).decode().rstrip("=")


def _named(ref: ActionRef, fence: int) -> bytes:
    return f"{fence}\n{ref.tenant_id}\n{ref.id}".encode()


def _tag(ref: ActionRef, fence: int, key: str) -> bytes:
    return hmac.new(key.encode(), _named(ref, fence), sha256).digest()[:_TAG]
