"""Which undelivered inputs hold data of a tenant. They are all in one partition of the system."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from duetime.errors import DuetimeError
from duetime.ids import SYSTEM_TENANT, JobName, TenantId, is_job_name
from duetime.model.job import Job, JobRef
from duetime.model.undelivered import Undelivered
from duetime.ports.undelivered import UndeliveredStore

_PAGE = 50
_NAMES = frozenset({"tenant", "tenant_id"})
"""The fields with a tenant's name in the messages and events of duetime."""


class UndeliveredOf:
    """Finds the undelivered inputs of one tenant.

    Args:
        store: the undelivered inputs of all tenants.
        find_job: returns a job; an event's job names the path of the tenant in the event.
        tenant_id: the tenant.
    """

    def __init__(
        self, store: UndeliveredStore, find_job: Callable[[JobRef], Job | None], tenant_id: TenantId
    ) -> None:
        self._store, self._find_job, self._tenant_id = store, find_job, tenant_id

    def list(self) -> Iterator[Undelivered]:
        """Yield the tenant's inputs."""
        return (thing for thing in self._all() if self._is_mine(thing))

    def count_unknown(self) -> int:
        """Return the number of inputs that name no tenant at all, such as unreadable ones."""
        return sum(not self._tenants(thing) for thing in self._all())

    def _all(self) -> Iterator[Undelivered]:
        cursor = None
        while True:
            page = self._store.list(limit=_PAGE, cursor=cursor)
            yield from page.things
            cursor = page.cursor
            if cursor is None:
                return

    def _is_mine(self, thing: Undelivered) -> bool:
        return self._tenant_id in self._tenants(thing)

    def _tenants(self, thing: Undelivered) -> set[str]:
        named = set() if thing.action is None else {str(thing.action.tenant_id)}
        try:
            body = json.loads(thing.body)
        except (ValueError, RecursionError):
            return named
        return named | set(_named_in(body)) | self._by_path(body)

    def _by_path(self, body: Any) -> set[str]:
        """Return the tenants at the paths that the triggers of an event's job name."""
        if not isinstance(body, Mapping) or not is_job_name(str(body.get("job", ""))):
            return set()
        ref = JobRef(TenantId(str(body.get("tenant", SYSTEM_TENANT))), JobName(body["job"]))
        try:
            job = self._find_job(ref)
        except DuetimeError:  # an unreadable job has no path
            return set()
        event = body.get("event")
        if job is None or not isinstance(event, Mapping):
            return set()
        paths = (trigger.tenant_of(event) for trigger in job.cadence_set.triggers if trigger.tenant)
        return {name for name in paths if name}


def _named_in(content: Any) -> Iterator[str]:
    """Yield each text under a tenant's field, at any depth; JSON's own parser bounds the depth."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            if name in _NAMES and isinstance(value, str):
                yield value
            yield from _named_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from _named_in(value)
