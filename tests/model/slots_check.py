"""The promises of concurrency keys, and the scenarios in which they are checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from tests.model.search import Checked, Model, search
from tests.model.slots_guards import ALL_OF_SLOTS, SlotGuard
from tests.model.slots_protocol import SlotsProtocol
from tests.model.slots_states import (
    ENDED,
    EXECUTED,
    IDLE,
    PROCESSING,
    RUNNING,
    Row,
    Slots,
    State,
    Step,
    Worker,
    start,
    waits,
    with_line,
)


@dataclass(frozen=True)
class SlotScenario:
    """Who is at work, and what may happen, each once: the bounds of one search."""

    name: str
    limits: tuple[int, ...]
    left: tuple[str, ...]
    workers: int = 2
    most_runs: int = 2
    line: int = 99
    """How many may be in line before its tail."""
    leases_end: bool = True
    """Whether leases end, and a holder that has not begun may be evicted."""
    has_begun: bool = False
    """Whether the first action runs at the start, and the next ones are in line as far as there is room."""

    @property
    def is_calm(self) -> bool:
        """Whether no process dies and no request is late."""
        return not {"death", "late"} & set(self.left)


SLOT_SCENARIOS = (
    SlotScenario("one at once", (1, 1, 1), ("cancel",), most_runs=1),
    SlotScenario("one at once, and a worker dies", (1, 1), ("death", "expire")),
    SlotScenario("one at once, and a request arrives late", (1, 1), ("late", "retry")),
    SlotScenario("two at once", (2, 2, 2), (), workers=3, most_runs=1),
    SlotScenario("one at once beside two at once", (1, 2), ("death", "retry")),
    SlotScenario("one at once, of two", (1, 1), (), most_runs=1),
)
"""Three workers and two runs each have some million states.

