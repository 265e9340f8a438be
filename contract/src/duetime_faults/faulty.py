"""Faulty back ends: injects faults into the calls that processes make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar, cast

from duetime.errors import BackendUnavailable
from duetime.model.action import Action, ActionRef
from duetime.testing.journey import Journal
from duetime.wakeups.pass_parts import LONGEST_CALL
from duetime_faults.dice import SECOND, Dice
from duetime_faults.late_requests import LateRequest, LateRequests
from duetime_faults.processes import Crashed, Process, Processes

P = TypeVar("P")
Method = Callable[..., Any]
Args = tuple[Any, ...]

READS = frozenset(
    {"get", "get_rows", "peek", "by_correlation", "of_tenant", "failed", "of_job", "occurrences", "due"}
    | {"due_for_maintenance"}
    | {"find_batch", "batches", "member_statuses", "find_backfill", "backfills"}
    | {"key_slots", "tail", "in_due_order", "find_debounced", "next_start", "tracebacks"}
    | {"list", "versions", "spans", "known", "owner", "read", "queue_for", "queue_of", "version_of", "types"}
)
"""Methods that change nothing; faults there are rarer."""

_SHARE_OF_READS = 0.03

BATCHES = frozenset({"queues.send", "store.put_many", "bus.put"})
"""Methods with a partial effect."""

REPEATED = frozenset(
    {"put", "put_many", "claim", "renew", "settle", "cancel", "ask_to_cancel", "skip", "record"}
    | {"reschedule", "redrive", "dismiss", "coalesce", "hand_over", "beat", "report"}
    | {"start_within_rate", "reserve_start", "defer", "checkpoint"}
    | {"change_batch", "change_backfill", "add_follower", "release"}
    | {"take_slot", "wait_for_slot", "move_slots", "join_tail", "mark_tail", "leave_tail"}
    | {"remove_payload", "put_traceback", "send", "extend", "set", "clear", "write"}
    | {"inbox.add", "deliveries.begin", "deliveries.end", "deliveries.forget", "windows.close"}
    | {"digests.at_end_of", "topic.publish"}
)
"""Methods, some of one port alone, that AWS' SDK repeats after a lost answer; transactions have a token."""

OF_OPERATORS = frozenset(
    {"coalesce", "reschedule", "redrive", "dismiss", "cancel", "ask_to_cancel", "defer", "release"}
)
"""Methods by which callers, operators and rate limits change a row that they have read."""

LONGEST_PAUSE = {"work": timedelta(minutes=12)}
"""The longest pause by function: a worker's exceeds its lease, others' stay within their timeout."""

_SHORT = 20 * SECOND

_TIME_OUT = 35 * SECOND
"""The longest that a call of a back end takes: five attempts, each with two seconds and five."""

_PROMPT = frozenset({"sweep", "catch-up"})
"""The functions whose calls take `LONGEST_CALL` at most, as do all calls of EventBridge's timers."""

_SERVICES = {"queues": "SQS", "timers": "EventBridge", "wakes": "EventBridge", "store.due": "the due index"}
"""What may hang as a whole, by port or method."""
_WHOLE = 0.25
"""How often not the calls about one action or job hang, but those of a whole service."""

_LATELY = timedelta(minutes=1)
_HANGS_FOR = timedelta(minutes=10)


Fault = Callable[[str, Process, Method, Args], Any]
"""Injects one fault: gets the method's full name, the process, the method and its arguments."""


class _Rates:
    """The rates of the faults of a call."""

    def __init__(self, rates: dict[Fault, float]) -> None:
        self._faults, self._weights = tuple(rates), tuple(rates.values())
        self._rate = sum(self._weights)
        self._by_method: dict[str, float] = {}

    def of(self, what: str) -> float:
        """Return the rate for a method."""
        if what not in self._by_method:
            self._by_method[what] = self._rate * (_SHARE_OF_READS if _name(what) in READS else 1)
        return self._by_method[what]

    def draw(self, dice: Dice) -> Fault:
        """Draw the fault that happens."""
        (fault,) = dice.random.choices(self._faults, self._weights)
        return fault


