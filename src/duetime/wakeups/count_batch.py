"""*Count*: count a batch from its members' rows, and release what waits for it when all are final.

The counts are a copy of the rows, so a lost, repeated or late record of the stream changes none of them: it
only starts a sample. A sample that may find the batch done reads a member at first, then more.

::

    sample    up to 100 members, in random order, up to the first that is not final
    count     all members behind the prefix that is known to be final, or those that are known to be left;
              after a redrive, also those before it that were redriven
    complete  if the batch is closed, all were final, and no redrive began meanwhile (the version is as read)

A count writes the batch once; one that runs out of time keeps better counts. The sweep counts at most ten
times while the batch's age doubles, so the writes do not depend on the number of members.
"""

from __future__ import annotations

import logging
import random
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from duetime import ids, instant
from duetime.ids import PLANNER
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.model import batch as facts
from duetime.model import transition
from duetime.model.action import Action, ActionRef, SkipReason
from duetime.model.batch import SHORT_LIST, ActionBatch, BatchRef, BatchState, MemberStatus
from duetime.model.lease import Applied
from duetime.model.predecessors import Decision, Predecessors, Verdict, decide
from duetime.ports.action_store import ActionStore
from duetime.ports.actions import DamagedRow
from duetime.ports.backends import Backends

log = logging.getLogger(__name__)

WINDOW = 16_000
"""Members that are read between two checks of the time."""
_LARGEST_AT_ONCE = 50_000
"""Members behind the prefix up to which a record of the stream starts a count: arm must not be held up."""
_AGAIN_AFTER = timedelta(seconds=5)
"""Until then, records of the stream start no other count of a large batch in this process."""
_SAMPLES = (1, 4, 16, SHORT_LIST)
_MOST_REMEMBERED = 1_000
"""Batches whose last count this process remembers."""
_WRITTEN_FROM = 10
"""Members that must have ended for a write between two of the sweep's."""
SOONEST, LATEST = timedelta(minutes=1), timedelta(hours=6)
_SHARE_OF_AGE = 10


class Release:
    """*Release*: gives held actions their due times once their predecessors have ended.

    The rows decide; the stream, the callers and the sweep only name the rows that may be released. The write
    requires the generation that was read. So a held action is released once, also if two processes try at
    once.
    """

    def __init__(self, backends: Backends) -> None:
        self._store, self._clock, self._settings = backends.store, backends.clock, backends.settings

    def __call__(self, ref: ActionRef, *, has_success: bool = False) -> bool:
        """Release, fail or skip a held action whose predecessors have ended; return whether it is done.

        A run that waits for one of another job becomes due instead; its claim decides.

        Args:
            ref: the action.
            has_success: whether one of those that it follows was executed.

        Raises:
            BackendUnavailable: it may be released, now or later; a repeat is safe.
            UnreadableRow: duetime did not write one of its batches.
        """
        row = next(iter(self._store.get_rows([ref])), None)
        if row is not None and row.waits_for_run:
            return has_success and self._wake(row)
        if row is None or not row.is_held:
            return False
        verdict = self._verdict(row)
        if verdict.decision is Decision.WAIT:
            return False
        log.info("action released", extra={"action": row.id, "decision": verdict.decision.value})
        self._store.release(row, self._released(row, verdict))
        return True

    def _wake(self, row: Action) -> bool:
        """Let a run look at the other job's run now; return whether it does."""
        now = self._clock.now()
        if row.due_at <= now:
            return False
        return isinstance(self._store.defer(row, now, waits_for=row.waits_for), Applied)

    def _verdict(self, row: Action) -> Verdict:
        predecessors, damaged = Predecessors.of_row(row), list[DamagedRow]()
        refs = [ActionRef(row.tenant_id, one) for one in predecessors.ids]
        rows = {found.id: found for found in self._store.get_rows(refs, damaged=damaged)}
        if damaged:  # it may still run
            return Verdict(Decision.WAIT)
        return decide(row, rows, batches_of(self._store, row, predecessors))

    def _released(self, row: Action, verdict: Verdict) -> Action:
        now = self._clock.now()
        if verdict.decision is not Decision.SKIP:
            return transition.released(row, now=now, unmet=verdict.unmet)
        kept_until = now + self._settings.retention
        note = verdict.unmet or ""
        return transition.skipped(
            row, SkipReason.PREDECESSOR, note=note, by=PLANNER, at=now, kept_until=kept_until
        )


def batches_of(store: ActionStore, row: Action, predecessors: Predecessors) -> dict[str, ActionBatch]:
    """Return the batches among a row's predecessors, without those that are gone."""
    found = [store.find_batch(BatchRef(row.tenant_id, name)) for name in predecessors.batches]
    return {batch.name: batch for batch in found if batch is not None}


