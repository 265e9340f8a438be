"""The facts of the slots' model: rows that share a concurrency key, who holds its slots, and the workers."""

from typing import NamedTuple

from duetime.model.action import Status

PENDING, PROCESSING, EXECUTED = Status.PENDING, Status.PROCESSING, Status.EXECUTED
LIVE, ENDED = "live", "ended"
IDLE, TAKING, LOOKING, EVICTING = "idle", "taking", "looking", "evicting"
ASKED, RUNNING, SETTLING = "asked", "running", "settling"


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


class Worker(NamedTuple):
    """What a worker is at.

    `is_live` is its own belief that its lease has not ended, `seen` a row as it was read.
    """

    phase: str = IDLE
    action: int = 0
    fence: int = 0
    run: int = 0
    is_live: bool = False
    holder: int | None = None
    seen: Row | None = None
    outcome: Status | None = None


class State(NamedTuple):
    """Everything there is.

    `left` counts what may still happen, `last` is the limit of the action that began last.
    """

    rows: tuple[Row | None, ...]
    holders: frozenset[int]
    workers: tuple[Worker, ...]
    left: tuple[str, ...]
    last: int = 0
    late: Worker | None = None
    """A request under way: the worker as it sent the request. It has given up, or has repeated it."""


class Step(NamedTuple):
    """Something that happens, and what comes of it."""

    name: str
    after: State


def start(*, actions: int, workers: int, left: tuple[str, ...]) -> State:
    """Actions that are due, each with more messages than it needs, and workers with nothing to do."""
    return State((Row(),) * actions, frozenset(), (Worker(),) * workers, left)


def with_row(state: State, place: int, row: Row | None) -> State:
    rows = (*state.rows[:place], row, *state.rows[place + 1 :])
    return state._replace(rows=rows)


def less(state: State, spent: str) -> State:
    left = list(state.left)
    left.remove(spent)
    return state._replace(left=tuple(left))
