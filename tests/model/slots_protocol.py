"""The protocol of concurrency keys as an explicit-state model: every order of events, within small bounds.

Some actions of one tenant share a key. A message for each may come at any moment, doubled too; an answer may
be lost, and the call repeated; a request may arrive at any later time. A worker may die, or sleep past its
lease and go on; a settle may find the key too busy and leave its slot behind; a row may be removed. Each
guard of the protocol has a name and can be left out.
"""

from collections.abc import Callable, Iterator

from duetime.model.action import Status
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard
from tests.model.slots_states import (
    ASKED,
    ENDED,
    EVICTING,
    EXECUTED,
    IDLE,
    LIVE,
    LOOKING,
    PENDING,
    PROCESSING,
    RUNNING,
    SETTLING,
    TAKING,
    Row,
    State,
    Step,
    Worker,
    less,
    with_row,
)

Placing = Callable[[Worker, State], State]


class SlotsProtocol:
    """The steps that may follow a state, under the guards that are kept; each action has its limit."""

    def __init__(
        self, limits: tuple[int, ...], retained: frozenset[SlotGuard] = ALL_OF_SLOTS, *, most_runs: int = 2
    ) -> None:
        self.limits, self._kept, self._most_runs = limits, retained, most_runs

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
            if row.lease is LIVE and not is_sure:
                yield Step("a row's lease ends", with_row(state, place, row._replace(lease=ENDED)))
            if row.status is EXECUTED and "expire" in state.left:
                yield Step("a row expires", with_row(less(state, "expire"), place, None))

    def _worker(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        if worker.is_live:
            yield Step(
                "a worker's lease ends by its own clock", now_is(worker._replace(is_live=False), state)
            )
        if worker.phase is not IDLE and "death" in state.left:
            yield Step("a worker dies", now_is(Worker(), less(state, "death")))
        does = {
            IDLE: self._read,
            TAKING: self._take,
            LOOKING: self._look,
            EVICTING: self._evict,
            ASKED: self._ask_again,
            RUNNING: self._run,
            SETTLING: self._settle_again,
        }
        yield from does[worker.phase](state, worker, now_is)
        if "late" in state.left:
            for request in _requests(worker):
                sent = less(state, "late")._replace(late=request)
                yield Step("a request will be late, its caller gives up", now_is(Worker(), sent))
                yield Step("a request will be late, its caller repeats it", now_is(request, sent))

    def _arrives(self, state: State) -> Iterator[Step]:
        request, after = state.late, state._replace(late=None)
        if request is None:
            return
        if request.phase is RUNNING:
            row = state.rows[request.action]
            if self._is_mine(row, request, SlotGuard.RENEW_FENCE):
                after = with_row(after, request.action, row._replace(lease=LIVE))
            yield Step("a late heartbeat arrives", after)
            return
        does = {TAKING: self._take, EVICTING: self._evict, SETTLING: self._settle_again}
        for step in does[request.phase](after, request, lambda _worker, then: then):
            yield step._replace(name=f"late: {step.name}")

    def _read(self, state: State, _worker: Worker, now_is: Placing) -> Iterator[Step]:
        """A message comes: the row is read, and who holds slots."""
        for place, row in enumerate(state.rows):
            if row is None or row.run == self._most_runs:
                continue
            if row.status is PENDING or row.lease is ENDED:
                others = state.holders - {place}
                if len(others) < self.limits[place]:
                    yield Step("a worker sees a slot", now_is(Worker(TAKING, place, seen=row), state))
                    continue
                for holder in others:
                    looking = Worker(LOOKING, place, holder=holder)
                    yield Step("a worker sees no slot", now_is(looking, state))

    def _look(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        holder = state.rows[worker.holder]
        if self.is_dead(holder):
            yield Step(
                "a worker sees a dead holder", now_is(worker._replace(phase=EVICTING, seen=holder), state)
            )
        else:
            yield Step("a run is denied", now_is(Worker(), state))

    def is_dead(self, holder: Row | None) -> bool:
        """Whether a holder, as it is read, is taken for one that cannot free its slot."""
        if holder is None:
            return self.has(SlotGuard.GONE_IS_DEAD)
        if holder.status is not PROCESSING:
            return self.has(SlotGuard.SETTLED_IS_DEAD)
        return holder.lease is ENDED or not self.has(SlotGuard.HAS_ENDED)

    def _evict(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row, seen, holder = state.rows[worker.holder], worker.seen, worker.holder
        is_as_read = (row and row.as_read) == (seen and seen.as_read)
        if holder not in state.holders or not (is_as_read or not self.has(SlotGuard.HOLDER_AS_READ)):
            yield Step("an eviction is refused", now_is(Worker(), state))
            return
        after = state._replace(holders=state.holders - {holder})
        if row is not None and row.status is PROCESSING:
            fenced = row._replace(
                fence=row.fence + self.has(SlotGuard.LOSES_FENCE),
                nonce=None if self.has(SlotGuard.LOSES_NONCE) else row.nonce,
            )
            after = with_row(after, holder, fenced)
        yield Step("evict", now_is(Worker(), after))

    def _take(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        place, row, limit = worker.action, state.rows[worker.action], self.limits[worker.action]
        is_as_read = row is not None and (
            row.as_read == worker.seen.as_read or not self.has(SlotGuard.ROW_AS_READ)
        )
        is_free = len(state.holders - {place}) < limit or not self.has(SlotGuard.IS_FREE)
        if not (is_as_read and is_free) or row.run == self._most_runs:
            yield Step("a take is refused", now_is(Worker(), state))
            return
        taken = row._replace(
            status=PROCESSING, fence=row.fence + 1, run=row.run + 1, lease=LIVE, nonce=row.run + 1
        )
        holders = state.holders | {place} if self.has(SlotGuard.WITH_THE_ROW) else state.holders
        after = with_row(state._replace(holders=holders, last=limit), place, taken)
        runs = Worker(RUNNING, place, taken.fence, taken.run, is_live=True)
        yield Step("take", now_is(runs, after))
        yield Step("take, the answer is lost", now_is(runs._replace(phase=ASKED), after))

    def _ask_again(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row = state.rows[worker.action]
        is_mine = row is not None and row.status is PROCESSING and row.nonce == worker.run
        runs = worker._replace(phase=RUNNING, fence=row.fence) if is_mine else Worker()
        yield Step("a take is repeated", now_is(runs, state))

    def _run(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        row = state.rows[worker.action]
        if self._is_mine(row, worker, SlotGuard.RENEW_FENCE):
            renewed = with_row(state, worker.action, row._replace(lease=LIVE))
            yield Step("renew", now_is(worker._replace(is_live=True), renewed))
        for outcome in (EXECUTED, PENDING) if "retry" in state.left else (EXECUTED,):
            before = less(state, "retry") if outcome is PENDING else state
            ways = {"": before}
            if "busy" in state.left:
                ways[", the key is busy"] = less(before, "busy")
            for how, then in ways.items():
                settled = self._settled(then, worker, outcome, frees=not how)
                if settled is not then:
                    lost = worker._replace(phase=SETTLING, is_live=False, outcome=outcome)
                    yield Step(f"settle as {outcome}{how}", now_is(Worker(), settled))
                    yield Step(f"settle as {outcome}{how}, the answer is lost", now_is(lost, settled))
        if row is None or row.run != worker.run or row.status is not PROCESSING:
            yield Step("a run finds its lease lost", now_is(Worker(), state))

    def _settle_again(self, state: State, worker: Worker, now_is: Placing) -> Iterator[Step]:
        settled = self._settled(state, worker, worker.outcome, frees=True)
        yield Step("a settle is repeated", now_is(Worker(), settled))

    def _settled(self, state: State, worker: Worker, outcome: Status | None, *, frees: bool) -> State:
        row = state.rows[worker.action]
        if outcome is None or not self._is_mine(row, worker, SlotGuard.SETTLE_FENCE):
            return state
        ended = with_row(state, worker.action, row._replace(status=outcome, lease=None, nonce=None))
        if not (frees and self.has(SlotGuard.SETTLE_FREES)):
            return ended
        return ended._replace(holders=state.holders - {worker.action})

    def _is_mine(self, row: Row | None, worker: Worker, fence: SlotGuard) -> bool:
        if row is None or row.status is not PROCESSING:
            return False
        return row.fence == worker.fence or not self.has(fence)


def _placing(state: State, place: int) -> Placing:
    """Put a worker into its place; they are alike, so their order is irrelevant."""
    others = state.workers[:place] + state.workers[place + 1 :]

    def now_is(worker: Worker, after: State) -> State:
        return after._replace(workers=tuple(sorted((worker, *others), key=repr)))

    return now_is


def _requests(worker: Worker) -> Iterator[Worker]:
    """The writes that a worker may send now, each with what the worker is at once it has sent it."""
    if worker.phase in {TAKING, EVICTING, RUNNING}:
        yield worker
    if worker.phase is RUNNING:
        yield worker._replace(phase=SETTLING, is_live=False, outcome=EXECUTED)
