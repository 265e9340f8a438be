"""Traces of simulated worlds: each conditional write on a one-shot's row, as lines of a TLA+ module."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

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
        written = [f"{name} |-> {tla(value)}" for name, value in (fields | {"row": self.row}).items()]
        return f"[{', '.join(written)}]"


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened to one row.

    `offsets` has the clocks of workers 1, 2 …, `type` the expiry of its type, and `pause` the begin and the
    end of the pause that skipped it.
    """

    name: str
    skew: int
    offsets: tuple[int, ...]
    lines: tuple[Line, ...]
    type: tuple[int, bool] = (NONE, False)
    pause: tuple[int, int] = (NONE, NONE)

    def __str__(self):
        lines = ",\n    ".join(map(str, self.lines))
        (after, fails), (since, end) = self.type, self.pause
        fields = {"type": f"[after |-> {after}, fails |-> {tla(fails)}]"}
        fields |= {"pause": f"[since |-> {since}, end |-> {end}]", "offsets": tla(self.offsets)}
        written = ", ".join(f"{name} |-> {text}" for name, text in fields.items())
        return f"[{written}, lines |-> <<\n    {lines}>>]"


def tla(value):
    """Return a value as TLA+ writes it."""
    match value:
        case bool():
            return str(value).upper()
        case str():
            return f'"{value}"'
        case tuple():
            return f"<<{', '.join(map(tla, value))}>>"
    return str(value)


def module(traces):
    """Return the module of some traces under one clock skew."""
    listed = ",\n".join(map(str, traces))
    return "\n".join(
        (
            "---- MODULE Traces ----",
            "EXTENDS Integers",
            f"TraceSkew == {traces[0].skew}",
            f"TraceWorkers == 1..{max(1, *(len(trace.offsets) for trace in traces))}",
            f"Traces == <<\n{listed}>>",
            "====\n",
        )
    )


@dataclass
class RowTrace:
    """The lines of one row so far. Workers and nonces have numbers.

    A worker of the specification makes one claim at a time, but a process of a batch makes several. So each
    claim or skip of a process is a worker.
    """

    start: datetime
    lease: timedelta
    lines: list[Line] = field(default_factory=list)
    workers: list[tuple[object, int]] = field(default_factory=list)
    nonces: dict[str, int] = field(default_factory=dict)
    taken_over: set[int] = field(default_factory=set)
    pause: tuple[int, int] = (NONE, NONE)

    def units(self, at):
        return NONE if at is None else (at - self.start) // UNIT

    def nonce(self, nonce):
        return NONE if nonce is None else self.nonces.setdefault(nonce, len(self.nonces) + 1)

    def worker(self, process, nonce):
        if (process, nonce) not in self.workers:
            self.workers.append((process, nonce))
        return self.workers.index((process, nonce)) + 1

    def seen(self, row):
        return (
            row.status.value,
            self.units(row.due_at),
            row.generation,
            row.fence,
            self.units(row.lease_until),
            self.nonce(row.nonce),
            row.cancel_request is not None,
            row.dismissed_reason is not None,
            self.units(row.expires_at),
            row.hand_over.fence if row.hand_over else NONE,
        )

    def add(self, line, *, sent):
        """Add a worker's request that the worker sent at `sent`.

        A request that is applied later than it is sent, or more than once, has a line for the send, too.
        """
        first = next((item for item in self.lines if item.request == line.request), None)
        if first is None and self.units(sent) >= line.at:
            self.lines.append(line)
            return
        if first is None:
            at = self.units(sent)
            self._add_sent(self._before_hand_over(line.by, at), replace(line, at=at))
        elif first.fate == "answered":
            index = self.lines.index(first)
            self.lines[index] = replace(first, fate="again")
            self._add_sent(index, first)
        self.lines.append(replace(line, fate="again"))

    def _before_hand_over(self, worker, at):
        """Return where a request is added that a worker sent then: not after it had handed its run over."""
        lines = enumerate(self.lines)
        found = (i for i, line in lines if (line.by, line.write) == (worker, "hand over") and line.at >= at)
        return next(found, len(self.lines))

    def _add_sent(self, index, line):
        self.lines.insert(index, replace(line, row=None, fate="unanswered"))

    def in_order(self):
        """Return the lines by time. A request that is only sent leaves the row as it is."""
        row = None
        for line in sorted(self.lines, key=lambda line: line.at):
            row = line.row or row
            yield replace(line, row=row)
