"""Debounce keys as an explicit-state model: every order of calls, runs and changes, within small bounds.

Each call reads the key and the row, and writes on conditions. A response may be lost, and the request
repeated; a caller may give up, and its request arrive later. Meanwhile the action is claimed, retried,
cancelled or rescheduled. Payloads are the calls that they merge.
"""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from duetime.model.action import Status
from tests.model.debounce_guards import ALL_OF_DEBOUNCE, DebounceGuard
from tests.model.search import Checked, Model, search

PENDING, PROCESSING, EXECUTED, CANCELLED = (
    Status.PENDING,
    Status.PROCESSING,
    Status.EXECUTED,
    Status.CANCELLED,
)
BOUND, LATEST = 1, 2
"""The latest due time that further calls can give the action, and what they ask for."""
KEPT = 2
"""How many of its latest calls a row names."""

ONE_WAITS = "at most one action of a key awaits its first run"
NONE_IS_LOST = "each accepted call is in the payload of a run, or of an action that awaits its first one"
NONE_IS_TWICE = "no call is in two actions, nor merged twice"
BOUND_HOLDS = "no call moves the due time past the bound"
NEW_AFTER_BEGIN = "a call after the first run began does not change that action"


class Row(NamedTuple):
    """One action of the key."""

    status: Status
    payload: tuple[int, ...]
    ran: tuple[int, ...] = ()
    """The payload of its first run."""
    generation: int = 1
    begun: bool = False
    due: int = 0
    calls: tuple[int, ...] = ()


class Request(NamedTuple):
    """What a call writes: into the row that it read, or as a new row beside the key that it read."""

    call: int
    key: int | None
    row: Row | None
    """As read, if the call changes it."""


class Call(NamedTuple):
    """A caller: before its call, with a request that it may send or repeat, or done."""

    request: Request | None = None
    is_sent: bool = False
    end: str = ""
    """``accepted``, or ``given up`` without a response."""


class State(NamedTuple):
    """Everything."""

    key: int | None
    rows: tuple[Row | None, ...]
    calls: tuple[Call, ...]
    late: Request | None
    left: tuple[str, ...]


class Step(NamedTuple):
    """What may happen next."""

    name: str
    after: State


class DebounceProtocol:
    """The steps that may follow a state, under the guards that are kept."""

    def __init__(self, retained: frozenset[DebounceGuard]) -> None:
        self._retained = retained

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        for number, call in enumerate(state.calls):
            yield from self._call(state, number, call)
        if state.late is not None:
            after, _ = self._written(state._replace(late=None), state.late)
            yield Step("a late request arrives", after)
            yield Step("a late request is lost", state._replace(late=None))
        for place, row in enumerate(state.rows):
            if row is not None:
                yield from _others(state, place, row)

    def _call(self, state: State, number: int, call: Call) -> Iterator[Step]:
        if call.end:
            return
        if call.request is None:
            yield Step(f"call {number} reads", _with(state, number, Call(self._read(state, number))))
            return
        after, is_applied = self._written(state, call.request)
        if call.is_sent and not is_applied and self._is_recognised(state, call.request):
            is_applied = True
        then = Call(end="accepted") if is_applied else Call()
        yield Step(f"call {number} writes", _with(after, number, then))
        if not call.is_sent and "lost response" in state.left:
            lost = _without(after, "lost response")
            yield Step(
                f"call {number} writes, the response is lost",
                _with(lost, number, call._replace(is_sent=True)),
            )
        if "late" in state.left and state.late is None:
            late = _without(state, "late")._replace(late=call.request)
            yield Step(f"call {number} gives up", _with(late, number, Call(end="given up")))

    def _read(self, state: State, number: int) -> Request:
        row = None if state.key is None else state.rows[state.key]
        awaits = row is not None and row.status is PENDING
        if awaits and row is not None and row.begun and DebounceGuard.NOT_BEGUN in self._retained:
            awaits = False
        return Request(number, state.key, row if awaits else None)

    def _written(self, state: State, request: Request) -> tuple[State, bool]:
        if request.row is None:
            return self._put(state, request)
        place = request.key
        row = None if place is None else state.rows[place]
        if row is None or place is None:
            return state, False
        if row.status is not PENDING and DebounceGuard.PENDING in self._retained:
            return state, False
        if row.generation != request.row.generation and DebounceGuard.AS_READ in self._retained:
            return state, False
        due = min(LATEST, BOUND) if DebounceGuard.BOUND in self._retained else LATEST
        moved = row._replace(
            payload=(*request.row.payload, request.call),
            generation=row.generation + 1,
            due=due,
            calls=(*row.calls, request.call)[-KEPT:],
        )
        return _placed(state, place, moved), True

    def _put(self, state: State, request: Request) -> tuple[State, bool]:
        mine = [row for row in state.rows if row is not None and row.payload[:1] == (request.call,)]
        if mine:
            return state, True  # the row exists: an earlier try has written it
        guard = DebounceGuard.KEY_ABSENT if request.key is None else DebounceGuard.KEY_AS_READ
        if state.key != request.key and guard in self._retained:
            return state, False
        rows = (*state.rows, Row(PENDING, (request.call,)))
        return state._replace(key=len(state.rows), rows=rows), True

    def _is_recognised(self, state: State, request: Request) -> bool:
        row = None if request.key is None else state.rows[request.key]
        return DebounceGuard.RECOGNISED in self._retained and row is not None and request.call in row.calls