class CountBatch:
    """Counts batches.

    Args:
        backends: have the batches and the rows.
        release: releases what waits for a batch.
        parallel_map: reads a batch's 16 shards side by side.
    """

    def __init__(
        self,
        backends: Backends,
        release: Release,
        *,
        parallel_map: Callable[..., Iterable[Any]] = map,
    ) -> None:
        self._store, self._clock, self._settings = backends.store, backends.clock, backends.settings
        self._release, self._map, self._counted_at = release, parallel_map, dict[BatchRef, datetime]()

    def wake(self, ref: BatchRef, *, stop_at: datetime, redriven: Sequence[Action] = ()) -> None:
        """Count a batch of which a member ended, or that was written, if it may be done.

        Args:
            ref: the batch.
            stop_at: no read begins after it.
            redriven: members that ended after a redrive.

        Raises:
            BackendUnavailable: the sweep counts it.
        """
        batch = self._store.find_batch(ref)
        if batch is None or batch.state is BatchState.OPEN:
            return
        if batch.state is BatchState.COMPLETE:
            self._counted_at.pop(ref, None)
            self._release_all(batch)
        if any(self._was_counted(batch, row) for row in redriven):  # its redrive came late
            self._count_again(ref, redriven)
            return
        if batch.state is BatchState.COMPLETE:
            return
        if batch.unknown() is None:
            is_recent = self._clock.now() - self._counted_at.get(ref, instant.EARLIEST) < _AGAIN_AFTER
            if is_recent or batch.size - batch.first_unknown > _LARGEST_AT_ONCE:
                return
        if self._may_be_done(batch):
            self._count(batch, stop_at)

    def sweep(self, ref: BatchRef, *, stop_at: datetime) -> None:
        """Count a batch if it is time for that, or if it may be done.

        Raises:
            BackendUnavailable: the next sweep counts it.
        """
        batch = self._store.find_batch(ref)
        if batch is None or not batch.is_swept:
            return
        if batch.recount_at is not None:
            if batch.recount_at <= self._clock.now():
                self._count(batch, stop_at)
            return
        if self._is_due(batch) or (batch.closed_at is not None and self._may_be_done(batch)):
            self._count(batch, stop_at)

    def _is_due(self, batch: ActionBatch) -> bool:
        """Return whether the sweep counts a batch: the older it is, the rarer."""
        if batch.counted_at is None:
            return True
        now = self._clock.now()
        age = now - (batch.restarted_at or batch.opened_at)
        return now - batch.counted_at >= min(max(age / _SHARE_OF_AGE, SOONEST), LATEST)

    def _may_be_done(self, batch: ActionBatch) -> bool:
        """Return whether no member is found that is not final; reads at most `SHORT_LIST`."""
        unknown = batch.unknown()
        numbers: Sequence[int] = range(batch.first_unknown, batch.size) if unknown is None else unknown
        order = random.Random(f"{batch.name} {self._clock.now()}")  # noqa: S311 - spreads reads, guards nothing
        sample = iter(order.sample(numbers, min(len(numbers), SHORT_LIST)))
        return all(
            not batch.not_final(self._members(batch, some), some)
            for most in _SAMPLES
            if (some := list(islice(sample, most)))
        )

    def _count(self, batch: ActionBatch, stop_at: datetime) -> None:
        now, few = self._clock.now(), batch.short_list if batch.is_counting else None
        self._remember(batch.ref, now)
        counted, left = self._counted_all(batch, stop_at) if few is None else self._counted_few(batch, few)
        is_done = left is not None and not left and batch.closed_at is not None
        if is_done and few is not None and batch.restarted_at is not None:  # a later redrive needs the prefix
            counted, left = self._counted_all(batch, stop_at)
            is_done = left is not None and not left
        if left is None:
            self._store_progress(batch, counted)
            return
        counted = replace(counted, counted_at=now)
        if is_done:
            counted = facts.completed(counted, at=now, kept_until=now + self._settings.retention)
        elif not batch.is_counting:
            counted = facts.running_again(counted)
        if not self._is_worth_a_write(batch, counted):
            return
        counted = replace(counted, version=new_version())
        if self._store.change_batch(batch, counted) and is_done and batch.is_counting:
            self._counted_at.pop(batch.ref, None)
            log.info("batch complete", extra={"batch": batch.name, "members": batch.size})
            self._release_all(counted)

    def _store_progress(self, read: ActionBatch, counted: ActionBatch) -> None:
        """Store the prefix of a count that ran out of time, and its counts if they are the better ones.

        The time of the last whole count stays, so the next sweep counts again.
        """
        known = read.counts if sum(counted.counts) < sum(read.counts) else counted.counts
        if counted.prefix > read.prefix or sum(known) - sum(read.counts) >= _WRITTEN_FROM:
            self._store.change_batch(read, replace(counted, counts=known, version=new_version()))

    def _remember(self, ref: BatchRef, now: datetime) -> None:
        self._counted_at.pop(ref, None)
        self._counted_at[ref] = now
        if len(self._counted_at) > _MOST_REMEMBERED:
            del self._counted_at[next(iter(self._counted_at))]

    def _is_worth_a_write(self, read: ActionBatch, counted: ActionBatch) -> bool:
        """Return whether the counts are written now: not each ended member costs a write."""
        if not (read.is_counting and counted.is_counting):
            return True
        ended = abs(sum(counted.counts) - sum(read.counts))
        if ended >= _WRITTEN_FROM:
            return True
        is_news = ended > 0 or read.unknown() is None or counted.short_list != read.short_list
        return is_news and self._is_due(read)

    def _counted_few(self, batch: ActionBatch, numbers: Sequence[int]) -> tuple[ActionBatch, Sequence[int]]:
        """Count the members that were left."""
        members = self._members(batch, numbers)
        left = batch.not_final(members, numbers)
        self._replace_missing(batch, [number for number in left if number not in members])
        counts = batch.counts.plus(member.status for member in members.values())
        return replace(batch, counts=counts, short_list=tuple(left)), left

    def _counted_all(self, batch: ActionBatch, stop_at: datetime) -> tuple[ActionBatch, Sequence[int] | None]:
        """Count all members that are not known; the second result is None if the time was too short."""
        counts, prefix, prefix_counts = batch.prefix_counts, batch.prefix, batch.prefix_counts
        left, missing, start = list[int](), list[int](), batch.first_unknown
        while start < batch.size and self._clock.now() < stop_at:
            stop = min(start + WINDOW, batch.size)
            members = self._members_between(batch, start, stop)
            counts = batch.counted(counts, members)
            open_here = batch.not_final(members, range(start, stop))
            missing += [number for number in open_here if number not in members][:SHORT_LIST]
            if start <= prefix < stop and not open_here:
                added = {number: member for number, member in members.items() if number >= prefix}
                prefix, prefix_counts = stop, prefix_counts.plus(batch.as_before(added))
            left += open_here
            start = stop
        is_whole = start >= batch.size
        self._replace_missing(batch, missing)
        short = tuple(left) if is_whole and len(left) <= SHORT_LIST else None
        counted = replace(batch, counts=counts, prefix=prefix, prefix_counts=prefix_counts, short_list=short)
        return counted, left if is_whole else None

    def _replace_missing(self, batch: ActionBatch, numbers: Sequence[int]) -> None:
        """Record a skipped row in the place of each member without one, some time after the close.

        The next count reads these rows.
        """
        now = self._clock.now()
        if batch.closed_at is None or now - batch.closed_at < facts.MISSING_AFTER:
            return
        for number in numbers[:SHORT_LIST]:
            ref = batch.member(number)
            shard = ids.due_shard_of(ref.id, len(self._store.due_shards))
            kept_until = now + self._settings.retention
            self._store.record(
                facts.missing_member(batch, number, due_shard=shard, at=now, kept_until=kept_until)
            )

    def _members(self, batch: ActionBatch, numbers: Iterable[int]) -> Mapping[int, MemberStatus]:
        rows = self._store.get_rows([batch.member(number) for number in numbers])
        return {ids.member_number(row.id): MemberStatus.from_row(row) for row in rows}

    def _members_between(self, batch: ActionBatch, start: int, stop: int) -> Mapping[int, MemberStatus]:
        if stop - start <= SHORT_LIST:
            return self._members(batch, range(start, stop))
        found: dict[int, MemberStatus] = {}
        for members in self._map(
            lambda shard: self._store.member_statuses(batch, shard, start, stop), ids.SHARDS
        ):
            found |= members
        return found

    def _was_counted(self, batch: ActionBatch, row: Action) -> bool:
        """Return whether a member may have been counted as it was before its redrive."""
        if batch.counted_at is None or not batch.has_member(row):
            return False
        number, unknown = ids.member_number(row.id), batch.unknown()
        is_open = number >= batch.first_unknown if unknown is None else number in unknown
        return not is_open and row.modified_at > batch.counted_at - self._settings.clock_skew

    def _count_again(self, ref: BatchRef, redriven: Sequence[Action]) -> None:
        def once() -> Conflict | None:
            batch = self._store.find_batch(ref)
            if batch is None or not any(self._was_counted(batch, row) for row in redriven):
                return None
            again = replace(facts.counted_again(batch, at=self._clock.now()), version=new_version())
            return None if self._store.change_batch(batch, again) else CHANGED

        change_with_retry(once, f"batch {ref.name}", table="the actions table")

    def _release_all(self, batch: ActionBatch) -> None:
        for follower in batch.waiting:
            self._release(ActionRef(batch.tenant_id, follower))


def new_version() -> str:
    """Return a version for the next write of a batch."""
    return secrets.token_urlsafe(9)
