"""The contract is worth something only if a store that breaks a rule fails it, and if outsiders can run it."""
# ruff: noqa: ARG002 - what a broken store does not look at is what it breaks

import inspect
import subprocess
import sys
import threading
from contextlib import nullcontext
from dataclasses import replace

import pytest

from duetime.action import ActionRef, Status
from duetime.action_ports import Page
from duetime.errors import IdempotencyConflict
from duetime.job_ports import Hold
from duetime.lease import Held, Moved, Renewed, SettleResult
from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.testing.contract import ActionStoreContract, DueOrderContract, JobStoreContract
from duetime.testing.contract.specimens import GLOBEX


class Fenceless(MemoryStore):
    def settle(self, claimed, settlement):
        return super().settle(self.get(claimed.ref) or claimed, settlement)


class Hasty(MemoryStore):
    def claim(self, ref, terms):
        row = self.get(ref)
        early = row is not None and row.status is Status.PENDING
        return super().claim(ref, replace(terms, now=max(terms.now, row.due_at)) if early else terms)


class Forgetful(MemoryStore):
    def claim(self, ref, terms):
        row = self.get(ref)
        if row is not None and row.claim_nonce == terms.nonce:
            return Held(row.lease_until)
        return super().claim(ref, terms)


class Overwriting(MemoryStore):
    def put(self, action):
        with self.lock:
            self.write(self._rows.get(action.ref), action)


class Fickle(MemoryStore):
    def ask_to_cancel(self, ref, *, by, at):
        asked = super().ask_to_cancel(ref, by=by, at=at)
        if isinstance(asked, Moved):
            return Moved(self.write(asked.action, replace(asked.action, cancel_requested_by=by)))
        return asked


class Generationless(MemoryStore):
    def reschedule(self, ref, due_at, *, by, at):
        outcome = super().reschedule(ref, due_at, by=by, at=at)
        if isinstance(outcome, Moved):
            return Moved(self.write(outcome.action, replace(outcome.action, gen=outcome.action.gen - 1)))
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

    def claim(self, ref, terms):
        row = self.get(ref)
        threading.Event().wait(0.01)
        if row is not None and row.status is Status.PENDING:
            with self.lock:
                self.write(self._rows[ref], row)
        return super().claim(ref, terms)


class Timely(MemoryStore):
    def put_once(self, action, terms):
        held = self._keys.get((action.tenant_id, action.idempotency_key))
        if held is not None and held.until <= terms.now:
            self.remove_key(replace(action, id=held.action_id).ref, action.idempotency_key)
        return super().put_once(action, terms)


class Undiscerning(MemoryStore):
    def put_once(self, action, terms):
        try:
            return super().put_once(action, terms)
        except IdempotencyConflict as conflict:
            return self.get(replace(action, id=conflict.action_id).ref)


class Keyless(MemoryStore):
    def take_again(self, ref, at, redrive):
        return redrive()


class Boundless(MemoryStore):
    def claim_slot(self, row, claimed):
        return super().claim_slot(row, replace(claimed, concurrency_limit=99))


class Slotless(MemoryStore):
    def claim_slot(self, row, claimed):
        taken = super().claim_slot(row, claimed)
        self._holders.clear()
        return taken


class Stale(MemoryStore):
    def evict(self, tenant_id, concurrency_key, dead, row):
        return super().evict(tenant_id, concurrency_key, dead, self.get(ActionRef(tenant_id, dead)))


class Gentle(MemoryStore):
    def evict(self, tenant_id, concurrency_key, dead, row):
        with self.lock:
            evicted = super().evict(tenant_id, concurrency_key, dead, row)
            if evicted and row is not None:
                self.write(self.get(row.ref), row)
            return evicted


class Believing(MemoryStore):
    def evict(self, tenant_id, concurrency_key, dead, row):
        with self.lock:
            evicted = super().evict(tenant_id, concurrency_key, dead, row)
            if evicted and row is not None:
                fenced = self.get(row.ref)
                self.write(fenced, replace(fenced, claim_nonce=row.claim_nonce))
            return evicted


class Holding(MemoryStore):
    def free_slot(self, claimed):
        pass


BROKEN = {
    Fenceless: "test_a_run_that_was_taken_over_settles_nothing_that_the_next_one_has_ended",
    Hasty: "test_a_claim_before_the_due_time_gets_nothing_and_changes_nothing",
    Forgetful: "test_a_claim_repeated_with_its_nonce_is_the_same_claim",
    Overwriting: "test_putting_again_changes_nothing_in_a_row_that_has_run",
    Fickle: "test_the_first_request_to_cancel_stays",
    Generationless: "test_a_pending_action_gets_another_due_time",
    Shallow: "test_what_is_scheduled_while_one_pages_moves_no_page",
    Careless: "test_another_tenants_same_correlation_id_is_unseen",
    Indiscreet: "test_the_failed_list_shows_no_other_tenants_actions",
    Deaf: "test_a_heartbeat_tells_of_a_request_to_cancel",
    Relentless: "test_a_retry_is_refused_when_a_cancel_was_asked_for",
    Inclusive: "test_the_first_bound_is_excluded_and_the_last_included",
    Racy: "test_of_many_claims_at_once_exactly_one_wins",
    Timely: "test_a_key_whose_time_has_passed_holds_while_its_action_is_not_final",
    Undiscerning: "test_of_two_payloads_under_one_key_at_once_exactly_one_wins",
    Boundless: "test_each_asks_by_its_own_limit",
    Slotless: "test_fewer_than_the_limit_may_run_beside_it",
    Stale: "test_a_holder_that_renewed_its_lease_meanwhile_keeps_its_slot",
    Gentle: "test_an_evicted_run_that_wakes_holds_nothing",
    Believing: "test_a_claim_that_hears_of_itself_only_after_its_eviction_is_no_claim",
    Holding: "test_a_commit_frees_the_slot",
    Keyless: "test_a_redrive_is_refused_while_another_action_has_the_key",
}