def _others(state: State, place: int, row: Row) -> Iterator[Step]:
    """What workers and operators do to a row."""
    if row.status is PENDING:
        ran = row.payload if not row.begun else row.ran
        yield Step("claim", _placed(state, place, row._replace(status=PROCESSING, begun=True, ran=ran)))
    if row.status is PENDING and "cancel" in state.left:
        yield Step("cancel", _placed(_without(state, "cancel"), place, row._replace(status=CANCELLED)))
    if row.status is PENDING and "reschedule" in state.left:
        moved = row._replace(generation=row.generation + 1, due=0)
        yield Step("reschedule", _placed(_without(state, "reschedule"), place, moved))
    if row.status is PROCESSING:
        yield Step("settle", _placed(state, place, row._replace(status=EXECUTED)))
        if "retry" in state.left:
            again = row._replace(status=PENDING, generation=row.generation + 1)
            yield Step("settle for retry", _placed(_without(state, "retry"), place, again))


def _placed(state: State, place: int, row: Row) -> State:
    return state._replace(rows=(*state.rows[:place], row, *state.rows[place + 1 :]))


def _with(state: State, number: int, call: Call) -> State:
    return state._replace(calls=(*state.calls[:number], call, *state.calls[number + 1 :]))


def _without(state: State, name: str) -> State:
    left = list(state.left)
    left.remove(name)
    return state._replace(left=tuple(left))


SCENARIOS = {
    "three calls beside a run and a retry": (3, ("retry",)),
    "responses are lost": (3, ("lost response", "lost response")),
    "a request arrives late": (3, ("late",)),
    "an operator cancels and reschedules": (3, ("cancel", "reschedule")),
    "two calls, and all of it": (2, ("cancel", "late", "lost response", "reschedule", "retry")),
}
"""How many callers there are, and what may happen, each once."""


def check_debounce(
    scenario: str, retained: frozenset[DebounceGuard] = ALL_OF_DEBOUNCE, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    callers, left = SCENARIOS[scenario]
    start = State(None, (), (Call(),) * callers, None, left)
    protocol = DebounceProtocol(retained)
    return search(Model([start], protocol.steps, _broken_by, _broken_in), at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    for old, new in zip(before.rows, step.after.rows, strict=False):
        if old is not None and new is not None and old.begun and new.payload != old.payload:
            yield NEW_AFTER_BEGIN


def _broken_in(state: State) -> Iterator[str]:
    rows = [row for row in state.rows if row is not None]
    if sum(row.status is PENDING and not row.begun for row in rows) > 1:
        yield ONE_WAITS
    if any(row.due > BOUND for row in rows):
        yield BOUND_HOLDS
    listed = [call for row in rows for call in row.payload]
    if len(listed) != len(set(listed)):
        yield NONE_IS_TWICE
    served = {call for row in rows for call in (row.ran if row.begun else row.payload)}
    accepted = {number for number, call in enumerate(state.calls) if call.end == "accepted"}
    if accepted - served:
        yield NONE_IS_LOST
