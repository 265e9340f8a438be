"""The facts of the model: the row, the workers, and everything else that there is at one moment."""

from typing import NamedTuple

from duetime.model.action import Status

PENDING, PROCESSING, FAILED, CANCELLED = Status.PENDING, Status.PROCESSING, Status.FAILED, Status.CANCELLED
LAST_INSTANT, MOST_ATTEMPTS = 1, 2
LIVE, ENDED = "live", "ended"
IDLE, LOOKING, UNSURE, RUNNING, SETTLING = "idle", "looking", "unsure", "running", "settling"
SKIPPING = "skipping"
HANDING = "handing"
"""A hand-over whose answer was lost is repeated: the run does nothing else."""
COMMITTED = "committed"
"""An outcome: executed, with the handler's entries."""


class Row(NamedTuple):
    """The action's row; an onlooker counts claims in `run` and commits in `commits`, whatever the fence says.

    Of two ends of a run's lease, `until` is larger for the later one.
    """

    status: Status = PENDING
    due: int = 0
    generation: int = 1
    fence: int = 0
    run: int = 0
    lease: str | None = None
    attempts: int = 0
    cancel_requested: bool = False
    in_due_index: bool = True
    expires: bool = False
    """Whether the row is removed after its retention."""
    expiry: int | None = None
    """From when on no run of it begins."""
    until: int = 0
    dismissed: str = ""
    commits: int = 0
    handed: int = 0
    """The run that was handed over last."""


class Worker(NamedTuple):
    """What a worker is at; `is_live` is its own belief that its lease, up to `until`, has not ended."""

    phase: str = IDLE
    fence: int = 0
    run: int = 0
    is_live: bool = False
    until: int = 0
    outcome: str | None = None


class Token(NamedTuple):
    """The token of a run that was handed over; its party may use it again and again, and late."""

    fence: int
    run: int


class Late(NamedTuple):
    """A request that its caller has given up, on a row as it was read. It may still arrive."""

    name: str
    generation: int
    fence: int
    dismissed: str = ""
    is_overtaken: bool = False
    """Whether another change was acknowledged since."""


class Pause(NamedTuple):
    """A pause that skips what becomes due under it; an operator ends it, or has ended it."""

    since: int
    end: int | None = None

    def was_in_force(self, at: int) -> bool:
        return self.since <= at and (self.end is None or at < self.end)


class Heartbeat(NamedTuple):
    """A renewal under way, which its worker has given up."""

    fence: int
    until: int = 0


class State(NamedTuple):
    """Everything there is; `left` counts what may still go wrong or be requested."""

    now: int
    row: Row | None
    workers: tuple[Worker, Worker]
    stream: tuple[tuple[int | None, int, int | None], ...]
    timers: frozenset[tuple[int, int, int]]
    wakes: frozenset[tuple[int, int]]
    left: tuple[str, ...]
    is_lossless: bool = True
    has_died: bool = False
    late: Late | None = None
    heartbeat: Heartbeat | None = None
    tokens: frozenset[Token] = frozenset()
    pause: Pause | None = None


class Step(NamedTuple):
    """Something that happens, what comes of it, and the worker that did it, if one did."""

    name: str
    after: State
    by: Worker | None = None


def starts(left: tuple[str, ...], *, expires: bool = False) -> tuple[State, ...]:
    """An action that has just been put, due at once or later; `left` is what may happen to it, each once."""
    nothing = frozenset()
    rows = [Row(expiry=LAST_INSTANT)] if expires else [Row(due=due) for due in (0, LAST_INSTANT)]
    return tuple(
        State(0, row, (Worker(), Worker()), ((1, row.due, None),), nothing, nothing, left) for row in rows
    )


def write(state: State, new: Row | None) -> State:
    """The row after a write, and its stream records: which generation became pending, and which left."""
    old = state.row
    became = new is not None and new.status is PENDING and (old is None or old.generation != new.generation)
    stays = new is not None and new.status is PENDING and old is not None and new.generation == old.generation
    left = old is not None and old.status is PENDING and not stays
    if not (became or left):
        return state._replace(row=new)
    record = (new.generation if became else None, new.due if became else 0, old.generation if left else None)
    return state._replace(row=new, stream=(*state.stream, record))


def less(state: State, spent: str) -> State:
    return state._replace(left=tuple(item for item in state.left if item != spent))
