"""The states of a batch's model: the rows of its members, its item, its completion action, and processes."""

from typing import NamedTuple

from duetime.model.action import Status

PENDING, EXECUTED, FAILED, CANCELLED, SKIPPED = (
    Status.PENDING,
    Status.EXECUTED,
    Status.FAILED,
    Status.CANCELLED,
    Status.SKIPPED,
)
Statuses = tuple[Status | None, ...]


class Row(NamedTuple):
    """A member's row."""

    status: Status
    redriven: int = 0
    is_removed: bool = False
    """Its time to live has passed; the status is that of its end."""
    is_awaited: bool = False
    """Its redrive returned before the batch was complete."""


class Batch(NamedTuple):
    """The batch's item."""

    size: int = 0
    closed: bool = False
    counting: bool = True
    counts: Statuses = ()
    """What is shown; None for a member that was not final."""
    known: Statuses = ()
    """The ends that are not read again: those of members that are redriven later are `failed`."""
    short_list: tuple[int, ...] | None = None
    restarted: bool = False
    """Whether a member was redriven."""
    counted: bool = False
    """Whether all were counted since."""
    recount: bool = False
    in_due_index: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether the completion action may run."""
        return self.closed and not self.counting


class Completion(NamedTuple):
    """The completion action."""

    status: Status = PENDING
    held: bool = True
    generation: int = 1
    releases: int = 0


class Process(NamedTuple):
    """A caller or a pass, between two of its calls."""

    phase: str = "idle"
    read: Batch | None = None
    member: int | None = None
    left: tuple[int, ...] = ()
    """Members whose rows a count has yet to read."""
    seen: Statuses = ()
    missing: tuple[int, ...] = ()
    generation: int = 0


IDLE, ENDED = Process(), Process("has ended")


class State(NamedTuple):
    """Everything."""

    rows: tuple[Row | None, ...]
    batch: Batch
    completion: Completion = Completion()
    adder: Process = ENDED
    closer: Process = ENDED
    counters: tuple[Process, ...] = (IDLE,)
    redriver: Process = IDLE
    late_puts: frozenset[int] = frozenset()
    late_redrives: frozenset[int] = frozenset()
    left: tuple[str, ...] = ()
    """What may happen, each once."""


class Step(NamedTuple):
    """What may happen next."""

    name: str
    after: State


def without(state: State, name: str) -> State:
    """Return the state after one of the things that may happen once."""
    left = list(state.left)
    left.remove(name)
    return state._replace(left=tuple(left))


def with_row(state: State, number: int, row: Row | None) -> State:
    """Return the state with another row of a member."""
    return state._replace(rows=(*state.rows[:number], row, *state.rows[number + 1 :]))


def with_counter(state: State, number: int, counter: Process) -> State:
    """Return the state with another state of a process that counts."""
    return state._replace(
        counters=(*state.counters[:number], counter, *state.counters[number + 1 :]),
    )
