"""*Register*: a tenant declares a job of its own at run time, for a handler that code registered.

Its row is like any other job's, but no code sets its timing. The tenant can replace it and unregister it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from duetime.cadence import Cadence
from duetime.clock import Clock
from duetime.declare.job_options import SharedOptions, check_names, with_options
from duetime.declare.job_rules import (
    TOO_FINE,
    is_too_fine,
    read_cadences,
    refusals,
    unresolved_refusals,
)
from duetime.errors import (
    DeclarationError,
    InvalidArgument,
    NotFound,
    QuotaExceeded,
    StateConflict,
    UnknownType,
)
from duetime.ids import SYSTEM_TENANT, JobName, TenantId, is_job_name, job_name
from duetime.jobs.change_with_retry import CHANGED, Conflict, change_with_retry
from duetime.jobs.desired_wakes import problems_of
from duetime.jobs.job_versions import JobVersions, counted_before, new_job
from duetime.jobs.plan import Plan
from duetime.model.action import Action
from duetime.model.built_in import RESERVED
from duetime.model.idempotency import key_terms
from duetime.model.job import Definition, Job, JobRef, Origin, is_manual
from duetime.model.quota import Quota, limit_of
from duetime.ports.backends import JobTables
from duetime.ports.job_store import JobPorts, JobStore
from duetime.retry import RetryPolicy, policy
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.payload import Payload

_PAGE = 50
_COUNTED = (Quota.JOBS, Quota.EVENT_RULES)


class Registration:
    """A job to register."""

    def __init__(
        self,
        *,
        name: str,
        handler: Payload | str,
        cadences: Sequence[Cadence | str] = (),
        retry: RetryPolicy | None = None,
        idempotency_key: str | None = None,
        idempotency_ttl: timedelta | None = None,
        replace: bool = False,
        **options: Unpack[SharedOptions],
    ) -> None:
        """Describe it; `Jobs.register` registers it.

        Args:
            name: two or more kebab-case segments, such as ``acme-nightly-report``.
            handler: the payload of each run, whose type has a handler; or the name of a handler without
                payload.
            cadences: when it runs, as cadences or their texts; none for a job that is only triggered.
            retry: how often a run is tried; the handler's own policy by default.
            idempotency_key: while the key holds, a repeat is the same registration, and changes nothing.
            idempotency_ttl: how long it holds: 1 minute to 30 days; the settings give the default.
            replace: replace a job of this name that was registered before.
            options: those of `duetime.app.App.job`; `after` is another registered job of the tenant.

        Raises:
            DeclarationError: a job has no such option.
        """
        check_names(options, SharedOptions.__annotations__)
        self.name, self.handler, self.cadences, self.retry = name, handler, cadences, retry
        self.idempotency_key, self.idempotency_ttl, self.replace = idempotency_key, idempotency_ttl, replace
        self.options = options


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


KEY_LIMIT = 128


class DefinitionRules:
    """Makes definitions of registrations, and rejects those that this deployment cannot run."""

    def __init__(self, ports: JobPorts, settings: Settings) -> None:
        self._jobs, self._routes, self._precision = ports.jobs, ports.routes, ports.precision
        self._settings = settings

    def definition(self, registration: Registration, tenant_id: TenantId) -> Definition:
        """Return the definition of a registration.

        Raises:
            DeclarationError: its parts contradict each other, or this back end cannot honour it.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            UnknownType: no deployed worker has a handler of that name.
        """
        definition = self.unchecked(registration, tenant_id, job_name(registration.name))
        self.check(definition, _key_problems(registration.idempotency_key))
        return definition

    def unchecked(self, registration: Registration, tenant_id: TenantId, name: JobName) -> Definition:
        """Return the definition of a registration that may be incomplete.

        Raises:
            DeclarationError: a value has another type than it must have.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
        """
        cadences = read_cadences(registration.cadences, default_tz=self._settings.default_tz or None)
        handler, payload = registration.handler, None
        if not isinstance(handler, str):
            payload, handler = handler, handler.type_name
        definition = Definition(
            name=name,
            type=handler,
            cadences=(),
            payload=payload.to_json() if payload else None,
            payload_version=payload.type_version if payload else 1,
            retry=None if registration.retry is None else policy(registration.retry).text(),
            worker=tenant_id,
        )
        return with_options(definition, registration.options, cadences)

    def check(self, definition: Definition, others: Sequence[str] = ()) -> None:
        """Check that a definition may come into force.

        Args:
            definition: the definition.
            others: further problems.

        Raises:
            DeclarationError: its parts contradict each other, or this back end cannot honour it.
            UnknownType: no deployed worker has a handler of its type.
        """
        cadences = read_cadences(definition.cadences)
        problems = [
            *refusals(definition, cadences),
            *unresolved_refusals(cadences),
            *([TOO_FINE] if is_too_fine(definition, self._precision) else []),
            *self._event_problems(cadences, TenantId(definition.worker)),
            *self._chain_problems(definition),
            *others,
        ]
        if problems:
            raise DeclarationError(f"job {definition.name!r}: {'; '.join(problems)}")
        handler = definition.type
        if handler.startswith(RESERVED) or self._routes.queue_for(handler) is None:
            raise UnknownType(handler, self._routes.types())
        if is_job_name(handler) and self._has_cadences(handler):
            problem = f"the type {handler} is a job with cadences, which no other job may run; use another"
            raise DeclarationError(f"job {definition.name!r}: {problem}")

    def _chain_problems(self, definition: Definition) -> list[str]:
        """Return the problems of `after`; the worker of a registered job is its tenant."""
        if definition.after is None:
            return []
        from duetime.declare.after_rules import chain_refusals  # noqa: PLC0415 - few jobs need it

        def find(name: str) -> Definition | None:
            ref = JobRef(TenantId(definition.worker), JobName(name))
            job = self._jobs.get(ref) if is_job_name(name) else None
            return None if job is None or job.removed_at is not None else job.definition

        return [*chain_refusals(definition, find, remedy="name a registered job of this tenant")]

    def _event_problems(self, cadences: Sequence[Cadence], tenant_id: TenantId) -> Iterator[str]:
        """Yield the problems of triggers: only this tenant's events may start its job."""
        from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - few registrations need it

        for cadence in cadences:
            if isinstance(cadence, OnEvent):
                for problem in problems_of(cadence, tenant_id, self._settings):
                    yield f"the cadence {cadence.text}: {problem}"

    def _has_cadences(self, handler: str) -> bool:
        """Return whether the handler is of a job that code declares with cadences."""
        job = self._jobs.get(JobRef(SYSTEM_TENANT, JobName(handler)))
        return job is not None and not is_manual(job.definition)


