"""The jobs of the system: the sweep, the catch-up and the recount, with a history and a trigger like any job.

Schedules call their functions directly, so they run even if nothing else does. Each pass records itself as a
settled row. A triggered pass is an ordinary run, on the queue of a worker of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from duetime import ids, instant
from duetime._english import counted
from duetime.errors import BackendUnavailable, truncate
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.model.action import Action, Attempt, Ending, Status
from duetime.model.built_in import DEADLINE
from duetime.model.job import Definition
from duetime.model.manifest import Manifest
from duetime.model.row_parts import RunPlan
from duetime.ports.backends import Backends
from duetime.retry import NEVER
from duetime.settings import Settings

log = logging.getLogger(__name__)

SYSTEM_WORKER = "system"
SWEEP, CATCH_UP = JobName("duetime-sweep"), JobName("duetime-catch-up")
RECOUNT = JobName("duetime-recount")
"""The catch-up runs it, once a day."""
SYSTEM_JOBS = (SWEEP, CATCH_UP, RECOUNT)
_DAY = timedelta(days=1)
_UNITS = (("day", _DAY), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def rate_of(job: JobName, settings: Settings) -> timedelta:
    """Return how often a system job runs."""
    return {SWEEP: settings.sweep_rate, CATCH_UP: settings.catch_up_rate, RECOUNT: _DAY}[job]


_KEPT = {SWEEP: timedelta(days=1)}
"""The retention of a pass' row, if shorter than the setting: there are 1,440 sweeps a day."""

_ABOUT = {
    SWEEP: ("Sweep", "sends again what is overdue, and plans jobs that fell behind"),
    CATCH_UP: ("Catch-up", "sends again all that is overdue, however late, and mends strays on EventBridge"),
    RECOUNT: ("Recount", "accounts for each nominal time of the last days"),
}


def rate_expression(interval: timedelta) -> str:
    """Return EventBridge's form, such as ``rate(6 hours)``, in the largest unit that divides the interval."""
    unit, length = next((unit, length) for unit, length in _UNITS if not interval % length)
    count = interval // length
    return f"rate({counted(count, unit)})"


def definitions(settings: Settings) -> tuple[Definition, ...]:
    """Return the jobs of the system."""
    return tuple(
        Definition(
            name=name,
            type=name,
            cadences=(f"every {int(rate_of(name, settings).total_seconds() // 60)}m",),
            retry=NEVER.text(),
            precision="minute",
            title=title,
            category="duetime",
            description=about,
            worker=SYSTEM_WORKER,
            self_scheduled=True,
        )
        for name, (title, about) in _ABOUT.items()
    )


def manifest(settings: Settings) -> Manifest:
    """Return the manifest that a deploy publishes for them."""
    declared = definitions(settings)
    types = {definition.name: 1 for definition in declared}
    return Manifest(SYSTEM_WORKER, types | {DEADLINE: 1}, declared)


class PassHistory:
    """Records passes as runs of their jobs."""

    def __init__(self, backends: Backends, instance: str) -> None:
        self._actions, self._clock = backends.store, backends.clock
        self._settings, self._instance = backends.settings, instance

    @contextmanager
    def recording(self, job: JobName) -> Iterator[list[str]]:
        """Record the block as a run, with the messages put in the list; an exception is its failure."""
        started_at, messages = self._clock.now(), list[str]()
        try:
            yield messages
        except Exception as error:
            reason = truncate(f"{type(error).__name__}: {truncate(error)}")
            self._record(job, started_at, Ending.FAILED, reason)
            raise
        self._record(job, started_at, Ending.EXECUTED, truncate("; ".join(messages)) or None)

    def _record(self, job: JobName, started_at: datetime, ending: Ending, message: str | None) -> None:
        nominal, now = instant.floor(started_at, rate_of(job, self._settings)), self._clock.now()
        attempt = Attempt(
            queued_at=started_at,
            started_at=started_at,
            instance=self._instance,
            finished_at=now,
            ending=ending,
            message=message,
        )
        row = Action(
            tenant_id=SYSTEM_TENANT,
            id=ids.occurrence_id(job, 1, nominal),
            type=job,
            due_at=nominal,
            due_shard="",
            created_by="duetime",
            payload=None,
            status=Status(ending.value),
            attempt=1,
            attempts=(attempt,),
            planned=RunPlan(started_at),
            kept_until=now + _KEPT.get(job, self._settings.retention),
        )
        try:
            self._actions.record(row)
        except BackendUnavailable as error:  # the pass was made: a missing record is no failure of it
            log.warning("pass not recorded", extra={"job": job, "reason": truncate(error)})
