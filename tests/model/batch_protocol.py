"""The steps of a batch's model: callers add, close and redrive; passes count and release; members end.

A caller or a pass may stop between any two of its calls, and a put or a redrive may arrive late. A write of
the batch requires the version that was read: after another write, a count is dropped, and a caller reads
again. So each write makes the older reads void at once.
"""

from collections.abc import Callable, Iterator

from tests.model.batch_counts import begun, begun_in_full, counted, counted_again, is_done, with_read
from tests.model.batch_guards import BatchGuard
from tests.model.batch_states import (
    CANCELLED,
    ENDED,
    EXECUTED,
    FAILED,
    IDLE,
    PENDING,
    SKIPPED,
    Batch,
    Process,
    Row,
    State,
    Step,
    with_counter,
    with_row,
    without,
)

READS = Process("reads")
COUNTS = frozenset({"counts all", "counts the few"})
IN_FLIGHT = frozenset({"reads before", "writes before", "redrives"})


class BatchProtocol:
    """The steps that may follow a state, under the guards that are kept."""

    def __init__(self, retained: frozenset[BatchGuard]) -> None:
        self._retained = retained

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        yield from self._add(state)
        yield from self._close(state)
        yield from self._redrive(state)
        yield from self._arrive(state)
        for number in range(len(state.counters)):
            yield from self.count_steps(state, number)
        yield from _others(state)

    def _has(self, guard: BatchGuard) -> bool:
        return guard in self._retained

    def _written(self, state: State, batch: Batch) -> State:
        """Write the batch: what others have read of it is void, unless their guard is left out."""
        after = state._replace(batch=batch)
        if state.adder.phase == "writes" and self._has(BatchGuard.ADD_AS_READ):
            after = after._replace(adder=state.adder._replace(phase="reads", read=None))
        if state.closer.phase == "writes" and self._has(BatchGuard.CLOSE_AS_READ):
            after = after._replace(closer=READS)
        if state.redriver.read is not None and self._has(BatchGuard.REDRIVE_AS_READ):
            again = state.redriver.phase.replace("writes", "reads")
            after = after._replace(redriver=state.redriver._replace(phase=again, read=None))
        if self._has(BatchGuard.COUNT_AS_READ):
            others = (IDLE if counter.phase in COUNTS else counter for counter in state.counters)
            after = after._replace(counters=tuple(others))
        return after

    # Callers that fill the batch

    def _add(self, state: State) -> Iterator[Step]:
        adder, batch = state.adder, state.batch
        member = adder.member or 0
        is_put_first = adder.phase == "reads" and not self._has(BatchGuard.SIZE_FIRST)
        if adder.phase == "puts" or (is_put_first and state.rows[member] is None):
            yield Step("a put is answered", self._after_put(self._put(state, member), member))
            if "late put" in state.left:
                late = without(state, "late put")._replace(late_puts=state.late_puts | {member})
                yield Step("a put has no answer", late._replace(adder=ENDED))
                yield Step("a put has no answer and is repeated", self._put(late, member))
        elif adder.phase == "reads":
            if batch.closed and self._has(BatchGuard.ADD_OPEN):
                yield Step("an add is rejected", state._replace(adder=ENDED))
            else:
                yield Step("an add reads", state._replace(adder=adder._replace(phase="writes", read=batch)))
        elif adder.phase == "writes" and adder.read is not None:
            size = max(adder.read.size, member + 1)
            then = "puts" if self._has(BatchGuard.SIZE_FIRST) else "has put"
            written = self._written(state, adder.read._replace(size=size, short_list=None))
            after = written._replace(adder=Process(then, member=member))
            if then == "has put":
                after = after._replace(adder=_next_member(after, member))
            yield Step("an add writes", after)
        if adder.phase != "has ended":
            yield Step("the one who adds stops", state._replace(adder=ENDED))

    def _after_put(self, state: State, member: int) -> State:
        if self._has(BatchGuard.SIZE_FIRST):
            return state._replace(adder=_next_member(state, member))
        return state._replace(adder=Process("reads", member=member))

    def _put(self, state: State, member: int) -> State:
        if state.rows[member] is not None and self._has(BatchGuard.ROW_IS_ABSENT):
            return state
        return with_row(state, member, Row(PENDING))

    def _close(self, state: State) -> Iterator[Step]:
        if state.closer.phase == "reads" and not state.batch.closed:
            yield Step("a close reads", state._replace(closer=Process("writes", state.batch)))
        elif state.closer.phase == "writes" and state.closer.read is not None:
            closed = self._written(state, state.closer.read._replace(closed=True))
            yield Step("a close writes", closed._replace(closer=ENDED))

    # A caller that redrives

    def _redrive(self, state: State) -> Iterator[Step]:
        redriver = state.redriver
        if redriver == IDLE:
            yield from self._choose(state)
            return
        yield Step("the one who redrives stops", state._replace(redriver=IDLE))
        if redriver.phase.startswith("reads"):
            if redriver.phase == "reads before" and _counts_again(state.batch):
                redrives = state._replace(redriver=redriver._replace(phase="redrives"))
                yield Step("a redrive finds that the batch counts again", redrives)
                return
            reads = redriver._replace(phase=redriver.phase.replace("reads", "writes"), read=state.batch)
            yield Step("a redrive reads the batch", state._replace(redriver=reads))
        elif redriver.phase.startswith("writes") and redriver.read is not None:
            written = self._written(state, counted_again(redriver.read, self._retained))
            if redriver.phase == "writes after":
                yield Step("the batch counts again after a redrive", _acknowledged(written))
            else:
                then = Process("redrives", member=redriver.member)
                yield Step("the batch counts again before a redrive", written._replace(redriver=then))
        elif redriver.phase == "redrives" and redriver.member is not None:
            after = _redriven(state, redriver.member)
            then = redriver._replace(phase="reads after")
            after = after._replace(redriver=then)
            yield Step("redrive", after if self._has(BatchGuard.REDRIVE_AFTER) else _acknowledged(after))
            late = state._replace(late_redrives=state.late_redrives | {redriver.member}, redriver=IDLE)
            yield Step("a redrive has no answer", late)

    def _choose(self, state: State) -> Iterator[Step]:
        phase = "reads before" if self._has(BatchGuard.REDRIVE_BEFORE) else "redrives"
        for number, row in enumerate(state.rows):
            if row is not None and row.status is FAILED and not row.is_removed and "redrive" in state.left:
                chosen = without(state, "redrive")._replace(redriver=Process(phase, member=number))
                yield Step("a caller chooses a failed member", chosen)

    def _arrive(self, state: State) -> Iterator[Step]:
        for number in state.late_puts:
            arrived = self._put(state, number)._replace(late_puts=state.late_puts - {number})
            yield Step("a late put arrives", arrived)
        for number in state.late_redrives:
            left = state._replace(late_redrives=state.late_redrives - {number})
            yield Step("a late redrive arrives", _redriven(left, number))

    # Passes

    def count_steps(self, state: State, number: int) -> Iterator[Step]:
        """Each thing that a process that counts or releases may do next."""
        counter = state.counters[number]
        set_to: Callable[[Process], State] = lambda process: with_counter(state, number, process)  # noqa: E731
        if counter == IDLE:
            if _is_counted_now(state):
                yield Step("a count begins", set_to(begun(state.batch)))
            completion = state.completion
            may_release = state.batch.is_complete or not self._has(BatchGuard.RELEASE_COMPLETE)
            if completion.held and completion.status is PENDING and may_release:
                releases = Process("releases", generation=completion.generation)
                yield Step("a release begins", set_to(releases))
        elif counter.phase == "releases":
            yield Step("release", self._released(set_to(IDLE), counter.generation))
        elif counter.left:
            for member in counter.left:
                read = with_read(counter, member, state.rows[member], self._retained)
                yield Step("a count reads", set_to(read))
        else:
            yield from self._end_count(state, number, counter)

    def _end_count(self, state: State, number: int, counter: Process) -> Iterator[Step]:
        batch = counter.read
        assert batch is not None
        done = is_done(counter, self._retained)
        if done and counter.phase == "counts the few" and batch.restarted:
            yield Step("a count begins in full", with_counter(state, number, begun_in_full(batch)))
            return
        if batch.counting and not done:
            yield Step("a count is not worth a write", with_counter(state, number, IDLE))
        if batch.closed and counter.missing:
            recorded = state
            for member in counter.missing:
                if (row := state.rows[member]) is None or row.is_removed:
                    recorded = with_row(recorded, member, Row(SKIPPED))
            yield Step("a count records what is missing", with_counter(recorded, number, IDLE))
        written = counted(counter, state.rows, self._retained)
        after = self._written(state, written) if written != batch else state
        yield Step("a count writes", with_counter(after, number, IDLE))

    def _released(self, state: State, generation: int) -> State:
        completion = state.completion
        if completion.generation != generation and self._has(BatchGuard.RELEASE_AS_READ):
            return state
        if completion.status is not PENDING and self._has(BatchGuard.RELEASE_PENDING):
            return state
        released = completion._replace(
            status=PENDING, held=False, generation=generation + 1, releases=completion.releases + 1
        )
        return state._replace(completion=released)


