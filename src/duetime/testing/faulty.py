"""Faulty back ends: injects faults into the calls that processes make."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar, cast

from duetime.errors import BackendUnavailable
from duetime.testing.faults import SECOND, Dice
from duetime.testing.journey import Journal
from duetime.testing.processes import Crashed, Process, Processes

P = TypeVar("P")
Method = Callable[..., Any]
Args = tuple[Any, ...]

READS = frozenset(
    {"get", "get_rows", "peek", "by_correlation", "of_tenant", "failed", "of_job", "occurrences", "due"}
    | {"due_for_maintenance"}
    | {"list", "versions", "spans", "known", "owner", "read", "queue_for", "version_of", "types"}
    | {"holders", "in_due_order"}
)
"""Methods that change nothing; faults there are rarer."""

_SHARE_OF_READS = 0.03

BATCHES = frozenset({"send", "put_many"})
"""Methods with a partial effect."""

REPEATED = frozenset(
    {"put", "put_many", "claim", "renew", "settle", "cancel", "ask_to_cancel", "skip", "record"}
    | {"reschedule", "redrive", "dismiss"}
    | {"remove_payload", "send", "extend", "set", "clear", "write"}
)
"""Methods that AWS' SDK repeats after a lost answer; transactions have a token instead."""

LONGEST_PAUSE = {"work": timedelta(minutes=12)}
"""The longest pause by function: a worker's exceeds its lease, others' stay within their timeout."""

_SHORT = 20 * SECOND


class FaultInjector:
    """Injects faults into calls of back ends."""

    def __init__(self, dice: Dice, processes: Processes, story: Journal) -> None:
        self._dice, self._processes, self._story = dice, processes, story
        faults = dice.faults
        self._rate = faults.crash + faults.throttle + faults.lose_answer + faults.pause
        self._kinds = (self._crash, self._throttle, self._lose_answer, self._pause)
        self._weights = (faults.crash, faults.throttle, faults.lose_answer, faults.pause)

    def between(self, port: P, name: str, caller: Process | None = None) -> P:
        """Return a port with faulty calls, for the running process or for a caller."""
        call = self.call if caller is None else partial(self.call_as, caller)
        return cast("P", _Faulty(port, name, call))

    def call(self, what: str, method: Method, *args: Any, **more: Any) -> Any:
        """Call a method of a back end in the running process, or inject a fault."""
        process = self._processes.current
        if process.is_dead:
            raise Crashed
        rate = self._rate * _SHARE_OF_READS if _name(what) in READS else self._rate
        if not process.meets_faults or not self._dice.hits(rate):
            return method(*args, **more)
        (kind,) = self._dice.random.choices(self._kinds, self._weights)
        return kind(what, process, partial(method, **more), args)

    def call_as(self, caller: Process, what: str, method: Method, *args: Any, **more: Any) -> Any:
        """Call a method for an external caller, which neither crashes nor pauses."""
        rate = self._dice.faults.throttle + self._dice.faults.lose_answer
        self._processes.acting = caller
        try:
            if not self._dice.hits(rate * (_SHARE_OF_READS if _name(what) in READS else 1)):
                return method(*args, **more)
            (kind,) = self._dice.random.choices(self._kinds[1:3], self._weights[1:3])
            return kind(what, caller, partial(method, **more), args)
        finally:
            self._processes.acting = None

    def _crash(self, what: str, process: Process, method: Method, args: Args) -> Any:
        is_after = self._dice.is_heads()
        self._story.record(
            process.name, _about(args), f"✗ crashes {'after' if is_after else 'before'} {what}"
        )
        if is_after:
            method(*args)
        process.is_dead = True
        raise Crashed

    def _throttle(self, what: str, process: Process, method: Method, args: Args) -> Any:
        self._story.record(process.name, _about(args), f"✗ {what} is throttled")
        if _name(what) in BATCHES and len(args[0]) > 1:
            method(args[0][: self._dice.random.randrange(len(args[0]))], *args[1:])
        raise BackendUnavailable(what, "throttled by the simulation")

    def _lose_answer(self, what: str, process: Process, method: Method, args: Args) -> Any:
        repeats = _name(what) in REPEATED and self._dice.is_heads()
        self._story.record(
            process.name,
            _about(args),
            f"✗ the answer of {what} is lost{', it is called again' if repeats else ''}",
        )
        method(*args)
        if not repeats:
            raise BackendUnavailable(what, "its answer was lost by the simulation")
        if self._processes.acting is None:
            self._processes.pause(self._dice.span(5 * SECOND))
        return method(*args)

    def _pause(self, what: str, process: Process, method: Method, args: Args) -> Any:
        span = self._dice.span(LONGEST_PAUSE.get(process.name.partition("-")[0], _SHORT))
        is_after = self._dice.is_heads()
        when = "after" if is_after else "before"
        self._story.record(
            process.name, _about(args), f"✗ pauses for {span.total_seconds():.3f} s {when} {what}"
        )
        done = method(*args) if is_after else None
        self._processes.pause(span)
        return done if is_after else method(*args)


class _Faulty:
    def __init__(self, port: Any, name: str, call: Callable[..., Any]) -> None:
        self._port, self._name, self._call = port, name, call

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found):
            return found
        call = partial(self._call, f"{self._name}.{name}", found)
        self.__dict__[name] = call
        return call


def _name(what: str) -> str:
    return what.rpartition(".")[2]


def _about(args: Args) -> str:
    """Return the id or name of the action or job that a call concerns, if any."""
    first = args[0] if args else None
    for subject in (first, getattr(first, "row", None), getattr(first, "ref", None)):
        found = getattr(subject, "id", None) or getattr(subject, "name", None)
        if isinstance(found, str):
            return found
    return ""
