"""*Roll back*: a definition that a registered job had before comes into force again, as a new change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duetime.clock import Clock
from duetime.errors import JobConflict, JobDefinitionNotFound
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.definition_rules import DefinitionRules
from duetime.jobs.job_versions import JobVersions
from duetime.jobs.plan import Plan
from duetime.model.job import Definition, Job, Origin
from duetime.ports.jobs import JobStore

_OPERATION = "roll back"


class RollBack:
    """Rolls back registered jobs in the name of one actor."""

    def __init__(
        self,
        jobs: JobStore,
        versions: JobVersions,
        rules: DefinitionRules,
        plan: Plan,
        clock: Clock,
    ) -> None:
        self._jobs, self._versions, self._rules = jobs, versions, rules
        self._plan, self._clock = plan, clock

    def __call__(self, get: Callable[[], Job], definition_id: str, actor: str) -> Job:
        """Roll a job back; see `Jobs.roll_back`.

        Args:
            get: reads the job.
            definition_id: the id of one of its definitions.
            actor: the caller.
        """

        def write() -> Job | Conflict:
            job = get()
            definition = self._wanted(job, definition_id)
            self._rules.check(definition)
            return self._versions.redefine(job, definition, self._plan, **self._registered(actor)) or CHANGED

        job = change_with_retry(write, f"job {get().name}")
        self._plan(job.ref)
        return self._jobs.get(job.ref) or job

    def _wanted(self, job: Job, definition_id: str) -> Definition:
        """Return the definition that the caller names.

        Raises:
            JobConflict: code declares the job, or the definition is in force.
            JobDefinitionNotFound: the job has no such definition.
        """
        if job.origin is Origin.CODE:
            problem = "code declares it; deploy the former code"
            raise JobConflict(job.name, operation=_OPERATION, problem=problem)
        found = {stored.id: stored.definition for stored in self._jobs.definitions(job.ref)}
        if definition_id not in found:
            raise JobDefinitionNotFound(job.name, definition_id)
        if found[definition_id] == job.definition:
            problem = f"its present definition is that of {definition_id}; choose another"
            raise JobConflict(job.name, operation=_OPERATION, problem=problem)
        return found[definition_id]

    def _registered(self, actor: str) -> Mapping[str, Any]:
        return {
            "registered_by": actor,
            "registered_at": self._clock.now(),
            "idempotency_key": None,
            "idempotency_until": None,
        }
