"""Stores that break a rule of the contract each, and the binding of a test to one of them."""
# ruff: noqa: ARG002 - what a broken store does not look at is what it breaks

import inspect
import threading
from dataclasses import replace
from functools import partial
from types import MethodType

from duetime.errors import KeyConflict
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import ActionRef, Status
from duetime.model.lease import Applied, LeaseHeld, Renewed, SettleResult
from duetime.model.swap import redrivable
from duetime.ports.actions import Page
from duetime.ports.job_state import unlock
from duetime.ports.jobs import LockRequirement
from duetime.ports.keyed_items import EXISTS
from duetime_contract.specimens import GLOBEX


class Fenceless(MemoryStore):
    def settle(self, claimed, settlement):
        return super().settle(self.get(claimed.ref) or claimed, settlement)


class Hasty(MemoryStore):
    def claim(self, row, terms):
        early = row.status is Status.PENDING
        return super().claim(row, replace(terms, now=max(terms.now, row.due_at)) if early else terms)


class Forgetful(MemoryStore):
    def claim(self, row, terms):
        stored = self.get(row.ref)
        if stored is not None and stored.nonce == terms.nonce:
            return LeaseHeld(stored.lease_until)
        return super().claim(row, terms)


class Overwriting(MemoryStore):
    def put(self, action):
        with self.lock:
            self.write(self.get(action.ref), action)


class Fickle(MemoryStore):
    def ask_to_cancel(self, row, *, by, at):
        outcome = super().ask_to_cancel(row, by=by, at=at)
        if isinstance(outcome, Applied):
            return Applied(
                self.write(
                    outcome.action,
                    replace(outcome.action, cancel_request=replace(outcome.action.cancel_request, by=by)),
                )
            )
        return outcome


class Generationless(MemoryStore):
    def reschedule(self, row, due_at, *, by, at):
        outcome = super().reschedule(row, due_at, by=by, at=at)
        if isinstance(outcome, Applied):
            return Applied(
                self.write(outcome.action, replace(outcome.action, generation=outcome.action.generation - 1))
            )
        return outcome


class Shallow(MemoryStore):
    def of_tenant(self, tenant_id, *, limit, cursor):
        return Page(super().of_tenant(tenant_id, limit=limit, cursor=cursor).actions, None)


class Careless(MemoryStore):
    def by_correlation(self, tenant_id, correlation_id, *, limit, cursor):
        mine = super().by_correlation(tenant_id, correlation_id, limit=limit, cursor=cursor)
        theirs = super().by_correlation(GLOBEX, correlation_id, limit=limit, cursor=cursor)
        return Page((*mine, *theirs), mine.cursor)


class Indiscreet(MemoryStore):
    def failed(self, tenants, *, limit, cursor):
        return super().failed([*tenants, GLOBEX], limit=limit, cursor=cursor)


class Deaf(MemoryStore):
    def renew(self, claimed, until):
        renewed = super().renew(claimed, until)
        return renewed and Renewed(cancel_requested=False)


class Relentless(MemoryStore):
    def settle(self, claimed, settlement):
        result = super().settle(claimed, settlement)
        return SettleResult.SETTLED if result is SettleResult.CANCEL_REQUESTED else result


class Inclusive(MemoryStore):
    def due(self, shard, *, after, until, limit, cursor):
        before = None if after is None else after - after.resolution
        return super().due(shard, after=before, until=until, limit=limit, cursor=cursor)


class Racy(MemoryStore):
    """Reads first and decides afterwards; the pause is what a network would be."""

    def claim(self, row, terms):
        threading.Event().wait(0.01)
        if row.status is Status.PENDING and self.get(row.ref) is not None:
            with self.lock:
                self.write(self.get(row.ref), row)
        return super().claim(row, terms)


class Timely(MemoryStore):
    def put_once(self, action, terms):
        held = self.keys._held(action)
        if held is not None and held.until <= terms.now:
            self.remove_key(replace(action, id=held.action_id).ref, action.idempotency_key)
        return super().put_once(action, terms)


class Undiscerning(MemoryStore):
    def put_once(self, action, terms):
        try:
            return super().put_once(action, terms)
        except KeyConflict as conflict:
            return self.get(replace(action, id=conflict.action_id).ref)


class Keyless(MemoryStore):
    def __init__(self):
        super().__init__()
        self.keys.redrive = lambda row, after, _at: self.swap(row, after, redrivable(row))


class Boundless(MemoryStore):
    def take_slot(self, row, slots, at):
        return super().take_slot(replace(row, concurrency=replace(row.concurrency, limit=99)), slots, at)


