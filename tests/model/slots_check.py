"""The promises of concurrency keys, and the scenarios in which they are checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from tests.model.search import Checked, Model, search
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard
from tests.model.slots_protocol import SlotsProtocol
from tests.model.slots_states import (
    ENDED,
    IDLE,
    PROCESSING,
    Row,
    State,
    Step,
    Worker,
    start,
)


@dataclass(frozen=True)
class SlotScenario:
    """Who is at work, and what may happen, each once: the bounds of one search."""

    name: str
    limits: tuple[int, ...]
    left: tuple[str, ...]
    workers: int = 2
    most_runs: int = 2


SLOT_SCENARIOS = (
    SlotScenario("one at once, and a worker dies", (1, 1), ("death",)),
    SlotScenario("one at once, and a settle leaves its slot", (1, 1), ("busy", "expire", "retry")),
    SlotScenario("two at once", (2, 2, 2), (), workers=3, most_runs=1),
    SlotScenario("one at once, and a request arrives late", (1, 1), ("late",)),
    SlotScenario("one at once beside two at once", (1, 2), ("busy", "death", "retry")),
)
"""Three workers and two runs each have some million states.

``python -m tests.model.slots_check`` takes some minutes.
"""

AT_MOST = "never more live leases than the limit of the one that began last"
NEVER_STUCK = "no action waits for ever while nothing runs"


def check_slots(
    scenario: SlotScenario, retained: frozenset[SlotGuard] = ALL_OF_SLOTS, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    protocol = SlotsProtocol(scenario.limits, retained, most_runs=scenario.most_runs)
    begin = start(actions=len(scenario.limits), workers=scenario.workers, left=scenario.left)
    finishes: dict[object, bool] = {}

    def broken_in(state: State) -> Iterator[str]:
        if sum(worker.is_live for worker in state.workers) > max(state.last, 1):
            yield AT_MOST
        left_alone = (tuple(map(_alone, state.rows)), state.holders)
        if left_alone not in finishes:
            finishes[left_alone] = _finishes(scenario, retained, *left_alone)
        if not finishes[left_alone]:
            yield NEVER_STUCK

    return search(Model([begin], protocol.steps, _broken_by, broken_in), at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    for old, new in zip(before.rows, step.after.rows, strict=True):
        if old is not None and new is not None and old.status.is_final and new != old:
            yield "a settled row stays as it is"


def _alone(row: Row | None) -> Row | None:
    """A row once all workers are gone; its past has no effect on its future."""
    if row is None:
        return None
    return Row(row.status, lease=ENDED if row.status is PROCESSING else None)


def _finishes(
    scenario: SlotScenario,
    retained: frozenset[SlotGuard],
    rows: tuple[Row | None, ...],
    holders: frozenset[int],
) -> bool:
    """Whether one worker, and the messages that the sweep sends, bring each action to its end."""
    protocol = SlotsProtocol(scenario.limits, retained, most_runs=99)
    state = State(rows, holders, (Worker(),), ())
    while not all(row is None or row.status.is_final for row in state.rows):
        following = _run_one(protocol, state)
        if following == state:
            return False
        state = following
    return True


def _run_one(protocol: SlotsProtocol, state: State) -> State:
    """The state after what one worker does about the first action that it can do anything about."""
    for first in protocol.steps(state):
        following = first
        for name in ("a worker sees a dead holder", "evict", "take", "settle as executed"):
            following = next(
                (step for step in protocol.steps(following.after) if step.name == name), following
            )
        [worker] = following.after.workers
        if worker.phase is IDLE and (following.after.rows, following.after.holders) != state[:2]:
            return following.after
    return state


if __name__ == "__main__":
    wide = SlotScenario("three workers", (1, 1), ("busy", "death", "expire", "retry"), workers=3, most_runs=3)
    print(check_slots(wide))  # noqa: T201 - this is its whole purpose
