"""The interface to the limits that operators set in place of the declared ones, as a specification."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from duetime.errors import Unsupported

if TYPE_CHECKING:
    from duetime.model.rate_limit import RateLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class SetLimit:
    """A limit that an operator set; it holds until a reset, whatever code declares.

    Attributes:
        name: that of its payload type.
        by: who set it.
        at: when.
    """

    name: str
    limit: RateLimit
    by: str
    at: datetime


class SetLimits(Protocol):
    """The limits that operators set."""

    def list(self) -> Sequence[SetLimit]:
        """Return all of them by a consistent read, by name; unreadable ones are left out.

        Raises:
            BackendUnavailable: they cannot be read.
        """

    def set(self, limit: SetLimit) -> None:
        """Store a limit in place of one of the same name."""

    def reset(self, name: str) -> None:
        """Remove the limit of a name, if there is one."""


class NoSetLimits:
    """No limit can be set."""

    def list(self) -> Sequence[SetLimit]:
        """Return none."""
        return ()

    def set(self, limit: SetLimit) -> None:
        """Raise `Unsupported`, since the limit would not hold."""
        raise Unsupported(f"this back end stores no limits, so that of {limit.name!r} cannot be set")

    def reset(self, name: str) -> None:
        """Raise `Unsupported`."""
        raise Unsupported(f"this back end stores no limits, so that of {name!r} cannot be reset")