def _key_problems(key: str | None) -> Sequence[str]:
    size = KEY_LIMIT if key is None else len(key)
    if 1 <= size <= KEY_LIMIT:
        return ()
    return [f"idempotency_key has {size} characters; 1 to {KEY_LIMIT} are allowed"]


class Register:
    """Registers jobs for one tenant, in one actor's name."""

    def __init__(self, tables: JobTables, ports: JobPorts) -> None:
        self._jobs, self._clock, self._settings = tables.jobs, tables.clock, tables.settings
        self._rules = DefinitionRules(ports, tables.settings)
        self._plan, self._versions = Plan(tables, watches=False), JobVersions(tables)

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
        except (DeclarationError, UnknownType, StateConflict, QuotaExceeded) as refused:
            problems.append(str(refused))
        after = new_job(ref, definition, now, origin=Origin.RUNTIME, registered_by=actor, registered_at=now)
        if before is not None:
            definition = replace(definition, counted=counted_before(before, definition, now))
            version = before.version + (not definition.plans_like(before.definition))
            after = replace(
                before, definition=definition, version=version, registered_by=actor, registered_at=now
            )
        return JobDraft(before, after, tuple(problems))

    def _refuse_name_of_code(self, name: JobName) -> None:
        if self._jobs.get(JobRef(SYSTEM_TENANT, name)) is not None:
            raise StateConflict(
                f"the name {name!r} is taken", "a job that code declares", code="job-name-taken"
            )

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
            StateConflict: there is another job of this name, and the registration does not replace it.
        """
        if job.removed_at is not None:
            return False
        if job.holds_key(registration.idempotency_key, self._clock.now()):
            return True
        _refuse_taken(job.name, registration)
        return registration.idempotency_key is None and job.definition == definition

    def roll_back(self, get: Callable[[], Job], definition_id: str, actor: str) -> Job:
        """Let a former definition come into force again; see `Jobs.roll_back`."""
        return RollBack(self._jobs, self._versions, self._rules, self._plan, self._clock)(
            get, definition_id, actor
        )

    def unregister(self, name: str, tenant_id: TenantId) -> None:
        """Remove a registered job; see `Jobs.unregister`."""
        try:
            ref = JobRef(tenant_id, job_name(name))
        except InvalidArgument:
            raise NotFound("job", name) from None

        def remove() -> Conflict | None:
            job = self._jobs.get(ref)
            if job is None or job.removed_at is not None:
                if self._jobs.get(JobRef(SYSTEM_TENANT, ref.name)) is not None:
                    problem = "code declares it; remove it from the code"
                    raise StateConflict(f"cannot unregister job {ref.name}", problem, code="job-conflict")
                raise NotFound("job", name)
            return None if self._versions.remove(job, "it was unregistered") else CHANGED

        change_with_retry(remove, f"job {name}")


def _refuse_taken(name: JobName, registration: Registration) -> None:
    if not registration.replace:
        raise StateConflict(
            f"the name {name!r} is taken",
            "another job of this tenant; set replace to replace it",
            code="job-name-taken",
        )


def job_usage(definitions: Collection[Definition]) -> Mapping[Quota, int]:
    """Return what a tenant's jobs use of its quotas."""
    return {Quota.JOBS: len(definitions), Quota.EVENT_RULES: sum(map(_event_rules, definitions))}


def _event_rules(definition: Definition) -> int:
    return sum(text.startswith("on_event ") for text in definition.cadences)


_OPERATION = "roll back"


class RollBack:
    """Lets a definition that a registered job had before come into force again, as a new change."""

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
            StateConflict: code declares the job, or the definition is in force.
            NotFound: the job has no such definition.
        """
        if job.origin is Origin.CODE:
            problem = "code declares it; deploy the former code"
            raise StateConflict(f"cannot {_OPERATION} job {job.name}", problem, code="job-conflict")
        found = {stored.id: stored.definition for stored in self._jobs.definitions(job.ref)}
        if definition_id not in found:
            raise NotFound("definition", definition_id, definition_hint(job.name))
        if found[definition_id] == job.definition:
            problem = f"its present definition is that of {definition_id}; choose another"
            raise StateConflict(f"cannot {_OPERATION} job {job.name}", problem, code="job-conflict")
        return found[definition_id]

    def _registered(self, actor: str) -> Mapping[str, Any]:
        return {
            "registered_by": actor,
            "registered_at": self._clock.now(),
            "idempotency_key": None,
            "idempotency_until": None,
        }


def definition_hint(job: str) -> str:
    """Return where the definitions of a job are listed, for the error of an unknown one."""
    return f" of job {job}; list them with `duetime jobs versions {job}`"
