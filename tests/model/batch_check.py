"""The promises of a batch, and the scenarios in which they are checked."""

from collections.abc import Iterator
from math import inf

from tests.model.batch_guards import ALL_OF_BATCHES, BatchGuard
from tests.model.batch_protocol import IN_FLIGHT, READS, BatchProtocol
from tests.model.batch_states import (
    ENDED,
    EXECUTED,
    IDLE,
    PENDING,
    Batch,
    Process,
    Row,
    State,
    Step,
)
from tests.model.search import Checked, Model, search

NONE_IS_ADDED = "no member is added to a closed batch, and a closed batch stays closed"
NONE_IS_LOST = "each member that was added is one of the batch"
NONE_IS_RESET = "a member that has ended stays as it is, unless it is redriven"
ALL_HAVE_ENDED = "the batch completes, and releases its completion action, after the last member has ended"
REDRIVES_COUNT = "a batch that is not complete waits for a redriven member"
RELEASED_ONCE = "the completion action is released once, and not after its cancel"
COMPLETES = "the sweep completes each closed batch, and releases its completion action"
NOT_WORTH_IT = "a count is not worth a write"
EXACT = "when no process is left, the sweep's counts are those of the rows"

FILLED = Batch(size=2)
TWO_ROWS = (Row(PENDING), Row(PENDING))
FROM_EMPTY = State((None, None), Batch(), adder=Process("reads", member=0), closer=READS)
FROM_FULL = State(TWO_ROWS, FILLED._replace(closed=True))

SCENARIOS = {
    "a batch is filled while it is counted": FROM_EMPTY._replace(left=("failure", "late put")),
    "members are cancelled, and two processes count": FROM_EMPTY._replace(
        counters=(IDLE, IDLE), left=("cancel", "failure")
    ),
    "the completion action is cancelled": FROM_FULL._replace(
        counters=(IDLE, IDLE), left=("cancel the completion", "failure")
    ),
    "both members are redriven": FROM_FULL._replace(left=("failure", "failure", "redrive", "redrive")),
    "a member is redriven beside two counts": FROM_FULL._replace(
        counters=(IDLE, IDLE), left=("failure", "redrive")
    ),
    "an open batch is redriven": State(TWO_ROWS, FILLED, closer=READS, left=("cancel", "failure", "redrive")),
    "rows are removed": FROM_FULL._replace(left=("failure", "redrive", "removal")),
}


def check_batch(
    scenario: str, retained: frozenset[BatchGuard] = ALL_OF_BATCHES, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    protocol = BatchProtocol(retained)
    swept: dict[tuple[object, ...], State] = {}

    def broken_in(state: State) -> Iterator[str]:
        yield from _broken_in(state)
        if not state.batch.closed or state.late_redrives or state.redriver.phase in IN_FLIGHT:
            return
        key = (state.rows, state.batch, state.completion)
        if key not in swept:
            swept[key] = _swept(protocol, state)
        after = swept[key]
        if after.completion.held and after.completion.status is PENDING:
            yield COMPLETES
        ends = [row.status for row in after.rows[: after.batch.size] if row is not None]
        if sorted(ends) != sorted(end or PENDING for end in after.batch.counts):
            yield EXACT

    return search(Model([SCENARIOS[scenario]], protocol.steps, _broken_by, broken_in), at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    old, new = before.batch, step.after.batch
    if old.closed and (not new.closed or new.size > old.size):
        yield NONE_IS_ADDED
    rows = step.after.rows[: new.size]
    completes = new.is_complete and not old.is_complete and old.closed
    releases = step.after.completion.releases > before.completion.releases
    if releases and any(row is None or (row.status is PENDING and not row.redriven) for row in rows):
        yield ALL_HAVE_ENDED
    if completes and any(row is not None and row.is_awaited for row in rows):
        yield REDRIVES_COUNT
    if releases and before.completion.status is not PENDING:
        yield RELEASED_ONCE
    for was, now in zip(before.rows, step.after.rows, strict=True):
        is_changed = was is not None and now is not None and now.status is not was.status
        if is_changed and was.status.is_final and now.redriven == was.redriven:
            yield NONE_IS_RESET


def _broken_in(state: State) -> Iterator[str]:
    if state.completion.releases > 1:
        yield RELEASED_ONCE
    is_filled = state.batch.closed and state.adder == ENDED
    if is_filled and any(row is not None for row in state.rows[state.batch.size :]):
        yield NONE_IS_LOST
    if state.batch.is_complete:
        rows = state.rows[: state.batch.size]
        if any(row is None or (row.status is PENDING and not row.redriven) for row in rows):
            yield ALL_HAVE_ENDED


def _swept(protocol: BatchProtocol, state: State) -> State:
    """Return the state after all members have ended and the sweep has done its work, and nothing else."""
    rows = tuple(
        row._replace(status=EXECUTED, is_awaited=False) if row is not None and row.status is PENDING else row
        for row in state.rows
    )
    state = State(rows, state.batch, state.completion)
    for _ in range(40):
        steps = [step for step in protocol.count_steps(state, 0) if step.name != NOT_WORTH_IT]
        if not steps or (after := steps[0].after) == state:
            return state
        state = after
    return state
