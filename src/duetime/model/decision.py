"""The decision of a person about the question of an approval, and what becomes of its action. Facts only.

::

    handler ── return run.await_approval(…) ──> processing, without a worker ──approve──> executed
                                                   │                         └─reject──> failed, or executed
                                                   └─ no decision in time: as after a failed attempt
"""

from __future__ import annotations

from dataclasses import dataclass

from duetime.errors import Forbidden, InvalidArgument, truncate
from duetime.model.action import Ending
from duetime.model.hand_over import checked_result, is_line
from duetime.model.outcome import Outcome

REASON_LIMIT = 500
"""Characters of a decision's reason."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about the question of an approval.

    Attributes:
        is_by_another: the API has verified that another caller scheduled the action.

    Raises:
        InvalidArgument: the reason is too long or not printable, or a rejection has none.
    """

    is_approved: bool
    by: str
    reason: str = ""
    is_by_another: bool = False

    def __post_init__(self) -> None:
        reason: object = self.reason
        is_valid = isinstance(reason, str) and is_line(reason, REASON_LIMIT)
        if not is_valid and (reason or not self.is_approved):
            raise InvalidArgument(
                f"reason is {truncate(repr(reason), 60)}; allowed are 1 to {REASON_LIMIT} printable"
                " characters; an approval needs none",
                field="reason",
            )
        object.__setattr__(self, "reason", truncate(reason, REASON_LIMIT))

    @property
    def verb(self) -> str:
        """The name of the operation."""
        return "approve" if self.is_approved else "reject"

    @property
    def message(self) -> str:
        """The decision as one line, for the history."""
        word = "approved" if self.is_approved else "rejected"
        return truncate(f"{word} by {self.by}{f': {self.reason}' if self.reason else ''}")

    def outcome(self, terms: str | None) -> Outcome:
        """Return the outcome of the action; no decision is retried."""
        executes = self.is_approved or "execute" in (terms or "").split()
        return Outcome(Ending.EXECUTED if executes else Ending.FAILED, self.message)

    def result(self, terms: str | None) -> str | None:
        """Return the result of the action as JSON, None if it fails."""
        if self.outcome(terms).ending is Ending.FAILED:
            return None
        decision = {"approved": self.is_approved, "by": self.by, "reason": self.reason or None}
        return checked_result(decision)


def approver_not_allowed(action_id: str, problem: str) -> Forbidden:
    """Return the error of a caller who cannot approve an action that another person must approve."""
    error = Forbidden(f"{action_id} needs the approval of another person than its scheduler: {problem}")
    error.code = "approver-not-allowed"
    return error