class Slotless(MemoryStore):
    def take_slot(self, row, slots, at):
        taken = super().take_slot(row, slots, at)
        self.items.partitions.clear()
        return taken


class Pushing(MemoryStore):
    def take_slot(self, row, slots, at):
        return super().take_slot(row, self.key_slots(slots.tenant_id, slots.key), at)


class Stale(MemoryStore):
    def evict(self, move, row):
        return super().evict(move, self.get(ActionRef(move.before.tenant_id, move.freed)))


class Gentle(MemoryStore):
    def evict(self, move, row):
        with self.lock:
            evicted = super().evict(move, row)
            if evicted and row is not None:
                self.write(self.get(row.ref), row)
            return evicted


class Believing(MemoryStore):
    def evict(self, move, row):
        with self.lock:
            evicted = super().evict(move, row)
            if evicted and row is not None:
                fenced = self.get(row.ref)
                self.write(fenced, replace(fenced, nonce=row.nonce))
            return evicted


class Lenient(MemoryStore):
    def evict(self, move, row):
        with self.lock:
            evicted = super().evict(move, row)
            if evicted and row is not None and row.status is Status.PENDING:
                self.write(self.get(row.ref), row)
            return evicted


class Tokenless(MemoryStore):
    def move_slots(self, move):
        now = self.key_slots(move.before.tenant_id, move.before.key)
        fences = {holder: now.holders.get(holder, fence) for holder, fence in move.before.holders.items()}
        return super().move_slots(replace(move, before=replace(move.before, holders=fences)))


class Forgetting(MemoryStore):
    def move_slots(self, move):
        now = self.key_slots(move.before.tenant_id, move.before.key)
        return super().move_slots(replace(move, before=replace(move.before, waiting=now.waiting)))


class Backward(MemoryStore):
    def checkpoint(self, claimed, checkpoint):
        is_lost = self.peek(claimed) is None
        return super().checkpoint(claimed, checkpoint if is_lost else replace(checkpoint, number=10**6))


class Unfenced(MemoryStore):
    def checkpoint(self, claimed, checkpoint):
        return super().checkpoint(self.get(claimed.ref) or claimed, checkpoint)


class Overtaking(MemoryStore):
    def claim(self, row, terms):
        return super().claim(self.get(row.ref) or row, terms)


class Disorderly(MemoryStore):
    def in_due_order(self, tenant_id, *, after, until, limit, cursor):
        page = super().in_due_order(tenant_id, after=after, until=until, limit=limit, cursor=cursor)
        return Page(page.actions[::-1], page.cursor)


class Unrevised(MemoryJobStore):
    def change(self, old, new, *, spans=()):
        return super().change(self.get(old.ref) or old, new, spans=spans)


class Lockless(MemoryJobStore):
    def claim(self, taking):
        hold = LockRequirement.UNCHANGED if taking.hold is LockRequirement.LOCK else taking.hold
        return super().claim(replace(taking, hold=hold))


class Grasping(MemoryJobStore):
    def claim(self, taking):
        dead = taking.dead_ref and self._actions.get(taking.dead_ref)
        unlocked = taking.unlocked and tuple(self._actions.get(holder.ref) for holder in taking.unlocked)
        return super().claim(replace(taking, dead=dead, unlocked=unlocked))


class Negligent(MemoryJobStore):
    def claim(self, taking):
        return super().claim(replace(taking, job=self.get(taking.job.ref) or taking.job))


class Recounting(MemoryJobStore):
    def settle(self, claimed, settlement, ref, ended, **lock):
        result = super().settle(claimed, settlement, ref, ended, **lock)
        self.count(ref, ended)
        return result


class Unlocking(MemoryJobStore):
    def end_pending(self, row, ended, ref):
        is_ended = super().end_pending(row, ended, ref)
        self.items.write(replace(unlock(ref, row.ref), guard=EXISTS))
        return is_ended


class Impatient(MemoryJobStore):
    def wait(self, job, waiting):
        return super().wait(self.get(job.ref) or job, waiting)


class Hurried(MemoryJobStore):
    def move_cursor(self, job, cursor, maintain_at, *, missed=()):
        read = replace(job, cursor=self.get(job.ref).cursor)
        return super().move_cursor(read, cursor, maintain_at, missed=missed)


def bound(contract, sentence, **values):
    """Bind a test of the contract to its fixtures, which the contract makes from `values`."""

    def resolved(function):
        return {name: value_of(name) for name in inspect.signature(function).parameters}

    def value_of(name):
        if name not in values:
            make = MethodType(inspect.unwrap(getattr(type(contract), name)), contract)
            values[name] = make(**resolved(make))
        return values[name]

    check = getattr(contract, sentence)
    return partial(check, **resolved(check))
