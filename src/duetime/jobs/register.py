"""*Register*: a tenant declares a job of its own at run time, for a handler that code registered.

It is a row like any other job's, without code behind its timing: whoever registers it replaces it and takes it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from duetime.clock import Clock
from duetime.declare.job_rules import RESERVED, TOO_FINE, is_too_fine, overlap_of, read_cadences, refusals
from duetime.errors import (
    BackendUnavailable,
    DeclarationError,
    InvalidIdentifier,
    JobConflict,
    JobNameTaken,
    JobNotFound,
    UnknownType,
)
from duetime.ids import SYSTEM_TENANT, TenantId, job_name
from duetime.jobs.maintain import changed
from duetime.jobs.plan import STALE, Plan
from duetime.jobs.reconcile import anchor_of, redefined, retire
from duetime.model.action import Action, SkipReason
from duetime.model.idempotency import KeyTerms, key_terms
from duetime.model.job import Definition, Job, JobRef, Origin, Precision
from duetime.ports.actions import ActionStore
from duetime.ports.jobs import JobPorts
from duetime.retry import RetryPolicy, policy
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence import Cadence
    from duetime.payload import Payload

KEY_LIMIT = 128
_RACES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A job to be registered.

    Attributes:
        name: two or more kebab-case segments, such as ``acme-nightly-report``.
        handler: the payload that each run gets, whose type has a handler; or the name of a handler that takes none.
        cadences: when it runs, as cadences or their texts; none for a job that is only triggered.
        retry: how often a run is tried; the handler's own policy by default.
        idempotency_key: the same key again is the same registration, and changes nothing, while it holds.
        idempotency_ttl: for how long it holds: 1 minute to 30 days, the settings' by default.
        replace: take the place of a job of this name that was registered before.
    """

    name: str
    handler: Payload | str
    cadences: Sequence[Cadence | str] = ()
    retry: RetryPolicy | None = None
    overlap: str | None = None
    catch_up: int = 0
    precision: Precision = "second"
    failure_threshold: int = 3
    title: str = ""
    category: str = ""
    description: str = ""
    idempotency_key: str | None = None
    idempotency_ttl: timedelta | None = None
    replace: bool = False


