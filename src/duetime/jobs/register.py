"""*Register*: a tenant declares a job of its own at run time, for a handler that code registered.

Its row is like any other job's, but no code sets its timing. The tenant can replace it and unregister it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from duetime.cadence import Cadence
from duetime.clock import Clock
from duetime.errors import (
    DeclarationError,
    InvalidIdentifier,
    JobConflict,
    JobNameTaken,
    JobNotFound,
    QuotaExceeded,
    UnknownType,
)
from duetime.ids import SYSTEM_TENANT, JobName, TenantId, is_job_name, job_name
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.definition_rules import DefinitionRules
from duetime.jobs.job_versions import JobVersions, new_job
from duetime.jobs.plan import Plan
from duetime.model.action import Action
from duetime.model.idempotency import key_terms
from duetime.model.job import Definition, Job, JobRef, Origin, Precision
from duetime.model.quota import Quota, limit_of
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobPorts
from duetime.retry import Duration, RetryPolicy
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.payload import Payload

_PAGE = 50
_COUNTED = (Quota.JOBS, Quota.EVENT_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A job to register.

    Attributes:
        name: two or more kebab-case segments, such as ``acme-nightly-report``.
        handler: the payload of each run, whose type has a handler; or the name of a handler without payload.
        cadences: when it runs, as cadences or their texts; none for a job that is only triggered.
        retry: how often a run is tried; the handler's own policy by default.
        deadline: the wall time by which a nominal time must have succeeded, such as ``06:00``.
        within: or how long after the nominal time.
        every_success_within: a longer time without a success is reported, once.
        after: another registered job of the tenant, whose run of the same nominal day must have succeeded.
        after_timeout: how long a run waits for it, 12 hours by default; then it is skipped.
        idempotency_key: while the key holds, a repeat is the same registration, and changes nothing.
        idempotency_ttl: how long it holds: 1 minute to 30 days; the settings give the default.
        replace: replace a job of this name that was registered before.
    """

    name: str
    handler: Payload | str
    cadences: Sequence[Cadence | str] = ()
    retry: RetryPolicy | None = None
    overlap: str | None = None
    catch_up: int = 0
    precision: Precision = "second"
    failure_threshold: int = 3
    deadline: str | None = None
    within: Duration | None = None
    every_success_within: Duration | None = None
    after: str | None = None
    after_timeout: Duration | None = None
    title: str = ""
    category: str = ""
    description: str = ""
    idempotency_key: str | None = None
    idempotency_ttl: timedelta | None = None
    replace: bool = False


class Registered(NamedTuple):
    """A registered job, and the run that was triggered with it."""

    job: Job
    run: Action


class JobDraft(NamedTuple):
    """The effect of a registration that is not made."""

    before: Job | None
    """The registered job; None if there is none."""
    after: Job
    """The job as it would be."""
    problems: Sequence[str]
    """The reasons for which the registration would be rejected."""


