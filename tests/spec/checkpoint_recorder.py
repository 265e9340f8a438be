"""Records the runs of simulated actions with checkpoints, as lines for `CheckpointTrace.tla`."""

from collections import defaultdict
from contextlib import ExitStack
from unittest.mock import patch

from duetime.memory.table import MemoryTable
from duetime.model.action import Status
from duetime.worker.end_run import RunCheckpoints
from tests.spec.batch_traces import Step, StepTrace


class CheckpointRecorder:
    """Records all actions of a world, from when it has one. Each run is a worker, named by its fence."""

    def __init__(self):
        self.world, self._lines, self._rows, self._sent = None, defaultdict(list), {}, {}

    def __enter__(self):
        self._patches = ExitStack()
        for owner, name, recorded in (
            (MemoryTable, "write", self._writing),
            (RunCheckpoints, "__call__", self._sending),
        ):
            self._patches.enter_context(patch.object(owner, name, recorded(getattr(owner, name))))
        return self

    def __exit__(self, *_):
        self._patches.close()

    def _seen(self, ref):
        row = self._rows[ref]
        return {
            "status": row.status.value,
            "fence": row.fence,
            "continued": row.continued,
            "checkpoint": order(row.checkpoint),
        }

    def _add(self, ref, kind, **values):
        step = Step(kind, values, self._seen(ref))
        self._lines[ref].append(step)
        return step

    def _writing(self, method):
        def write(table, before, row):
            result = method(table, before, row)
            if self.world is not None and before is not None:
                self._rows.setdefault(row.ref, before)
                self._record(before, row)
            return result

        return write

    def _record(self, before, row):
        ref = row.ref
        if row.fence > before.fence and row.nonce is None:
            self._rows[ref] = row
            self._add(ref, "evict")
            return
        if row.fence > before.fence:
            self._add(ref, "look", by=row.fence)
            self._rows[ref] = row
            self._add(ref, "claim", by=row.fence, began=order(row.checkpoint))
            return
        self._rows[ref] = row
        if row.checkpoint != before.checkpoint:
            sent = self._sent[ref, *order(row.checkpoint)]
            if sent is self._lines[ref][-1]:
                sent.kind, sent.seen = "store", self._seen(ref)
            else:
                self._add(ref, "arrive")
        elif before.status is Status.PROCESSING and row.status is not before.status:
            kind = "continue" if row.continued > before.continued else "end"
            self._add(ref, kind, by=row.fence)

    def _sending(self, method):
        def send(checkpoints, text):
            if self.world is not None:
                action, number = checkpoints._action, checkpoints._number + 1
                sent = self._add(action.ref, "send", by=action.fence, number=number)
                self._sent[action.ref, action.fence, number] = sent
            return method(checkpoints, text)

        return send

    def traces(self):
        """Return the trace of each action."""
        for ref, lines in self._lines.items():
            most = {"Workers": max(1, self._rows[ref].fence)}
            yield StepTrace(f"seed {self.world.seed}, {ref.id}", most, tuple(lines))


def order(checkpoint):
    """Return fence and number of a checkpoint; zeros without one."""
    return (0, 0) if checkpoint is None else (checkpoint.fence, checkpoint.number)
