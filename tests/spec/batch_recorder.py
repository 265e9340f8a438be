"""Records what callers, passes and workers do to simulated batches, as lines for `BatchTrace.tla`."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from unittest.mock import patch

from duetime import ids
from duetime.actions.actions import Actions
from duetime.actions.batch_writes import BatchWrites
from duetime.memory.table import MemoryTable
from duetime.model.batch import BatchRef
from duetime.ports.row_store import RowBatches
from duetime.wakeups import count_batch
from duetime.wakeups.count_batch import CountBatch, Release
from tests.spec.batch_traces import Step, StepTrace

COUNTED = {"executed": "executed", "failed": "failed", "cancelled": "cancelled", "skipped": "cancelled"}
"""The specification has one status for members that ended without a run."""


@dataclass(eq=False)
class Redrive:
    """One call that redrives a member; `last` is the line that shows its latest step."""

    member: int
    last: Step | None = None


@dataclass(eq=False)
class BatchLife:
    """The lines of one batch, and what is known of its processes."""

    name: str
    lines: list[Step] = field(default_factory=list)
    counters: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """The counter that made a version."""
    counter: int | None = None
    releaser: int | None = None
    redrive: Redrive | None = None
    gave_up: list[Redrive] = field(default_factory=list)
    statuses: dict[int, str] = field(default_factory=dict)
    held: bool = True


class BatchRecorder:
    """Records all batches of a world, from when it has one."""

    def __init__(self):
        self.world, self._lives = None, {}

    def __enter__(self):
        self._patches = ExitStack()
        for owner, name in (
            (RowBatches, "change_batch"),
            (MemoryTable, "write"),
            (CountBatch, "_counted_all"),
            (CountBatch, "_counted_few"),
            (CountBatch, "_members"),
            (Release, "_released"),
            (BatchWrites, "count_again"),
            (Actions, "redrive"),
        ):
            recorded = self._recorded(getattr(owner, name), getattr(self, f"_on_{name.strip('_')}"))
            self._patches.enter_context(patch.object(owner, name, recorded))
        self._patches.enter_context(patch.object(count_batch, "new_version", self._versioned()))
        return self

    def __exit__(self, *_):
        self._patches.close()

    def _recorded(self, method, on_call):
        def recorded(subject, *args, **more):
            if self.world is None:
                return method(subject, *args, **more)
            return on_call(method, subject, *args, **more)

        return recorded

    def _versioned(self):
        new_version = count_batch.new_version

        def versioned():
            version = new_version()
            for life in self._lives.values():
                if life.counter is not None:
                    life.counts[version], life.counter = life.counter, None
            return version

        return versioned

    # What there is

    def _life(self, name):
        return self._lives.setdefault(name, BatchLife(name))

    def _batch(self, name):
        return self.world.cloud.memory.store.find_batch(BatchRef("acme", name))

    def _add(self, life, kind, **values):
        batch = self._batch(life.name)
        step = Step(kind, values)
        step.seen = {
            "rows": tuple(life.statuses.get(number, "pending") for number in range(batch.size)),
            "closed": batch.closed_at is not None,
            "counting": batch.is_counting,
            "recount": batch.recount_at is not None,
            "held": life.held,
        }
        life.lines.append(step)
        return step

    # Writes of the batch and of rows

    def _on_change_batch(self, method, batches, read, changed):
        before = batches.find_batch(read.ref)
        result, after = method(batches, read, changed), batches.find_batch(read.ref)
        if after is None or after == before:
            return result
        life = self._life(after.name)
        if changed.version in life.counts:
            executed, failed, cancelled, skipped = changed.counts
            counts = (executed, failed, cancelled + skipped)
            self._add(life, "write", by=life.counts[changed.version], counts=counts)
        elif after.size > before.size:
            for member in range(before.size, after.size):
                self._add(life, "add", member=member)
        elif after.closed_at != before.closed_at:
            self._add(life, "close")
        else:
            again = self._add(life, "again")
            if life.redrive is not None and life.redrive.last is None:
                life.redrive.last = again
            elif life.redrive is not None and life.redrive.last.kind == "redrive":
                again.kind, life.redrive.last = "count after", again
        return result

    def _on_write(self, method, table, before, row):
        result = method(table, before, row)
        if row.batch is not None:
            self._on_member(self._life(row.batch), ids.member_number(row.id), row)
        for life in self._lives.values():
            batch = self._batch(life.name)
            if batch is not None and batch.on_complete == row.id and life.held and not row.is_held:
                life.held = False
                self._add(life, "release", by=life.releaser or 0)
        return result

    def _on_member(self, life, number, row):
        status = COUNTED.get(row.status.value, "pending")
        was, life.statuses[number] = life.statuses.get(number, "pending"), status
        if status == was:
            return
        if status != "pending":
            self._add(life, "end", member=number)
        elif life.redrive is not None and life.redrive.member == number:
            life.redrive.last = self._add(life, "redrive", member=number)
        else:
            late = next(one for one in reversed(life.gave_up) if one.member == number)
            life.gave_up.remove(late)
            late.last.kind = "late"
            self._add(life, "arrive", member=number)

    # Counts: each is a process of its own

    def _on_counted_all(self, method, count, batch, stop_at):
        return self._counting(batch, True, method, count, batch, stop_at)

    def _on_counted_few(self, method, count, batch, numbers):
        return self._counting(batch, False, method, count, batch, numbers)

    def _counting(self, batch, reads_all, method, *args):
        life = self._life(batch.name)
        life.counter = None
        if self._batch(batch.name).version == batch.version:  # else its write is rejected
            life.counters += 1
            life.counter = life.counters
            self._add(life, "look", by=life.counter, all=reads_all)
            self._reading = range(batch.size) if reads_all else batch.short_list
        try:
            return method(*args)
        finally:
            self._reading = None

    _reading = None

    def _on_members(self, method, count, batch, numbers):
        found = method(count, batch, numbers)
        life = self._life(batch.name)
        if self._reading is not None and life.counter is not None:
            for member in self._reading:
                self._add(life, "read", by=life.counter, member=member)
            self._reading = None
        return found

    def _on_released(self, method, release, row, verdict):
        for life in self._lives.values():
            if self._batch(life.name).on_complete == row.id:
                life.counters += 1
                life.releaser = life.counters
                self._add(life, "look at what waits", by=life.releaser)
        return method(release, row, verdict)

    # Redrives

    def _on_count_again(self, method, writes, row, *, is_redriven=False):
        life = self._life(row.batch)
        if not is_redriven:
            life.redrive = Redrive(ids.member_number(row.id))
        method(writes, row, is_redriven=is_redriven)
        if not is_redriven:
            last = life.redrive.last or self._add(life, "begin")
            last.kind, last.values = "begin", {"member": life.redrive.member}
            life.redrive.last = last

    def _on_redrive(self, method, actions, *args, **more):
        try:
            return method(actions, *args, **more)
        finally:
            for life in self._lives.values():
                self._end_redrive(life)

    def _end_redrive(self, life):
        redrive, life.redrive = life.redrive, None
        kind = None if redrive is None or redrive.last is None else redrive.last.kind
        if kind == "begin":
            redrive.last = self._add(life, "give up")
            life.gave_up.append(redrive)
        elif kind == "redrive":
            self._add(life, "stop")

    def traces(self):
        """Return the trace of each batch."""
        for life in self._lives.values():
            most = {"Members": self._batch(life.name).size - 1, "Counters": max(1, life.counters)}
            yield StepTrace(f"seed {self.world.seed}, {life.name}", most, tuple(life.lines))
