"""What a job's row records of its wakes on EventBridge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

_STALE = "?"


@dataclass(frozen=True, slots=True)
class WakeState:
    """How many schedules and rules a job has on EventBridge, and whether they must be set again."""

    schedules: int = 0
    rules: int = 0
    digest: str = ""
    """A hash of their content; empty if there are none."""
    is_stale: bool = False
    """Whether the job has changed since they were set."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the stored text: ``1 0 83591e…``, behind ``?`` if it is stale; empty if there are no wakes."""
        counts = text.removeprefix(_STALE).split()
        is_stale = text.startswith(_STALE)
        if not counts:
            return cls(is_stale=is_stale)
        schedules, rules, *digest = counts
        return cls(int(schedules), int(rules), "".join(digest), is_stale)

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def text(self) -> str:
        """The text that a job's row stores."""
        has_wakes = self.schedules or self.rules
        counts = f"{self.schedules} {self.rules} {self.digest}" if has_wakes else ""
        return f"{_STALE if self.is_stale else ''}{counts}"

    def stale(self) -> Self:
        """Return this state, marked to be set again."""
        return replace(self, is_stale=True)
