"""The protocol of concurrency keys as an explicit-state model: every order of events, within small bounds.

Some actions of one tenant share a key. A message for each may come at any moment, doubled too; an answer may
be lost, and the call repeated; a request may arrive at any later time. A worker may die, or sleep past its
lease and go on; a row may be removed. Each guard of the protocol has a name and can be left out.
"""

from collections.abc import Callable, Iterator

from duetime.model.action import Status
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard
from tests.model.slots_states import (
    CLAIMING,
    ENDED,
    EVICTING,
    EXECUTED,
    FILLING,
    FREEING,
    IDLE,
    JOINING,
    LIVE,
    MOVING,
    PENDING,
    PROCESSING,
    READ,
    READING_TAIL,
    RUNNING,
    SETTLING,
    TAILING,
    TAKING,
    UNSURE,
    Row,
    Slots,
    State,
    Step,
    Worker,
    less,
    waits,
    with_row,
)
from tests.model.slots_tail import TAIL_WRITES, TailSteps

Placing = Callable[[Worker, State], State]


class SlotsProtocol(TailSteps):
    """The steps that may follow a state, under the guards that are kept; each action has its limit.

    The line in the key's item has `line` actions at most; the others are in its tail.
    """

    def __init__(
        self,
        limits: tuple[int, ...],
        retained: frozenset[SlotGuard] = ALL_OF_SLOTS,
        *,
        most_runs: int = 2,
        line: int = 99,
        leases_end: bool = True,
    ) -> None:
        self.limits, self._kept, self.most_runs = limits, retained, most_runs
        self.line, self._leases_end = line, leases_end

    def has(self, guard: SlotGuard) -> bool:
        return guard in self._kept

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        yield from self._time(state)
        yield from self._arrives(state)
        for place, worker in enumerate(state.workers):
            if worker not in state.workers[:place]:
                yield from self._worker(state, worker, _placing(state, place))

    def _time(self, state: State) -> Iterator[Step]:
        for place, row in enumerate(state.rows):
            if row is None:
                continue
            is_sure = any(
                worker.is_live and (worker.action, worker.run) == (place, row.run) for worker in state.workers
            )
            if row.lease is LIVE and not is_sure and self._leases_end:
                yield Step("a row's lease ends", with_row(state, place, row._replace(lease=ENDED)))
            if row.status is EXECUTED and "expire" in state.left:
                yield Step("a row expires", with_row(less(state, "expire"), place, None))
            if row.status is PENDING and "cancel" in state.left:
                ended = row._replace(status=Status.CANCELLED)
                yield Step("a caller cancels", with_row(less(state, "cancel"), place, ended))

    def _worker(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        if worker.is_live and self._leases_end:
            yield Step(
                "a worker's lease ends by its own clock", now_is(worker._replace(is_live=False), state)
            )
        if worker.phase is not IDLE and "death" in state.left:
            yield Step("a worker dies", now_is(worker.idle, less(state, "death")))
        yield from self._does()[worker.phase](state, worker, now_is)
        if "late" in state.left:
            for request in _requests(worker):
                sent = less(state, "late")._replace(late=request)
                yield Step("a request will be late, its caller gives up", now_is(worker.idle, sent))
                yield Step("a request will be late, its caller repeats it", now_is(request, sent))

    def _does(self):
        return {
            IDLE: self._read_row,
            READ: self._decide,
            TAKING: self._take,
            JOINING: self._join,
            CLAIMING: self._claim,
            UNSURE: self._claim_again,
            RUNNING: self._run,
            SETTLING: self._settle_again,
            FREEING: self._read_to_free,
            MOVING: self._move,
            EVICTING: self._evict,
            **self.of_tail(),
        }

    def _arrives(self, state: State) -> Iterator[Step]:
        request, after = state.late, state._replace(late=None)
        if request is None:
            return
        if request.phase is RUNNING:
            row = state.rows[request.action]
            if self.is_mine(row, request, SlotGuard.RENEW_FENCE):
                after = with_row(after, request.action, row._replace(lease=LIVE))
            yield Step("a late heartbeat arrives", after)
            return
        for step in self._does()[request.phase](after, request, lambda _worker, then: then):
            yield step._replace(name=f"late: {step.name}")

    def _read_row(self, state: State, _worker: Worker, now_is: Placing) -> Iterator[Step]:
        """A message comes: the row is read."""
        for place, row in enumerate(state.rows):
            if row is None:
                continue
            if row.status.is_final:
                if place in state.slots.ids:
                    yield Step("a worker reads a final row", now_is(Worker(READ, place, seen=row), state))
            elif (row.status is PENDING or row.lease is ENDED) and row.run < self.most_runs:
                yield Step("a worker reads a row", now_is(Worker(READ, place, seen=row), state))

    def _decide(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        """The slots are read, and decide what the worker does."""
        place, seen, slots = worker.action, worker.seen, state.slots
        if seen.status.is_final and place in slots.ids:
            yield self._evicts(state, place, place, seen, now_is)
            return
        if seen.status.is_final or seen.lease is LIVE:
            yield Step("there is nothing to claim", now_is(worker.idle, state))
            return
        has_token = slots.token(place) == seen.fence or not self.has(SlotGuard.TOKEN)
        others = len(slots.ids - {place})
        if place in slots.ids and has_token:
            yield Step("a worker sees its slot", now_is(Worker(CLAIMING, place, seen=seen), state))
        elif place in slots.ids or (others < self.limits[place] and not (slots.waiting or slots.has_tail)):
            taking = Worker(TAKING, place, seen=seen, slots=slots.item)
            yield Step("a worker sees a slot", now_is(taking, state))
        elif others < self.limits[place]:
            move = self.move_of(state, None)._replace(action=place, seen=seen)
            move = self.with_tail(move, move)
            if move.dropped or move.phase is READING_TAIL:
                yield Step("a worker sees a slot of the line", now_is(move, state))
            else:
                taking = Worker(TAKING, place, seen=seen, slots=slots.item)
                yield Step("a worker sees a slot that fits none of the line", now_is(taking, state))
        else:
            for holder in slots.ids:
                if self.is_dead(state.rows[holder]):
                    yield self._evicts(state, place, holder, state.rows[holder], now_is)
            if place in slots.waiting:
                yield Step("an action waits", now_is(worker.idle, state))
            else:
                joining = Worker(JOINING if self.has_room(slots) else TAILING, place, seen=seen)
                yield Step("a worker sees no slot", now_is(joining, state))

    def is_dead(self, holder: Row | None) -> bool:
        """Whether a holder may be evicted, as it is read. A pending one may have been so for long."""
        if holder is None:
            return self.has(SlotGuard.GONE_IS_DEAD)
        if holder.status.is_final:
            return self.has(SlotGuard.SETTLED_IS_DEAD)
        return (
            (holder.status is PENDING and self._leases_end)
            or holder.lease is ENDED
            or not self.has(SlotGuard.HAS_ENDED)
        )

    def _evicts(self, state: State, place: int, holder: int, row: Row | None, now_is: Placing) -> Step:
        evicting = self.move_of(state, holder)._replace(phase=EVICTING, action=place, seen=row)
        evicting = self.with_tail(evicting, evicting)
        return Step("a worker sees a dead holder", now_is(evicting, state))

    def move_of(self, state: State, freed: int | None) -> Worker:
        """The move by which a holder leaves, and the first of the line that fit become holders."""
        slots = state.slots.item
        held, passed, dropped = set(slots.ids) - {freed}, [], []
        for place in slots.waiting:
            row = state.rows[place]
            if place in held or not waits(row):
                dropped.append(place)
            elif len(held) < self.limits[place]:
                held.add(place)
                passed.append((place, row.fence))
                dropped.append(place)
        return Worker(MOVING, freed=freed, slots=slots, passed=tuple(passed), dropped=tuple(dropped))

    def _take(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        place, slots, seen = worker.action, state.slots, worker.seen
        if place in worker.slots.ids:
            token = slots.token(place)
            may = token is not None and (token < seen.fence or not self.has(SlotGuard.TOKEN_GROWS))
            pairs = tuple((who, seen.fence if who == place else token) for who, token in slots.holders)
            after = slots._replace(holders=pairs)
        else:
            is_first = not worker.slots.ids
            is_free = len(slots.ids) < (1 if is_first else self.limits[place])
            is_free = is_free or not self.has(SlotGuard.IS_FREE)
            same = slots.waiting == worker.slots.waiting or not self.has(SlotGuard.SAME_LINE)
            same = same and (self._no_tail_began(slots, worker.slots) or not self.has(SlotGuard.NO_TAIL))
            may, after = place not in slots.ids and is_free and same, slots.adding((place, seen.fence))
        if not may:
            yield Step("a take is refused", now_is(worker.idle, state))
            return
        name = "take past the line" if self._passes_over(state, place) else "take"
        yield Step(name, now_is(Worker(CLAIMING, place, seen=seen), state._replace(slots=after)))

    def _passes_over(self, state: State, place: int) -> bool:
        """Whether an action in the line, which waits and whose limit permits it, is passed over."""
        slots = state.slots
        if place in slots.ids:
            return False
        return any(
            self._waits(state, other) and other != place and len(slots.ids) < self.limits[other]
            for other in slots.waiting
        )

    def _waits(self, state: State, place: int) -> bool:
        row = state.rows[place]
        return row is not None and row.status is PENDING and place not in state.slots.ids

    def _join(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        place, slots = worker.action, state.slots
        is_full = len(slots.ids) >= self.limits[place] or not self.has(SlotGuard.AS_MANY_HELD)
        if is_full and place not in slots.waiting and self.has_room(slots):
            joined = state._replace(slots=slots._replace(waiting=(*slots.waiting, place)))
            yield Step("join the line", now_is(worker.idle, joined))
        else:  # a twin in the line would be dropped
            yield Step("a wait is refused", now_is(worker.idle, state))

    def _claim(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        place, row = worker.action, state.rows[worker.action]
        is_as_read = row is not None and (
            row.as_read == worker.seen.as_read
            or (not self.has(SlotGuard.ROW_AS_READ) and row.status is PENDING)
        )
        if not is_as_read or row.run == self.most_runs:
            again = worker.idle if row is None else Worker(READ, place, seen=row)
            yield Step("a claim is refused, the row is read again", now_is(again, state))
            return
        claimed = row._replace(
            status=PROCESSING, fence=row.fence + 1, run=row.run + 1, lease=LIVE, nonce=row.run + 1
        )
        after = with_row(state, place, claimed)
        runs = Worker(RUNNING, place, claimed.fence, claimed.run, is_live=True, token=row.fence)
        yield Step("claim", now_is(runs, after))
        yield Step("claim, the answer is lost", now_is(runs._replace(phase=UNSURE), after))

    def _claim_again(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row = state.rows[worker.action]
        is_mine = row is not None and row.status is PROCESSING and row.nonce == worker.run
        runs = worker._replace(phase=RUNNING, fence=row.fence) if is_mine else worker.idle
        yield Step("a claim is repeated", now_is(runs, state))

    def _run(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row = state.rows[worker.action]
        yield from self.renews(state, worker, now_is)
        for outcome, before in self.outcomes(state):
            settled = self.settled(before, worker, outcome)
            if settled is before:
                continue
            frees = self._freeing(worker) if self.has(SlotGuard.SETTLE_FREES) else worker.idle
            lost = worker._replace(phase=SETTLING, is_live=False, outcome=outcome)
            yield Step(f"settle as {outcome}", now_is(frees, settled))
            yield Step(f"settle as {outcome}, the answer is lost", now_is(lost, settled))
            if not self.has(SlotGuard.AFTER_SETTLE):
                freed = before._replace(slots=before.slots.without(worker.action))
                yield Step("free before the settle", now_is(worker, freed))
        if row is None or row.run != worker.run or row.status is not PROCESSING:
            yield Step("a run finds its lease lost", now_is(worker.idle, state))

    def renews(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row = state.rows[worker.action]
        if self.is_mine(row, worker, SlotGuard.RENEW_FENCE):
            renewed = with_row(state, worker.action, row._replace(lease=LIVE))
            yield Step("renew", now_is(worker._replace(is_live=True), renewed))

    def outcomes(self, state: State) -> Iterator[tuple[Status, State]]:
        yield EXECUTED, state
        if "retry" in state.left:
            yield PENDING, less(state, "retry")

    def _freeing(self, worker: Worker) -> Worker:
        return Worker(FREEING, worker.action, token=worker.token)

    def _settle_again(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        settled = self.settled(state, worker, worker.outcome)
        row = settled.rows[worker.action]
        is_mine = row is not None and (row.fence, row.status) == (worker.fence, worker.outcome)
        then = self._freeing(worker) if is_mine and self.has(SlotGuard.SETTLE_FREES) else worker.idle
        yield Step("a settle is repeated", now_is(then, settled))

    def settled(self, state: State, worker: Worker, outcome: Status | None) -> State:
        row = state.rows[worker.action]
        if outcome is None or not self.is_mine(row, worker, SlotGuard.SETTLE_FENCE):
            return state
        return with_row(state, worker.action, row._replace(status=outcome, lease=None, nonce=None))

    def _read_to_free(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        place = worker.action
        if place not in state.slots.ids:
            yield Step("a slot was freed already", now_is(worker.idle, state))
        elif state.slots.token(place) != worker.token:
            row = state.rows[place]
            if row is None or row.status is PROCESSING or not self.has(SlotGuard.ROW_DECIDES):
                yield Step("a slot was taken again", now_is(worker.idle, state))
            else:
                yield self._evicts(state, place, place, row, now_is)
        else:
            move = self.move_of(state, place)._replace(action=place, token=worker.token)
            yield Step("a worker reads whom it passes its slot to", now_is(self.with_tail(move, move), state))

    def _move(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        after = self._moved(state, worker)
        if after is not None:
            yield Step("pass" if worker.passed else "free", now_is(self.after_move(worker), after))
        elif worker.fills:
            yield Step("a move is refused", now_is(Worker(FILLING), state))
        elif worker.freed is None:
            yield Step("a move is refused", now_is(worker.idle, state))
        else:  # it reads again
            yield Step("a move is refused", now_is(self._freeing(worker), state))

    def _moved(self, state: State, move: Worker) -> State | None:
        """The state after a move of slots; None if a condition fails."""
        slots, before, freed = state.slots, move.slots, move.freed
        if not all(self._conditions_of(slots, move)):
            return None
        waiting = tuple(place for place in slots.waiting if place not in move.dropped)
        if move.appended:
            waiting = (*(place for place in before.waiting if place not in move.dropped), *move.appended)
        holders = (before if move.passed else slots).without(freed).adding(*move.passed).holders
        has_tail = slots.has_tail and not move.ends
        return state._replace(slots=slots._replace(holders=holders, waiting=waiting, has_tail=has_tail))

    def _conditions_of(self, slots: Slots, move: Worker) -> Iterator[bool]:
        before, freed = move.slots, move.freed
        if move.passed:
            yield {*slots.holders} == {*before.holders} or not self.has(SlotGuard.HOLDERS_AS_READ)
        elif freed is not None:
            yield slots.token(freed) == before.token(freed) or not self.has(SlotGuard.FREE_TOKEN)
        yield all(place in slots.waiting for place in move.dropped)
        if len(before.without(freed).holders) + len(move.passed) < len(before.holders):
            yield slots.waiting == before.waiting or not self.has(SlotGuard.FREE_LINE)
            yield self._no_tail_began(slots, before) or not self.has(SlotGuard.FREE_TAIL)
        if move.appended:
            yield slots.waiting == before.waiting or not self.has(SlotGuard.APPEND_LINE)
        if move.ends:
            yield slots.has_tail or not self.has(SlotGuard.HAS_TAIL)

    def _evict(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row, seen, holder = state.rows[worker.freed], worker.seen, worker.freed
        is_as_read = (row and row.as_read) == (seen and seen.as_read)
        after = self._moved(state, worker)
        if after is None or not (is_as_read or not self.has(SlotGuard.HOLDER_AS_READ)):
            mine = state.rows[worker.action]
            again = worker.idle if mine is None else Worker(READ, worker.action, seen=mine)
            yield Step("an eviction is refused, all is read again", now_is(again, state))
            return
        if row is not None and not row.status.is_final:
            loses = SlotGuard.PENDING_LOSES_FENCE if row.status is PENDING else SlotGuard.LOSES_FENCE
            fenced = row._replace(
                fence=row.fence + self.has(loses),
                nonce=None if self.has(SlotGuard.LOSES_NONCE) else row.nonce,
            )
            after = with_row(after, holder, fenced)
        yield Step("evict", now_is(self.after_move(worker), after))

    def _no_tail_began(self, slots: Slots, before: Slots) -> bool:
        return before.has_tail or not slots.has_tail

    def is_mine(self, row: Row | None, worker: Worker, fence: SlotGuard) -> bool:
        if row is None or row.status is not PROCESSING:
            return False
        return row.fence == worker.fence or not self.has(fence)


def _placing(state: State, place: int) -> Placing:
    """Put a worker into its place; they are alike, so their order is irrelevant."""
    others = state.workers[:place] + state.workers[place + 1 :]

    def now_is(worker: Worker, after: State) -> State:
        return after._replace(workers=tuple(sorted((worker, *others), key=repr)))

    return now_is


_WRITES = frozenset({TAKING, JOINING, CLAIMING, MOVING, EVICTING, RUNNING}) | TAIL_WRITES


def _requests(worker: Worker) -> Iterator[Worker]:
    """The writes that a worker may send now, each with what the worker is at once it has sent it."""
    if worker.phase in _WRITES:
        yield worker
    if worker.phase is RUNNING:
        yield worker._replace(phase=SETTLING, is_live=False, outcome=EXECUTED)
