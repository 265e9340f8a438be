"""Traces of simulated worlds: each conditional write on a one-shot's row, as lines of a TLA+ module."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from unittest.mock import patch

from duetime.ids import is_one_shot
from duetime.memory.store import MemoryStore
from duetime.model.action import Status

UNIT = timedelta(microseconds=10)
"""TLC's integers have 32 bits: five hours of this."""

BEFORE = timedelta(minutes=10)
"""A row may be due before it was scheduled; no instant of a trace is negative."""

NONE = -1


@dataclass(frozen=True)
class Line:
    """One request, and the row after it.

    `by` is the worker, or 0 for a caller. `write` has the name that it has in docs/protocol.md.
    """

    at: int
    by: int
    write: str
    values: dict[str, object]
    row: tuple[object, ...] | None
    fate: str = "answered"

    @property
    def request(self):
        return self.by, self.write, tuple(self.values.items())

    def __str__(self):
        fields = {"at": self.at, "by": self.by, "write": self.write, "fate": self.fate, **self.values}
        return f"[{', '.join(f'{name} |-> {tla(value)}' for name, value in (fields | {'row': self.row}).items())}]"


@dataclass(frozen=True)
class Trace:
    """What happened to one row; `offsets` has the clocks of workers 1, 2 …"""

    name: str
    skew: int
    offsets: tuple[int, ...]
    lines: tuple[Line, ...]

    def __str__(self):
        lines = ",\n    ".join(map(str, self.lines))
        return f"[offsets |-> {tla(self.offsets)}, lines |-> <<\n    {lines}>>]"


def tla(value):
    match value:
        case bool():
            return str(value).upper()
        case str():
            return f'"{value}"'
        case tuple():
            return f"<<{', '.join(map(tla, value))}>>"
    return str(value)


@dataclass
class RowTrace:
    """The lines of one row so far. Workers and nonces have numbers."""

    start: datetime
    lease: timedelta
    lines: list[Line] = field(default_factory=list)
    processes: list[object] = field(default_factory=list)
    nonces: dict[str, int] = field(default_factory=dict)
    taken_over: set[int] = field(default_factory=set)

    def units(self, at):
        return NONE if at is None else (at - self.start) // UNIT

    def nonce(self, nonce):
        return NONE if nonce is None else self.nonces.setdefault(nonce, len(self.nonces) + 1)

    def worker(self, process):
        if process not in self.processes:
            self.processes.append(process)
        return self.processes.index(process) + 1

    def seen(self, row):
        return (
            row.status.value,
            self.units(row.due_at),
            row.generation,
            row.fence,
            self.units(row.lease_until),
            self.nonce(row.claim_nonce),
            row.cancel_requested_at is not None,
            row.dismissed_reason is not None,
        )

    def of_caller(self, now, write, row, *, before=None, due=None):
        values = {"due": self.units(due)}
        if before is not None:
            values |= {"gen": before.generation, "fence": before.fence}
        self.lines.append(Line(self.units(now), 0, write, values, self.seen(row)))

    def of_worker(self, now, sent, process, write, values, row):
        """Add a worker's request that arrives at `now`; the worker sent it at `sent`."""
        line = Line(self.units(now), self.worker(process), write, values, self.seen(row))
        first = next((item for item in self.lines if item.request == line.request), None)
        if first is None and self.units(sent) < line.at:
            first = replace(line, at=self.units(sent), row=None, fate="unanswered")
            self.lines.append(first)
        if first is None:
            self.lines.append(line)
            return
        self.lines[self.lines.index(first)] = replace(first, fate=first.fate if first.fate == "again" else "unanswered")
        self.lines.append(replace(line, fate="again"))

    def in_order(self):
        """Return the lines by time. A request that is only sent leaves the row as it is."""
        row = None
        for line in sorted(self.lines, key=lambda line: line.at):
            row = line.row or row
            yield replace(line, row=row)


