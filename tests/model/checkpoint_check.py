"""Checkpoints as an explicit-state model: every order of claims, checkpoints, continuations and deaths.

A claim under a concurrency key reads the row first, and its write requires what was read. A checkpoint may
have no answer, and be applied at any later moment. A run may stop at any moment; one that was taken over may
go on. The value of a checkpoint is how far the work is.
"""

from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from duetime.model.action import Status
from tests.model.checkpoint_guards import ALL_OF_CHECKPOINTS, CheckpointGuard
from tests.model.search import Checked, Model, search

PENDING, PROCESSING, EXECUTED, FAILED = Status.PENDING, Status.PROCESSING, Status.EXECUTED, Status.FAILED
MOST_CONTINUATIONS, MOST_ATTEMPTS, MOST_OF_A_RUN = 2, 1, 2
"""The bounds of an action: continuations, failed attempts, and the checkpoints of a run."""

NONE_IS_LOST = "a run begins with the latest checkpoint that was stored"
NEVER_BACK = "no checkpoint replaces one of a later run, or a later one of its run"
OF_ITS_RUN = "only the run that holds the row stores checkpoints, and settles it"
STOPS = "a run whose checkpoint was rejected stores no other"
HAS_ADVANCED = "an action continues only with another checkpoint than its run began with"
IS_BOUNDED = "an action continues at most so often"
NO_ATTEMPT = "an action fails only after its attempts, or its continuations"


class Checkpoint(NamedTuple):
    """What a run stores."""

    value: int = 0
    fence: int = 0
    number: int = 0

    @property
    def order(self) -> tuple[int, int]:
        """Of two, the later one has the larger."""
        return self.fence, self.number


class Row(NamedTuple):
    """The action's row."""

    status: Status = PENDING
    fence: int = 0
    checkpoint: Checkpoint = Checkpoint()
    continued: int = 0
    attempts: int = 0
    """Failed ones."""


class Worker(NamedTuple):
    """A worker: idle, before its claim of a row that it read, or in a run."""

    phase: str = "idle"
    read: Row | None = None
    fence: int = 0
    began: Checkpoint = Checkpoint()
    latest: Checkpoint = Checkpoint()
    sent: int = 0
    is_rejected: bool = False


class State(NamedTuple):
    """Everything."""

    row: Row = Row()
    workers: tuple[Worker, ...] = (Worker(), Worker())
    late: frozenset[Checkpoint] = frozenset()
    stored: Checkpoint = Checkpoint()
    """The latest whose write was answered."""
    left: tuple[str, ...] = ()


class Step(NamedTuple):
    """What may happen next."""

    name: str
    after: State


class CheckpointProtocol:
    """The steps that may follow a state, under the guards that are kept."""

    def __init__(self, retained: frozenset[CheckpointGuard], *, is_keyed: bool, most_runs: int) -> None:
        self._retained, self._is_keyed, self._most_runs = retained, is_keyed, most_runs

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        for number, worker in enumerate(state.workers):
            if worker.phase == "idle":
                yield from self._claim(state, number)
            elif worker.phase == "claims" and worker.read is not None:
                yield self._claim_as_read(state, number, worker.read)
            else:
                yield from self._run(state, number, worker)
            if worker.phase != "idle":
                yield Step("a worker stops", _with(state, number, Worker()))
        for checkpoint in state.late:
            row = self._applied(state.row, checkpoint)[0]
            yield Step("a late checkpoint arrives", state._replace(row=row, late=state.late - {checkpoint}))

    def _has(self, guard: CheckpointGuard) -> bool:
        return guard in self._retained

    def _claim(self, state: State, number: int) -> Iterator[Step]:
        row = state.row
        is_orphaned = row.status is PROCESSING and "take over" in state.left
        if row.fence == self._most_runs or not (row.status is PENDING or is_orphaned):
            return
        before = state if row.status is PENDING else _without(state, "take over")
        if self._is_keyed:
            yield Step("a claim reads", _with(before, number, Worker("claims", row)))
        else:
            yield Step("claim", self._begun(before, number, row.checkpoint))

    def _claim_as_read(self, state: State, number: int, read: Row) -> Step:
        is_the_same = state.row.checkpoint == read.checkpoint or not self._has(CheckpointGuard.CLAIM_AS_READ)
        if not is_the_same or (state.row.status, state.row.fence) != (read.status, read.fence):
            return Step("a claim is rejected", _with(state, number, Worker()))
        return Step("claim", self._begun(state, number, read.checkpoint))

    def _begun(self, state: State, number: int, checkpoint: Checkpoint) -> State:
        began = checkpoint if self._has(CheckpointGuard.CLAIM_KEEPS) else Checkpoint()
        row = state.row._replace(status=PROCESSING, fence=state.row.fence + 1)
        run = Worker("runs", fence=row.fence, began=began, latest=began)
        return _with(state._replace(row=row), number, run)

    def _run(self, state: State, number: int, worker: Worker) -> Iterator[Step]:
        if worker.sent < MOST_OF_A_RUN and not (worker.is_rejected and self._has(CheckpointGuard.STOPS)):
            for progress in (0, 1):
                value = worker.latest.value + progress
                yield from self._store(
                    state, number, worker, Checkpoint(value, worker.fence, worker.sent + 1)
                )
        if worker.is_rejected:
            return
        is_mine = state.row.status is PROCESSING and state.row.fence == worker.fence
        ended = _with(state, number, Worker())
        yield Step("end", ended._replace(row=state.row._replace(status=EXECUTED)) if is_mine else ended)
        if is_mine or not self._has(CheckpointGuard.CONTINUE_FENCE):
            yield Step("continue", ended._replace(row=self._continued(state.row, worker)))

    def _store(self, state: State, number: int, worker: Worker, checkpoint: Checkpoint) -> Iterator[Step]:
        sent = worker._replace(sent=checkpoint.number)
        row, is_mine = self._applied(state.row, checkpoint)
        after = sent._replace(latest=checkpoint) if is_mine else sent._replace(is_rejected=True)
        stored = max(checkpoint, state.stored, key=lambda one: one.order) if is_mine else state.stored
        yield Step("checkpoint", _with(state._replace(row=row, stored=stored), number, after))
        if "late" in state.left:
            lost = _without(state, "late")._replace(late=state.late | {checkpoint})
            yield Step("a checkpoint has no answer", _with(lost, number, sent))

    def _applied(self, row: Row, checkpoint: Checkpoint) -> tuple[Row, bool]:
        """Return the row after a checkpoint, and whether its run holds the row."""
        is_mine = row.fence == checkpoint.fence or not self._has(CheckpointGuard.FENCE)
        is_mine = is_mine and (row.status is PROCESSING or not self._has(CheckpointGuard.PROCESSING))
        is_later = row.checkpoint.order < checkpoint.order or not self._has(CheckpointGuard.OLDER)
        return (row._replace(checkpoint=checkpoint) if is_mine and is_later else row), is_mine

    def _continued(self, row: Row, worker: Worker) -> Row:
        has_advanced = worker.latest.value != worker.began.value
        if has_advanced or not self._has(CheckpointGuard.CONTINUE_ADVANCED):
            if row.continued == MOST_CONTINUATIONS and self._has(CheckpointGuard.CONTINUE_BOUND):
                return row._replace(status=FAILED)
            uses_one = not self._has(CheckpointGuard.CONTINUE_NO_ATTEMPT)
            return _attempted(row._replace(continued=row.continued + 1), uses_one=uses_one)
        return _attempted(row, uses_one=True)