``python -m tests.model.slots_check`` takes some minutes.
"""

_CALM = {"most_runs": 1, "leases_end": False, "has_begun": True}

TAIL_SCENARIOS = (
    SlotScenario("a line of one, and a tail", (1, 1, 1), ("cancel",), line=1, **_CALM),
    SlotScenario("two at once beside one at once, in a tail", (2, 1, 2), (), line=0, **_CALM),
    SlotScenario("two of each, in a tail", (2, 1, 2, 1), (), line=0, **_CALM),
)
"""Scenarios of the tail of a line. All their states take seconds."""

AT_MOST = "never more live leases than the limit of the one that took its slot last"
IN_ORDER = "no action takes a slot before one that waits in line"
LISTED = "no write removes an action that waits from the line and its tail"
WOKEN = "no action is left in line while a slot is free"
NEVER_STUCK = "no action waits for ever while nothing runs"


def check_slots(
    scenario: SlotScenario, retained: frozenset[SlotGuard] = ALL_OF_SLOTS, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    protocol, begin = _of(scenario, retained)
    finishes: dict[object, bool] = {}

    def broken_by(step: Step, before: State) -> Iterator[str]:
        if step.name == "take past the line":
            yield IN_ORDER
        if not scenario.leases_end and _loses(before, step.after):
            yield LISTED
        if _changes_settled(before, step.after):
            yield "a settled row stays as it is"

    def broken_in(state: State) -> Iterator[str]:
        if _too_many(state, scenario):
            yield AT_MOST
        if scenario.is_calm and _is_left(state, scenario):
            yield WOKEN
        left_alone = (tuple(map(_alone, state.rows)), state.slots)
        if left_alone not in finishes:
            finishes[left_alone] = _finishes(scenario, retained, *left_alone)
        if not finishes[left_alone]:
            yield NEVER_STUCK

    return search(Model([begin], protocol.steps, broken_by, broken_in), at_most=at_most)


def _of(scenario: SlotScenario, retained: frozenset[SlotGuard]) -> tuple[SlotsProtocol, State]:
    """The protocol of a scenario, and its first state."""
    protocol = SlotsProtocol(
        scenario.limits,
        retained,
        most_runs=scenario.most_runs,
        line=scenario.line,
        leases_end=scenario.leases_end,
    )
    begin = start(actions=len(scenario.limits), workers=scenario.workers, left=scenario.left)
    return protocol, with_line(begin, scenario.line) if scenario.has_begun else begin


def _changes_settled(before: State, after: State) -> bool:
    pairs = zip(before.rows, after.rows, strict=True)
    return any(old and new and old.status.is_final and new != old for old, new in pairs)


def _too_many(state: State, scenario: SlotScenario) -> bool:
    """Whether too many hold live leases."""
    live = [worker.action for worker in state.workers if worker.is_live and worker.phase is RUNNING]
    order = [holder for holder, _ in state.slots.holders]
    last = max(live, key=lambda place: order.index(place) if place in order else -1, default=0)
    return len(live) > scenario.limits[last]


def _is_left(state: State, scenario: SlotScenario) -> bool:
    """Whether nothing goes on, and an action in line could have a free slot; or its holder has run.

    A holder that was cancelled has a message under way.
    """
    if any(worker.phase is not IDLE for worker in state.workers) or state.late is not None:
        return False
    held = state.slots.ids
    never = any(state.rows[holder].status is EXECUTED for holder in held)
    left = [place for place in state.slots.line if waits(state.rows[place])]
    return bool(left) and (never or any(len(held) < scenario.limits[place] for place in left))


def _loses(before: State, after: State) -> bool:
    """Whether an action that no run has claimed was in line, waits, and is neither there nor a holder."""
    gone = {*before.slots.line} - {*after.slots.line, *after.slots.ids}
    return any(waits(row) and row.run == 0 for row in map(after.rows.__getitem__, gone))


def _alone(row: Row | None) -> Row | None:
    """A row once all workers are gone; its past has no effect on its future."""
    if row is None:
        return None
    return Row(row.status, row.fence, lease=ENDED if row.status is PROCESSING else None)


def _finishes(
    scenario: SlotScenario, retained: frozenset[SlotGuard], rows: tuple[Row | None, ...], slots: Slots
) -> bool:
    """Whether one worker, and the messages that the sweep sends, bring each action to its end."""
    protocol = SlotsProtocol(scenario.limits, retained, most_runs=99, line=scenario.line)
    state = State(rows, slots, (Worker(),), ())
    for _ in range(99):
        if all(row is None or row.status.is_final for row in state.rows):
            return True
        following = _run_one(protocol, state)
        if following == state:
            return False
        state = following
    return False


_FORWARD = (
    "a worker sees its slot",
    "a worker sees a dead holder",
    "a worker sees a slot",
    "a worker sees a slot of the line",
    "a worker sees a slot that fits none of the line",
    "take",
    "take past the line",
    "evict",
    "pass",
    "free",
    "claim",
    "settle as executed",
    "a worker reads whom it passes its slot to",
    "a slot was freed already",
    "a worker reads the tail",
    "entries leave the tail",
    "the tail is read again",
    "the tail is marked again",
)


def _run_one(protocol: SlotsProtocol, state: State) -> State:
    """The state after what one worker does about the first action that it can do anything about."""
    for first in protocol.steps(state):
        if first.name == "a worker reads a final row":
            continue  # the sweep sends no message of it
        following = first
        while True:
            steps = {step.name: step for step in protocol.steps(following.after)}
            [worker] = following.after.workers
            named = next((name for name in _FORWARD if name in steps), None)
            if worker.phase is IDLE or named is None:
                break
            following = steps[named]
        if worker.phase is IDLE and (following.after.rows, following.after.slots) != state[:2]:
            return following.after
    return state


if __name__ == "__main__":
    wide = SlotScenario("three workers", (1, 1), ("death", "expire", "retry"), workers=3, most_runs=3)
    print(check_slots(wide))  # noqa: T201 - this is its whole purpose
