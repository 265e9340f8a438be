"""What a count of the model finds and writes, as `duetime.wakeups.count_batch` does."""

from tests.model.batch_guards import BatchGuard
from tests.model.batch_states import FAILED, SKIPPED, Batch, Process, Row, Statuses

Guards = frozenset[BatchGuard]


def begun(batch: Batch) -> Process:
    """Return a count that begins: of the members that were left, if these are listed, else of all."""
    if batch.counting and batch.short_list is not None:
        padded = (*batch.counts, *(None,) * (batch.size - len(batch.counts)))
        return Process("counts the few", batch, left=batch.short_list, seen=padded)
    return begun_in_full(batch)


def begun_in_full(batch: Batch) -> Process:
    """Return a count of all members."""
    return Process("counts all", batch, left=tuple(range(batch.size)), seen=(None,) * batch.size)


def with_read(counter: Process, number: int, row: Row | None, guards: Guards) -> Process:
    """Return a count that has read one more row."""
    batch = counter.read
    assert batch is not None
    known = batch.known[number] if number < len(batch.known) and counter.phase == "counts all" else None
    is_there = row is not None and not row.is_removed
    end = known
    if is_there and row is not None:
        is_redriven = batch.restarted and row.redriven and BatchGuard.COUNT_REDRIVEN in guards
        if known is None or is_redriven:
            end = row.status if row.status.is_final else None
    elif BatchGuard.COUNT_KEPT not in guards:
        end = None
    missing = counter.missing
    if not is_there and end is None:
        if BatchGuard.COUNT_MISSING not in guards and batch.closed:
            end = SKIPPED
        else:
            missing = (*missing, number)
    seen = (*counter.seen[:number], end, *counter.seen[number + 1 :])
    left = tuple(one for one in counter.left if one != number)
    return counter._replace(left=left, seen=seen, missing=missing)


def known_after(counter: Process, rows: tuple[Row | None, ...]) -> Statuses:
    """Return the ends that later counts do not read again: those of all, once all are final."""
    batch = counter.read
    assert batch is not None
    if counter.phase != "counts all" or None in counter.seen:
        return batch.known
    return tuple(
        FAILED if batch.restarted and row is not None and row.redriven else end
        for row, end in zip(rows, counter.seen, strict=False)
    )


def is_done(counter: Process, guards: Guards) -> bool:
    """Return whether a count that has read everything finds the batch complete."""
    batch = counter.read
    assert batch is not None
    is_closed = batch.closed or BatchGuard.COUNT_CLOSED not in guards
    return is_closed and (None not in counter.seen or BatchGuard.COUNT_ALL_FINAL not in guards)


def counted(counter: Process, rows: tuple[Row | None, ...], guards: Guards) -> Batch:
    """Return the batch that a count writes."""
    batch = counter.read
    assert batch is not None
    done = is_done(counter, guards)
    recount = done and batch.restarted and not batch.recount and BatchGuard.ONCE_MORE in guards
    return batch._replace(
        counts=counter.seen,
        known=known_after(counter, rows),
        counting=not done,
        counted=True,
        short_list=() if done else tuple(n for n, end in enumerate(counter.seen) if end is None),
        recount=recount,
        in_due_index=not done or recount,
    )


def counted_again(batch: Batch, guards: Guards) -> Batch:
    """Return the batch of which a failed member is about to be redriven."""
    known = batch.counts if batch.is_complete and not batch.restarted else batch.known
    in_due_index = batch.in_due_index or BatchGuard.REDRIVE_IN_DUE_INDEX in guards
    return batch._replace(
        counting=True,
        counted=False,
        short_list=None,
        recount=False,
        restarted=True,
        known=known,
        in_due_index=in_due_index,
    )