class Register:
    """Registers jobs for one tenant, in one actor's name."""

    def __init__(
        self,
        actions: ActionStore,
        ports: JobPorts,
        *,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._jobs, self._clock, self._settings = ports.jobs, clock, settings
        self._rules = DefinitionRules(ports, settings)
        self._plan = Plan(actions, ports.jobs, clock=clock, settings=settings, watches=False)
        self._versions = JobVersions(actions, ports.jobs, clock=clock, settings=settings)

    def __call__(self, registration: Registration, tenant_id: TenantId, actor: str) -> Job:
        """Register a job, and plan it at once; see `Jobs.register`."""
        definition, now = self._rules.definition(registration, tenant_id), self._clock.now()
        key, ttl = registration.idempotency_key, registration.idempotency_ttl
        terms = key_terms(key, ttl, now=now, settings=self._settings)
        ref = JobRef(tenant_id, definition.name)
        self._refuse_name_of_code(ref.name)
        registered = {
            "registered_by": actor,
            "registered_at": now,
            "idempotency_key": key,
            "idempotency_until": terms.until if terms else None,
        }
        self._check_quotas(ref, definition)
        new = new_job(ref, definition, now, origin=Origin.RUNTIME, **registered)

        def write() -> Job | Conflict:
            job = None if self._jobs.add(new) else self._jobs.get(ref)
            if job is None or self._is_registered(job, registration, definition):
                return new
            return self._versions.redefine(job, definition, self._plan, **registered) or CHANGED

        change_with_retry(write, f"job {ref.name}")
        self._plan(ref)
        return self._jobs.get(ref) or new

    def draft(self, registration: Registration, tenant_id: TenantId, actor: str) -> JobDraft:
        """Return what a registration would change, and change nothing; see `Jobs.draft`."""
        name = JobName(registration.name)
        definition, now = self._rules.unchecked(registration, tenant_id, name), self._clock.now()
        ref, problems = JobRef(tenant_id, name), []
        stored = self._jobs.get(ref) if is_job_name(name) else None
        before = None if stored is None or stored.removed_at is not None else stored
        try:
            self._rules.check(definition)
            self._refuse_name_of_code(name)
            if before is not None:
                _refuse_taken(name, registration)
            self._check_quotas(ref, definition)
        except (DeclarationError, UnknownType, JobNameTaken, QuotaExceeded) as refused:
            problems.append(str(refused))
        after = new_job(ref, definition, now, origin=Origin.RUNTIME, registered_by=actor, registered_at=now)
        if before is not None:
            version = before.version + (not definition.plans_like(before.definition))
            after = replace(
                before, definition=definition, version=version, registered_by=actor, registered_at=now
            )
        return JobDraft(before, after, tuple(problems))

    def _refuse_name_of_code(self, name: JobName) -> None:
        if self._jobs.get(JobRef(SYSTEM_TENANT, name)) is not None:
            raise JobNameTaken(name, "a job that code declares")

    def _check_quotas(self, ref: JobRef, definition: Definition) -> None:
        """Check the tenant's quotas; the list of jobs may lag, so some registrations at once may pass.

        Raises:
            QuotaExceeded: the tenant has as many jobs, or events that start them, as it may have.
        """
        limits = {quota: limit_of(self._settings, ref.tenant_id, quota) for quota in _COUNTED}
        if all(limit is None for limit in limits.values()):
            return
        own = {job.ref: job.definition for job in self._own_jobs(ref.tenant_id)}
        counts = job_usage(own.values())
        after = job_usage((own | {ref: definition}).values())
        for quota, limit in limits.items():
            used, added = counts[quota], after[quota] - counts[quota]
            if limit is not None and added > 0 and after[quota] > limit:
                raise QuotaExceeded(ref.tenant_id, quota, used=used, added=added, limit=limit)

    def _own_jobs(self, tenant_id: TenantId) -> Iterator[Job]:
        cursor = None
        while True:
            page = self._jobs.list(tenant_id, limit=_PAGE, cursor=cursor)
            yield from (job for job in page.jobs if job.removed_at is None)
            if (cursor := page.cursor) is None:
                return

    def _is_registered(self, job: Job, registration: Registration, definition: Definition) -> bool:
        """Return whether this registration was made already; one with a new key is always written.

        Raises:
            JobNameTaken: there is another job of this name, and the registration does not replace it.
        """
        if job.removed_at is not None:
            return False
        if job.holds_key(registration.idempotency_key, self._clock.now()):
            return True
        _refuse_taken(job.name, registration)
        return registration.idempotency_key is None and job.definition == definition

    def roll_back(self, get: Callable[[], Job], definition_id: str, actor: str) -> Job:
        """Let a former definition come into force again; see `Jobs.roll_back`."""
        from duetime.jobs.roll_back import RollBack  # noqa: PLC0415 - few calls need it

        roll_back = RollBack(self._jobs, self._versions, self._rules, self._plan, self._clock)
        return roll_back(get, definition_id, actor)

    def unregister(self, name: str, tenant_id: TenantId) -> None:
        """Remove a registered job; see `Jobs.unregister`."""
        try:
            ref = JobRef(tenant_id, job_name(name))
        except InvalidIdentifier:
            raise JobNotFound(name) from None

        def remove() -> Conflict | None:
            job = self._jobs.get(ref)
            if job is None or job.removed_at is not None:
                if self._jobs.get(JobRef(SYSTEM_TENANT, ref.name)) is not None:
                    problem = "code declares it; remove it from the code"
                    raise JobConflict(ref.name, operation="unregister", problem=problem)
                raise JobNotFound(name)
            return None if self._versions.remove(job, "it was unregistered") else CHANGED

        change_with_retry(remove, f"job {name}")


def _refuse_taken(name: JobName, registration: Registration) -> None:
    if not registration.replace:
        raise JobNameTaken(name, "another job of this tenant; set replace to replace it")


def job_usage(definitions: Collection[Definition]) -> Mapping[Quota, int]:
    """Return what a tenant's jobs use of its quotas."""
    return {Quota.JOBS: len(definitions), Quota.EVENT_RULES: sum(map(_event_rules, definitions))}


def _event_rules(definition: Definition) -> int:
    return sum(text.startswith("on_event ") for text in definition.cadences)
