"""The steps of the tail of a line: an action joins it; a move appends its first ones to the line.

The tail has an item for each action, in the order of their places, beside the key's item with its mark. Each
read and each write is a step of its own.
"""

from collections.abc import Callable, Iterator

from tests.model.slots_guards import SlotGuard
from tests.model.slots_states import (
    FILLING,
    LEAVING,
    LOOKING,
    MARKING,
    MOVING,
    PUTTING,
    READ,
    READING_TAIL,
    REMARKING,
    TAILING,
    TAKING,
    Slots,
    State,
    Step,
    Worker,
    waits,
)

Placing = Callable[[Worker, State], State]


class TailSteps:
    """What workers do about the tail."""

    limits: tuple[int, ...]
    line: int
    has: Callable[[SlotGuard], bool]
    move_of: Callable[[State, int | None], Worker]

    def of_tail(self):
        return {
            TAILING: self._read_entry,
            PUTTING: self._put,
            LOOKING: self._look,
            MARKING: self._mark,
            READING_TAIL: self._read_tail,
            LEAVING: self._leave,
            FILLING: self._read_again,
            REMARKING: self._mark_again,
        }

    def has_room(self, slots: Slots) -> bool:
        return len(slots.waiting) < self.line and not (slots.has_tail and self.has(SlotGuard.WAIT_TAIL))

    def _read_entry(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        is_in = (worker.seen.run, worker.action) in state.slots.tail
        follows = LOOKING if is_in or not self.has(SlotGuard.ENTRY_FIRST) else PUTTING
        yield Step("a worker reads its entry", now_is(worker._replace(phase=follows), state))

    def _put(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        tail = tuple(sorted({*state.slots.tail, (worker.seen.run, worker.action)}))
        after = state._replace(slots=state.slots._replace(tail=tail))
        then = worker._replace(phase=LOOKING) if self.has(SlotGuard.ENTRY_FIRST) else worker.idle
        yield Step("join the tail", now_is(then, after))

    def _look(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        if state.slots.has_tail or not self.has(SlotGuard.TAIL_MARKED):
            yield self._judge("a worker sees the tail's mark", state, worker, now_is)
        else:
            yield Step("a worker sees no mark", now_is(worker._replace(phase=MARKING), state))

    def _mark(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        marked = state._replace(slots=state.slots._replace(has_tail=True))
        yield self._judge("mark the tail", marked, worker, now_is)

    def _judge(self, name: str, state: State, worker: Worker, now_is: Placing) -> Step:
        """Wait in the tail, or read all again if a slot may be free since."""
        place, slots, row = worker.action, state.slots, state.rows[worker.action]
        is_full = place not in slots.ids and len(slots.ids) >= self.limits[place]
        if not is_full and self.has(SlotGuard.LOOKS_AGAIN):
            return Step(name, now_is(worker.idle if row is None else Worker(READ, place, seen=row), state))
        follows = worker.idle if self.has(SlotGuard.ENTRY_FIRST) else worker._replace(phase=PUTTING)
        return Step(name, now_is(follows, state))

    def with_tail(self, move: Worker, then: Worker) -> Worker:
        """The move, or the read of the tail before it, if the line has too few."""
        left = {*move.slots.waiting} - {*move.dropped}
        needs = move.slots.has_tail and (not self._is_over(move) or len(left) < min(1, self.line))
        return then._replace(phase=READING_TAIL, then=then.phase) if needs else then

    def _is_over(self, move: Worker) -> bool:
        """Whether no further action gets a slot."""
        held = len(move.slots.without(move.freed).ids) + len(move.passed)
        is_refilled = move.freed is not None and held == len(move.slots.ids)
        left = {*move.slots.waiting} - {*move.dropped}
        return bool(move.passed) and (is_refilled or bool(left))

    def _read_tail(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        before, tail = worker.slots, state.slots.tail
        held = {*before.without(worker.freed).ids, *(place for place, _ in worker.passed)}
        passed, appended, left, move = [*worker.passed], list[int](), [], worker
        room = self.line - len([place for place in before.waiting if place not in worker.dropped])
        for due, place in tail:
            row, over = state.rows[place], self._is_over(move)
            if place in {*before.waiting, *before.ids} or (not over and (place in held or not waits(row))):
                left.append((due, place))
            elif not over and len(held) < self.limits[place]:
                held.add(place)
                passed.append((place, row.fence))
                move = move._replace(passed=tuple(passed))
                left.append((due, place))
            elif len(appended) < room:
                appended.append(place)
                left.append((due, place))
        ends = len(left) == len(tail)
        move = move._replace(phase=move.then, appended=tuple(appended), left=tuple(left), ends=ends)
        changes = move.freed is not None or move.dropped or move.passed or move.appended or ends
        after = state
        if not self.has(SlotGuard.LEAVES_AFTER):
            after = state._replace(slots=state.slots.leaving(move.left))
        if not changes and move.then == MOVING:
            move = move.idle if move.fills else Worker(TAKING, move.action, seen=move.seen, slots=before)
        yield Step("a worker reads the tail", now_is(move, after))

    def after_move(self, move: Worker) -> Worker:
        """What a worker is at once its move, or its eviction, is written."""
        if move.left:
            return move._replace(phase=LEAVING)
        return self._after_leaving(move)

    def _after_leaving(self, move: Worker) -> Worker:
        before = move.slots
        stays_free = len(before.without(move.freed).ids) + len(move.passed) < len(before.ids)
        reads = (move.ends and self.has(SlotGuard.READS_TAIL_AGAIN)) or (
            stays_free and before.has_tail and self.has(SlotGuard.FREE_READS_TAIL)
        )
        return Worker(FILLING) if move.fills or reads else move.idle

    def _leave(self, state: State, move: Worker, now_is: Placing) -> Iterator[Step]:
        after = state._replace(slots=state.slots.leaving(move.left))
        yield Step("entries leave the tail", now_is(self._after_leaving(move), after))

    def _read_again(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        follows = worker._replace(phase=REMARKING) if state.slots.tail else worker.idle
        yield Step("the tail is read again", now_is(follows, state))

    def _mark_again(self, state: State, _worker: Worker, now_is: Placing) -> Iterator[Step]:
        marks = self.has(SlotGuard.MARKS_AGAIN)
        marked = state._replace(slots=state.slots._replace(has_tail=True)) if marks else state
        move = self.move_of(marked, None)._replace(fills=True)
        follows = self.with_tail(move, move)
        if follows.phase == MOVING and not move.dropped:
            follows = move.idle
        yield Step("the tail is marked again", now_is(follows, marked))


TAIL_WRITES = frozenset({PUTTING, MARKING, LEAVING, REMARKING})
