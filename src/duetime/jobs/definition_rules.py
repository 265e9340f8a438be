"""The rules for what a tenant registers at run time: the definition of a registration, and what it may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from duetime.declare.definition_options import with_options
from duetime.declare.job_rules import (
    TOO_FINE,
    is_too_fine,
    read_cadences,
    refusals,
)
from duetime.errors import DeclarationError, UnknownType
from duetime.ids import SYSTEM_TENANT, JobName, TenantId, is_job_name, job_name
from duetime.jobs.event_owners import problems_of
from duetime.model.built_in import RESERVED
from duetime.model.job import Definition, JobRef, is_manual
from duetime.ports.jobs import JobPorts
from duetime.retry import policy
from duetime.settings import Settings

if TYPE_CHECKING:
    from duetime.cadence import Cadence
    from duetime.jobs.register import Registration

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
        return with_options(definition, registration, cadences)

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