def _next_member(state: State, member: int) -> Process:
    return ENDED if member + 1 == len(state.rows) else Process("reads", member=member + 1)


def _is_counted_now(state: State) -> bool:
    """Return whether the sweep counts: once more only when no redrive can arrive any longer."""
    is_waited_for = state.late_redrives or state.redriver.phase in IN_FLIGHT
    return state.batch.in_due_index and (state.batch.counting or (state.batch.recount and not is_waited_for))


def _counts_again(batch: Batch) -> bool:
    return batch.counting and batch.restarted and not batch.counted


def _redriven(state: State, member: int) -> State:
    row = state.rows[member]
    if row is None or row.status is not FAILED or row.is_removed:
        return state
    return with_row(state, member, Row(PENDING, redriven=row.redriven + 1))


def _acknowledged(state: State) -> State:
    """End a redrive that returns; the batch waits for the member if it is not complete."""
    member = state.redriver.member
    assert member is not None
    row, ended = state.rows[member], state._replace(redriver=IDLE)
    if row is None or row.status.is_final or state.batch.is_complete:
        return ended
    return with_row(ended, member, row._replace(is_awaited=True))


def _others(state: State) -> Iterator[Step]:
    """What workers, operators and the time to live do."""
    for number, row in enumerate(state.rows):
        if row is not None and row.status is PENDING:
            for status in (EXECUTED, FAILED):
                if status is EXECUTED or "failure" in state.left:
                    left = without(state, "failure") if status is FAILED else state
                    yield Step(f"a member is {status}", with_row(left, number, _ended(row, status)))
            if "cancel" in state.left:
                cancelled = with_row(without(state, "cancel"), number, _ended(row, CANCELLED))
                yield Step("a member is cancelled", cancelled)
        if "removal" in state.left and row is not None and _may_be_removed(state, number, row):
            removed = with_row(without(state, "removal"), number, row._replace(is_removed=True))
            yield Step("a row is removed", removed)
    completion = state.completion
    if completion.status is PENDING and not completion.held:
        done = completion._replace(status=EXECUTED, generation=completion.generation + 1)
        yield Step("the completion action runs", state._replace(completion=done))
    if completion.status is PENDING and "cancel the completion" in state.left:
        cancelled_one = without(state, "cancel the completion")
        ended = completion._replace(status=CANCELLED)
        yield Step("the completion action is cancelled", cancelled_one._replace(completion=ended))


def _ended(row: Row, status: object) -> Row:
    return row._replace(status=status, is_awaited=False)


def _may_be_removed(state: State, number: int, row: Row) -> bool:
    """Return whether a row's retention may have passed: it is far longer than a redrive is late."""
    counts = state.batch.counts
    is_counted = number < len(counts) and counts[number] is row.status
    return row.status.is_final and not row.redriven and state.batch.is_complete and is_counted