class Recorder:
    """Records the writes on one-shots without keys, as a world's memory store applies them."""

    def __init__(self):
        self.world = None
        self._rows: dict[object, RowTrace] = {}
        self._is_inside = False

    def __enter__(self):
        self._patches = ExitStack()
        for name, record in WRITES.items():
            self._patches.enter_context(patch.object(MemoryStore, name, self._recorded(name, record)))
        return self

    def __exit__(self, *_):
        self._patches.close()

    def _recorded(self, name, record):
        method = getattr(MemoryStore, name)

        def recorded(store, subject, *args, **more):
            if self._is_inside or self.world is None:
                return method(store, subject, *args, **more)
            ref = getattr(subject, "ref", subject)
            before, self._is_inside = store.get(ref), True
            try:
                result = method(store, subject, *args, **more)
            finally:
                self._is_inside = False
            after = store.get(ref)
            if (row := self._row(ref, before, after)) is not None:
                record(self, row, before, after, subject, *args, **more)
            return result

        return recorded

    def _row(self, ref, before, after):
        is_new = before is None and after is not None and is_one_shot(after.id)
        if is_new and after.concurrency_key is None:
            self._rows[ref] = RowTrace(self.now - BEFORE, self.world.cloud.memory.settings.lease)
        return self._rows.get(ref)

    @property
    def now(self):
        return self.world.cloud.now

    @property
    def process(self):
        return self.world.cloud.memory.processes.current

    def traces(self) -> Iterator[Trace]:
        skew = self.world.cloud.memory.settings.clock_skew // UNIT
        for ref, row in self._rows.items():
            offsets = tuple(process.offset // UNIT for process in row.processes)
            yield Trace(f"seed {self.world.seed}, {ref.id}", skew, offsets, tuple(row.in_order()))

    def put(self, row, before, after, action):
        row.of_caller(self.now, "schedule", after, due=action.due_at)

    def claim(self, row, before, after, ref, terms):
        nonce = row.nonce(terms.nonce)
        values = {"nonce": nonce, "until": row.units(terms.lease_until)}
        sent = terms.now - self.process.offset
        takes_over = before.status is Status.PROCESSING and after.fence > before.fence
        if nonce not in row.taken_over:
            now = {"now": row.units(terms.now)}
            row.of_worker(self.now, sent, self.process, "claim", now | values, before if takes_over else after)
        if takes_over:
            row.taken_over.add(nonce)
        if nonce in row.taken_over:
            row.of_worker(self.now, self.now, self.process, "take over", values, after)

    def renew(self, row, before, after, claimed, until):
        sent = until - row.lease - self.process.offset
        values = {"fence": claimed.fence, "until": row.units(until)}
        row.of_worker(self.now, sent, self.process, "heartbeat", values, after)

    def settle(self, row, before, after, claimed, settlement):
        is_retry = settlement.status is Status.PENDING
        values = {"fence": claimed.fence}
        values |= {"due": row.units(settlement.due_at)} if is_retry else {"status": settlement.status.value}
        self._end("settle for retry" if is_retry else "settle", values, row, after, settlement)

    def commit(self, row, before, after, claimed, settlement, **_):
        self._end("settle by commit", {"fence": claimed.fence}, row, after, settlement)

    def _end(self, write, values, row, after, settlement):
        sent = settlement.finished_at - self.process.offset
        row.of_worker(self.now, sent, self.process, write, values, after)

    def cancel(self, row, before, after, subject, **_):
        row.of_caller(self.now, "cancel", after, before=_read(subject, before))

    def ask_to_cancel(self, row, before, after, subject, **_):
        row.of_caller(self.now, "ask to cancel", after, before=_read(subject, before))

    def reschedule(self, row, before, after, subject, due_at, **_):
        row.of_caller(self.now, "reschedule", after, before=_read(subject, before), due=due_at)

    def redrive(self, row, before, after, subject, due_at, **_):
        row.of_caller(self.now, "redrive", after, before=_read(subject, before), due=due_at)

    def dismiss(self, row, before, after, subject, *_, **__):
        row.of_caller(self.now, "dismiss", after, before=_read(subject, before))


def _read(subject, before):
    """Return the row that the caller has read."""
    return subject if hasattr(subject, "generation") else before


WRITES = {
    name: getattr(Recorder, name)
    for name in (
        "put", "claim", "renew", "settle", "commit", "cancel", "ask_to_cancel", "reschedule", "redrive", "dismiss"
    )
}
