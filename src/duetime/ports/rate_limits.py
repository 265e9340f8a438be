"""The limits that operators set in place of the declared ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duetime import instant
from duetime.errors import Unsupported
from duetime.model.rate_limit import STRICTEST, RateLimit
from duetime.ports.keyed_items import INSTANT, NUMBER, SECONDS, TEXT, Fields, Keyed, Kind, Query, Write

LIMIT = Kind(
    name="rate limit",
    partition="system#limits",
    sort="type",
    fields={"count": NUMBER, "seconds": SECONDS, "burst": NUMBER, "by": TEXT, "at": INSTANT},
    writers="operators",
)


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


class SetLimits(Keyed):
    """The limits that operators set."""

    def list(self) -> Sequence[SetLimit]:
        """Return all of them by a consistent read, by name.

        In place of an unreadable one stands `duetime.model.rate_limit.STRICTEST`.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        return [*self._items.find(Query(kind=LIMIT, partition=LIMIT.partition), _to_limit, _strictest)]

    def set(self, limit: SetLimit) -> None:
        """Store a limit in place of one of the same name."""
        rate = {"count": limit.limit.count, "seconds": limit.limit.per, "burst": limit.limit.burst}
        put = {**rate, "by": limit.by, "at": limit.at}
        self._items.write(Write(kind=LIMIT, key=LIMIT.key(limit.name), put=put))

    def reset(self, name: str) -> None:
        """Remove the limit of a name, if there is one."""
        self._items.write(Write(kind=LIMIT, key=LIMIT.key(name), is_removal=True))


class NoSetLimits(SetLimits):
    """No limit can be set."""

    def __init__(self) -> None:
        """Store nothing."""

    def list(self) -> Sequence[SetLimit]:
        """Return none."""
        return ()

    def set(self, limit: SetLimit) -> None:
        """Raise `Unsupported`, since the limit would not hold."""
        raise Unsupported(f"this back end stores no limits, so that of {limit.name!r} cannot be set")

    def reset(self, name: str) -> None:
        """Raise `Unsupported`."""
        raise Unsupported(f"this back end stores no limits, so that of {name!r} cannot be reset")


def _to_limit(item: Fields) -> SetLimit:
    limit = RateLimit.parse(item["count"], item["seconds"], item["burst"])
    return SetLimit(name=item["sk"], limit=limit, by=item["by"], at=item["at"])


def _strictest(item: Fields) -> SetLimit:
    """Return the limit that stands for an unreadable one, until an operator sets or resets it."""
    return SetLimit(name=item["sk"], limit=STRICTEST, by="duetime", at=instant.EARLIEST)
