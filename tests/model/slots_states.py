"""The facts of the slots' model: rows that share a concurrency key, its slots and line, and the workers."""

from typing import NamedTuple

from duetime.model.action import Status

PENDING, PROCESSING, EXECUTED = Status.PENDING, Status.PROCESSING, Status.EXECUTED
LIVE, ENDED = "live", "ended"
IDLE, READ, TAKING, JOINING, CLAIMING = "idle", "read", "taking", "joining", "claiming"
UNSURE, RUNNING, SETTLING = "unsure", "running", "settling"
FREEING, MOVING, EVICTING = "freeing", "moving", "evicting"
TAILING, PUTTING, LOOKING, MARKING = "tailing", "putting", "looking", "marking"
READING_TAIL, LEAVING, FILLING, REMARKING = "reading the tail", "leaving", "filling", "remarking"


class Row(NamedTuple):
    """An action's row; `run` counts claims as an onlooker would, whatever the fence says."""

    status: Status = PENDING
    fence: int = 0
    run: int = 0
    lease: str | None = None
    nonce: int | None = None

    @property
    def as_read(self) -> tuple[object, ...]:
        """What a condition compares."""
        return (self.status, self.fence, self.lease)


class Slots(NamedTuple):
    """The item of a key: holders with their tokens, in the order of their takes, and the line.

    `has_tail` marks the tail, whose entries are items of their own. They are in the order of the due time,
    which a retry changes, and of their place.
    """

    holders: tuple[tuple[int, int], ...] = ()
    waiting: tuple[int, ...] = ()
    has_tail: bool = False
    tail: tuple[tuple[int, int], ...] = ()

    @property
    def item(self) -> "Slots":
        """What a read of the key's item has."""
        return self._replace(tail=())

    @property
    def line(self) -> tuple[int, ...]:
        """All that wait."""
        return (*self.waiting, *(place for _, place in self.tail))

    def leaving(self, entries: tuple[tuple[int, int], ...]) -> "Slots":
        return self._replace(tail=tuple(entry for entry in self.tail if entry not in entries))

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(holder for holder, _ in self.holders)

    def token(self, place: int) -> int | None:
        return dict(self.holders).get(place)

    def without(self, place: int | None) -> "Slots":
        return self._replace(holders=tuple(pair for pair in self.holders if pair[0] != place))

    def adding(self, *pairs: tuple[int, int]) -> "Slots":
        return self._replace(holders=(*self.holders, *pairs))


class Worker(NamedTuple):
    """What a worker is at.

    `is_live` is its own belief that its lease has not ended; `seen` is a row, and `slots` the item, as they
    were read. `freed` is the holder that a move or an eviction removes, `passed` the next ones with their
    fences, `dropped` what else leaves the line. `token` is the fence with which its run took its slot.

    Of a tail, a move has what it `appended` to the line, the entries `left`, and whether the tail `ends`. Its
    phase after the read of the tail is `then`; it `fills` if no action that its worker claims needs it.
    """

    phase: str = IDLE
    action: int = 0
    fence: int = 0
    run: int = 0
    is_live: bool = False
    seen: Row | None = None
    slots: Slots | None = None
    token: int | None = None
    freed: int | None = None
    passed: tuple[tuple[int, int], ...] = ()
    dropped: tuple[int, ...] = ()
    appended: tuple[int, ...] = ()
    left: tuple[tuple[int, int], ...] = ()
    ends: bool = False
    then: str = ""
    fills: bool = False
    outcome: Status | None = None

    @property
    def idle(self) -> "Worker":
        """The worker with nothing to do."""
        return Worker()


class State(NamedTuple):
    """Everything there is.

    `left` counts what may still happen.
    """

    rows: tuple[Row | None, ...]
    slots: Slots
    workers: tuple[Worker, ...]
    left: tuple[str, ...]
    late: Worker | None = None
    """A request under way: the worker as it sent the request. It has given up, or has repeated it."""


class Step(NamedTuple):
    """Something that happens, and what comes of it."""

    name: str
    after: State


def start(*, actions: int, workers: int, left: tuple[str, ...]) -> State:
    """Actions that are due, each with more messages than it needs, and workers with nothing to do."""
    return State((Row(),) * actions, Slots(), (Worker(),) * workers, left)


def with_line(state: State, most: int) -> State:
    """The first action runs, and the next ones are in line, as many as there is room for."""
    runs = Worker(RUNNING, 0, 1, 1, is_live=True, token=0)
    held = Slots(((0, 0),), tuple(range(1, 1 + most)))
    workers = tuple(sorted((runs, *state.workers[1:]), key=repr))
    return with_row(state, 0, Row(PROCESSING, 1, 1, LIVE, 1))._replace(slots=held, workers=workers)


def waits(row: Row | None) -> bool:
    """Whether an action that is in line may get a slot."""
    return row is not None and row.status is PENDING


def with_row(state: State, place: int, row: Row | None) -> State:
    rows = (*state.rows[:place], row, *state.rows[place + 1 :])
    return state._replace(rows=rows)


def less(state: State, spent: str) -> State:
    left = list(state.left)
    left.remove(spent)
    return state._replace(left=tuple(left))
