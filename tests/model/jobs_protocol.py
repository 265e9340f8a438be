"""The protocol of jobs as an explicit-state model: every order of events, within small bounds.

Planners and workers come whenever they like, twice or never: that is what wakes that are doubled or lost
amount to. A planner may stop between its rows and the cursor; a worker may die or sleep past its lease; what
anybody has read may be old when he writes.
"""

from collections.abc import Iterator

from tests.model.job_guards import JobGuard
from tests.model.job_states import (
    COVERED,
    ENDED,
    EXECUTED,
    FAILED,
    FINAL,
    GRACE,
    IDLE,
    LIVE,
    MISSED,
    OVERLAP,
    PAUSED,
    PENDING,
    PROCESSING,
    READ,
    RETIRED,
    RETRY,
    RUNNING,
    SKIPPED,
    Change,
    Occurrence,
    Place,
    Planner,
    State,
    Step,
    Worker,
    less,
    nominal_of,
    place_of,
    put,
    shown,
    version_of,
)
from tests.model.jobs_world import JobsWorld


class JobsProtocol(JobsWorld):
    """The steps that may follow a state, under the guards that are kept."""

    def steps(self, state: State) -> Iterator[Step]:
        """Each thing that may happen next, with what comes of it."""
        yield from self.time(state)
        yield from self.planners(state)
        yield from self.people(state)
        yield from self._late(state)
        for number, worker in enumerate(state.workers):
            others = state.workers[:number] + state.workers[number + 1 :]
            for step, after in self._worker(state, worker):
                placed = tuple(sorted((*others, after), key=repr))  # alike: their order is irrelevant
                yield step._replace(after=step.after._replace(workers=placed))

    def _worker(self, state: State, worker: Worker) -> Iterator[tuple[Step, Worker]]:
        if worker.phase is IDLE:
            for place, row in enumerate(state.rows):
                if row is not None and (read := self._judged(state, place, row)):
                    yield Step(f"a worker reads {shown(place)}", state), read
        elif worker.phase is READ:
            yield self._skipped(state, worker) if worker.skips else self._claimed(state, worker)
        else:
            yield from self._run(state, worker)

    def _late(self, state: State) -> Iterator[Step]:
        """A request is under way while its sender gives up or repeats it, then it arrives."""
        if state.late is not None:
            yield from self._arrives(state._replace(late=None), state.late)
        elif "late" in state.left:
            sent = less(state, "late")
            for kind in ("planners", "workers", "changes"):
                for sender in set(getattr(state, kind)):
                    if isinstance(sender, Change) or sender.phase is not IDLE:
                        yield Step("a request will be late", sent._replace(late=sender))
                        yield Step(
                            "and its sender gives up", _without(sent, kind, sender)._replace(late=sender)
                        )

    def _arrives(self, state: State, sender: Planner | Worker | Change) -> Iterator[Step]:
        if isinstance(sender, Change):
            after = self._changed(state, sender)
            if after is not None:  # its sender's repeat finds the change, as `JobStore.change` says
                after = after._replace(changes=tuple(item for item in after.changes if item != sender))
            yield Step(f"{sender.requested} arrives late", after or state)
        elif isinstance(sender, Planner):
            steps = (step for step, _ in self._planner(state, sender))
            yield from (step._replace(name=f"{step.name}, late") for step in steps)
        elif sender.phase is READ:
            step, _ = self._skipped(state, sender) if sender.skips else self._claimed(state, sender)
            yield step
        else:
            yield from (step for step, _ in self._run(state, sender) if "dies" not in step.name)

    def _judged(self, state: State, place: Place, row: Occurrence) -> Worker | None:
        """What a worker decides on what it reads, as `duetime.jobs.claim_policy` does.

        None where there is nothing to write.
        """
        job, nominal = state.job, nominal_of(place)
        read = Worker(READ, place, row, job.revision)
        is_lost = row.status is PROCESSING and row.lease is ENDED
        if not is_lost and (row.status is not PENDING or nominal > state.now):
            return None
        is_first = row.status is PENDING and not row.attempt
        if is_first and (reason := self._refusal(state, place)):
            return read._replace(skips=reason)
        return read._replace(locks=False) if job.allows else self._contended(state, read, is_first=is_first)

    def _contended(self, state: State, read: Worker, *, is_first: bool) -> Worker | None:
        """What a worker decides about the lock."""
        job, place = state.job, read.place
        if job.unlocked and job.running != place:
            unlocked = self._without_lock(state, place)
            if any(row.lease is LIVE for _, row in unlocked):
                return read._replace(skips=OVERLAP) if is_first else None
            read = read._replace(unlocked=unlocked)
        if job.running in {None, place}:
            return read
        holder = state.rows[job.running]
        if self.is_dead(holder):
            return read._replace(dead=(job.running, holder))
        return read._replace(skips=OVERLAP) if is_first else None

    def _without_lock(self, state: State, place: Place) -> tuple[tuple[Place, Occurrence], ...]:
        """The other runs in progress that do not hold the lock."""
        if not self.has(JobGuard.UNLOCKED_HOLD):
            return ()
        found = ((item, row) for item, row in enumerate(state.rows) if row and row.status is PROCESSING)
        return tuple((item, row) for item, row in found if item not in {place, state.job.running})

    def _refusal(self, state: State, place: Place) -> str:
        nominal, end = nominal_of(place), state.job.end_of(version_of(place))
        if end is not None and nominal > end:
            return RETIRED
        if self.has(JobGuard.NOT_COVERED) and _is_covered(state, place):
            return COVERED
        if state.job.is_paused_at(nominal):
            return PAUSED
        return MISSED if state.now - nominal > GRACE else ""

    def is_dead(self, holder: Occurrence | None) -> bool:
        if holder is None or holder.status in FINAL:
            return self.has(JobGuard.SETTLED_IS_DEAD)
        return holder.status is PROCESSING and holder.lease is ENDED

    def _skipped(self, state: State, worker: Worker) -> tuple[Step, Worker]:
        row = state.rows[worker.place]
        if row is None or (row != worker.row and self.has(JobGuard.SKIP_AS_READ)):
            return Step("a skip is refused", state), Worker()
        skipped = put(state, worker.place, row._replace(status=SKIPPED, why=worker.skips))
        return Step(f"{shown(worker.place)} is skipped: {worker.skips}", skipped), Worker()

    def _claimed(self, state: State, worker: Worker) -> tuple[Step, Worker]:
        row, place = state.rows[worker.place], worker.place
        if row is None or not self._holds(state, worker):
            return Step("a claim is refused", state), Worker()
        is_first = row.status is not PROCESSING and not row.attempt
        taken = row._replace(
            status=PROCESSING,
            fence=row.fence + 1,
            lease=LIVE,
            attempt=row.attempt + (row.status is PENDING),
            why="",
        )
        job = state.job._replace(running=place) if worker.locks else state.job
        job = job if worker.unlocked is None else job._replace(unlocked=False)
        after = put(state._replace(job=job), place, taken)
        if worker.dead is not None and self.has(JobGuard.DEAD_LOSES_FENCE):
            after = _fenced_off(after, worker.dead[0])
        if self.has(JobGuard.UNLOCKED_LOSE_FENCE):
            for dead, _ in worker.unlocked or ():
                after = _fenced_off(after, dead)
        if is_first:
            number = nominal_of(place) - 1
            begun = (*after.begun[:number], after.begun[number] + 1, *after.begun[number + 1 :])
            after = after._replace(begun=begun)
        name = f"{shown(place)} {'begins' if is_first else 'goes on'}"
        return Step(name, after, place if is_first else None), Worker(RUNNING, place, fence=taken.fence)

    def _holds(self, state: State, worker: Worker) -> bool:
        """Whether the claim's conditions hold."""
        job = state.job
        if state.rows[worker.place] != worker.row and self.has(JobGuard.CLAIM_ROW):
            return False
        if job.revision != worker.revision and self.has(JobGuard.CLAIM_REVISION):
            return False
        return not (worker.locks and self.has(JobGuard.LOCK_IS_FREE)) or self._holds_lock(state, worker)

    def _holds_lock(self, state: State, worker: Worker) -> bool:
        """Whether the conditions on the lock hold."""
        job = state.job
        if self.has(JobGuard.DEAD_AS_READ) and any(
            state.rows[item] != row for item, row in worker.unlocked or ()
        ):
            return False
        if worker.dead is None:
            return job.running in {None, worker.place}
        dead, as_read = worker.dead
        if state.rows[dead] != as_read and self.has(JobGuard.DEAD_AS_READ):
            return False
        return job.running in {None, worker.place, dead}

    def _run(self, state: State, worker: Worker) -> Iterator[tuple[Step, Worker]]:
        row, place = state.rows[worker.place], worker.place
        if "death" in state.left:
            yield Step("a worker dies", less(state, "death")), Worker()
        if row is None or row.status is not PROCESSING or row.fence != worker.fence:
            yield Step(f"the run of {shown(place)} finds its lease lost", state), Worker()
            return
        if row.lease is ENDED:
            yield Step(f"{shown(place)} renews", put(state, place, row._replace(lease=LIVE))), worker
        ended = row._replace(lease=None)
        settled = put(state, place, ended._replace(status=EXECUTED))
        yield Step(f"{shown(place)} is executed", self._settled(settled, place)), Worker()
        if "redrive" in state.left:
            failed = put(state, place, ended._replace(status=FAILED))
            yield Step(f"{shown(place)} fails", self._settled(failed, place)), Worker()
        if "retry" in state.left:
            again = ended._replace(status=PENDING, generation=row.generation + 1, why=RETRY)
            after = put(less(state, "retry"), place, again)
            after = after if self.has(JobGuard.RETRY_KEEPS_LOCK) else self.unlocked(after, place)
            yield Step(f"{shown(place)} is to be retried", after), Worker()

    def _settled(self, state: State, place: Place) -> State:
        return self.unlocked(state, place) if self.has(JobGuard.SETTLE_UNLOCKS) else state


def _without(state: State, kind: str, sender: Planner | Worker | Change) -> State:
    """The state after a sender has given up."""
    others = list(getattr(state, kind))
    others.remove(sender)
    idle = {"planners": [Planner()], "workers": [Worker()], "changes": []}[kind]
    return state._replace(**{kind: tuple(sorted([*others, *idle], key=repr))})


def _is_covered(state: State, place: Place) -> bool:
    """Whether a former version has run this nominal time."""
    previous = (place_of(version, nominal_of(place)) for version in range(1, version_of(place)))
    rows = (state.rows[item] for item in previous)
    return any(row is not None and (row.attempt > 0 or row.status in {EXECUTED, FAILED}) for row in rows)


def _fenced_off(state: State, dead: Place) -> State:
    """A holder that died holds nothing any more, should its worker wake."""
    row = state.rows[dead]
    if row is None or row.status is not PROCESSING:
        return state
    return put(state, dead, row._replace(fence=row.fence + 1))
