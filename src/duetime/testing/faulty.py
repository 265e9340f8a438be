"""Faulty back ends: what may go wrong at a call of one, as the process sees it that makes the call."""

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
    | {"list", "to_attend", "versions", "spans", "known", "read", "queue_for", "version_of", "types"}
    | {"holders", "in_due_order"}
)
"""Methods that change nothing: a crash around them differs little from one around the write before."""

_SHARE_OF_READS = 0.03

BATCHES = frozenset({"send", "put_many"})
"""Methods of which a part may be done."""

REPEATED = frozenset(
    {"put", "put_many", "claim", "renew", "settle", "cancel", "ask_to_cancel", "skip", "record"}
    | {"remove_payload", "send", "extend", "set", "clear", "write"}
)
"""Methods that AWS' own SDK repeats after a lost answer. A transaction has a token, so its repeats are none."""

LONGEST_PAUSE = {"work": timedelta(minutes=12)}
"""How long a process of a function may stand still: a worker beyond its lease, the others within their time-out."""

_SHORT = 20 * SECOND


class FaultInjector:
    """What befalls calls of back ends."""

    def __init__(self, dice: Dice, processes: Processes, story: Journal) -> None:
        self._dice, self._processes, self._story = dice, processes, story
        faults = dice.faults
        self._rate = faults.crash + faults.throttle + faults.lose_answer + faults.pause
        self._kinds = (self._crash, self._throttle, self._lose_answer, self._pause)
        self._weights = (faults.crash, faults.throttle, faults.lose_answer, faults.pause)

    def between(self, port: P, name: str, caller: Process | None = None) -> P:
        """A port whose calls may go wrong: those of the process that is running, or those of a caller."""
        call = self.call if caller is None else partial(self.call_as, caller)
        return cast("P", _Faulty(port, name, call))

    def call(self, what: str, method: Method, *args: Any, **more: Any) -> Any:
        """Call a method of a back end in the process that is running, or fail to."""
        process = self._processes.current
        if process.is_dead:
            raise Crashed
        rate = self._rate * _SHARE_OF_READS if _name(what) in READS else self._rate
        if not process.meets_faults or not self._dice.hits(rate):
            return method(*args, **more)
        (kind,) = self._dice.random.choices(self._kinds, self._weights)
        return kind(what, process, partial(method, **more), args)

    def call_as(self, caller: Process, what: str, method: Method, *args: Any, **more: Any) -> Any:
        """Call one for a caller from outside, who neither dies nor stands still."""
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
        self._story.tell(process.name, _about(args), f"✗ crashes {'after' if is_after else 'before'} {what}")
        if is_after:
            method(*args)
        process.is_dead = True
        raise Crashed

    def _throttle(self, what: str, process: Process, method: Method, args: Args) -> Any:
        self._story.tell(process.name, _about(args), f"✗ {what} is throttled")
        if _name(what) in BATCHES and len(args[0]) > 1:
            method(args[0][: self._dice.random.randrange(len(args[0]))], *args[1:])
        raise BackendUnavailable(what, "throttled by the simulation")

    def _lose_answer(self, what: str, process: Process, method: Method, args: Args) -> Any:
        repeats = _name(what) in REPEATED and self._dice.is_heads()
        self._story.tell(
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
        self._story.tell(
            process.name, _about(args), f"✗ stands still for {span.total_seconds():.3f} s {when} {what}"
        )
        done = method(*args) if is_after else None
        self._processes.pause(span)
        return done if is_after else method(*args)


class _Faulty:
    """Stands between a process and a port."""

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
    """Which action or job a call is about, if one."""
    first = args[0] if args else None
    for each in (first, getattr(first, "row", None), getattr(first, "ref", None)):
        found = getattr(each, "id", None) or getattr(each, "name", None)
        if isinstance(found, str):
            return found
    return ""
