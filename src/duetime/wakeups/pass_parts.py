"""The passes and their parts. Each part has a share of the time: one whose calls hang starves no other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from duetime._english import counted
from duetime.clock import Clock
from duetime.ids import JobName
from duetime.model.job import Definition
from duetime.retry import NEVER
from duetime.wakeups.assembly import Steps
from duetime.wakeups.system_jobs import CATCH_UP, RECOUNT, SWEEP, SYSTEM_WORKER, definitions
from duetime.wakeups.wheel import WheelTurns

if TYPE_CHECKING:
    from duetime.declare.handler import Handler
    from duetime.declare.handler_set import HandlerSet
    from duetime.model.run import Run

log = logging.getLogger(__name__)

Part = Callable[[datetime], Mapping[str, Any]]
"""A part of a pass, to end by an instant; returns what it did."""

LONGEST_CALL = timedelta(seconds=7)
"""The longest call of a pass: two attempts, each with one second to connect and two to read, and a pause."""


def in_turn(parts: Sequence[Part], stop_at: datetime, clock: Clock) -> Mapping[str, Any]:
    """Run the parts in turn, each with an equal share of the remaining time; a failing part stops no other.

    The last call of a part may exceed its share. So the passes' calls are short; see `aws.clients.PROMPT`.

    Raises:
        Exception: what the first part raised that failed.
    """
    done, failure = dict[str, Any](), None
    for index, part in enumerate(parts):
        now = clock.now()
        try:
            done |= part(now + (stop_at - now) / (len(parts) - index))
        except Exception as error:
            log.exception("a part of the pass failed, the others go on")
            failure = failure or error
    if failure is not None:
        raise failure
    return done


def sweep(steps: Steps, stop_at: datetime) -> Mapping[str, Any]:
    """Send what is overdue, maintain due jobs, look at batches and held actions, and turn the wheel.

    Then, with timers, arm rows that a wheel left without them; the last call of EventBridge may hang. If the
    wheel's share of the time was too short, it goes on in the rest.
    """
    turns, has_timers = WheelTurns(steps.wheel), steps.backends.settings.timers == "eventbridge"
    parts: Sequence[Part] = (
        lambda _: {"canary": True} if steps.canary() else {},
        lambda until: asdict(steps.sweep(stop_at=until)),
        lambda until: _maintained(steps, until),
        lambda until: {"held": steps.sweep_held(stop_at=until)},
        lambda until: {"ahead": turns.first(until)},
        lambda until: {"rearmed": steps.rearm(stop_at=until - LONGEST_CALL)} if has_timers else {},
        lambda until: {"ahead": turns.rest(until)},
    )
    return in_turn(parts, stop_at, steps.backends.clock)


def catch_up(steps: Steps, stop_at: datetime, *more: Part) -> Mapping[str, Any]:
    """Send everything overdue, maintain due jobs, look at held actions, and repair jobs' schedules."""
    parts: Sequence[Part] = (
        lambda until: asdict(steps.deep_sweep(stop_at=until)),
        lambda until: _maintained(steps, until),
        lambda until: {"held": steps.sweep_held.check_all(stop_at=until)},
        lambda until: _repaired(steps, until),
        *more,
    )
    return in_turn(parts, stop_at, steps.backends.clock)


def _maintained(steps: Steps, stop_at: datetime) -> Mapping[str, Any]:
    result = steps.maintain_due_jobs(stop_at=stop_at)
    return {"maintained": result.maintained, "planned": result.planned, "failed_jobs": result.failed}


def _repaired(steps: Steps, stop_at: datetime) -> Mapping[str, Any]:
    result = steps.repair(stop_at=stop_at)
    return {"removed": result.removed, "set_again": result.set}


def in_words(done: Mapping[str, Any]) -> str:
    """Return what a pass did, in a line: ``sent 3, maintained 2 jobs``."""
    removed, again = (len(done.get(name, ())) for name in ("removed", "set_again"))
    words = [
        f"sent {done['sent'] + done.get('ahead', 0)}",
        f"maintained {counted(done['maintained'], 'job')}",
    ]
    if removed or again:
        words.append(f"removed {counted(removed, 'stray')}, set wakes of {counted(again, 'job')} again")
    words += [f"set aside {aside['number']} of the queue {aside['queue']}" for aside in done["set_aside"]]
    if left := [*done["failed_shards"], *done["failed_jobs"]]:
        words.append(f"left for the next: {', '.join(left)}")
    return ", ".join(words)


IN_WORDS: Mapping[JobName, Callable[[Steps, datetime], str]] = {
    SWEEP: lambda steps, stop_at: in_words(sweep(steps, stop_at)),
    CATCH_UP: lambda steps, stop_at: in_words(catch_up(steps, stop_at)),
    RECOUNT: lambda steps, stop_at: steps.recount(stop_at=stop_at).in_words(),
}
"""The passes of the system's jobs, each with a line about its work."""


def system_handlers(steps: Steps, reserve: timedelta = timedelta(0)) -> HandlerSet:
    """Return the handlers that run triggered passes, and the checks of deadlines.

    Args:
        steps: the steps.
        reserve: how long before a run's deadline its pass ends.
    """
    from duetime.declare.deadline_check import deadline_handler  # noqa: PLC0415 - as below
    from duetime.declare.handler_set import HandlerSet  # noqa: PLC0415 - a pass by the clock needs no pydantic

    declared = definitions(steps.backends.settings)
    by_name: dict[str, Handler] = {job.name: _handler(job, steps, reserve) for job in declared}
    look = deadline_handler(
        lambda ref, at: steps.check_deadlines.nominal_time(ref, at),  # noqa: PLW0108 - made at the first look
        lambda ref: steps.check_deadlines.silence(ref),  # noqa: PLW0108 - as above
    )
    return HandlerSet(SYSTEM_WORKER, {**by_name, look.name: look})


def _handler(definition: Definition, steps: Steps, reserve: timedelta) -> Handler:
    from duetime.declare.handler import Handler  # noqa: PLC0415 - as above

    def run(run: Run) -> None:
        run.log.info(IN_WORDS[definition.name](steps, run.deadline - reserve))

    return Handler(
        name=definition.name,
        function=run,
        payload=None,
        payload_parameter=None,
        run_parameter="run",
        retry=NEVER,
        timeout=timedelta(minutes=5),
        job=definition,
    )
