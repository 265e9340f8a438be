"""*Reconcile*: on each deploy, write the code's jobs as rows, and disable jobs that code no longer declares.

Timing always follows code. What operators set survives: pauses, tuning, statistics, history. A change of the
plan makes a new version; see `duetime.jobs.job_versions`. A job without a change is not written. Runtime jobs
and damaged ones are ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from duetime.declare.job_rules import TOO_FINE, is_too_fine, read_cadences, unresolved_refusals
from duetime.errors import DeclarationError, UnreadableRow
from duetime.ids import SYSTEM_TENANT, JobName
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.job_versions import JobVersions, new_job
from duetime.jobs.maintain import Maintain
from duetime.model.job import Definition, Job, JobRef, Origin
from duetime.ports.backends import Backends

log = logging.getLogger(__name__)

_PAGE = 100


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The changes, as lines to print, and the number of unchanged jobs."""

    changes: tuple[str, ...] = ()
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class _Declared:
    definition: Definition
    description: str


class Reconcile:
    """Writes the jobs that one worker declares to the jobs table and EventBridge."""

    def __init__(self, backends: Backends, maintain: Maintain) -> None:
        self._jobs, self._wakes, self._maintain = backends.jobs, backends.job_wakes, maintain
        self._clock, self._settings, self._versions = backends.clock, backends.settings, JobVersions(backends)

    def __call__(self, definitions: Iterable[Definition], *, worker: str) -> Reconciled:
        """Add, change, revive and remove jobs until the rows match `definitions`.

        Raises:
            DeclarationError: this back end cannot honour a job, or it runs after one that is not declared;
                nothing was changed.
            BackendUnavailable: some jobs were not reconciled; a repeat is safe.
        """
        declared = {definition.name: self._localised(definition) for definition in definitions}
        fine = [name for name, job in declared.items() if is_too_fine(job.definition, self._wakes.precision)]
        if fine:
            raise DeclarationError(f"{', '.join(fine)}: {TOO_FINE}")
        _check_chains({name: job.definition for name, job in declared.items()})
        stored = {job.name: job for job in self._listed()}
        lines = [self._declare_readable(job, stored.get(name)) for name, job in declared.items()]
        unchanged = lines.count(None)
        lines += [
            self._used_up(name)
            for name, job in declared.items()
            if any(" count=" in text for text in job.definition.cadences)
        ]
        lines += [
            self._remove(job)
            for name, job in stored.items()
            if name not in declared
            and job.origin is Origin.CODE
            and job.definition.worker == worker
            and job.removed_at is None
        ]
        return Reconciled(tuple(filter(None, lines)), unchanged)

    def _localised(self, definition: Definition) -> _Declared:
        cadences = read_cadences(definition.cadences, default_tz=self._settings.default_tz or None)
        if missing := [*unresolved_refusals(cadences)]:
            raise DeclarationError(f"{definition.name}: {'; '.join(missing)}")
        return _Declared(
            replace(definition, cadences=tuple(cadence.text for cadence in cadences)),
            f"{definition.name}: {' and '.join(cadence.describe() for cadence in cadences)}",
        )

    def _listed(self) -> Iterator[Job]:
        cursor = None
        while True:
            page = self._jobs.list(SYSTEM_TENANT, limit=_PAGE, cursor=cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _declare_readable(self, declared: _Declared, stored: Job | None) -> str | None:
        """Declare a job. A damaged one stays as it is, and fails neither deploy nor rollback."""
        try:
            return self._declare(declared, stored)
        except UnreadableRow as error:
            log.warning("job cannot be read", extra={"job": declared.definition.name, "reason": str(error)})
            return f"left {declared.definition.name} as it is: {error}"

    def _declare(self, declared: _Declared, stored: Job | None) -> str | None:
        definition, job = declared.definition, stored
        ref = JobRef(SYSTEM_TENANT, definition.name)

        def write() -> str | Conflict | None:
            nonlocal job
            new = new_job(ref, definition, self._clock.now(), origin=Origin.CODE, registered_by="deploy")
            if job is None and self._jobs.add(new):
                self._maintain(ref)
                return f"added {declared.description}"
            job = job or self._jobs.get(ref)
            if job is not None and job.definition == definition and job.removed_at is None:
                return None
            after = job and self._versions.redefine(job, definition, self._maintain)
            if job is None or after is None:
                job = self._jobs.get(ref)
                return CHANGED
            self._maintain(ref)
            version = f", version {after.version}" if after.version != job.version else ""
            return f"{'revived' if job.removed_at else 'changed'} {declared.description}{version}"

        return change_with_retry(write, f"job {definition.name}")

    def _used_up(self, name: JobName) -> str | None:
        """Return the warning of a job whose count leaves no run."""
        try:
            job = self._jobs.get(JobRef(SYSTEM_TENANT, name))
        except UnreadableRow:
            return None
        warning = None if job is None else job.cadence_set.used_up(self._clock.now())
        return warning and f"{name}: {warning}"

    def _remove(self, job: Job) -> str | None:
        current: Job | None = job

        def write() -> str | Conflict | None:
            nonlocal current
            if current is None or current.removed_at is not None:
                return None
            if self._versions.remove(current, "it is no longer declared"):
                self._maintain(current.ref)
                return f"dropped {current.name}: it is disabled, its history is kept"
            current = self._jobs.get(current.ref)
            return CHANGED

        return change_with_retry(write, f"job {job.name}")


def _check_chains(definitions: Mapping[str, Definition]) -> None:
    """Check that each job that runs after another one can run.

    Raises:
        DeclarationError: the other job is not declared, has no times, or waits for this one.
    """
    if all(definition.after is None for definition in definitions.values()):
        return
    from duetime.declare.after_rules import chain_refusals  # noqa: PLC0415 - few deployments need it

    problems = [
        f"{name}: {problem}"
        for name, definition in definitions.items()
        for problem in chain_refusals(definition, definitions.get, definitions)
    ]
    if problems:
        raise DeclarationError("; ".join(problems))
