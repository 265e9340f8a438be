"""The promises of the jobs' protocol, and the scenarios in which they are checked."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

from duetime.model.action import TRANSITIONS, Status
from tests.model.job_guards import ALL_OF_JOBS, JobGuard
from tests.model.job_states import (
    LAST,
    LIVE,
    PAUSED,
    PENDING,
    PROCESSING,
    RETIRED,
    RETRY,
    SKIPPED,
    State,
    Step,
    all_due,
    nominal_of,
    place_of,
    start,
    version_of,
)
from tests.model.jobs_protocol import JobsProtocol
from tests.model.search import Checked, Model, search


@dataclass(frozen=True)
class JobScenario:
    """Who is at work, and what may happen, each once: the bounds of one search."""

    name: str
    left: tuple[str, ...]
    planners: int = 1
    workers: int = 1
    begins_at: int = 1
    """Up to then everything was run; a job that was just added has the same states, one instant earlier."""
    are_all_due: bool = False
    allows: bool = False


JOB_SCENARIOS = (
    JobScenario("two planners and a deploy", ("deploy",), planners=2, workers=0),
    JobScenario("a deploy while runs begin", ("deploy",), begins_at=2),
    JobScenario("a deploy is taken back", ("deploy", "deploy back"), workers=0),
    JobScenario("a pause while runs begin", ("pause", "resume"), begins_at=2),
    JobScenario("a cadence is paused while runs begin", ("pause a cadence", "resume"), begins_at=2),
    JobScenario("a pause and a deploy at once", ("deploy", "pause", "resume"), workers=0, begins_at=2),
    JobScenario("a request of a run arrives late", ("late", "retry"), planners=0, are_all_due=True),
    JobScenario("a request about the job arrives late", ("deploy", "late"), workers=0, begins_at=2),
    JobScenario("holders of the lock die", ("death", "sleep"), planners=0, workers=2, are_all_due=True),
    JobScenario(
        "holders of the lock are retried and cancelled",
        ("cancel", "redrive", "retry"),
        planners=0,
        workers=2,
        are_all_due=True,
    ),
    JobScenario(
        "runs may overlap no longer",
        ("forbid overlap", "pause", "sleep"),
        planners=0,
        workers=2,
        begins_at=2,
        are_all_due=True,
        allows=True,
    ),
)
"""Begun from the first instant they have 1.5 million states.

``python -m tests.model.jobs_check`` takes some minutes.
"""


def check_jobs(
    scenario: JobScenario, retained: frozenset[JobGuard] = ALL_OF_JOBS, *, at_most: float = inf
) -> Checked:
    """Search a scenario under the guards that are kept."""
    protocol = JobsProtocol(retained)
    begin = start(
        planners=scenario.planners,
        workers=scenario.workers,
        left=scenario.left,
        begins_at=scenario.begins_at,
        allows=scenario.allows,
    )
    if scenario.are_all_due:
        begin = all_due(begin)

    def broken_in(state: State) -> Iterator[str]:
        yield from _broken_in(state)
        if _is_stuck(protocol, state):
            yield "the lock is never left behind"

    return search(Model([begin], protocol.steps, _broken_by, broken_in), at_most=at_most)


def _broken_by(step: Step, before: State) -> Iterator[str]:
    """Promises about a step."""
    old, new = before.job, step.after.job
    if step.begins is not None:
        yield from _broken_by_a_run(step.begins, before)
    for was, now in zip(before.rows, step.after.rows, strict=True):
        if was is not None and was.status != now.status and now.status not in TRANSITIONS[Status(was.status)]:
            yield f"no row goes from {was.status} to {now.status}"
    if step.name.startswith("a planner puts"):
        rows = zip(before.rows, step.after.rows, strict=True)
        if any(was is not None and was != now for was, now in rows):
            yield "one nominal time of one version is one row"
    if step.name == "a planner reads the job":
        fresh = set(step.after.planners) - set(before.planners)
        if any(nominal_of(place) in before.passed for item in fresh for place in item.places):
            yield "nothing is planned for what a pause has passed over"
    if new.cursor < old.cursor and new.revision == old.revision:
        yield "planners do not undo one another's work"
    if new.periods[: len(old.periods)] != old.periods or (
        old.pause is not None and new.pause is None and not step.name.startswith("resume")
    ):
        yield "no change is lost to another"


def _broken_by_a_run(place: int, before: State) -> Iterator[str]:
    """Promises about a step that begins an occurrence."""
    nominal, end = nominal_of(place), before.job.end_of(version_of(place))
    if end is not None and nominal > end:
        yield "a version's runs begin for nominal times up to its end alone"
    if before.job.is_paused_at(nominal):
        yield "nothing begins under a pause"
    if any(row is not None and (row.status, row.why) == (PENDING, RETRY) for row in before.rows):
        yield "nothing begins while another run waits for its retry"


def _broken_in(state: State) -> Iterator[str]:
    """Promises about a state."""
    live = [row for row in state.rows if row is not None and (row.status, row.lease) == (PROCESSING, LIVE)]
    if len(live) > 1 and not (state.job.allows or state.job.unlocked):
        yield "no two runs of a job hold live leases"
    if max(state.begun) > 1:
        yield "no nominal time is run twice"
    for nominal in range(1, LAST + 1):
        version = state.job.in_force_at(nominal)
        row = state.rows[place_of(version, nominal)]
        is_past_cursor = version == state.job.version and nominal > state.job.cursor
        is_excused = nominal in state.spans or state.job.is_paused_at(nominal)
        if row is None and not (is_past_cursor or is_excused or _is_in_hand(state, version, nominal)):
            yield "every nominal time is accounted for"
        if row is not None and row.status is SKIPPED:
            if row.why == RETIRED:
                yield "no time of the version in force is retired"
            if row.why == PAUSED and not (nominal in state.covered or state.job.is_paused_at(nominal)):
                yield "nothing is skipped for a pause that was not"


def _is_in_hand(state: State, version: int, nominal: int) -> bool:
    """Whether a planner is about to put it."""
    return any(place_of(version, nominal) in planner.places for planner in state.planners)


def _is_stuck(protocol: JobsProtocol, state: State) -> bool:
    """Whether no run could ever take the lock, were all workers gone.

    Neither its holder itself, nor anybody else.
    """
    if state.job.running is None:
        return False
    holder = state.rows[state.job.running]
    can_go_on = holder is not None and holder.status in {PENDING, PROCESSING}
    return not can_go_on and not protocol.is_dead(holder)


if __name__ == "__main__":
    for job_scenario in JOB_SCENARIOS:
        print(job_scenario.name, check_jobs(replace(job_scenario, begins_at=0)))  # noqa: T201 - this is its whole purpose