def _attempted(row: Row, *, uses_one: bool) -> Row:
    attempts = row.attempts + uses_one
    return row._replace(attempts=attempts, status=FAILED if attempts > MOST_ATTEMPTS else PENDING)


def _with(state: State, number: int, worker: Worker) -> State:
    return state._replace(workers=(*state.workers[:number], worker, *state.workers[number + 1 :]))


def _without(state: State, name: str) -> State:
    left = list(state.left)
    left.remove(name)
    return state._replace(left=tuple(left))


class Scenario(NamedTuple):
    """Whether the action has a concurrency key, how many runs it has at most, and what happens once each."""

    is_keyed: bool
    most_runs: int
    left: tuple[str, ...]


SCENARIOS = {
    "runs are taken over": Scenario(False, 3, ("late", "take over", "take over")),
    "runs under a concurrency key are taken over": Scenario(True, 3, ("take over", "take over")),
    "checkpoints have no answer": Scenario(False, 2, ("late", "late", "take over")),
    "an action continues": Scenario(False, 4, ("late",)),
}


def check_checkpoints(
    scenario: str, retained: frozenset[CheckpointGuard] = ALL_OF_CHECKPOINTS, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    is_keyed, most_runs, left = SCENARIOS[scenario]
    protocol = CheckpointProtocol(retained, is_keyed=is_keyed, most_runs=most_runs)
    return search(Model([State(left=left)], protocol.steps, _broken_by, _broken_in), at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    old, new = before.row, step.after.row
    if new.checkpoint != old.checkpoint:
        if new.checkpoint.order <= old.checkpoint.order:
            yield NEVER_BACK
        if old.status is not PROCESSING or new.checkpoint.fence != old.fence:
            yield OF_ITS_RUN
    for was, now in zip(before.workers, step.after.workers, strict=True):
        if was.phase == "runs" and now.phase == "idle" and new.status is not old.status:
            yield from _broken_by_a_settle(was, old, new)
        if was.is_rejected and now.sent > was.sent:
            yield STOPS
        if now.phase == "runs" and was.phase != "runs" and now.began.order < before.stored.order:
            yield NONE_IS_LOST


def _broken_by_a_settle(run: Worker, old: Row, new: Row) -> Iterator[str]:
    if old.fence != run.fence:
        yield OF_ITS_RUN
    has_advanced = run.latest.value != run.began.value
    if new.continued > old.continued and not has_advanced:
        yield HAS_ADVANCED
    if has_advanced and new.status is FAILED and old.continued < MOST_CONTINUATIONS:
        yield NO_ATTEMPT


def _broken_in(state: State) -> Iterator[str]:
    if state.row.continued > MOST_CONTINUATIONS:
        yield IS_BOUNDED