class Registered(NamedTuple):
    """A job that was registered, and the run that was triggered with it."""

    job: Job
    run: Action


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
        self._actions, self._jobs, self._routes = actions, ports.jobs, ports.routes
        self._precision = ports.precision
        self._clock, self._settings = clock, settings
        self._plan = Plan(actions, ports.jobs, clock=clock, settings=settings)

    def __call__(self, said: Registration, tenant_id: TenantId, actor: str) -> Job:
        """Register a job, and plan it at once.

        Raises:
            DeclarationError: it cannot work as it was said, or asks for what this back end cannot honour.
            InvalidCadence: a cadence's text is mistyped, or it never fires.
            InvalidTime: its key's time to live is none.
            UnknownType: no deployed worker has a handler of that name.
            JobNameTaken: the name is code's, or this tenant's and `replace` was not said.
        """
        definition, now = self._definition(said, tenant_id), self._clock.now()
        terms = key_terms(said.idempotency_key, said.idempotency_ttl, now=now, settings=self._settings)
        ref = JobRef(tenant_id, definition.name)
        self._refuse_codes(ref)
        fresh = _keyed(_new(ref, definition, now, actor), said.idempotency_key, terms)
        for _ in range(_RACES):
            job = None if self._jobs.add(fresh) else self._jobs.get(ref)
            if job is None or self._stands(job, said, fresh) or self._redefine(job, fresh):
                self._plan(ref)
                return self._jobs.get(ref) or fresh
        raise BackendUnavailable("the jobs table", f"job {ref.name} kept changing")

    def _definition(self, said: Registration, tenant_id: TenantId) -> Definition:
        cadences = read_cadences(said.cadences, default_tz=self._settings.default_tz or None)
        handler = said.handler if isinstance(said.handler, str) else said.handler.type_name
        definition = Definition(
            name=job_name(said.name),
            type=handler,
            cadences=tuple(cadence.text for cadence in cadences),
            payload=None if isinstance(said.handler, str) else said.handler.to_json(),
            payload_version=1 if isinstance(said.handler, str) else said.handler.type_version,
            retry=None if said.retry is None else policy(said.retry).text(),
            overlap=overlap_of(said.overlap, cadences),
            catch_up=said.catch_up,
            precision=said.precision,
            failure_threshold=said.failure_threshold,
            title=said.title,
            category=said.category,
            description=said.description,
            worker=tenant_id,
        )
        problems = [
            *refusals(definition, cadences),
            *([TOO_FINE] if is_too_fine(definition, self._precision) else []),
            *_tenant_problems(cadences),
            *_key_problems(said),
        ]
        if problems:
            raise DeclarationError(f"job {said.name!r}: {'; '.join(problems)}")
        if handler.startswith(RESERVED) or self._routes.queue_for(handler) is None:
            raise UnknownType(handler, self._routes.types())
        return definition

    def _refuse_codes(self, ref: JobRef) -> None:
        code = self._jobs.get(JobRef(SYSTEM_TENANT, ref.name))
        if code is not None:
            raise JobNameTaken(ref.name, "a job that code declares")

    def _stands(self, job: Job, said: Registration, fresh: Job) -> bool:
        """Whether this registration was made already. One with a key of its own is kept, even if nothing else is new.

        Raises:
            JobNameTaken: another one stands, and is not to be replaced.
        """
        if job.removed_at is not None:
            return False
        if job.holds_key(said.idempotency_key, self._clock.now()):
            return True
        if not said.replace:
            raise JobNameTaken(job.name, "another job of this tenant; say replace to replace it")
        return said.idempotency_key is None and job.definition == fresh.definition

    def _redefine(self, job: Job, fresh: Job) -> bool:
        """Take the place of a former registration; False if it has changed meanwhile."""
        if job.is_live and not fresh.definition.plans_like(job.definition):
            self._plan(job.ref)
            job = self._jobs.get(job.ref) or job
        now = self._clock.now()
        after, spans = redefined(job, fresh.definition, now)
        after = replace(
            after,
            registered_by=fresh.registered_by,
            registered_at=fresh.registered_at,
            idempotency_key=fresh.idempotency_key,
            idempotency_until=fresh.idempotency_until,
        )
        if not self._jobs.change(job, after, spans=spans):
            return False
        if after.version != job.version:
            note = f"version {after.version} has taken over"
            retire(
                self._actions, job, after=now, reason=SkipReason.RETIRED, note=note, settings=self._settings
            )
        return True

    def unregister(self, name: str, tenant_id: TenantId) -> None:
        """Take a registered job back: nothing of it runs any more; its history is kept.

        Raises:
            JobNotFound: this tenant has registered no such job.
            JobConflict: code declares it.
        """
        try:
            ref = JobRef(tenant_id, job_name(name))
        except InvalidIdentifier:
            raise JobNotFound(name) from None
        for _ in range(_RACES):
            job, now = self._jobs.get(ref), self._clock.now()
            if job is None or job.removed_at is not None:
                self._refuse_unknown(ref)
                raise JobNotFound(name)
            if self._jobs.change(job, replace(changed(job, now), removed_at=now)):
                note = "it was unregistered"
                retire(
                    self._actions,
                    job,
                    after=now,
                    reason=SkipReason.DISABLED,
                    note=note,
                    settings=self._settings,
                )
                return
        raise BackendUnavailable("the jobs table", f"job {name} kept changing")

    def _refuse_unknown(self, ref: JobRef) -> None:
        if self._jobs.get(JobRef(SYSTEM_TENANT, ref.name)) is not None:
            raise JobConflict(
                ref.name, asked="unregister", problem="code declares it; take it out of the code"
            )


def _new(ref: JobRef, definition: Definition, now: datetime, actor: str) -> Job:
    return Job(
        ref=ref,
        definition=definition,
        origin=Origin.RUNTIME,
        since=now,
        anchor=anchor_of(definition, now),
        cursor=now,
        maintain_at=now,
        wakes=STALE,
        registered_by=actor,
        registered_at=now,
    )


def _keyed(job: Job, key: str | None, terms: KeyTerms | None) -> Job:
    return replace(job, idempotency_key=key, idempotency_until=terms.until if terms else None)


def _tenant_problems(cadences: Sequence[Cadence]) -> Sequence[str]:
    """A tenant's own job may be started by this tenant's events only, so its trigger says where an event names its tenant."""
    from duetime.cadence.triggers import OnEvent  # noqa: PLC0415 - most registrations have none

    return [
        f"{cadence.text}: say where the event names its tenant, as in tenant=detail.tenant_id; a registered job"
        " is started by its own tenant's events alone"
        for cadence in cadences
        if isinstance(cadence, OnEvent) and not cadence.tenant
    ]


def _key_problems(said: Registration) -> Sequence[str]:
    key = said.idempotency_key
    if key is not None and not 1 <= len(key) <= KEY_LIMIT:
        return [f"idempotency_key has {len(key)} characters; 1 to {KEY_LIMIT} are allowed"]
    return []
