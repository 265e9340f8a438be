"""A sample of the one-shots: the newest of each tenant, and overdue ones of each due shard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from duetime.ids import TenantId
from duetime.model.action import Action, Status
from duetime.model.built_in import is_built_in
from duetime.model.recount import Account, Finding, RecountProblem
from duetime.ports.actions import ActionStore

MOST_TENANTS = 100
_OF_TENANT, _OF_SHARD = 50, 20
_LEAST = timedelta(microseconds=1)


class OneShotSample:
    """Looks at some one-shots; of all of them a recount would cost too much."""

    def __init__(self, actions: ActionStore) -> None:
        self._actions = actions
        self.counts, self.findings = Counter[str](), list[Finding]()

    def look(self, tenants: Iterable[TenantId], until: datetime) -> None:
        """Look at one-shots of some tenants, and of those whose actions are overdue at an instant.

        Raises:
            BackendUnavailable: they cannot be read.
        """
        known = dict.fromkeys([*tenants, *self._overdue_tenants(until)])
        for tenant_id in [*known][:MOST_TENANTS]:
            for row in self._actions.of_tenant(tenant_id, limit=_OF_TENANT, cursor=None):
                if not is_built_in(row.type):
                    self._look_at(row, until)

    def _overdue_tenants(self, until: datetime) -> Iterator[TenantId]:
        for shard in self._actions.due_shards:
            page = self._actions.due(shard, after=None, until=until, limit=_OF_SHARD, cursor=None)
            yield from (entry.ref.tenant_id for entry in page.entries)

    def _look_at(self, row: Action, until: datetime) -> None:
        problem = self._problem(row, until)
        if problem is not None:
            self.findings.append(
                Finding(problem=problem, tenant_id=row.tenant_id, at=row.due_at, action_id=row.id)
            )
        else:
            self.counts[Account(row.status.value) if row.status.is_final else Account.OPEN] += 1

    def _problem(self, row: Action, until: datetime) -> RecountProblem | None:
        if row.status.is_final:
            return _problem_of_final(row)
        is_lost = row.status is Status.PENDING and row.due_at <= until and not self._is_in_due_index(row)
        return RecountProblem.NOT_IN_DUE_INDEX if is_lost else None

    def _is_in_due_index(self, row: Action) -> bool:
        """Return whether a scan finds a row; the row is read again, for it may have moved meanwhile."""
        if self._is_found(row):
            return True
        again = self._actions.get(row.ref)
        return again is None or again.status is not Status.PENDING or again.due_at != row.due_at

    def _is_found(self, row: Action) -> bool:
        cursor = None
        while True:
            page = self._actions.due(
                row.due_shard, after=row.due_at - _LEAST, until=row.due_at, limit=_OF_TENANT, cursor=cursor
            )
            if any(entry.ref == row.ref for entry in page.entries):
                return True
            if (cursor := page.cursor) is None:
                return False


def _problem_of_final(row: Action) -> RecountProblem | None:
    if row.status is Status.SKIPPED and row.skip_reason is None:
        return RecountProblem.NO_REASON
    has_run = row.status is not Status.EXECUTED or bool(row.attempts)
    return None if has_run and row.kept_until is not None else RecountProblem.NO_END
