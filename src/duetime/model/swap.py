"""A guarded change of a row: what the stored row must still be, and which fields change. Pure.

A caller reads a row, makes another of it by a transition, and swaps them. The write names the changed fields
alone: what others have written beside them meanwhile, such as followers, stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from duetime.model.action import Action, Status
from duetime.model.lease import Applied, Rejected, Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What the stored row must still be.

    Attributes:
        status: its status; a constant of the rule, never that of the row that was read.
        as_read: the fields that are equal to those of the row that was read.
        unset: the fields without a value.
        is_handed_over: whether the run that holds it has handed it over; None for either.
        at_most: the instants that are not after those of the new row.
        above: the instants that are after a given one.
    """

    status: Status
    as_read: tuple[str, ...] = ("generation",)
    unset: tuple[str, ...] = ()
    is_handed_over: bool | None = None
    at_most: tuple[str, ...] = ()
    above: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, stored: Action, read: Action, after: Action) -> bool:
        """Return whether a stored row is as the change needs it."""
        return (
            stored.status is self.status
            and all(getattr(stored, name) == getattr(read, name) for name in self.as_read)
            and all(getattr(stored, name) is None for name in self.unset)
            and self.is_handed_over in {None, stored.is_handed_over}
            and all(getattr(stored, name) <= getattr(after, name) for name in self.at_most)
            and all(getattr(stored, name) > least for name, least in self.above.items())
        )


PENDING_AS_READ = Guard(status=Status.PENDING)
FAILED_AS_READ = Guard(status=Status.FAILED)
DEAD_LETTER_AS_READ = Guard(status=Status.FAILED, unset=("dismissed_reason",))
UNCLAIMED = Guard(status=Status.PENDING, as_read=("generation", "fence"))
"""An eviction and another region raise the fence of a pending row."""
DEAD_RUN = Guard(status=Status.PROCESSING, as_read=("fence", "lease_until", "checkpoint", "progress"))
"""The next run begins with the checkpoint that was read, and removes the progress that was read."""
MY_RUN = Guard(status=Status.PROCESSING, as_read=("fence",))
WITH_ITS_WORKER = replace(MY_RUN, is_handed_over=False)
HANDED_OVER = replace(MY_RUN, is_handed_over=True)
RENEWABLE = replace(WITH_ITS_WORKER, at_most=("lease_until",))
NOT_YET_CANCELLED = replace(MY_RUN, unset=("cancel_request",))


def claimable(row: Action) -> Guard:
    """Return the guard of a claim: nothing that its terms compare has changed since the row was read."""
    return UNCLAIMED if row.status is Status.PENDING else DEAD_RUN


def redrivable(row: Action) -> Guard:
    """Return the guard of a redrive. A dismissal leaves the generation as it is."""
    return DEAD_LETTER_AS_READ if row.dismissed_reason is None else FAILED_AS_READ


def settleable(settlement: Settlement) -> Guard:
    """Return the guard of a settle: a retry yields to a cancel, and a completion ends a hand-over in time."""
    guard = MY_RUN if settlement.due_at is None else NOT_YET_CANCELLED
    if settlement.completion is None:
        return guard
    return replace(guard, is_handed_over=True, above={"lease_until": settlement.finished_at})


def as_it_is(row: Action) -> Guard:
    """Return the guard of what ends a dead holder: no run of it has begun, and its lease has not moved."""
    return Guard(status=row.status, as_read=("fence", "lease_until"))


def changes(read: Action, after: Action) -> dict[str, Any]:
    """Return the fields in which a row differs from the one of which a transition made it."""
    before = vars(read)
    return {
        name: value
        for name, value in vars(after).items()
        if before.get(name) is not value and getattr(read, name) != value
    }


def applied_if_mine(
    outcome: Applied | Rejected, read: Action, after: Action, guard: Guard
) -> Applied | Rejected:
    """Return `Applied` if the row is as this change leaves it: an earlier try had no response.

    The time to live does not count: rows have whole seconds.
    """
    row = outcome.action
    if isinstance(outcome, Applied) or row is None or row.status is not after.status:
        return outcome
    expected = {name: getattr(after, name) for name in guard.as_read} | changes(read, after)
    is_mine = all(getattr(row, name) == value for name, value in expected.items() if name != "kept_until")
    return Applied(row) if is_mine else outcome
