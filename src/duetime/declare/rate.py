"""The rate limit of a payload type, as code declares it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Literal

from duetime import ids
from duetime.errors import DeclarationError, InvalidArgument, truncate
from duetime.model.rate_limit import RateLimit

Period = Literal["second", "minute", "hour", "day"]
RateScope = Literal["type", "tenant", "key"]


class Rate:
    """At most so many starts of a type's runs in a period: of the type, or of each tenant or key."""

    __slots__ = ("key", "limit", "per_tenant")

    def __init__(
        self,
        count: int,
        per: Period | timedelta,
        *,
        key: Callable[[Any], str] | None = None,
        burst: int | None = None,
        per_tenant: bool = False,
    ) -> None:
        """Make a limit.

        Args:
            count: the most starts in a period; a retry is a start too.
            per: ``second``, ``minute``, ``hour`` or ``day``, or a span up to 31 days.
            key: returns the key of a payload; each key of each tenant has a limit of its own.
            burst: how many runs may start at once after a rest; by default those of a second.
            per_tenant: each tenant has a limit of its own.

        Raises:
            DeclarationError: the limit cannot be enforced, or both `key` and `per_tenant` are given.
        """
        self.limit = RateLimit.parse(count, per, burst)
        if key is not None and not callable(key):
            raise DeclarationError(f"key is {key!r}; allowed is a function that takes the payload")
        if per_tenant is not True and per_tenant is not False:
            raise DeclarationError(f"per_tenant is {per_tenant!r}; allowed is True or False")
        if key is not None and per_tenant:
            raise DeclarationError("a key is of one tenant already; pass key or per_tenant, not both")
        self.key, self.per_tenant = key, per_tenant

    @property
    def scope(self) -> RateScope:
        """What has a limit of its own."""
        return "key" if self.key else "tenant" if self.per_tenant else "type"

    def key_of(self, payload: object) -> str:
        """Return the key of a payload.

        Raises:
            InvalidArgument: the function raises, or returns no text that can be a key.
        """
        if self.key is None:
            return ""
        try:
            key = self.key(payload)
        except Exception as error:  # the caller's function
            shown = truncate(f"{type(error).__name__}: {error}", 200)
            raise InvalidArgument(
                "was raised by the key function; it must return text for each payload",
                field="rate_key",
                value=shown,
            ) from error
        return ids.key("rate_key", key)
