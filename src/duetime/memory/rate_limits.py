"""The limits that operators set, in memory."""

from __future__ import annotations

from collections.abc import Sequence

from duetime.ports.rate_limits import SetLimit


class MemorySetLimits:
    """A dictionary by name.

    See `duetime.ports.rate_limits.SetLimits`.
    """

    def __init__(self) -> None:
        self._limits: dict[str, SetLimit] = {}

    def list(self) -> Sequence[SetLimit]:
        return sorted(self._limits.values(), key=lambda limit: limit.name)

    def set(self, limit: SetLimit) -> None:
        self._limits[limit.name] = limit

    def reset(self, name: str) -> None:
        self._limits.pop(name, None)
