"""Records the writes of a simulated world, as its memory store applies them."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from unittest.mock import patch

from duetime.ids import DEFAULT_WORKER, is_one_shot
from duetime.memory.store import MemoryStore
from duetime.model.action import Action, SkipReason, Status
from duetime.model.work_pause import WorkPause, skip_of, work_of
from duetime_faults.processes import Process
from tests.spec.traces import BEFORE, NONE, UNIT, Line, RowTrace, Trace


@dataclass(frozen=True)
class Recorded:
    """One call of the store: who made it when, and the row before and after."""

    trace: RowTrace
    now: datetime
    process: Process
    before: Action | None
    after: Action
    pauses: Sequence[WorkPause]

    def by_party(self, write, fence, now, **values):
        """Record a write by token; `now` is the time by its process' clock."""
        values = {"fence": fence, "now": self.trace.units(now), **values}
        self.trace.lines.append(
            Line(self.trace.units(self.now), 0, write, values, self.trace.seen(self.after))
        )

    def by_caller(self, write, read=None, due=None, expires=None):
        read = read if isinstance(read, Action) else self.before  # what the caller has read
        values = {"due": self.trace.units(due), "expires": self.trace.units(expires)}
        values |= {} if write == "schedule" else {"generation": read.generation, "fence": read.fence}
        values |= {"sees_dismissal": read.dismissed_reason is not None} if write == "redrive" else {}
        at, row = self.trace.units(self.now), self.trace.seen(self.after)
        self.trace.lines.append(Line(at, 0, write, values, row))

    def pause_of(self, row):
        """Return the begin and the end of the stored pause that skips what was due when a row was."""
        pause = skip_of(self.pauses, work_of(row, DEFAULT_WORKER))
        return (NONE, NONE) if pause is None else (self.trace.units(pause.since), self.trace.units(pause.end))

    def by_worker(self, write, values, nonce, *, sent=None, row=None):
        """Record the request of a run; `sent` is the time by its process' clock when it sent it."""
        at, worker = self.trace.units(self.now), self.trace.worker(self.process, self.trace.nonce(nonce))
        line = Line(at, worker, write, values, self.trace.seen(row or self.after))
        self.trace.add(line, sent=self.now if sent is None else sent - self.process.offset)


def put(call, action):
    call.by_caller("schedule", due=action.due_at, expires=action.expires_at)


def claim(call, _, terms):
    trace, nonce = call.trace, call.trace.nonce(terms.nonce)
    takes_over = call.before.status is Status.PROCESSING and call.after.fence > call.before.fence
    values = {"nonce": nonce, "until": trace.units(terms.lease_until)}
    if nonce not in trace.taken_over:
        row = call.before if takes_over else call.after
        claim_values = values | {"now": trace.units(terms.now)}
        call.by_worker("claim", claim_values, terms.nonce, sent=terms.now, row=row)
    if takes_over:
        trace.taken_over.add(nonce)
    if nonce in trace.taken_over:
        call.by_worker("take over", values | {"now": trace.units(terms.now)}, terms.nonce)


def skip(call, row, reason, *, at, **_):
    """Record a skip by a worker of its own: it has claimed nothing."""
    if reason is SkipReason.PAUSED:
        call.trace.pause = call.pause_of(row)
    call.by_worker("skip", {"generation": row.generation}, f"skip {at}", sent=at)


def renew(call, claimed, until):
    values = {"fence": claimed.fence, "until": call.trace.units(until)}
    call.by_worker("heartbeat", values, claimed.nonce, sent=until - call.trace.lease)


def hand_over(call, claimed, terms):
    values = {"fence": claimed.fence, "until": call.trace.units(terms.waits_until(terms.at))}
    call.by_worker("hand over", values, claimed.nonce, sent=terms.at)


def beat(call, row, until, *, now, **_):
    call.by_party("heartbeat by token", row.fence, now, until=call.trace.units(until))


def settle(call, claimed, settlement):
    if settlement.completion is not None:
        is_retry = settlement.status is Status.PENDING
        values = {"due": call.trace.units(settlement.due_at)} if is_retry else {}
        write = "settle for retry by token" if is_retry else "settle by token"
        values |= {} if is_retry else {"status": settlement.status.value}
        call.by_party(write, claimed.fence, settlement.finished_at, **values)
        return
    values = {"fence": claimed.fence, "status": settlement.status.value}
    write = "settle"
    if settlement.status is Status.PENDING:
        write = "settle for retry"
        values = {"fence": claimed.fence, "due": call.trace.units(settlement.due_at)}
    call.by_worker(write, values, claimed.nonce, sent=settlement.finished_at)


def commit(call, claimed, settlement, **_):
    values = {"fence": claimed.fence}
    call.by_worker("settle by commit", values, claimed.nonce, sent=settlement.finished_at)


def cancel(call, row, **_):
    call.by_caller("cancel", row)


def ask_to_cancel(call, row, **_):
    call.by_caller("ask to cancel", row)


def reschedule(call, row, due_at, *, expires_at=None, **_):
    call.by_caller("reschedule", row, due_at, expires_at)


def redrive(call, row, due_at, **_):
    call.by_caller("redrive", row, due_at)


def dismiss(call, row, *_, **__):
    call.by_caller("dismiss", row)


WRITES = (
    *(put, claim, skip, renew, hand_over, beat, settle, commit),
    *(cancel, ask_to_cancel, reschedule, redrive, dismiss),
)


class Recorder:
    """Records the writes on one-shots without keys, from when it has a `world`."""

    def __init__(self):
        self.world = None
        self._traces = {}
        self._is_inside = False

    def __enter__(self):
        self._patches = ExitStack()
        for write in WRITES:
            self._patches.enter_context(patch.object(MemoryStore, write.__name__, self._recorded(write)))
        return self

    def __exit__(self, *_):
        self._patches.close()

    def _recorded(self, write):
        method = getattr(MemoryStore, write.__name__)

        def recorded(store, subject, *args, **more):
            if self._is_inside or self.world is None:
                return method(store, subject, *args, **more)
            ref = getattr(subject, "ref", subject)
            before, self._is_inside = store.get(ref), True
            try:
                result = method(store, subject, *args, **more)
            finally:
                self._is_inside = False
            call = self._call(ref, before, store.get(ref))
            if call is not None:
                write(call, subject, *args, **more)
            return result

        return recorded

    def _call(self, ref, before, after):
        cloud = self.world.cloud
        is_new = before is None and after is not None and is_one_shot(after.id)
        if is_new and after.concurrency is None:
            self._traces[ref] = RowTrace(cloud.now - BEFORE, cloud.memory.settings.lease)
        trace = self._traces.get(ref)
        pauses = cloud.memory.pauses.list()
        return trace and Recorded(trace, cloud.now, cloud.memory.processes.current, before, after, pauses)

    def traces(self):
        skew = self.world.cloud.memory.settings.clock_skew // UNIT
        for ref, trace in self._traces.items():
            offsets = tuple(process.offset // UNIT for process, _ in trace.workers)
            lines, expiry = tuple(trace.in_order()), self.world.policies.expiry
            of_type = (NONE, False)
            if expiry.after is not None and self.world.cloud.memory.store.get(ref).type == "errand":
                of_type = (expiry.after // UNIT, expiry.on_expiry == "fail")
            name = f"seed {self.world.seed}, {ref.id}"
            yield Trace(name, skew, offsets, lines, of_type, trace.pause)
