"""What happens around a job's workers.

Time passes, planners plan, deploys and operators change what the job is.
"""

from collections.abc import Iterator

from tests.model.job_guards import JobGuard
from tests.model.job_states import (
    CANCELLED,
    ENDED,
    FAILED,
    GRACE,
    HALF_DONE,
    IDLE,
    LAST,
    LIVE,
    PENDING,
    READ,
    REDRIVE,
    RETIRED,
    RUNNING,
    SKIPPED,
    Change,
    Job,
    Occurrence,
    Pause,
    Place,
    Planner,
    State,
    Step,
    less,
    nominal_of,
    place_of,
    put,
    shown,
    version_of,
)

AHEAD = 1
"""A planner puts what comes next; that a wake may be lost needs no more: planners come whenever they like."""

CHANGES = ("deploy", "deploy back", "forbid overlap", "pause", "pause a cadence", "resume")
"""What makes a new revision."""


class JobsWorld:
    """The steps that no worker makes, under the guards that are kept."""

    def __init__(self, retained: frozenset[JobGuard]) -> None:
        self._kept = retained

    def has(self, guard: JobGuard) -> bool:
        return guard in self._kept

    def time(self, state: State) -> Iterator[Step]:
        if state.now < LAST:
            yield Step("a moment passes", state._replace(now=state.now + 1))
        for place, row in enumerate(state.rows):
            if row is None or row.lease is not LIVE:
                continue
            held = (RUNNING, place, row.fence)
            is_held = any((worker.phase, worker.place, worker.fence) == held for worker in state.workers)
            if not is_held or "sleep" in state.left:
                after = less(state, "sleep") if is_held else state
                yield Step(f"the lease of {shown(place)} ends", put(after, place, row._replace(lease=ENDED)))

    def planners(self, state: State) -> Iterator[Step]:
        for number, planner in enumerate(state.planners):
            others = state.planners[:number] + state.planners[number + 1 :]
            for step, after in self._planner(state, planner):
                placed = tuple(sorted((*others, after)))  # alike: their order is irrelevant
                yield step._replace(after=step.after._replace(planners=placed))

    def _planner(self, state: State, planner: Planner) -> Iterator[tuple[Step, Planner]]:
        if planner.phase is IDLE:
            if (plan := self._planned(state)) is not None:
                yield Step("a planner reads the job", state), plan
            return
        puts = (planner.phase is READ) == self.has(JobGuard.ROWS_FIRST)
        name = "a planner puts its rows" if puts else "a planner moves the cursor"
        after = self._put_rows(state, planner) if puts else self._moved(state, planner)
        if after is None:
            yield Step("a planner comes second", state), Planner()
        elif planner.phase is HALF_DONE:
            yield Step(name, after), Planner()
        else:
            yield Step(name, after), planner._replace(phase=HALF_DONE)
            yield Step(f"{name}, and stops", after), Planner()

    def _planned(self, state: State) -> Planner | None:
        job = state.job
        if job.pause is not None and job.pause.is_complete:
            return None
        too_late = state.now - GRACE
        misses = job.cursor < too_late
        until = too_late if misses else min(state.now + AHEAD, LAST)
        if until <= job.cursor:
            return None
        passes_over = misses or job.pause is not None
        coming = () if passes_over else range(job.cursor + 1, until + 1)
        places = tuple(place_of(job.version, item) for item in coming)
        return Planner(READ, job.revision, job.cursor, until, places, misses)

    def _put_rows(self, state: State, planner: Planner) -> State:
        for place in planner.places:
            if state.rows[place] is None or not self.has(JobGuard.ROW_IS_ABSENT):
                state = put(state, place, Occurrence())
        return state

    def _moved(self, state: State, planner: Planner) -> State | None:
        job = state.job
        if job.revision != planner.revision and self.has(JobGuard.MOVE_REVISION):
            return None
        if job.cursor != planner.cursor and self.has(JobGuard.CURSOR_AS_READ):
            return None
        missed = range(planner.cursor + 1, planner.until + 1) if planner.misses else ()
        return state._replace(job=job._replace(cursor=planner.until), spans=state.spans | set(missed))

    def people(self, state: State) -> Iterator[Step]:
        for requested in CHANGES:
            if requested in state.left and self._is_possible(state, requested):
                change = Change(requested, state.job._replace(running=None), state.now)
                under_way = less(state, requested)._replace(changes=tuple(sorted((*state.changes, change))))
                yield Step(f"{requested}: the job is read", under_way)
        for change in state.changes:
            others = state._replace(changes=tuple(item for item in state.changes if item != change))
            if (after := self._changed(others, change)) is not None:
                yield Step(f"{change.requested} is written", after)
            else:
                again = others._replace(left=tuple(sorted((*state.left, change.requested))))
                yield Step(f"{change.requested} is refused", again)
        for place, row in enumerate(state.rows):
            if row is not None:
                yield from self._change_row(state, place, row)

    def _is_possible(self, state: State, requested: str) -> bool:
        if requested == "deploy back":
            return len(state.job.periods) > 1
        if requested == "pause a cadence" and self.has(JobGuard.PLANS_BEFORE_PAUSE):
            return state.job.cursor >= state.now
        return requested != "resume" or state.job.pause is not None

    def _changed(self, state: State, change: Change) -> State | None:
        """What a change leaves, all of it made from what was read; None if that has changed."""
        old = change.job
        if state.job.revision != old.revision and self.has(JobGuard.CHANGE_REVISION):
            return None
        new = old._replace(revision=old.revision + 1, running=state.job.running)
        state = state._replace(job=new)
        if change.requested.startswith("deploy"):
            return self._deployed(state, old, change)
        if change.requested == "resume":
            return self._resumed(state, old, change.now)
        if change.requested == "forbid overlap":
            return state._replace(job=new._replace(allows=False, unlocked=True))
        return state._replace(job=new._replace(pause=Pause(change.now, change.requested == "pause")))

    def _deployed(self, state: State, old: Job, change: Change) -> State:
        goes_back = change.requested == "deploy back" and not self.has(JobGuard.VERSION_COUNTS)
        version = 1 if goes_back else old.version + 1
        new = state.job._replace(periods=(*old.periods, (version, change.now)), cursor=change.now)
        unplanned = range(old.cursor + 1, change.now + 1) if self.has(JobGuard.ACCOUNTS_FOR_OLD) else ()
        return state._replace(job=new, spans=state.spans | set(unplanned))

    def _resumed(self, state: State, old: Job, now: int) -> State:
        if old.pause is None:
            return state
        passed = set(range(old.pause.since + 1, now + 1))
        spans = state.spans | passed
        cursor = min(old.cursor, now)
        if old.pause.is_complete:
            cursor = now
            spans |= set(range(old.cursor + 1, old.pause.since + 1))
        if not self.has(JobGuard.RESUME_CURSOR):
            cursor = old.cursor
        job = state.job._replace(pause=None, cursor=max(cursor, old.periods[-1][1]))
        covered = set(range(old.pause.since + 1, state.now + 1))
        never = passed if old.pause.is_complete else ()
        return state._replace(
            job=job, spans=spans, covered=state.covered | covered, passed=state.passed | set(never)
        )

    def _change_row(self, state: State, place: Place, row: Occurrence) -> Iterator[Step]:
        """What a deploy and people do to a single row."""
        end = state.job.end_of(version_of(place))
        if row.status is PENDING and not row.attempt and end is not None and nominal_of(place) > end:
            skipped = row._replace(status=SKIPPED, why=RETIRED)
            yield Step(f"a deploy retires {shown(place)}", put(state, place, skipped))
        if row.status is PENDING and row.attempt and "cancel" in state.left:
            after = put(less(state, "cancel"), place, row._replace(status=CANCELLED, why=""))
            if self.has(JobGuard.CANCEL_UNLOCKS):
                after = self.unlocked(after, place)
            yield Step(f"a caller cancels {shown(place)}", after)
        if row.status is FAILED and "redrive" in state.left:
            again = row._replace(status=PENDING, generation=row.generation + 1, why=REDRIVE)
            yield Step(f"a caller redrives {shown(place)}", put(less(state, "redrive"), place, again))

    def unlocked(self, state: State, place: Place) -> State:
        if state.job.running != place and self.has(JobGuard.UNLOCK_IS_MINE):
            return state
        return state._replace(job=state.job._replace(running=None))
