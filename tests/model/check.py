"""The promises of the action row's protocol, and the scenarios in which they are checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from duetime.model.action import TRANSITIONS, Status
from tests.model.guards import ALL, Guard
from tests.model.protocol import Protocol
from tests.model.search import Checked, Model, search
from tests.model.states import (
    ENDED,
    FAILED,
    LAST_INSTANT,
    LIVE,
    PENDING,
    PROCESSING,
    RUNNING,
    SETTLING,
    UNSURE,
    Row,
    State,
    Step,
    starts,
)
from tests.model.world import ARRIVES_LATE


@dataclass(frozen=True)
class Scenario:
    """What may happen, each once, and how many runs there may be: the bounds of one search."""

    name: str
    most_runs: int
    left: tuple[str, ...]
    loses: bool = True
    """Whether messages and timers are lost or doubled."""
    commits: bool = False
    """Whether runs commit."""
    expires: bool = False
    """Whether no run may begin after the first moment."""


SCENARIOS = (
    Scenario("workers die", 3, ("death", "put")),
    Scenario("workers die while a caller requests a cancel", 2, ("ask", "death", "put")),
    Scenario("callers cancel and reschedule", 2, ("cancel", "put", "reschedule")),
    Scenario("callers request the cancel of a run and redrive it", 2, ("ask", "put", "redrive")),
    Scenario("requests arrive late", 2, ("cancel", "late", "reschedule"), loses=False),
    Scenario("requests to runs arrive late", 2, ("ask", "late", "redrive"), loses=False),
    Scenario("dismissals arrive late", 2, ("dismiss", "late", "redrive"), loses=False),
    Scenario("runs commit, die and are redriven", 2, ("death", "redrive"), loses=False, commits=True),
    Scenario("an action expires", 2, ("cancel", "put", "reschedule"), expires=True),
    Scenario("a pause skips", 2, ("pause", "put", "reschedule"), loses=False),
    Scenario("runs are handed over", 2, ("hand over", "put", "slow heartbeat"), loses=False),
    Scenario("a heartbeat arrives late", 2, ("death", "slow heartbeat"), loses=False),
)
EVERYTHING = Scenario("everything", 3, ("ask", "cancel", "death", "put", "redrive", "reschedule"))
"""3.7 million states: ``python -m tests.model.check`` goes through them in some minutes."""


def check(scenario: Scenario, retained: frozenset[Guard] = ALL, *, at_most: float = inf) -> Checked:
    """Search a scenario under the guards that are kept."""
    protocol = Protocol(
        retained, most_runs=scenario.most_runs, loses=scenario.loses, commits=scenario.commits
    )
    finishes: dict[Row, bool] = {}

    def broken_in(state: State) -> Iterator[str]:
        yield from _broken_in(state)
        yield from _stuck(protocol, state, finishes)

    model = Model(starts(scenario.left, expires=scenario.expires), protocol.steps, _broken_by, broken_in)
    return search(model, at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    """Promises about a step."""
    old, new = before.row, step.after.row
    if old is None or new is old:
        return
    if step.name == ARRIVES_LATE and new != old and before.late is not None and before.late.is_overtaken:
        yield "a late request does not undo a change that was acknowledged since"
    if new is None:
        if not old.status.is_final:
            yield "no unsettled action is removed"
        return
    if new.status is not old.status and new.status not in TRANSITIONS[old.status]:
        yield f"no action goes from {old.status} to {new.status}"
    yield from _broken_by_an_end(step, old, new)
    yield from _broken_by_a_token(step, old, new)
    if new.run == old.run and new.until < old.until:
        yield "a lease does not move back"
    if new.status is PROCESSING:
        yield from _broken_by_a_run(before, old, new)
    if new.status is Status.SKIPPED and old.status is PENDING and not _may_be_skipped(before, old):
        yield "only an action that has expired, or became due under a pause and has not begun, is skipped"


def _broken_by_a_token(step: Step, old: Row, new: Row) -> Iterator[str]:
    """Promises about hand-overs."""
    was_handed_over = old.status is PROCESSING and old.handed == old.run > 0
    if not was_handed_over or new.run != old.run:
        return
    if old.lease is ENDED and new.lease is LIVE:
        yield "a hand-over that has ended does not go on"
    if old.lease is ENDED and new.status is Status.EXECUTED:
        yield "an action is completed while its hand-over lasts"


def _broken_by_an_end(step: Step, old: Row, new: Row) -> Iterator[str]:
    """Promises about a step that ends the action, or might."""
    dismisses = old.status is FAILED and not old.dismissed and new == old._replace(dismissed=new.dismissed)
    if new.status.is_final and old.status.is_final and not dismisses and step.name != "the row's lease ends":
        yield "a settled row stays as it is"
    if step.by is not None and (old.run != step.by.run or old.status is not PROCESSING):
        yield "a run that was taken over, or has ended, settles nothing"


def _has_expired(state: State, row: Row) -> bool:
    return row.expiry is not None and row.expiry <= state.now


def _may_be_skipped(state: State, row: Row) -> bool:
    pause = state.pause
    is_paused = pause is not None and pause.since <= row.due and (pause.end is None or row.due <= pause.end)
    return _has_expired(state, row) or (is_paused and not row.attempts)


def _broken_by_a_run(before: State, old: Row, new: Row) -> Iterator[str]:
    """Promises about a step that starts a run, or lets one go on."""
    if old.status is PROCESSING and new.due != old.due:
        yield "a run's due time does not change under it"
    if old.status is PENDING and old.due > before.now:
        yield "nothing runs before it is due"
    if old.status is PENDING and old.cancel_requested:
        yield "an action whose cancel was requested is not run again"
    if old.status is PENDING and _has_expired(before, old):
        yield "no run begins after the expiry"


def _broken_in(state: State) -> Iterator[str]:
    """Promises about a state."""
    if sum(worker.is_live for worker in state.workers) > 1:
        yield "at most one run holds a live lease"
    row = state.row
    if row is None:
        return
    if row.commits > (row.status is Status.EXECUTED):
        yield "an action commits once, and is executed then"
    if row.dismissed and row.status is not FAILED:
        yield "only failed actions are dismissed"
    if row.in_due_index and row.status.is_final:
        yield "a settled row is not in the due index"
    if row.status is PENDING and state.is_lossless and not state.stream and not _has_its_wake(state, row):
        yield "a pending action has its wake where nothing was lost"
    if row.lease is LIVE and row.status is PROCESSING and not state.has_died and not _is_held(state, row):
        yield "where no worker died, none waits for a lease to end"


def _has_its_wake(state: State, row: Row) -> bool:
    timers = {(generation, due) for _, generation, due in state.timers}
    return (row.generation, row.due) in state.wakes | timers


def _is_held(state: State, row: Row) -> bool:
    return row.handed == row.run or any(
        worker.run == row.run and worker.phase in {UNSURE, RUNNING, SETTLING} for worker in state.workers
    )


def _stuck(protocol: Protocol, state: State, finishes: dict[Row, bool]) -> Iterator[str]:
    """Whether the sweep, and nothing else, still brings the action to its end once all workers are gone."""
    row = state.row
    if row is None or row.status.is_final:
        return
    if row not in finishes:
        finishes[row] = _finishes(protocol, row)
    if not finishes[row]:
        yield "no pending action is lost: the sweep can finish it"


def _finishes(protocol: Protocol, row: Row) -> bool:
    orphaned = row._replace(lease=ENDED if row.lease else None, run=min(row.run, 1))
    state = starts(())[0]._replace(now=LAST_INSTANT, row=orphaned, stream=())
    state = _after(protocol, state, "the sweep sends again")
    state = _after(protocol, state, "claim", "a worker sees a dead run")
    state = _after(protocol, state, "take over")
    state = _after(protocol, state, "settle as executed", "a worker sees an expired action")
    state = _after(protocol, state, "skip")
    return state.row is not None and state.row.status.is_final


def _after(protocol: Protocol, state: State, *names: str) -> State:
    """The state after the first step of one of those names; the same one, where there is none."""
    return next((step.after for step in protocol.steps(state) if step.name in names), state)


if __name__ == "__main__":
    print(check(EVERYTHING))  # noqa: T201 - this is its whole purpose
