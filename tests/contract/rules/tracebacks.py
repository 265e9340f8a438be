"""The tracebacks of failed attempts, beside the row."""

from __future__ import annotations

import hashlib

from duetime.ids import TenantId, shard_of
from duetime.model.action import KEPT_ATTEMPTS, ActionRef
from duetime.model.attempt_traceback import AttemptTraceback
from duetime.ports.action_store import ActionStore
from duetime_contract.specimens import EXPIRY, HOUR, NOON, SECOND, fresh
from duetime_contract.subject import StoreContract

FIRST = AttemptTraceback(NOON, 'Traceback (most recent call last):\n  File "é.py", line 1, in f\nOSError: no')
NEXT = AttemptTraceback(NOON + SECOND, "Traceback (most recent call last):\nValueError: no")


class TracebackContract(StoreContract):
    """*put_traceback* and *tracebacks*."""

    def test_an_action_without_a_failed_attempt_has_no_tracebacks(self, store: ActionStore) -> None:
        action = fresh(store)
        store.put(action)
        assert list(store.tracebacks(action.ref)) == []

    def test_the_tracebacks_of_an_action_are_in_the_order_of_its_attempts(self, store: ActionStore) -> None:
        action = fresh(store)
        others = iter(lambda: fresh(store), None)
        other = next(other for other in others if shard_of(other.id) == shard_of(action.id))
        for traceback in (NEXT, FIRST):
            store.put_traceback(action.ref, traceback, EXPIRY)
        store.put_traceback(other.ref, NEXT, EXPIRY)
        assert list(store.tracebacks(action.ref)) == [FIRST, NEXT]

    def test_another_tenants_action_of_the_same_id_has_its_own_tracebacks(self, store: ActionStore) -> None:
        action = fresh(store)
        store.put_traceback(action.ref, FIRST, EXPIRY)
        namesake = ActionRef(TenantId("globex"), action.id)
        assert list(store.tracebacks(namesake)) == []

    def test_a_repeat_replaces_the_traceback_of_its_attempt(self, store: ActionStore) -> None:
        action = fresh(store)
        for _ in range(2):
            store.put_traceback(action.ref, FIRST, EXPIRY)
        assert list(store.tracebacks(action.ref)) == [FIRST]

    def test_a_traceback_changes_nothing_of_its_row_and_is_in_no_list(self, store: ActionStore) -> None:
        action = fresh(store)
        store.put(action)
        store.put_traceback(action.ref, FIRST, EXPIRY)
        assert store.get(action.ref) == action
        assert [row.ref for row in store.of_tenant(action.tenant_id, limit=9, cursor=None)] == [action.ref]

    def test_the_latest_tracebacks_of_many_are_returned(self, store: ActionStore) -> None:
        action, many = fresh(store), KEPT_ATTEMPTS + 2
        for number in range(many):
            store.put_traceback(action.ref, AttemptTraceback(NOON + number * HOUR, "x"), EXPIRY)
        found = store.tracebacks(action.ref)
        assert [one.started_at for one in found] == [NOON + number * HOUR for number in range(2, many)]

    def test_a_traceback_that_is_too_long_keeps_its_beginning_and_its_end(self, store: ActionStore) -> None:
        action = fresh(store)
        lines = [f"line {n} {hashlib.sha256(bytes([n % 256, n // 256])).hexdigest()}" for n in range(2_000)]
        store.put_traceback(action.ref, AttemptTraceback(NOON, "\n".join(lines)), EXPIRY)
        (stored,) = store.tracebacks(action.ref)
        shown = stored.text.splitlines()
        assert shown[0] == lines[0]
        assert shown[-30:] == lines[-30:]
        assert sum("characters left out" in line for line in shown) == 1
