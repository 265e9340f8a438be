"""The jobs' protocol keeps its promises in every order of events; without a guard it breaks one."""

import pytest

from tests.model.explored import exploration
from tests.model.job_guards import ALL_OF_JOBS, JobGuard
from tests.model.jobs_check import JOB_SCENARIOS, check_jobs

EXPLORES = exploration(__name__)

SOON = 3_000
"""States: a counterexample to a guard that was left out is found before."""

BREAKS = {
    JobGuard.ROW_IS_ABSENT: "one nominal time of one version is one row",
    JobGuard.ROWS_FIRST: "every nominal time is accounted for",
    JobGuard.CURSOR_AS_READ: "planners do not undo one another's work",
    JobGuard.MOVE_REVISION: "every nominal time is accounted for",
    JobGuard.CHANGE_REVISION: "no change is lost to another",
    JobGuard.ACCOUNTS_FOR_OLD: "every nominal time is accounted for",
    JobGuard.VERSION_COUNTS: "no time of the version in force is retired",
    JobGuard.PLANS_BEFORE_PAUSE: "every nominal time is accounted for",
    JobGuard.RESUME_CURSOR: "nothing is planned for what a pause has passed over",
    JobGuard.NOT_COVERED: "no nominal time is run twice",
    JobGuard.CLAIM_ROW: "no row goes from executed to processing",
    JobGuard.CLAIM_REVISION: "nothing begins under a pause",
    JobGuard.LOCK_IS_FREE: "no two runs of a job hold live leases",
    JobGuard.DEAD_AS_READ: "no two runs of a job hold live leases",
    JobGuard.DEAD_LOSES_FENCE: "no two runs of a job hold live leases",
    JobGuard.UNLOCKED_HOLD: "no two runs of a job hold live leases",
    JobGuard.UNLOCKED_LOSE_FENCE: "no two runs of a job hold live leases",
    JobGuard.UNLOCK_IS_MINE: "no two runs of a job hold live leases",
    JobGuard.RETRY_KEEPS_LOCK: "nothing begins while another run waits for its retry",
    JobGuard.SKIP_AS_READ: "no row goes from processing to skipped",
}
"""The promise that each guard is kept for."""

LOCKS = [job_scenario for job_scenario in JOB_SCENARIOS if job_scenario.are_all_due]
SPARE = {
    JobGuard.SETTLED_IS_DEAD: JobGuard.SETTLE_UNLOCKS,
    JobGuard.SETTLE_UNLOCKS: JobGuard.SETTLED_IS_DEAD,
    JobGuard.CANCEL_UNLOCKS: JobGuard.SETTLED_IS_DEAD,
}
"""Guards that another one stands in for: alone they may be left out, not together with it."""


def test_each_guard_has_its_counterexample():
    assert {*BREAKS, *SPARE} == ALL_OF_JOBS


@EXPLORES
@pytest.mark.parametrize("scenario", JOB_SCENARIOS, ids=lambda item: item.name)
def test_every_promise_holds_in_every_order_of_events(scenario):
    checked = check_jobs(scenario)
    assert checked.broken is None
    assert checked.states > 1_000


@EXPLORES
@pytest.mark.parametrize("guard", BREAKS)
def test_the_promise_of_a_guard_is_broken_when_it_is_left_out(guard):
    assert BREAKS[guard] in _broken_without(guard)


@EXPLORES
@pytest.mark.parametrize("guard", SPARE)
def test_a_redundant_guard_matters_only_without_its_counterpart(guard):
    assert not any(_broken_without(guard, scenarios=LOCKS))
    assert "the lock is never left behind" in _broken_without(guard, SPARE[guard], scenarios=LOCKS)


def _broken_without(*guards, scenarios=JOB_SCENARIOS):
    for scenario in scenarios:
        checked = check_jobs(scenario, ALL_OF_JOBS - set(guards), at_most=SOON)
        if checked.broken:
            yield checked.broken.promise
