"""The same work by duetime, APScheduler, Celery, procrastinate and huey, on this machine, in one run.

Works that measure lateness or speed run one contender at a time; works that mostly wait run all at once.
docs/comparison.md explains the results.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import FrameType
from typing import NamedTuple

from bench.result import Result
from rivals import environment, works
from rivals.cell import Cell
from rivals.contender import Contender, Settings
from rivals.contenders import (
    APSCHEDULER,
    CELERY,
    DUETIME,
    EMBEDDED,
    HUEY,
    PROCRASTINATE,
    other_schedulers,
    ours,
)
from rivals.nights import nights
from rivals.process import INTERRUPTED
from rivals.servers import NewStore, NotHere, postgres, redis
from tests.dynamodb_local import running

SHORT_LEASE = {"settings": {"lease": 10, "heartbeat": 4}}
LOCAL_TIME = {"utc": False}
_AT_ONCE = 12
_REMEDIED = ", with a remedy"
Work = Callable[[Contender], Iterable[Cell]]


class Remedy(NamedTuple):
    """A documented remedy for a contender's default behaviour, shortened for the measurement."""

    settings: Settings
    note: str


AFTER_DEATH = {
    CELERY: Remedy(
        {
            "task_acks_late": True,
            "broker_transport_options": {"visibility_timeout": 10, "unacked_restore_throttle": 1},
        },
        "the remedy: acks_late, a visibility timeout of 10 s instead of an hour, looked after every 10 s",
    ),
    PROCRASTINATE: Remedy(
        {"retries_stalled_jobs": True}, "the remedy: its documented task that retries stalled jobs, each 5 s"
    ),
}
AFTER_MISFIRES = {
    APSCHEDULER: Remedy({"misfire_grace_time": 60}, "the remedy: a misfire grace of a minute"),
}


def measure() -> list[Result]:
    """Measure every contender; missing servers are printed and their contenders left out."""
    environment.forget_logs()
    with contextlib.ExitStack() as stack:
        stack.enter_context(_exit_on_sigterm())
        contenders = _contenders(stack)
        found = [_description(contender) for contender in contenders]
        for work in (works.scheduling, _punctual, _without_misfires):
            found += [_done(contender, work) for contender in contenders]
        found += _at_once(contenders, [_twice])
        found += _at_once(contenders, [_killed, _in_spite_of_death, nights, _local_nights])
    return [result for results in found for result in results]


def _at_once(contenders: Sequence[Contender], several: Sequence[Work]) -> list[list[Result]]:
    """Run works that are mostly waiting, at the same time."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        jobs = [pool.submit(_done, contender, work) for work in several for contender in contenders]
        try:
            return [job.result() for job in jobs]
        except BaseException:
            INTERRUPTED.set()
            pool.shutdown(cancel_futures=True)
            raise


def _description(contender: Contender) -> list[Result]:
    return [Cell("", note=contender.how).result(contender)]


def _contenders(stack: contextlib.ExitStack) -> Sequence[Contender]:
    mine = ours(_dynamodb(stack))
    try:
        python = environment.python()
    except NotHere as reason:
        print(f"rivals: {reason}")
        return mine
    return [*mine, *other_schedulers(python, _here(stack, redis()), _here(stack, postgres()))]


def _dynamodb(stack: contextlib.ExitStack) -> NewStore:
    """Return DynamoDB Local's endpoint; without Java, duetime is not measured on it."""
    try:
        endpoint = stack.enter_context(running())
    except RuntimeError as error:
        reason = NotHere(str(error))

        def nowhere() -> str:
            raise reason

        return nowhere
    return lambda: endpoint


def _here(
    stack: contextlib.ExitStack, server: contextlib.AbstractContextManager[NewStore]
) -> NewStore | None:
    try:
        return stack.enter_context(server)
    except NotHere as reason:
        print(f"rivals: {reason}; its contenders are left out")
        return None


def _done(contender: Contender, work: Work) -> list[Result]:
    """Return one contender's results of one work; an error is printed, and the rest continues."""
    try:
        return [cell.result(contender) for cell in work(contender)]
    except Exception as error:  # noqa: BLE001 - an error must not stop the others
        print(f"rivals: {contender.name} could not be measured: {error}")
        return []


def _punctual(contender: Contender) -> Iterator[Cell]:
    with contender.playing() as cast:
        yield from works.punctual(cast)
        yield from works.burst(cast)


def _without_misfires(contender: Contender) -> Iterator[Cell]:
    if remedy := AFTER_MISFIRES.get(contender.name):
        with contender.playing(remedy.settings) as cast:
            yield from _noted(works.burst(cast, _REMEDIED), remedy)


def _twice(contender: Contender) -> Iterator[Cell]:
    return works.twice(contender) if contender.name != EMBEDDED else iter([])


def _killed(contender: Contender) -> Iterator[Cell]:
    if contender.name == DUETIME:
        return works.killed(contender, SHORT_LEASE)
    return works.killed(contender) if contender.name != EMBEDDED else iter([])


def _in_spite_of_death(contender: Contender) -> Iterator[Cell]:
    if remedy := AFTER_DEATH.get(contender.name):
        yield from _noted(works.killed(contender, remedy.settings, _REMEDIED), remedy)


def _noted(cells: Iterator[Cell], remedy: Remedy) -> Iterator[Cell]:
    yield replace(next(cells), note=remedy.note)
    yield from cells


def _local_nights(contender: Contender) -> Iterator[Cell]:
    return nights(contender, LOCAL_TIME, ", local time") if contender.name == HUEY else iter([])


@contextlib.contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Exit on SIGTERM, so that all started processes end."""

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
