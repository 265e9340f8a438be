"""The batch: a numbered list of actions whose ends are counted together. Facts only.

::

    open ──close──> running ──the last member is final──> complete
     └─ members are added            ^                        │
                                     └────── a redrive ───────┘

A member's id is that of the batch with the member's number in its last seven digits. So the rows can be read
by number, and they are what is counted: the counts of a batch are only a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from duetime import ids, instant
from duetime.errors import InvalidArgument
from duetime.ids import ActionId, TenantId
from duetime.model.action import Action, ActionRef, SkipReason, Status
from duetime.model.row_parts import Act

MOST_MEMBERS = 10_000_000
MOST_FOLLOWERS = 50
"""Actions that wait for one action or batch, beside the completion action."""

HELD_AT = instant.LATEST
"""The due time of a held action: no scan of due rows reaches it."""
COUNTED_AT = instant.LATEST - timedelta(days=1)
"""The same of a batch that is not complete: the sweep finds both in this part of the due index."""

COUNTING_SHARD = "0"
"""The due shard of all batches that are not complete: few writes change the index."""

SHORT_LIST = 100
"""Members that are not final, up to which a batch lists them: reading these shows whether it is done."""

REDRIVE_MARGIN = timedelta(minutes=2)
"""How much earlier than its request a redrive may seem: the clocks of two callers differ."""
LATEST_REDRIVE = timedelta(hours=1)
"""How long after its request a redrive may arrive; then the counts are final for those before it."""

MISSING = "duetime.missing"
"""The type of a row in the place of a member that was never written."""
MISSING_AFTER = timedelta(minutes=15)
"""How long after its close a batch waits for missing rows: a late write may still arrive."""


class BatchState(StrEnum):
    """The state of a batch."""

    OPEN = "open"
    """Members may be added."""
    RUNNING = "running"
    """It is closed, and a member is not final."""
    COMPLETE = "complete"


class Counts(NamedTuple):
    """Final members, by status.

    Attributes:
        executed: how many were executed.
        failed: how many have failed.
        cancelled: how many were cancelled.
        skipped: how many were skipped.
    """

    executed: int = 0
    failed: int = 0
    cancelled: int = 0
    skipped: int = 0

    def plus(self, statuses: Iterable[Status]) -> Counts:
        """Return the counts with further members; those that are not final count nothing."""
        more = dict.fromkeys(self._fields, 0)
        for status in statuses:
            if status.is_final:
                more[status.value] += 1
        return Counts(*(have + more[name] for name, have in self._asdict().items()))


class MemberStatus(NamedTuple):
    """What a count reads of a member's row."""

    status: Status
    redriven_at: datetime | None = None
    """When it was changed after a redrive, at the latest; None without a redrive."""

    @classmethod
    def from_row(cls, row: Action) -> MemberStatus:
        """Return that of a row."""
        return cls(row.status, row.changed.at if row.changed and row.redriven_after else None)


@dataclass(frozen=True, slots=True)
class BatchRef:
    """The key of a batch, and the record of a write of it in the stream."""

    tenant_id: TenantId
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionBatch:
    """The contents of a batch's item."""

    tenant_id: TenantId
    name: str
    """Its name, one of its tenant."""
    first_id: ActionId
    """The id of member 0."""
    version: str
    """Differs after each write."""
    opened_at: datetime
    """When it was opened."""
    opened_by: str
    """Who opened it."""
    size: int = 0
    """How many members it has; these have the numbers below it."""
    on_complete: ActionId | None = None
    """The action that is released when it is complete; None if it has none."""
    followers: tuple[ActionId, ...] = ()
    """Further actions that wait for it."""
    closed_at: datetime | None = None
    """From when on no member could be added; None while it is open."""
    closed_by: str | None = None
    """Who closed it."""
    completed_at: datetime | None = None
    """When it was first complete."""
    is_counting: bool = True
    """Whether a member is not known to be final, or it is open."""
    counts: Counts = field(default_factory=Counts)
    counted_at: datetime | None = None
    """When the counts were true; None before the first count."""
    prefix: int = 0
    """All members with a lower number were final; their rows may have expired."""
    prefix_counts: Counts = field(default_factory=Counts)
    """Their counts; those that were redriven since `restarted_at` are in it as failed."""
    short_list: tuple[int, ...] | None = None
    """The members that were not final then, if these are at most `SHORT_LIST`."""
    recount_at: datetime | None = None
    """When a complete batch is counted once more, as a redrive may have arrived late; None without one."""
    restarted_at: datetime | None = None
    """When redrives began that `prefix_counts` does not have; the margin of clocks is subtracted."""
    kept_until: datetime | None = None

    @property
    def ref(self) -> BatchRef:
        """The key of this batch."""
        return BatchRef(self.tenant_id, self.name)

    @property
    def state(self) -> BatchState:
        """``open`` until it is closed, then ``running``; ``complete`` when all members are final."""
        if self.closed_at is None:
            return BatchState.OPEN
        return BatchState.RUNNING if self.is_counting else BatchState.COMPLETE

    @property
    def is_swept(self) -> bool:
        """Whether the sweep looks at it."""
        return self.is_counting or self.recount_at is not None

    @property
    def counts_again(self) -> bool:
        """Whether no count of all members was stored since a redrive."""
        return self.is_counting and self.restarted_at is not None and self.counted_at is None

    @property
    def left(self) -> int:
        """The members that were not final when it was counted."""
        return self.size - sum(self.counts)

    @property
    def is_executed(self) -> bool:
        """Whether each member was executed."""
        return self.state is BatchState.COMPLETE and self.counts.executed == self.size

    @property
    def waiting(self) -> tuple[ActionId, ...]:
        """All actions that wait for it."""
        return (*([self.on_complete] if self.on_complete else []), *self.followers)

    def member(self, number: int) -> ActionRef:
        """Return the reference of a member."""
        return ActionRef(self.tenant_id, ids.member_id(self.first_id, number))

    def has_member(self, row: Action) -> bool:
        """Return whether a row is a member: a batch may have the name of an earlier one."""
        same = ids.member_id(self.first_id, ids.member_number(row.id)) == row.id
        return row.batch == self.name and row.tenant_id == self.tenant_id and same

    def unknown(self) -> Sequence[int] | None:
        """Return the members that may not be final, if these are few enough to be read at once."""
        if self.short_list is not None:
            return self.short_list
        left = range(self.first_unknown, self.size)
        return left if len(left) <= SHORT_LIST else None

    @property
    def first_unknown(self) -> int:
        """The first member that a count of all reads: a redrive may be of any."""
        return self.prefix if self.restarted_at is None else 0

    def is_redriven(self, member: MemberStatus) -> bool:
        """Return whether a member was redriven since the restart."""
        restarted_at, redriven_at = self.restarted_at, member.redriven_at
        return restarted_at is not None and redriven_at is not None and redriven_at >= restarted_at

    def counted(self, counts: Counts, members: Mapping[int, MemberStatus]) -> Counts:
        """Return the counts with further members.

        One before the prefix is in the counts already; if it was redriven, its status replaces failed.
        """
        known = {number for number in members if number < self.prefix}
        redriven = {number for number in known if self.is_redriven(members[number])}
        added = [found.status for number, found in members.items() if number not in known - redriven]
        return counts._replace(failed=counts.failed - len(redriven)).plus(added)

    def as_before(self, members: Mapping[int, MemberStatus]) -> Iterable[Status]:
        """Return the statuses of members for `prefix_counts`: of redriven ones, that before the redrive."""
        return (Status.FAILED if self.is_redriven(found) else found.status for found in members.values())

    def not_final(self, members: Mapping[int, MemberStatus], numbers: Iterable[int]) -> Sequence[int]:
        """Return those of the numbers that are not final, or were never written.

        Args:
            members: those among them that have a row.
            numbers: of members.
        """
        return [
            number
            for number in numbers
            if (not members[number].status.is_final if number in members else number >= self.prefix)
        ]