@pytest.mark.parametrize(
    ("store", "sentence"), BROKEN.items(), ids=lambda each: getattr(each, "__name__", "")
)
def test_a_store_that_breaks_a_rule_fails_the_sentence_that_says_it(store, sentence):
    check = getattr(ActionStoreContract(), sentence)
    check(MemoryStore())
    with pytest.raises(AssertionError):
        check(store())


class Disorderly(MemoryStore):
    def in_due_order(self, tenant_id, *, after, until, limit, cursor):
        page = super().in_due_order(tenant_id, after=after, until=until, limit=limit, cursor=cursor)
        return Page(page.actions[::-1], page.cursor)


def test_a_store_that_lists_in_another_than_the_due_order_fails_the_sentence_that_says_it():
    check = DueOrderContract().test_a_tenants_one_shots_come_soonest_first
    check(MemoryStore())
    with pytest.raises(AssertionError):
        check(Disorderly())


class Unrevised(MemoryJobStore):
    def change(self, old, new, *, spans=()):
        return super().change(self.get(old.ref) or old, new, spans=spans)


class Lockless(MemoryJobStore):
    def claim(self, taking):
        hold = Hold.UNCHANGED if taking.hold is Hold.LOCK else taking.hold
        return super().claim(replace(taking, hold=hold))


class Grasping(MemoryJobStore):
    def _is_dead(self, holder, dead):
        return True


class Negligent(MemoryJobStore):
    def claim(self, taking):
        return super().claim(replace(taking, job=self.get(taking.job.ref) or taking.job))


class Recounting(MemoryJobStore):
    def settle(self, claimed, settlement, ref, ended):
        result = super().settle(claimed, settlement, ref, ended)
        self.count(ref, ended)
        return result


class Unlocking(MemoryJobStore):
    def _unlock(self, ref, holder):
        return super()._unlock(ref, self.get(ref).running)


class Impatient(MemoryJobStore):
    def wait(self, job, waiting):
        return super().wait(self.get(job.ref) or job, waiting)


class Hurried(MemoryJobStore):
    def move_cursor(self, job, cursor, attend_at, *, missed=()):
        read = replace(job, cursor=self.get(job.ref).cursor)
        return super().move_cursor(read, cursor, attend_at, missed=missed)


BROKEN_JOBS = {
    Unrevised: "test_a_change_of_an_older_revision_changes_nothing",
    Lockless: "test_of_many_occurrences_that_claim_the_lock_at_once_exactly_one_wins",
    Grasping: "test_a_holder_that_renewed_its_lease_meanwhile_keeps_the_lock",
    Recounting: "test_a_repeated_settle_is_settled_and_counted_once",
    Unlocking: "test_the_lock_of_another_is_left_alone",
    Impatient: "test_an_action_does_not_wait_in_place_of_one_that_came_before_it",
    Hurried: "test_a_plan_from_an_older_cursor_moves_nothing",
}


@pytest.mark.parametrize(
    ("jobs", "sentence"), BROKEN_JOBS.items(), ids=lambda each: getattr(each, "__name__", "")
)
def test_a_job_store_that_breaks_a_rule_fails_the_sentence_that_says_it(jobs, sentence):
    check = getattr(JobStoreContract(), sentence)
    faces = set(inspect.signature(check).parameters)

    def over(kind):
        store = MemoryStore()
        return {name: face for name, face in (("store", store), ("jobs", kind(store))) if name in faces}

    check(**over(MemoryJobStore))
    with pytest.raises(AssertionError):
        check(**over(jobs))


def test_a_job_store_that_does_not_look_at_its_job_fails_for_each_hold_that_asks_for_it():
    check = JobStoreContract().test_a_job_that_was_changed_since_it_was_read_refuses_the_claim
    for hold in (Hold.LOCK, Hold.UNCHANGED):
        for kind in (MemoryJobStore, Negligent):
            store = MemoryStore()
            with nullcontext() if kind is MemoryJobStore else pytest.raises(AssertionError):
                check(store, kind(store), hold)


def test_a_back_end_that_names_no_store_is_told_what_to_override(tmp_path):
    outsider = tmp_path / "test_outsider.py"
    outsider.write_text(
        "from duetime.testing.contract import ActionStoreContract\n\n\n"
        "class TestMine(ActionStoreContract):\n    pass\n"
    )
    said = _run("-m", "pytest", "-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider", str(outsider))
    assert "override the fixture `store`" in said.stdout


def test_an_outsider_may_run_the_whole_contract_from_one_import(tmp_path):
    outsider = tmp_path / "test_outsider.py"
    outsider.write_text(
        "import pytest\n\n"
        "from duetime.memory.store import MemoryStore\n"
        "from duetime.testing.contract import ActionStoreContract\n\n\n"
        "class TestMine(ActionStoreContract):\n"
        "    @pytest.fixture\n"
        "    def store(self):\n"
        "        return MemoryStore()\n"
    )
    said = _run("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", str(outsider))
    assert said.returncode == 0, said.stdout


def test_the_testing_package_alone_needs_no_pytest():
    said = _run("-c", "import sys, duetime.testing; print('pytest' in sys.modules)")
    assert said.stdout == "False\n"


def _run(*arguments):
    return subprocess.run(  # noqa: S603 - every argument is from this file
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
