"""Records what planners, workers and operators do to a simulated job, as lines for `JobTrace.tla`."""

from contextlib import ExitStack
from math import inf
from unittest.mock import patch

from duetime import ids, instant
from duetime.jobs.claim_policy import Proceed, Skip, Wait
from duetime.jobs.plan import Plan
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, SkipReason
from duetime.model.job import WHOLE_JOB
from duetime.worker import claim_job_run
from tests.spec.job_life import JOB, NOON
from tests.spec.job_traces import NO_ID, JobLine, JobTrace
from tests.spec.traces import BEFORE, NONE, UNIT

START = NOON - BEFORE
OF_JOBS = ("add", "change", "move_cursor", "claim", "wait", "settle", "commit", "end_pending")
OF_ROWS = ("put", "renew", "skip", "settle", "commit")
WHY = {SkipReason.DISABLED: "retired"}
"""The specification has one reason for the ends of a version and of its job."""


def units(at):
    return NONE if at is None else (at - START) // UNIT


def run_of(action_id):
    """Return version and nominal time of a run."""
    return ids.version_of(action_id), units(ids.nominal_at(action_id))


class JobRecorder:
    """Records one job's life, from when it has one."""

    def __init__(self):
        self.life, self.lines = None, []
        self._job, self._rows, self._read = None, {}, []
        self._writes, self._depth, self._end = 0, 0, inf
        self._workers, self._decided = {}, {}
        self._planners, self._nonces = [], {}

    def __enter__(self):
        self._patches = ExitStack()
        for owner, names in ((MemoryJobStore, OF_JOBS), (MemoryStore, OF_ROWS)):
            for name in names:
                self._patches.enter_context(patch.object(owner, name, self._recorded(owner, name)))
        decide = claim_job_run.decide
        self._patches.enter_context(patch.object(claim_job_run, "decide", self._deciding(decide)))
        self._patches.enter_context(patch.object(Plan, "_write", self._planning(Plan._write)))
        return self

    def __exit__(self, *_):
        self._patches.close()

    # What there is

    def _now(self):
        return units(self.life.cloud.now)

    def _times_of(self, job):
        """Return the nominal times of a version, up to the end of the life and somewhat later."""
        end = NOON + self.life.length
        return tuple(units(due.at) for due in job.cadence_set.between(START, end))

    def _job_seen(self, job):
        pause = job.pauses.get(WHOLE_JOB)
        return {
            "version": job.version,
            "since": units(job.since),
            "times": self._times_of(job),
            "overlap": job.definition.overlap.value,
            "cursor": units(job.cursor),
            "ends": {version: units(end) for version, end in job.ends.items()},
            "dropped": units(job.removed_at),
            "paused": {"since": units(pause and pause.since), "until": units(pause and pause.until)},
            "revision": job.revision,
            "running": NO_ID if job.running is None else run_of(job.running.id),
            "waiting": NO_ID if job.waiting is None else run_of(job.waiting.id),
            "unlocked": units(job.unlocked_since),
        }

    def _nonce(self, nonce):
        return NONE if nonce is None else self._nonces.setdefault(nonce, len(self._nonces) + 1)

    def _row_seen(self, row):
        why = "" if row.skip_reason is None else WHY.get(row.skip_reason, row.skip_reason.value)
        return (row.status.value, row.fence, units(row.lease_until), self._nonce(row.nonce), why)

    def _seen(self):
        """Return the job and its rows as they are now."""
        memory = self.life.cloud.memory
        job = next((job for job in memory.job_store._jobs() if job.name == JOB), None)
        rows = {run_of(row.id): self._row_seen(row) for row in memory.store.rows() if row.job == JOB}
        return job and self._job_seen(job), rows

    # What happens

    def _add(self, place, kind, **values):
        self.lines.append((place, JobLine(self._now(), kind, values)))

    def _recorded(self, owner, name):
        method, line_of = getattr(owner, name), getattr(self, f"_line_of_{name}")

        def recorded(store, *args, **more):
            if self.life is None or self._depth or not self._is_of_the_job(store, args[0]):
                return method(store, *args, **more)
            self._depth += 1
            before = self._spans()
            assert self._seen() == (self._job, self._rows), "a write was not recorded"
            try:
                result = method(store, *args, **more)
            finally:
                self._depth -= 1
            job, rows = self._seen()
            changed = {run: row for run, row in rows.items() if self._rows.get(run) != row}
            is_changed = bool(changed) or job != self._job
            spans = frozenset((units(span.start), units(span.end)) for span in self._spans() - before)
            self._job, self._rows = job, rows
            found = line_of(*args, is_changed=is_changed, **more)
            if found is not None:
                kind, values = found
                self._writes += is_changed
                state = {"job": job, "rows": changed, "spans": spans}
                self._add((self._writes, 0 if is_changed else 3, len(self.lines)), kind, **values, **state)
            if is_changed:
                self._read.append((self._writes, job))
            return result

        return recorded

    def _is_of_the_job(self, store, subject):
        row = getattr(subject, "row", subject)
        name = getattr(row, "job", None) or getattr(getattr(row, "ref", row), "name", None)
        return name == JOB and store in {self.life.cloud.memory.job_store, self.life.cloud.memory.store}

    def _spans(self):
        jobs = self.life.cloud.memory.job_store
        refs = [job.ref for job in jobs._jobs() if job.name == JOB]
        return {span for ref in refs for span in jobs.spans(ref, instant.EARLIEST, instant.LATEST)}

    def _as_read(self, job):
        """Return after how many writes the job was last as this one, which a process has read."""
        seen = self._job_seen(job)
        return next(place for place, known in reversed(self._read) if known == seen)

    # Planners: one for each step of a plan

    def _planning(self, write):
        def planning(plan, job, step):
            if self.life is not None and job.name == JOB:
                place = next(
                    place
                    for place, known in reversed(self._read)
                    if known["revision"] == job.revision and known["cursor"] == units(job.cursor)
                )
                left = {run_of(row.id) for row in step.rows}
                self._planners.append({"left": left, "planned": step.rows, "job": job, "cursor": step.cursor})
                self._add(
                    (place, 1, len(self.lines)),
                    "plan",
                    by=len(self._planners),
                    until=units(step.cursor),
                    misses=bool(step.missed),
                )
            return write(plan, job, step)

        return planning

    def _line_of_put(self, action, *, is_changed):
        run = run_of(action.id)
        for number, planner in enumerate(self._planners, 1):
            if run in planner["left"] and any(row is action for row in planner["planned"]):
                planner["left"].discard(run)
                return "schedule", {"by": number, "id": run}
        assert not is_changed, f"no planner planned {action.id}"
        return None

    def _line_of_move_cursor(self, job, cursor, *_, is_changed, **_more):
        ready = [
            (bool(planner["left"]), number)
            for number, planner in enumerate(self._planners, 1)
            if planner["job"] is job and planner["cursor"] == cursor
        ]
        if ready and is_changed:
            _, number = min(ready)
            self._planners[number - 1]["job"] = None
            return "move", {"by": number}
        assert not is_changed, "no planner planned this"
        return None

    # Workers: one for each claim

    def _worker(self, nonce):
        return self._workers.setdefault(nonce, len(self._workers) + 1)

    def _deciding(self, decide):
        def deciding(context, nonce, bounds):
            decision = decide(context, nonce, bounds)
            if (
                self.life is not None
                and context.row.job == JOB
                and isinstance(decision, Proceed | Skip | Wait)
            ):
                run = run_of(context.row.id)
                self._decided[nonce, run] = self._decided[run] = {
                    "nonce": nonce,
                    "read": self._as_read(context.job),
                    "after": self._writes,
                    "clock": units(bounds.now),
                    "at": self._now(),
                }
            return decision

        return deciding

    def _decision(self, key, until=None):
        """Add the lines of a worker that read and decided; return those of its write."""
        decided = self._decided[key]
        worker, run = self._worker(decided["nonce"]), key if isinstance(key[0], int) else key[1]
        self._add((decided["read"], 1, len(self.lines)), "read", by=worker, id=run)
        values = {
            "by": worker,
            "id": run,
            "clock": decided["clock"],
            "nonce": self._nonce(decided["nonce"]),
            "until": until if until is not None else decided["clock"],
        }
        if decided["after"] == self._writes:
            return "decide", values
        place = (decided["after"], 2, len(self.lines))
        self.lines.append((place, JobLine(decided["at"], "decide late", values)))
        return "again", {"by": worker, "id": run}

    def _line_of_claim(self, taking, *, is_changed):
        if not is_changed:
            return None
        if isinstance(taking.dead, Action) and taking.dead.status.is_final:
            self._end = min(self._end, self._writes)
        nonce, until = taking.claimed.nonce, units(taking.claimed.lease_until)
        return self._decision((nonce, run_of(taking.row.id)), until)

    def _line_of_wait(self, _job, waiting, *, is_changed):
        return self._decision(run_of(waiting.id)) if is_changed else None

    def _line_of_end_pending(self, row, _ended, _ref, *, is_changed):
        return self._decision(run_of(row.id)) if is_changed else None

    def _line_of_renew(self, claimed, until, *, is_changed):
        if not is_changed:
            return None
        return "heartbeat", {"by": self._worker(claimed.nonce), "until": units(until)}

    def _line_of_settle(self, claimed, settlement, *_, is_changed, **__):
        if not is_changed:
            return None
        return "settle", {"by": self._worker(claimed.nonce), "status": settlement.status.value}

    _line_of_commit = _line_of_settle

    # Deploys and operators

    def _line_of_add(self, _job, *, is_changed):
        return ("add", {}) if is_changed else None

    def _line_of_change(self, old, _new, *, is_changed, **_more):
        return ("change", {"read": units(old.cursor)}) if is_changed else None

    def _line_of_skip(self, row, *_, is_changed, **__):
        return ("retire", {"id": run_of(row.id)}) if is_changed else None

    def trace(self):
        """Return the trace, each line in its place.

        It ends before a claim that takes the lock of a settled run: the specification has none.
        """
        ordered = sorted(self.lines, key=lambda entry: entry[0])
        lines = [line for place, line in ordered if place[0] <= self._end]
        return JobTrace(
            f"seed {self.life.seed}",
            skew=self.life.settings.clock_skew // UNIT,
            grace=self.life.settings.job_grace // UNIT,
            workers=len(self._workers),
            planners=len(self._planners),
            lines=tuple(lines),
        )
