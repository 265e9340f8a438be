"""Batches: one item for each, which every write replaces as a whole, if its version is as read.

An item that is not complete is in the due index, at the end of its times: there the sweep finds it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from duetime import ids
from duetime.ids import SEPARATOR, ActionId, TenantId
from duetime.model.action import Action
from duetime.model.batch import (
    COUNTED_AT,
    COUNTING_SHARD,
    MOST_MEMBERS,
    SHORT_LIST,
    ActionBatch,
    BatchRef,
    Counts,
    MemberStatus,
)
from duetime.ports.actions import BatchPage
from duetime.ports.keyed_items import (
    COUNT_LIMIT,
    EXACT_INSTANT,
    IS_NEW,
    NUMBER,
    TEXT,
    Conflict,
    Fields,
    Form,
    Guard,
    Key,
    Keyed,
    Kind,
    Query,
    Write,
    read_strictly,
    unread,
)
from duetime.ports.row_writes import RowPut

_MOST_FOLLOWERS = 1_000


def _joined(values: Any) -> str:
    return " ".join(map(str, values))


_COUNTS = Form("S", _joined, lambda text: Counts(*map(int, text.split(" "))))
BATCH = Kind(
    name="batch",
    partition="{tenant}#batches",
    sort="name",
    fields={
        **dict.fromkeys(("first_id", "version", "opened_by"), TEXT),
        "opened_at": EXACT_INSTANT,
        **dict.fromkeys(("size", "prefix"), NUMBER),
        **dict.fromkeys(("counts", "prefix_counts"), _COUNTS),
    },
    optional={
        **dict.fromkeys(("on_complete", "closed_by"), TEXT),
        **dict.fromkeys(
            ("closed_at", "completed_at", "counted_at", "restarted_at", "recount_at"), EXACT_INSTANT
        ),
        "followers": Form("S", _joined, lambda text: tuple(map(ActionId, text.split(" ")))),
        "short_list": Form("S", _joined, lambda text: tuple(map(int, text.split()))),
    },
    index={"due_at": EXACT_INSTANT, "due_shard": TEXT},
    guard=("version",),
    expires="with its members",
    writers="callers, `arm`, `sweep`",
)


class Batches(Keyed):
    """The batches of tenants: see `duetime.ports.action_store.ActionStore`."""

    def open_batch(self, batch: ActionBatch, completion: Action | None) -> ActionBatch:
        """*open*: add a batch and its completion action, in one transaction, if no batch has its name.

        Otherwise add nothing, and return the present batch. A batch with the `version` of `batch` was added
        by an earlier try of this call.
        """
        rows = [] if completion is None else [RowPut(completion)]
        if self._items.write(batch_put(batch, guard=IS_NEW), *rows).is_written:
            return batch
        present = self.find_batch(batch.ref)
        if present is None:
            raise Conflict("The actions table", f"batch {batch.name!r} changed while it was opened")
        return present

    def find_batch(self, ref: BatchRef) -> ActionBatch | None:
        """Return a batch, by a consistent read."""
        item = self._items.get(BATCH, key_of(ref), unread)
        return None if item is None else read_strictly(to_batch, item)

    def change_batch(self, read: ActionBatch, changed: ActionBatch) -> bool:
        """Replace a batch, if its version is that of `read`; else change nothing and return False.

        If its version is that of `changed`, an earlier try of this call has replaced it: return True.
        """
        outcome = self._items.write(batch_put(changed, guard=BATCH.as_read(read)))
        present = outcome.read(to_batch)
        return outcome.is_written or (present is not None and present.version == changed.version)

    def batches(self, tenant_id: TenantId, *, limit: int, cursor: str | None) -> BatchPage:
        """Return a tenant's batches by name. The list may lag by a moment."""
        place, size = key_of(BatchRef(tenant_id, "")).partition, limit + 1
        query = Query(kind=BATCH, partition=place, after=cursor or "", limit=size, may_lag=True)
        found = tuple(islice(self._items.find(query, to_batch), size))
        return BatchPage(found[:limit], found[limit - 1].name if len(found) > limit else None)

    @abstractmethod
    def member_statuses(
        self, batch: ActionBatch, shard: str, start: int, stop: int
    ) -> Mapping[int, MemberStatus]:
        """Return the statuses of a batch's members in one of `SHARDS`, with numbers in [start, stop).

        The reads are consistent. Missing rows are left out.
        """


def key_of(ref: BatchRef) -> Key:
    """Return the key of a batch. Its partition has no rows, so no list of actions reads it."""
    return BATCH.key(ref.name, tenant=ref.tenant_id)


def ref_of(item: Fields) -> BatchRef:
    """Return the batch of an item's key."""
    return BatchRef(TenantId(item["pk"].partition(SEPARATOR)[0]), item["sk"])


def batch_put(batch: ActionBatch, *, guard: Guard) -> Write:
    """Return the write of a batch as a whole."""
    index = {"due_at": COUNTED_AT, "due_shard": COUNTING_SHARD if batch.is_swept else None}
    followers = {"followers": batch.followers or None, "ttl": batch.kept_until}
    put = {**BATCH.of(batch), **index, **followers}  # with due_at, arm receives each write
    return Write(kind=BATCH, key=key_of(batch.ref), guard=guard, put=put)


def to_batch(item: Fields) -> ActionBatch:
    """Return the batch of an item.

    Raises:
        ValueError: it has a value that duetime does not write.
        LookupError: a field is missing.
    """
    given = BATCH.values(item)
    given["followers"] = given["followers"] or ()
    batch = ActionBatch(
        tenant_id=ref_of(item).tenant_id,
        name=ids.batch_name(item["sk"]),
        is_counting="due_shard" in item and "recount_at" not in item,
        kept_until=item.get("ttl"),
        **given,
    )
    for problem in _problems(batch):
        raise ValueError(problem)
    return batch


def _problems(batch: ActionBatch) -> Iterator[str]:
    named = (batch.first_id, *batch.waiting)
    if not all(ids.is_action_id(one) and ids.is_one_shot(one) for one in named):
        yield "first_id, on_complete or followers is no action's id"
    if not (0 <= batch.prefix <= batch.size <= MOST_MEMBERS) or len(batch.followers) > _MOST_FOLLOWERS:
        yield f"size is {batch.size}, prefix {batch.prefix}; 0 to {MOST_MEMBERS:,} are allowed"
    if not all(0 <= number <= COUNT_LIMIT for number in (*batch.counts, *batch.prefix_counts)):
        yield f"counts are {batch.counts}"
    short = batch.short_list or ()
    if len(short) > SHORT_LIST or not all(0 <= number < batch.size for number in short):
        yield f"short_list has {len(short)} numbers; at most {SHORT_LIST} below {batch.size} are allowed"
