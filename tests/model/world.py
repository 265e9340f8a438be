"""What happens around the workers: time passes, wakes come and get lost, people change their minds."""

from collections.abc import Iterator

from tests.model.guards import Guard
from tests.model.states import (
    CANCELLED,
    ENDED,
    FAILED,
    LAST_INSTANT,
    LIVE,
    PENDING,
    PROCESSING,
    Late,
    Pause,
    Row,
    State,
    Step,
    less,
    write,
)

ARRIVES_LATE = "a request arrives that its caller has given up"


class World:
    """The steps outside runs, under the guards that are kept."""

    def __init__(self, retained: frozenset[Guard], *, loses: bool = True) -> None:
        self._kept, self._loses = retained, loses

    def has(self, guard: Guard) -> bool:
        return guard in self._kept

    def time(self, state: State) -> Iterator[Step]:
        row = state.row
        if state.now < LAST_INSTANT:
            yield Step("a moment passes", state._replace(now=state.now + 1))
        if row is None:
            return
        if row.expires:
            yield Step("the row expires", write(state, None))
        held = (row.run, row.until)
        holder_is_sure = any(
            worker.is_live and held == (worker.run, worker.until) for worker in state.workers
        )
        if row.lease is LIVE and not (holder_is_sure and self.has(Guard.SKEW)):
            yield Step("the row's lease ends", state._replace(row=row._replace(lease=ENDED)))

    def wakes(self, state: State) -> Iterator[Step]:
        if state.stream:
            yield Step("arm", self._arm(state)._replace(stream=state.stream[1:]))
            if self._loses:
                yield Step("arm, and the record will come again", self._arm(state))
        for timer in state.timers:
            _, generation, due = timer
            if due <= state.now:
                fired = state._replace(timers=state.timers - {timer}, wakes=state.wakes | {(generation, due)})
                yield Step("a timer fires", fired)
            if self._loses:
                left = state.timers - {timer}
                yield Step("a timer is lost", state._replace(timers=left, is_lossless=False))
        for wake in state.wakes if self._loses else ():
            yield Step("a message is lost", state._replace(wakes=state.wakes - {wake}, is_lossless=False))
        if self._is_overdue(state):
            wake = (state.row.generation, state.row.due)
            yield Step("the sweep sends again", state._replace(wakes=state.wakes | {wake}))

    def _arm(self, state: State) -> State:
        generation, due, gone = state.stream[0]
        timers, wakes = state.timers, state.wakes
        if generation is not None and due <= state.now:
            wakes |= {(generation, due)}
        elif generation is not None and not any(key == self._timer(generation) for key, _, _ in timers):
            timers |= {(self._timer(generation), generation, due)}
        if gone is not None:
            timers = frozenset(timer for timer in timers if timer[0] != self._timer(gone))
        return state._replace(timers=timers, wakes=wakes)

    def _timer(self, generation: int) -> int:
        return generation if self.has(Guard.TIMER_OF_A_GENERATION) else 0

    def _is_overdue(self, state: State) -> bool:
        row = state.row
        if row is None or not row.in_due_index or row.due > state.now:
            return False
        return row.status is PENDING or row.lease is ENDED

    def people(self, state: State) -> Iterator[Step]:
        row = state.row
        changes = {
            "put": self._put_again,
            "cancel": self._cancel,
            "ask": self._ask_to_cancel,
            "reschedule": self._reschedule,
            "redrive": self._redrive,
            "dismiss": self._dismiss,
        }
        if row is None:
            return
        for requested, change in changes.items():
            changed = change(state, row, row)
            if requested in state.left and changed is not row:
                yield Step(requested, _acknowledged(write(less(state, requested), changed)))
            if requested in state.left and "late" in state.left and changed is not row:
                late = Late(requested, row.generation, row.fence, row.dismissed)
                yield Step(f"{requested}, and its caller gives up", less(state, "late")._replace(late=late))
        if state.late is not None:
            changed = changes[state.late.name](state, row, state.late)
            yield Step(ARRIVES_LATE, write(state._replace(late=None), changed))

    def operators(self, state: State) -> Iterator[Step]:
        """Begin the pause, and end it."""
        if "pause" in state.left:
            yield Step("a pause begins", less(state, "pause")._replace(pause=Pause(state.now)))
        if state.pause is not None and state.pause.end is None:
            yield Step("the pause ends", state._replace(pause=state.pause._replace(end=state.now)))

    def _put_again(self, _state: State, row: Row, _read: Row | Late) -> Row:
        return row if self.has(Guard.ROW_IS_ABSENT) else Row()

    def _cancel(self, _state: State, row: Row, read: Row | Late) -> Row:
        if row.status is not PENDING and self.has(Guard.CANCEL_PENDING):
            return row
        if row.generation != read.generation and self.has(Guard.CANCEL_AS_READ):
            return row
        return self.final(row._replace(status=CANCELLED))

    def _ask_to_cancel(self, _state: State, row: Row, read: Row | Late) -> Row:
        if row.status is not PROCESSING and self.has(Guard.ASK_PROCESSING):
            return row
        if row.fence != read.fence and self.has(Guard.ASK_AS_READ):
            return row
        return row._replace(cancel_requested=True)

    def _reschedule(self, _state: State, row: Row, read: Row | Late) -> Row:
        if row.status is not PENDING and self.has(Guard.RESCHEDULE_PENDING):
            return row
        if row.generation != read.generation and self.has(Guard.RESCHEDULE_AS_READ):
            return row
        generation = row.generation + self.has(Guard.RESCHEDULE_GENERATION)
        return row._replace(due=LAST_INSTANT, generation=generation, expiry=None)

    def _redrive(self, state: State, row: Row, read: Row | Late) -> Row:
        if row.status is not FAILED and self.has(Guard.REDRIVE_FAILED):
            return row
        if row.generation != read.generation and self.has(Guard.REDRIVE_AS_READ):
            return row
        if row.dismissed and not read.dismissed and self.has(Guard.REDRIVE_SEES_DISMISSAL):
            return row
        return row._replace(
            status=PENDING,
            due=state.now,
            generation=row.generation + self.has(Guard.REDRIVE_GENERATION),
            attempts=0,
            cancel_requested=False,
            in_due_index=self.has(Guard.REDRIVE_IN_DUE_INDEX),
            expires=not self.has(Guard.REDRIVE_NO_EXPIRY),
            expiry=None,
            dismissed="" if self.has(Guard.REDRIVE_NOT_DISMISSED) else row.dismissed,
        )

    def _dismiss(self, _state: State, row: Row, read: Row | Late) -> Row:
        if row.status is not FAILED and self.has(Guard.DISMISS_FAILED):
            return row
        if row.generation != read.generation and self.has(Guard.DISMISS_AS_READ):
            return row
        if row.dismissed and self.has(Guard.DISMISS_ONCE):
            return row
        return row._replace(dismissed="later" if isinstance(read, Late) else "at once")

    def final(self, row: Row) -> Row:
        return row._replace(in_due_index=not self.has(Guard.FINAL_LEAVES_DUE_INDEX), expires=True)


def _acknowledged(state: State) -> State:
    late = state.late
    return state if late is None else state._replace(late=late._replace(is_overtaken=True))
