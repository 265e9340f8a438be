"""The facts of the jobs' model.

One job of a cadence with nominal times 1 to 4, its rows, and who is at work on them.
"""

from itertools import pairwise
from typing import NamedTuple

from duetime.model.action import SkipReason, Status

PENDING, PROCESSING, FAILED = Status.PENDING.value, Status.PROCESSING.value, Status.FAILED.value
EXECUTED, CANCELLED, SKIPPED = Status.EXECUTED.value, Status.CANCELLED.value, Status.SKIPPED.value
FINAL = {status.value for status in Status if status.is_final}
RETIRED, PAUSED = SkipReason.RETIRED.value, SkipReason.PAUSED.value
COVERED = SkipReason.COVERED.value
MISSED, OVERLAP = SkipReason.MISSED.value, SkipReason.OVERLAP.value

LAST, GRACE = 4, 2
LIVE, ENDED = "live", "ended"
IDLE, READ, HALF_DONE, RUNNING = "idle", "read", "half done", "running"
RETRY, REDRIVE = "retry", "redrive"

Place = int
"""Which row: its version and its nominal time in one number, as its id has both."""


def place_of(version: int, nominal: int) -> Place:
    return (version - 1) * LAST + nominal - 1


def version_of(place: Place) -> int:
    return place // LAST + 1


def nominal_of(place: Place) -> int:
    return place % LAST + 1


def shown(place: Place) -> str:
    return f"{version_of(place)}.{nominal_of(place)}"


class Occurrence(NamedTuple):
    """A row; `why` is the reason of its skip, or of its return to pending."""

    status: str = PENDING
    generation: int = 1
    fence: int = 0
    lease: str | None = None
    attempt: int = 0
    why: str = ""


class Pause(NamedTuple):
    """Of the whole job, or of its one cadence by name: then planners go on, and pass it over."""

    since: int
    is_complete: bool


class Job(NamedTuple):
    """The job's row. A period is a version and the instant from which it is in force."""

    periods: tuple[tuple[int, int], ...] = ((1, 0),)
    cursor: int = 0
    revision: int = 1
    pause: Pause | None = None
    running: Place | None = None
    allows: bool = False
    """Whether runs may overlap; they then take no lock."""
    unlocked: bool = False
    """Whether runs may be in progress that began without the lock, before a change."""

    @property
    def version(self) -> int:
        return self.periods[-1][0]

    def end_of(self, version: int) -> int | None:
        """When a version ended; None for the one in force."""
        if version == self.version:
            return None
        return max(end for (number, _), (_, end) in pairwise(self.periods) if number == version)

    def in_force_at(self, nominal: int) -> int:
        return [version for version, since in self.periods if since < nominal][-1]

    def is_paused_at(self, nominal: int) -> bool:
        return self.pause is not None and self.pause.since < nominal


class Planner(NamedTuple):
    """A planner, and what it means to write on what it has read."""

    phase: str = IDLE
    revision: int = 0
    cursor: int = 0
    until: int = 0
    places: tuple[Place, ...] = ()
    misses: bool = False


class Worker(NamedTuple):
    """A worker, what it has read, and what it means to write; while it runs, its fence."""

    phase: str = IDLE
    place: Place = -1
    row: Occurrence | None = None
    revision: int = 0
    dead: tuple[Place, Occurrence] | None = None
    unlocked: tuple[tuple[Place, Occurrence], ...] | None = None
    locks: bool = True
    skips: str = ""
    fence: int = 0


class Change(NamedTuple):
    """A deploy or an operator at work: what is requested, the job as it was read, and when."""

    requested: str
    job: Job
    now: int


class State(NamedTuple):
    """Everything there is; `left` is what may still happen, each once.

    All after it are an onlooker's notes.
    """

    now: int
    job: Job
    rows: tuple[Occurrence | None, ...]
    planners: tuple[Planner, ...]
    workers: tuple[Worker, ...]
    changes: tuple[Change, ...]
    left: tuple[str, ...]
    begun: tuple[int, ...] = (0,) * LAST
    """How often a first run began, of each nominal time, whatever its version."""
    spans: frozenset[int] = frozenset()
    """Nominal times that a span explains."""
    covered: frozenset[int] = frozenset()
    """Nominal times that lay under a pause."""
    passed: frozenset[int] = frozenset()
    """Those of them that planners were to pass over, since all of the job was paused when they came."""
    late: Planner | Worker | Change | None = None
    """A request under way: who sent it. The sender has given up, or has repeated it."""


class Step(NamedTuple):
    """Something that happens, what comes of it, and the row whose first run it begins, if it does."""

    name: str
    after: State
    begins: Place | None = None


def start(
    *, planners: int, workers: int, left: tuple[str, ...], begins_at: int, allows: bool = False
) -> State:
    """A job of which everything up to an instant was run, and nothing is planned after it."""
    versions = 1 + sum(item.startswith("deploy") for item in left)
    ran = (Occurrence(EXECUTED, generation=0),) * begins_at
    rows = ran + (None,) * (versions * LAST - begins_at)
    begun = (1,) * begins_at + (0,) * (LAST - begins_at)
    job = Job(cursor=begins_at, allows=allows)
    return State(begins_at, job, rows, (Planner(),) * planners, (Worker(),) * workers, (), left, begun)


def all_due(state: State) -> State:
    """The same at the end, when all that was not run is due at once."""
    rows = tuple(row or Occurrence() for row in state.rows)
    return state._replace(now=LAST, job=state.job._replace(cursor=LAST), rows=rows)


def put(state: State, place: Place, row: Occurrence) -> State:
    """The state with that row; of a settled one only what it was matters."""
    if row.status in {EXECUTED, CANCELLED, SKIPPED}:
        row = Occurrence(row.status, generation=0, why=row.why if row.why in {RETIRED, PAUSED} else "")
    return state._replace(rows=(*state.rows[:place], row, *state.rows[place + 1 :]))


def less(state: State, spent: str) -> State:
    return state._replace(left=tuple(item for item in state.left if item != spent))
