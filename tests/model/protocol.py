"""The protocol of the action row as an explicit-state model: every order of events, within small bounds.

Two workers, a table, its stream, timers and a queue. A message may be lost, doubled, delivered late and in
any order; an answer may be lost, and the call repeated; a worker may die, or sleep past its lease and go on;
people cancel, reschedule, redrive and dismiss at any moment. Each guard of the protocol has a name and can be
left out.
"""

from collections.abc import Callable, Iterator

from duetime.model.action import Status
from tests.model.guards import ALL, Guard
from tests.model.states import (
    CANCELLED,
    COMMITTED,
    ENDED,
    FAILED,
    HANDING,
    IDLE,
    LAST_INSTANT,
    LIVE,
    LOOKING,
    MOST_ATTEMPTS,
    PENDING,
    PROCESSING,
    RUNNING,
    SETTLING,
    SKIPPING,
    UNSURE,
    Heartbeat,
    Row,
    State,
    Step,
    Token,
    Worker,
    less,
    write,
)
from tests.model.world import World


class Protocol(World):
    """The steps that may follow a state, under the guards that are kept."""

    def __init__(
        self,
        retained: frozenset[Guard] = ALL,
        *,
        most_runs: int = 3,
        loses: bool = True,
        commits: bool = False,
    ) -> None:
        super().__init__(retained, loses=loses)
        self._most_runs, self._commits = most_runs, commits

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        yield from self.time(state)
        yield from self.wakes(state)
        yield from self.people(state)
        yield from self.operators(state)
        yield from self._late_heartbeat(state)
        yield from self.parties(state)
        for place, worker in enumerate(state.workers):
            yield from self._worker(state, place, worker)

    def _worker(self, state: State, place: int, worker: Worker) -> Iterator[Step]:
        now_is = _placing(state, place)
        if worker.phase is IDLE:
            for wake in state.wakes:
                if wake[1] <= state.now:
                    yield from self._claim(state, wake, now_is)
            return
        if worker.phase in {LOOKING, SKIPPING, HANDING}:
            yield from self._after_reading(state, worker, now_is)
            return
        if worker.is_live:
            yield Step(
                "a worker's lease ends by its own clock", now_is(worker._replace(is_live=False), state)
            )
        if "death" in state.left:
            yield Step("a worker dies", now_is(Worker(), less(state, "death")._replace(has_died=True)))
        if worker.phase is UNSURE:
            yield Step("a claim is repeated", now_is(self._recognised(state.row, worker), state))
            return
        if worker.phase is SETTLING:
            if self._may_renew(state.row, worker.fence, worker.until):
                yield Step("a late heartbeat arrives", state._replace(row=state.row._replace(lease=LIVE)))
            yield Step(
                "a settle is repeated", now_is(Worker(), self._settled(state, worker, worker.outcome)), worker
            )
            return
        yield from self._run(state, worker, now_is)

    def _claim(self, state: State, wake: tuple[int, int], now_is: "Placing") -> Iterator[Step]:
        row = state.row
        if row is not None and row.run == self._most_runs:
            return  # as far as this model goes
        if row is not None and row.status is PENDING and row.due <= state.now and _has_expired(state, row):
            yield Step("a worker sees an expired action", now_is(Worker(SKIPPING, row.generation), state))
            if self.has(Guard.CLAIM_NOT_EXPIRED):
                return
        if row is not None and row.status is PENDING and row.due <= state.now and self._is_paused(state, row):
            yield Step("a worker sees a paused action", now_is(Worker(SKIPPING, row.generation), state))
        if row is not None and all(
            (
                row.status is PENDING or not self.has(Guard.CLAIM_PENDING),
                row.due <= state.now or not self.has(Guard.CLAIM_DUE),
            )
        ):
            taken = self._taken(row, row.attempts + 1)
            yield from _won("claim", write(state, taken), taken, now_is)
        elif row is not None and row.lease is ENDED:
            yield Step("a worker sees a dead run", now_is(Worker(LOOKING, row.fence, row.run), state))
        elif row is None or row.lease is None:
            yield Step("a message finds nothing to do", state._replace(wakes=state.wakes - {wake}))

    def _after_reading(self, state: State, worker: Worker, now_is: "Placing") -> Iterator[Step]:
        """Write what a row led to that could not be claimed; it may have changed since it was read."""
        if worker.phase is HANDING:
            yield from self._hand_over(state, worker, now_is)
            yield Step("a worker leaves its hand-over", now_is(Worker(), state))
        elif worker.phase is LOOKING:
            yield from self._take_over(state, worker, now_is)
        else:
            yield Step("skip", now_is(Worker(), self._skipped(state, worker.fence)))

    def _take_over(self, state: State, worker: Worker, now_is: "Placing") -> Iterator[Step]:
        row = state.row
        if row is not None and row.run == self._most_runs:
            return
        holds = row is not None and all(
            (
                row.status is PROCESSING or not self.has(Guard.TAKE_OVER_PROCESSING),
                row.fence == worker.fence or not self.has(Guard.TAKE_OVER_FENCE),
                row.lease is ENDED or not self.has(Guard.TAKE_OVER_LEASE_ENDED),
            )
        )
        if holds:
            taken = self._taken(row, row.attempts)
            yield from _won("take over", write(state, taken), taken, now_is)
        else:
            yield Step("a take-over is refused", now_is(Worker(), state))

    def _is_paused(self, state: State, row: Row) -> bool:
        """Return whether a worker skips the row for the pause. One that does not know it yet claims it."""
        pause = state.pause
        if pause is None or (row.attempts and self.has(Guard.SKIP_NOT_BEGUN)):
            return False
        return pause.was_in_force(row.due) if self.has(Guard.SKIP_UNDER_PAUSE) else pause.end is None

    def _skipped(self, state: State, generation: int) -> State:
        """The state after a skip of the row that was read with this generation."""
        row = state.row
        if row is None or (row.status is not PENDING and self.has(Guard.SKIP_PENDING)):
            return state
        if row.generation != generation and self.has(Guard.SKIP_AS_READ):
            return state
        return write(state, self.final(row._replace(status=Status.SKIPPED)))

    def _taken(self, row: Row, attempts: int) -> Row:
        fence = row.fence + self.has(Guard.NEXT_FENCE)
        return row._replace(
            status=PROCESSING, fence=fence, run=row.run + 1, lease=LIVE, attempts=attempts, until=0
        )

    def _recognised(self, row: Row | None, worker: Worker) -> Worker:
        is_mine = row is not None and row.status is PROCESSING and row.run == worker.run
        return worker._replace(phase=RUNNING) if is_mine and self.has(Guard.NONCE) else Worker()

    def _run(self, state: State, worker: Worker, now_is: "Placing") -> Iterator[Step]:
        row = state.row
        if row is None:
            return
        until = int(state.heartbeat is not None and state.heartbeat.fence == worker.fence)
        if self._may_renew(row, worker.fence, until):
            renewed = state._replace(row=row._replace(lease=LIVE, until=until))
            yield Step("renew", now_is(worker._replace(is_live=True, until=until), renewed))
        if "slow heartbeat" in state.left:
            sent = less(state, "slow heartbeat")._replace(heartbeat=Heartbeat(worker.fence))
            yield Step("a heartbeat is under way", sent)
        if "hand over" in state.left:
            yield from self._hand_over(state, worker, now_is)
        outcomes = [Status.EXECUTED, FAILED]
        outcomes += [COMMITTED] if self._commits else []
        outcomes += [PENDING] if row.attempts < MOST_ATTEMPTS else []
        outcomes += [CANCELLED] if row.cancel_requested else []
        for outcome in outcomes:
            settled = self._settled(state, worker, outcome)
            if settled is not state:
                yield Step(f"settle as {outcome}", now_is(Worker(), settled), worker)
                lost = worker._replace(phase=SETTLING, is_live=False, outcome=outcome)
                yield Step(f"settle as {outcome}, the answer is lost", now_is(lost, settled), worker)
        if row.run != worker.run or row.status is not PROCESSING:
            yield Step("a run finds its lease lost", now_is(Worker(), state))

    def _late_heartbeat(self, state: State) -> Iterator[Step]:
        if state.heartbeat is None:
            return
        row, after = state.row, state._replace(heartbeat=None)
        if self._may_renew(row, *state.heartbeat):
            after = after._replace(row=row._replace(lease=LIVE, until=state.heartbeat.until))
        yield Step("the heartbeat that was under way arrives", after)

    def _hand_over(self, state: State, worker: Worker, now_is: "Placing") -> Iterator[Step]:
        """End a run by a hand-over: the row keeps a lease, and no worker holds it."""
        row = state.row
        if row is None or not self._is_mine(
            row, worker.fence, Guard.HAND_OVER_PROCESSING, Guard.HAND_OVER_FENCE
        ):
            return
        if row.handed == worker.run and row.fence == worker.fence and self.has(Guard.HAND_OVER_ONCE):
            return
        handed = state._replace(
            row=row._replace(lease=LIVE, handed=worker.run),
            tokens=state.tokens | {Token(worker.fence, worker.run)},
        )
        yield Step("hand over", now_is(Worker(), handed), worker)
        lost = worker._replace(phase=HANDING, is_live=False)
        yield Step("hand over, the answer is lost", now_is(lost, handed), worker)

    def parties(self, state: State) -> Iterator[Step]:
        """What the holders of tokens do: each call may come again, and late."""
        row = state.row
        for token in state.tokens if row is not None else ():
            by = Worker(RUNNING, token.fence, token.run)
            if self._may_end(row, token):
                ended = self.final(row._replace(status=Status.EXECUTED, lease=None))
                yield Step("complete by token", write(state, ended), by)
            lasts = row.lease is LIVE or not self.has(Guard.BEAT_LASTS)
            is_its_own = row.fence == token.fence or not self.has(Guard.BEAT_FENCE)
            if row.status is PROCESSING and row.handed == row.run and lasts and is_its_own:
                yield Step("heartbeat by token", state._replace(row=row._replace(lease=LIVE)), by)

    def _may_end(self, row: Row, token: Token) -> bool:
        lasts = row.lease is LIVE or not self.has(Guard.TOKEN_LASTS)
        is_open = row.status is not PROCESSING or (row.handed == row.run and lasts)
        return is_open and self._is_mine(row, token.fence, Guard.TOKEN_PROCESSING, Guard.TOKEN_FENCE)

    def _settled(self, state: State, worker: Worker, outcome: str | None) -> State:
        row = state.row
        if row is None or outcome is None:
            return state
        if outcome is COMMITTED:
            return self._committed(state, row, worker)
        if not self._is_mine(row, worker.fence, Guard.SETTLE_PROCESSING, Guard.SETTLE_FENCE):
            return state
        ended = row._replace(status=outcome, lease=None if self.has(Guard.SETTLE_ENDS_LEASE) else row.lease)
        if outcome is not PENDING:
            return write(state, self.final(ended))
        if row.cancel_requested and self.has(Guard.RETRY_NO_CANCEL):
            return state
        again = ended._replace(
            due=min(state.now + 1, LAST_INSTANT),
            generation=row.generation + self.has(Guard.RETRY_GENERATION),
            in_due_index=self.has(Guard.RETRY_IN_DUE_INDEX),
        )
        return write(state, again)

    def _committed(self, state: State, row: Row, worker: Worker) -> State:
        if not self._is_mine(row, worker.fence, Guard.COMMIT_PROCESSING, Guard.COMMIT_FENCE):
            return state
        row = row._replace(commits=row.commits + 1)
        if not self.has(Guard.COMMIT_SETTLES):
            return write(state, row)
        return write(state, self.final(row._replace(status=Status.EXECUTED, lease=None)))

    def _may_renew(self, row: Row | None, fence: int, until: int) -> bool:
        if row is None or (row.until > until and self.has(Guard.RENEW_NOT_LATER)):
            return False
        if row.handed == row.run and row.handed and self.has(Guard.RENEW_NOT_HANDED_OVER):
            return False
        return self._is_mine(row, fence, Guard.RENEW_PROCESSING, Guard.RENEW_FENCE)

    def _is_mine(self, row: Row, fence: int, processing: Guard, fence_is_mine: Guard) -> bool:
        return (row.status is PROCESSING or not self.has(processing)) and (
            row.fence == fence or not self.has(fence_is_mine)
        )


def _has_expired(state: State, row: Row) -> bool:
    return row.expiry is not None and row.expiry <= state.now


Placing = Callable[[Worker, State], State]


def _placing(state: State, place: int) -> Placing:
    """Put a worker into its place; the two are alike, so their order is irrelevant."""
    other = state.workers[1 - place]

    def now_is(worker: Worker, after: State) -> State:
        first, second = sorted((worker, other), key=_order)
        return after._replace(workers=(first, second))

    return now_is


def _order(worker: Worker) -> tuple[object, ...]:
    return (*worker[:-1], worker.outcome or "")


def _won(name: str, after: State, taken: Row, now_is: Placing) -> Iterator[Step]:
    holder = Worker(RUNNING, taken.fence, taken.run, is_live=True)
    yield Step(name, now_is(holder, after))
    yield Step(f"{name}, the answer is lost", now_is(holder._replace(phase=UNSURE), after))
