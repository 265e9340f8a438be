"""The decision of a person about the question of an approval, and what becomes of its action. Facts only.

::

    handler ── return run.await_approval(…) ──> processing, without a worker ──approve──> executed
                                                   │                         └─reject──> failed, or executed
                                                   └─ no decision in time: as after a failed attempt
"""

from __future__ import annotations

from dataclasses import dataclass

from duetime.errors import truncate
from duetime.model.action import Ending
from duetime.model.hand_over import InvalidHandOver, checked_result, is_line
from duetime.model.outcome import Outcome

REASON_LIMIT = 500
"""Characters of a decision's reason."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about the question of an approval.

    Raises:
        InvalidHandOver: the reason is too long or not printable, or a rejection has none.
    """

    is_approved: bool
    by: str
    reason: str = ""

    def __post_init__(self) -> None:
        reason: object = self.reason
        is_valid = isinstance(reason, str) and is_line(reason, REASON_LIMIT)
        if not is_valid and (reason or not self.is_approved):
            raise InvalidHandOver(
                f"reason is {truncate(repr(reason), 60)}; allowed are 1 to {REASON_LIMIT} printable"
                " characters; an approval needs none",
                field="reason",
            )

    @property
    def verb(self) -> str:
        """The name of the operation."""
        return "approve" if self.is_approved else "reject"

    @property
    def message(self) -> str:
        """The decision as one line, for the history."""
        word = "approved" if self.is_approved else "rejected"
        return truncate(f"{word} by {self.by}{f': {self.reason}' if self.reason else ''}")

    def outcome(self, on_reject: str | None) -> Outcome:
        """Return the outcome of the action; no decision is retried."""
        executes = self.is_approved or on_reject == "execute"
        return Outcome(Ending.EXECUTED if executes else Ending.FAILED, self.message)

    def result(self, on_reject: str | None) -> str | None:
        """Return the result of the action as JSON, None if it fails."""
        if not self.is_approved and on_reject != "execute":
            return None
        decision = {"approved": self.is_approved, "by": self.by, "reason": self.reason or None}
        return checked_result(decision)
