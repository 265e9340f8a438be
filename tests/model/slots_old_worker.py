"""The steps of a worker of 0.1.0: it takes, frees and evicts in one transaction with a row."""

from collections.abc import Iterator

from tests.model.slots_states import (
    ASKED,
    ENDED,
    EVICTING,
    IDLE,
    LIVE,
    PENDING,
    PROCESSING,
    RUNNING,
    SETTLING,
    TAKING,
    Row,
    State,
    Step,
    Worker,
    with_row,
)


class OldWorkerSteps:
    """What it does, beside the guards that it has too."""

    def of_0_1_0(self):
        return {
            IDLE: self._old_read,
            TAKING: self._old_take,
            ASKED: self._ask_again,
            RUNNING: self._old_run,
            SETTLING: self._old_settle,
            EVICTING: self._old_evict,
        }

    def _old_read(self, state: State, _worker: Worker, now_is) -> Iterator[Step]:
        for place, row in enumerate(state.rows):
            if row is None or row.run == self.most_runs or not (row.status is PENDING or row.lease is ENDED):
                continue
            others = state.slots.ids - {place}
            if len(others) < self.limits[place]:
                taking = Worker(TAKING, place, seen=row, is_old=True)
                yield Step("0.1.0 sees a slot", now_is(taking, state))
                continue
            for holder in others:
                dead = state.rows[holder]
                if dead is None or dead.status is not PROCESSING or dead.lease is ENDED:
                    evicting = Worker(EVICTING, place, seen=dead, freed=holder, is_old=True)
                    yield Step("0.1.0 sees a dead holder", now_is(evicting, state))

    def _old_take(self, state: State, worker: Worker, now_is) -> Iterator[Step]:
        place, row, slots = worker.action, state.rows[worker.action], state.slots
        is_as_read = row is not None and row.as_read == worker.seen.as_read
        if not is_as_read or len(slots.ids - {place}) >= self.limits[place] or row.run == self.most_runs:
            yield Step("a take of 0.1.0 is refused", now_is(worker.idle, state))
            return
        taken = row._replace(
            status=PROCESSING, fence=row.fence + 1, run=row.run + 1, lease=LIVE, nonce=row.run + 1
        )
        token = self._left_tokens(slots, place)
        held = slots if place in slots.ids else slots.adding((place, token))
        after = with_row(state._replace(slots=held._replace(taken=slots.taken + 1)), place, taken)
        runs = Worker(RUNNING, place, taken.fence, taken.run, is_live=True, is_old=True)
        yield Step("0.1.0 takes", now_is(runs, after))

    def _left_tokens(self, _slots, _place):
        """It leaves the token of an earlier take; the worst of all is the first one."""
        return 0

    def _old_run(self, state: State, worker: Worker, now_is) -> Iterator[Step]:
        row: Row | None = state.rows[worker.action]
        yield from self.renews(state, worker, now_is)
        for outcome, before in self.outcomes(state):
            settled = self.settled(before, worker, outcome)
            if settled is not before:
                freed = settled._replace(slots=settled.slots.without(worker.action))
                yield Step(f"0.1.0 settles as {outcome}", now_is(worker.idle, freed))
        if row is None or row.run != worker.run or row.status is not PROCESSING:
            yield Step("a run of 0.1.0 finds its lease lost", now_is(worker.idle, state))

    def _old_settle(self, state: State, worker: Worker, now_is) -> Iterator[Step]:
        settled = self.settled(state, worker, worker.outcome)
        freed = settled._replace(slots=settled.slots.without(worker.action))
        yield Step("a settle of 0.1.0 is repeated", now_is(worker.idle, state if settled is state else freed))

    def _old_evict(self, state: State, worker: Worker, now_is) -> Iterator[Step]:
        row, seen, holder = state.rows[worker.freed], worker.seen, worker.freed
        if holder not in state.slots.ids or (row and row.as_read) != (seen and seen.as_read):
            yield Step("an eviction of 0.1.0 is refused", now_is(worker.idle, state))
            return
        after = state._replace(slots=state.slots.without(holder))
        if row is not None and row.status is PROCESSING:
            after = with_row(after, holder, row._replace(fence=row.fence + 1, nonce=None))
        yield Step("0.1.0 evicts", now_is(worker.idle, after))