class FaultInjector:
    """Injects faults into calls of back ends."""

    def __init__(
        self,
        dice: Dice,
        processes: Processes,
        story: Journal,
        row_of: Callable[[ActionRef], Action | None] = lambda _ref: None,
        unanswered: Callable[[str, Args], None] = lambda _what, _args: None,
    ) -> None:
        self._dice, self._processes, self._story, self._row_of = dice, processes, story, row_of
        self._unanswered = unanswered  # called for a call that was applied, and hangs
        self.late = LateRequests(dice, processes, story)
        faults = dice.faults
        of_requests: dict[Fault, float] = {
            self._throttle: faults.throttle,
            self._lose_answer: faults.lose_answer,
            self._send_late: faults.late,
        }
        self._of_requests = _Rates(of_requests)
        of_processes: dict[Fault, float] = {
            self._crash: faults.crash,
            self._pause: faults.pause,
            self._begin_to_hang: faults.hang,
        }
        self._all = _Rates(of_requests | of_processes)
        self._hanging: dict[tuple[str, str], datetime] = {}
        self._hangs_until: datetime | None = None
        """When the last hang ends."""
        self.hit_at: dict[str, datetime] = {}
        """By name of a process, the latest fault of its calls."""
        self.hits: Counter[str] = Counter()
        """How many faults the calls of processes met, by name."""

    def between(self, port: P, name: str, caller: Process | None = None) -> P:
        """Return a port with faulty calls, for the running process or for a caller."""
        bind = self._with_faults if caller is None else partial(partial, self.call_as, caller)
        return cast("P", _Faulty(port, name, bind))

    def _with_faults(self, what: str, method: Method) -> Method:
        """Return a method of a back end that the running process calls: faults are injected into it."""
        processes, dice, rate = self._processes, self._dice, self._all.of(what)

        def call(*args: Any, **more: Any) -> Any:
            process = processes.current
            if process.is_dead:
                raise Crashed
            if self._hangs_until is not None and self._is_hanging(what, args):
                self._hit(process)
                return self._hang(what, process, partial(method, **more), args)
            if not process.meets_faults or not dice.hits(rate):
                return method(*args, **more)
            self._hit(process)
            return self._all.draw(dice)(what, process, partial(method, **more), args)

        return call

    def _hit(self, process: Process) -> None:
        self.hit_at[process.name] = self._processes.clock.now()
        self.hits[process.name] += 1

    def call_as(self, caller: Process, what: str, method: Method, *args: Any, **more: Any) -> Any:
        """Call a method for an external caller, which neither crashes nor pauses."""
        self._processes.acting = caller
        try:
            if not self._dice.hits(self._of_requests.of(what)):
                return method(*args, **more)
            kind = self._of_requests.draw(self._dice)
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
        if what in BATCHES and len(args[0]) > 1:
            method(args[0][: self._dice.random.randrange(len(args[0]))], *args[1:])
        raise BackendUnavailable(what, "throttled by the simulation")

    def _lose_answer(self, what: str, process: Process, method: Method, args: Args) -> Any:
        repeats = not REPEATED.isdisjoint({what, _name(what)}) and self._dice.is_heads()
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

    def _send_late(self, what: str, process: Process, method: Method, args: Args) -> Any:
        if _name(what) in READS:
            return self._throttle(what, process, method, args)
        repeats = not REPEATED.isdisjoint({what, _name(what)}) and self._dice.is_heads()
        self._story.record(
            process.name,
            _about(args),
            f"✗ {what} gets no answer and will arrive late{', it is called again' if repeats else ''}",
        )
        self.late.send(
            LateRequest(process, what, _about(args), partial(method, *args), self._read_row(what, args))
        )
        if not repeats:
            raise BackendUnavailable(what, "it gets no answer, and arrives late by the simulation")
        return method(*args)

    def _begin_to_hang(self, what: str, process: Process, method: Method, args: Args) -> Any:
        until, service = self._processes.clock.now() + _HANGS_FOR, _service_of(what)
        self._hangs_until = until
        if service and self._dice.random.random() < _WHOLE:
            self._hanging[service, ""] = until
            self._story.record(process.name, "", f"✗ {service} hangs as a whole")
        elif _about(args):
            self._hanging[what, _about(args)] = until
        return self._hang(what, process, method, args)

    def hangs(self, what: str) -> bool:
        """Return whether the service hangs that a method calls."""
        return self._is_hanging(what, ())

    def hangs_about(self, about: str) -> bool:
        """Return whether calls about an action or job hang, or did a minute ago."""
        lately = self._processes.clock.now() - _LATELY
        return any(lately < until for (_, subject), until in self._hanging.items() if subject == about)

    def _is_hanging(self, what: str, args: Args) -> bool:
        now = self._processes.clock.now()
        if self._dice.are_fair or self._hangs_until is None or self._hangs_until <= now:
            return False
        ends = (self._hanging.get((what, _about(args))), self._hanging.get((_service_of(what), "")))
        return any(until is not None and now < until for until in ends)

    def _hang(self, what: str, process: Process, method: Method, args: Args) -> Any:
        is_applied = _name(what) not in READS and self._dice.is_heads()
        self._story.record(
            process.name, _about(args), f"✗ {what} hangs{', though it is applied' if is_applied else ''}"
        )
        if is_applied:
            method(*args)
            self._unanswered(what, args)
        is_prompt = process.name in _PROMPT or what.startswith("timers.")
        longest = LONGEST_CALL if is_prompt else _TIME_OUT
        self._processes.wait_until(self._processes.clock.now() + longest)
        raise BackendUnavailable(what, "it hangs by the simulation")

    def _read_row(self, what: str, args: Args) -> Action | None:
        if _name(what) not in OF_OPERATORS:
            return None
        return args[0] if isinstance(args[0], Action) else self._row_of(args[0])

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
    def __init__(self, port: Any, name: str, bind: Callable[[str, Method], Method]) -> None:
        self._port, self._name, self._bind = port, name, bind

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        if not callable(found):
            return found
        call = self._bind(f"{self._name}.{name}", found)
        self.__dict__[name] = call
        return call


def _service_of(what: str) -> str:
    """Return the service that a method calls, if it may hang as a whole."""
    return _SERVICES.get(what) or _SERVICES.get(what.partition(".")[0], "")


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
