"""The stack's number of due shards, as a deploy publishes it for callers.

A caller with a lower number is harmless: the passes read all its shards. One with a higher number puts rows
into shards that no sweep reads. While callers are deployed after the stack, they have the former number: it
is accepted for a day, since the passes then read the surplus shards too (`duetime.wakeups.due_scanner`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from duetime.settings import DUE_SHARDS

FORMER_IS_ACCEPTED = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DeployedShards:
    """The stack's number, and the higher one that it had before, accepted until `former_until`."""

    number: int
    former: int = 0
    former_until: datetime | None = None

    def most(self, now: datetime) -> int:
        """Return the highest number that a caller may have."""
        is_accepted = self.former_until is not None and now < self.former_until
        return max(self.number, self.former if is_accepted else 0)

    def after(self, previous: Self | None, now: datetime) -> Self:
        """Return what to publish over the previous deploy's number."""
        if previous is None or previous.most(now) <= self.number:
            return self
        lowered = previous.number > self.number
        until = now + FORMER_IS_ACCEPTED if lowered else previous.former_until
        return replace(self, former=previous.most(now), former_until=until)


class Hosted(NamedTuple):
    """What the workers' manifests say: the types, and the highest number of due shards of a caller."""

    types: Iterable[str]
    most_due_shards: int | None = None


BY_DEFAULT = DeployedShards(DUE_SHARDS)
"""The number of a stack with the default settings."""
