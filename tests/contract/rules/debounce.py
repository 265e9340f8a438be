"""Debounce keys: while its action awaits its first run, a further call changes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import pytest

from duetime.ids import TenantId
from duetime.model.action import Action, Status
from duetime.model.debounce import DebounceHolder, awaits_first_run, calls_taken, coalesced
from duetime.model.debounce import key_of as debounce_key_of
from duetime.model.lease import Applied, Claimed, Rejected
from duetime.model.row_parts import Act, Debounced
from duetime.ports.action_store import ActionStore
from duetime_contract.races import CROWD, ROUNDS, together
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
    EXPIRY,
    GLOBEX,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    applied,
    claim,
    end,
    fresh,
    stored_row,
    terms,
)
from duetime_contract.subject import StoreContract

KEY = "reindex:42"
NEWER = '{"subscription_id":43}'
LARGER = LARGE.replace("x", "y", 1) if "x" in LARGE else f"{LARGE[:-1]} }}"


def call(
    store: ActionStore,
    *,
    key: str = KEY,
    tenant_id: TenantId = ACME,
    due_at: datetime = NOON,
    payload: str = '{"subscription_id":42}',
    until: datetime | None = None,
) -> Action:
    """Return the unwritten action of a call."""
    action = fresh(store, tenant_id=tenant_id, due_at=due_at, payload=payload)
    size = len(payload) if payload in {LARGE, LARGER} else 0
    return replace(action, debounced=Debounced(key, until), payload_size=size)


def holder_of(store: ActionStore, key: str = KEY, tenant_id: TenantId = ACME) -> DebounceHolder:
    """The present holder of a key, which must be there."""
    holder = store.find_debounced(tenant_id, key)
    assert holder is not None
    return holder


def pending(holder: DebounceHolder) -> Action:
    """The row of a holder, which must be there."""
    assert holder.action is not None
    return holder.action


def first_call(store: ActionStore, **given: object) -> Action:
    """Return the action of a first call."""
    action = call(store, **given)  # type: ignore[arg-type]
    assert store.put_debounced(action, None)
    return action


def further_call(
    store: ActionStore, action: Action, *, by: str = CALLER, holder: DebounceHolder | None = None
) -> Applied | Rejected:
    """Change the pending action of a key as a call does."""
    holder = holder_of(store) if holder is None else holder
    row = pending(holder)
    return store.coalesce(row, coalesced(row, action, by=by, at=NOON), holder)


def repeated(store: ActionStore, action: Action) -> Action:
    """A call as callers make it, until it is applied."""
    while True:
        holder = store.find_debounced(action.tenant_id, debounce_key_of(action))
        if holder is None or holder.action is None or not awaits_first_run(holder.action):
            if store.put_debounced(action, holder):
                return action
        elif isinstance(outcome := further_call(store, action, holder=holder), Applied):
            return outcome.action


class DebounceContract(StoreContract):
    """*schedule, debounced*, and *coalesce*."""

    @pytest.fixture
    def waiting(self, store: ActionStore) -> Action:
        return first_call(store)

    def test_a_free_key_has_no_action(self, store: ActionStore) -> None:
        assert store.find_debounced(ACME, KEY) is None

    @pytest.mark.parametrize("payload", ['{"subscription_id":42}', LARGE], ids=["small", "large"])
    def test_a_debounced_row_is_read_back_by_its_key(self, store: ActionStore, payload: str) -> None:
        action = first_call(store, payload=payload, until=NOON + HOUR)
        assert store.get(action.ref) == action
        holder = holder_of(store)
        assert (holder.action_id, holder.action) == (action.id, action)
        assert holder.until > action.due_at

    def test_another_tenants_same_key_is_another(self, store: ActionStore, waiting: Action) -> None:
        assert store.find_debounced(GLOBEX, KEY) is None
        theirs = first_call(store, tenant_id=GLOBEX, payload=NEWER)
        assert holder_of(store, tenant_id=GLOBEX).action == theirs
        assert holder_of(store).action == waiting

    def test_a_key_that_is_taken_is_not_taken_again(self, store: ActionStore, waiting: Action) -> None:
        rival = call(store)
        assert not store.put_debounced(rival, None)
        assert store.get(rival.ref) is None
        assert holder_of(store).action == waiting

    def test_the_same_put_again_changes_nothing(self, store: ActionStore, waiting: Action) -> None:
        running = claim(store, waiting.ref)
        assert store.put_debounced(waiting, None)
        assert store.get(waiting.ref) == running
        next_ = call(store)
        assert store.put_debounced(next_, holder_of(store))
        assert store.put_debounced(waiting, None)
        assert holder_of(store).action == next_

    def test_a_key_is_taken_over_only_from_the_action_that_was_read(
        self, store: ActionStore, waiting: Action
    ) -> None:
        read = holder_of(store)
        claim(store, waiting.ref)
        second = call(store)
        assert store.put_debounced(second, read)
        assert not store.put_debounced(call(store), read)
        assert holder_of(store).action == second

    def test_a_further_call_changes_due_time_payload_and_expiry(
        self, store: ActionStore, waiting: Action
    ) -> None:
        later = replace(call(store, due_at=NOON + HOUR, payload=NEWER), expires_at=EXPIRY)
        row = applied(store, waiting.ref, further_call(store, later, by="ops"))
        assert (row.due_at, row.payload, row.expires_at) == (NOON + HOUR, NEWER, EXPIRY)
        assert (row.generation, calls_taken(row), row.changed) == (2, 1, Act(NOON, "ops"))
        assert self.due_time(store, waiting) == NOON + HOUR
        assert store.get(later.ref) is None
        row = applied(store, waiting.ref, further_call(store, call(store)))
        assert (row.expires_at, row.generation, calls_taken(row)) == (None, 3, 2)

    @pytest.mark.parametrize(
        "payloads",
        [(LARGE, LARGER), (LARGE, NEWER), (NEWER, LARGE, '{"subscription_id":42}')],
        ids=["large", "large, then small", "small, then large, then small"],
    )
    def test_a_claim_gets_the_payload_of_the_last_call(
        self, store: ActionStore, payloads: Sequence[str]
    ) -> None:
        first = first_call(store, payload=payloads[0])
        for payload in payloads[1:]:
            applied(store, first.ref, further_call(store, call(store, payload=payload)))
        assert claim(store, first.ref).payload == payloads[-1]
        assert stored_row(store, first.ref).payload == payloads[-1]

    def test_a_claim_before_the_new_due_time_is_rejected(self, store: ActionStore, waiting: Action) -> None:
        further_call(store, call(store, due_at=NOON + MINUTE))
        assert store.claim(stored_row(store, waiting.ref), terms(NOON + MINUTE - SECOND)) is None
        assert isinstance(store.claim(stored_row(store, waiting.ref), terms(NOON + MINUTE)), Claimed)

    @pytest.mark.parametrize("change", ["claim", "cancel", "reschedule", "another call", "retry"])
    def test_a_call_is_rejected_if_the_row_is_not_as_read(
        self, store: ActionStore, waiting: Action, change: str
    ) -> None:
        read = holder_of(store)
        if change == "cancel":
            store.cancel(waiting, by=CALLER, at=NOON, kept_until=EXPIRY)
        elif change == "reschedule":
            store.reschedule(waiting, NOON + HOUR, by=CALLER, at=NOON)
        elif change == "another call":
            further_call(store, call(store, payload=LARGE))
        else:
            running = claim(store, waiting.ref)
            if change == "retry":
                store.settle(running, end(Status.PENDING))
        row = stored_row(store, waiting.ref)
        for late in (call(store, payload=NEWER), call(store, payload=LARGER)):
            outcome = further_call(store, late, holder=read)
            assert isinstance(outcome, Rejected)
            assert outcome.action is not None
            assert (outcome.action.status, outcome.action.generation) == (row.status, row.generation)
        assert store.get(waiting.ref) == row

    @pytest.mark.parametrize("payload", [NEWER, LARGE], ids=["small", "large"])
    def test_a_repeated_call_is_applied_once(self, store: ActionStore, waiting: Action, payload: str) -> None:
        read, again = holder_of(store), call(store, payload=payload)
        row = applied(store, waiting.ref, further_call(store, again))
        repeat = further_call(store, again, holder=read)
        assert isinstance(repeat, Applied)
        assert (repeat.action.generation, calls_taken(repeat.action)) == (2, 1)
        assert store.get(waiting.ref) == row

    @pytest.mark.parametrize("change", ["another call", "claim", "end"])
    def test_a_repeated_call_is_recognised_after_other_changes(
        self, store: ActionStore, waiting: Action, change: str
    ) -> None:
        read, again = holder_of(store), call(store, payload=NEWER)
        further_call(store, again)
        if change == "another call":
            further_call(store, call(store))
        else:
            running = claim(store, waiting.ref)
            if change == "end":
                store.settle(running, end(Status.EXECUTED))
        row = stored_row(store, waiting.ref)
        assert isinstance(further_call(store, again, holder=read), Applied)
        assert store.get(waiting.ref) == row

    def test_two_calls_of_one_actor_at_one_instant_are_two(self, store: ActionStore, waiting: Action) -> None:
        read = holder_of(store)
        further_call(store, call(store, payload=NEWER))
        assert isinstance(further_call(store, call(store), holder=read), Rejected)
        assert stored_row(store, waiting.ref).payload == NEWER


class DebounceRaceContract(StoreContract):
    """What holds when callers with one debounce key, and others, act at the same moment."""

    def test_of_many_first_calls_at_once_one_makes_the_action_and_it_takes_all_others(
        self, store: ActionStore
    ) -> None:
        calls = [call(store, due_at=NOON + number * SECOND) for number in range(CROWD // 2)]
        together([partial(repeated, store, item) for item in calls])
        [listed] = store.of_tenant(ACME, limit=50, cursor=None)
        row = stored_row(store, listed.ref)
        assert (row.generation, calls_taken(row)) == (len(calls), len(calls) - 1)
        assert row.due_at in {item.due_at for item in calls}

    def test_of_a_call_a_claim_and_a_cancel_exactly_one_wins(self, store: ActionStore) -> None:
        for number in range(ROUNDS):
            action = first_call(store, key=f"{KEY}-{number}")
            holder = holder_of(store, f"{KEY}-{number}")
            later = call(store, key=debounce_key_of(action), due_at=NOON + HOUR, payload=NEWER)
            moved, won, cancelled = together(
                [
                    partial(further_call, store, later, holder=holder),
                    partial(store.claim, action, terms()),
                    partial(store.cancel, action, by=CALLER, at=NOON, kept_until=EXPIRY),
                ]
            )
            row = stored_row(store, action.ref)
            outcomes = {
                Status.PENDING: isinstance(moved, Applied),
                Status.PROCESSING: isinstance(won, Claimed),
                Status.CANCELLED: isinstance(cancelled, Applied),
            }
            assert [status for status, is_winner in outcomes.items() if is_winner] == [row.status]
            assert (row.payload == NEWER) == (row.status is Status.PENDING)

    def test_a_call_beside_a_claim_is_in_that_run_or_in_a_new_action(self, store: ActionStore) -> None:
        for number in range(ROUNDS):
            action = first_call(store, key=f"{KEY}-{number}")
            last = call(store, key=debounce_key_of(action), payload=NEWER)
            placed, won = together([partial(repeated, store, last), partial(store.claim, action, terms())])
            # If the call came first, the claim is of the row as it was; the next one reads it again.
            won = won or store.claim(stored_row(store, action.ref), terms())
            assert isinstance(won, Claimed)
            assert isinstance(placed, Action)
            in_run = won.action.payload == NEWER
            assert in_run == (placed.id == action.id)
            assert stored_row(store, placed.ref).payload == NEWER