def extended(batch: ActionBatch, size: int) -> ActionBatch:
    """Return an open batch that has at least `size` members; itself if it has."""
    if size <= batch.size:
        return batch
    return replace(batch, size=size, short_list=None)


def closed(batch: ActionBatch, *, by: str, at: datetime) -> ActionBatch:
    """Return a batch to which no more members can be added."""
    return replace(batch, closed_by=by, closed_at=at)


def counted_again(batch: ActionBatch, *, at: datetime) -> ActionBatch:
    """Return a batch of which a failed member is about to be redriven.

    Members that were counted as final keep their counts, with or without a row. Only those that were redriven
    since `restarted_at` are counted again, in the place of a failed one each. The counts of a complete batch
    become final for all members, unless a redrive that was requested before may still arrive.
    """
    again = replace(
        batch, is_counting=True, counted_at=None, short_list=None, recount_at=None, kept_until=None
    )
    is_complete = batch.state is BatchState.COMPLETE
    is_settled = is_complete and batch.counted_at is not None and at - batch.counted_at >= LATEST_REDRIVE
    if batch.restarted_at is not None and not is_settled:
        return again
    if is_complete:
        again = replace(again, prefix=batch.size, prefix_counts=batch.counts)
    return replace(again, restarted_at=at - REDRIVE_MARGIN)


def followed(batch: ActionBatch, follower: ActionId) -> ActionBatch:
    """Return a batch for which a further action waits."""
    if follower in batch.followers:
        return batch
    return replace(batch, followers=(*batch.followers, follower))


def completed(batch: ActionBatch, *, at: datetime, kept_until: datetime) -> ActionBatch:
    """Return a closed batch all of whose members are final.

    After a redrive it is counted once more, when no redrive can arrive any longer: the caller of a late one
    may have died, and the record of its member's end may be lost.
    """
    must_recount = batch.restarted_at is not None and batch.recount_at is None
    return replace(
        batch,
        is_counting=False,
        completed_at=batch.completed_at or at,
        short_list=(),
        recount_at=at + LATEST_REDRIVE if must_recount else None,
        kept_until=kept_until,
    )


def running_again(batch: ActionBatch) -> ActionBatch:
    """Return a complete batch of which a late redrive was found."""
    return replace(batch, is_counting=True, recount_at=None, kept_until=None)


def missing_member(
    batch: ActionBatch, number: int, *, due_shard: str, at: datetime, kept_until: datetime
) -> Action:
    """Return the row in the place of a member that was never written: no late write can add it any more."""
    ref = batch.member(number)
    return Action(
        tenant_id=ref.tenant_id,
        id=ref.id,
        type=MISSING,
        due_at=at,
        due_shard=due_shard,
        created_by=batch.closed_by or batch.opened_by,
        payload=None,
        status=Status.SKIPPED,
        skip_reason=SkipReason.REQUESTED,
        note="it was never scheduled, or its row was removed before it was counted",
        changed=Act(at, batch.closed_by or batch.opened_by),
        kept_until=kept_until,
        batch=batch.name,
    )


def batch_name(value: object) -> str:
    """Check a batch's name: 1 to 100 letters, digits and ``._:-``, the first a letter or a digit.

    Raises:
        InvalidArgument: it has another form, or that of an action's id.
    """
    name = ids.batch_name(value)
    if ids.is_action_id(name):
        raise InvalidArgument(
            "is the form of an action's id; name it as import-2027-03", field="batch", value=name
        )
    return name
