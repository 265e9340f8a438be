"""Hypothesis drives a store with random calls, and compares it with the reference after each."""

from dataclasses import replace

import boto3
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from moto import mock_aws

from duetime.aws.store import DynamoStore
from duetime.aws.tables import ACTIONS, create_table_request
from duetime.errors import KeyConflict
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.idempotency import KeyTerms
from duetime.model.lease import Applied, Claimed, LeaseHeld
from duetime.settings import DUE_SHARDS
from duetime_contract.specimens import (
    ACME,
    EXPIRY,
    GLOBEX,
    HOUR,
    LEASE,
    MINUTE,
    NOON,
    SECOND,
    SKEW,
    TICK,
    due_entries,
    end,
    fresh,
    terms,
)
from tests.dynamodb_local import CREDENTIALS
from tests.model.reference import ReferenceKeys, ReferenceRow, as_reference

ENDS = st.sampled_from([Status.EXECUTED, Status.FAILED, Status.CANCELLED, Status.PENDING])
SPANS = st.sampled_from([TICK, SECOND, MINUTE, LEASE, LEASE + SKEW, LEASE + SKEW + TICK, 2 * HOUR])
TENANTS = st.sampled_from([ACME, GLOBEX])
ORDERS = st.tuples(
    st.sampled_from(["order-1", "order-2"]),
    st.sampled_from(['{"subscription_id":1}', '{"subscription_id":2}']),
)
TTLS, TIMES = st.sampled_from([MINUTE, HOUR]), st.integers(1, 2)
PEOPLE = st.sampled_from(["billing-service", "ops"])


class StoreMachine(RuleBasedStateMachine):
    """Actions of two tenants, and runs that hold one of them, or think so."""

    actions = Bundle("actions")
    runs = Bundle("runs")

    def __init__(self):
        super().__init__()
        self.store, self.now = self.make_store(), NOON
        self.expected: dict[object, ReferenceRow] = {}
        self.keys = ReferenceKeys(self.expected)
        self.scheduled = []

    def make_store(self):
        return MemoryStore()

    @rule(target=actions, tenant_id=TENANTS, wait=SPANS)
    def schedule(self, tenant_id, wait):
        action = fresh(self.store, tenant_id=tenant_id, due_at=self.now + wait, created_at=self.now)
        self.store.put(action)
        self.expected[action.ref] = ReferenceRow(due_at=action.due_at, nominal_at=action.due_at)
        self.scheduled.append(action)
        return action.ref

    @rule(target=actions, tenant_id=TENANTS, wait=SPANS, order=ORDERS, ttl=TTLS, times=TIMES)
    def schedule_under_a_key(self, tenant_id, wait, order, ttl, times):
        key, payload = order
        row = fresh(
            self.store, tenant_id=tenant_id, due_at=self.now + wait, created_at=self.now, payload=payload
        )
        return self._schedule_once(replace(row, idempotency_key=key), ttl, times)

    @rule(target=actions, ref=actions)
    def schedule_under_the_same_key_when_its_time_has_passed(self, ref):
        if ref not in self.keys.key_of:
            return multiple()
        self.now += 2 * HOUR
        row = fresh(self.store, tenant_id=ref.tenant_id, due_at=self.now, created_at=self.now)
        return self._schedule_once(replace(row, idempotency_key=self.keys.key_of[ref]), MINUTE, 1)

    def _schedule_once(self, action, ttl, times):
        terms = KeyTerms(self.now, self.now + ttl)
        shown = self.keys.put_once(action, terms)
        answers = {self._put_once(action, terms) for _ in range(times)}
        assert answers == {shown}
        if shown != action.ref:
            return multiple()
        self.scheduled.append(action)
        return action.ref

    def _put_once(self, action, terms):
        try:
            return self.store.put_once(action, terms).ref
        except KeyConflict:
            return None

    @rule(ref=actions)
    def remove_the_key_of_what_is_over(self, ref):
        if ref in self.keys.key_of and self.expected[ref].status.is_final:
            self.store.remove_key(ref, self.keys.key_of[ref])
            self.keys.remove(ref)

    @rule(ref=actions)
    def put_again(self, ref):
        self.store.put(next(item for item in self.scheduled if item.ref == ref))

    @rule(span=SPANS)
    def time_passes(self, span):
        self.now += span

    @rule(target=runs, ref=actions)
    def claim(self, ref):
        return self._claim(ref, terms(self.now))

    @rule(target=runs, run=runs)
    def claim_again_with_the_same_nonce(self, run):
        ref, requested, _ = run
        return self._claim(ref, requested)

    @rule(ref=actions)
    def run_when_it_is_due_and_fail(self, ref):
        self.now = max(self.now, self.expected[ref].due_at)
        run = self._claim(ref, terms(self.now))
        if isinstance(run, tuple):
            self._settle(run, Status.FAILED)

    def _claim(self, ref, requested):
        claim = self.store.claim(self.store.get(ref), requested)
        shown = self.expected[ref].claim(requested)
        assert shown == {Claimed: "claimed", LeaseHeld: "held", type(None): "nothing"}[type(claim)]
        if isinstance(claim, LeaseHeld):
            assert claim.until == self.expected[ref].lease_until
        return (ref, requested, claim.action) if isinstance(claim, Claimed) else multiple()

    @rule(run=runs)
    def heartbeat(self, run):
        ref, _, claimed = run
        renewed = self.store.renew(claimed, self.now + LEASE)
        assert (renewed is not None) == self.expected[ref].renew(claimed.fence, self.now + LEASE)
        if renewed:
            assert renewed.cancel_requested == bool(self.expected[ref].cancel_requested_by)

    @rule(run=runs, status=ENDS)
    def settle_and_keep_the_run_to_settle_again(self, run, status):
        self._settle(run, status)

    @rule(run=consumes(runs), status=ENDS)
    def settle(self, run, status):
        self._settle(run, status)

    def _settle(self, run, status):
        ref, _, claimed = run
        settlement = end(status, self.now)
        assert self.store.settle(claimed, settlement) is self.expected[ref].settle(claimed.fence, settlement)

    @rule(ref=actions, by=PEOPLE)
    def cancel(self, ref, by):
        self.now += TICK  # each change has an instant of its own, or it would be a repeated one
        moved = self.store.cancel(self.store.get(ref), by=by, at=self.now, kept_until=EXPIRY)
        assert isinstance(moved, Applied) == self.expected[ref].cancel(EXPIRY)

    @rule(ref=actions, by=PEOPLE)
    def ask_to_cancel(self, ref, by):
        moved = self.store.ask_to_cancel(self.store.get(ref), by=by, at=self.now)
        assert isinstance(moved, Applied) == self.expected[ref].ask_to_cancel(by)

    @rule(ref=actions, by=PEOPLE, wait=SPANS)
    def reschedule(self, ref, by, wait):
        self.now += TICK
        moved = self.store.reschedule(self.store.get(ref), self.now + wait, by=by, at=self.now)
        assert isinstance(moved, Applied) == self.expected[ref].reschedule(self.now + wait)

    @rule(ref=actions, by=PEOPLE, wait=SPANS)
    def redrive(self, ref, by, wait):
        self.now += TICK
        payload = next(item.payload for item in self.scheduled if item.ref == ref)
        rival = self.keys.take_again(ref, payload, self.now)
        moved = self.store.redrive(self.store.get(ref), self.now + wait, by=by, at=self.now)
        if rival is not None:
            assert moved.taken_by == rival.id
        else:
            assert isinstance(moved, Applied) == self.expected[ref].redrive(self.now + wait)

    @invariant()
    def every_row_is_as_it_should_be(self):
        found = {row.ref: as_reference(row) for row in self.store.get_rows([*self.expected])}
        assert found == self.expected

    @invariant()
    def the_due_index_holds_the_unsettled_rows_at_their_due_times(self):
        shards = {item.due_shard for item in self.scheduled}
        listed = [entry for shard in shards for entry in due_entries(self.store, shard, limit=2)]
        unsettled = {ref: row.due_at for ref, row in self.expected.items() if not row.status.is_final}
        assert len(listed) == len(unsettled)
        assert {entry.ref: entry.due_at for entry in listed} == unsettled

    def teardown(self):
        for tenant_id in (ACME, GLOBEX):
            listed = self.store.of_tenant(tenant_id, limit=200, cursor=None)
            mine = {ref for ref in self.expected if ref.tenant_id == tenant_id}
            assert {row.ref for row in listed} == mine
            failed = self.store.failed([tenant_id], limit=200, cursor=None)
            lost = [ref for ref in mine if self.expected[ref].status is Status.FAILED]
            assert sorted(row.id for row in failed) == sorted(ref.id for ref in lost)


class DynamoMachine(StoreMachine):
    """The same over moto."""

    client = boto3.client("dynamodb", **CREDENTIALS)

    def make_store(self):
        self.aws = mock_aws()
        self.aws.start()
        self.client.create_table(**create_table_request(ACTIONS, "duetime-actions"))
        return DynamoStore(self.client, "duetime-actions", due_shards=DUE_SHARDS)

    def teardown(self):
        try:
            super().teardown()
        finally:
            self.aws.stop()


TestMemoryStore = StoreMachine.TestCase
TestMemoryStore.settings = settings(max_examples=60, stateful_step_count=40, derandomize=True)
TestDynamoStore = pytest.mark.long(DynamoMachine.TestCase)
TestDynamoStore.settings = settings(max_examples=6, stateful_step_count=30)
