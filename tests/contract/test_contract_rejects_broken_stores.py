"""A store that breaks a rule fails the contract, and a project of its own can run it."""

import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from duetime.memory.jobs import MemoryJobStore
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.model.swap import Guard
from duetime.ports.jobs import LockRequirement
from duetime.ports.row_writes import RowSwap
from duetime_contract import ActionStoreContract, DueOrderContract, JobStoreContract, items
from tests.contract.broken_stores import (
    Backward,
    Believing,
    Boundless,
    Careless,
    Deaf,
    Disorderly,
    Fenceless,
    Fickle,
    Forgetful,
    Forgetting,
    Generationless,
    Gentle,
    Grasping,
    Hasty,
    Hurried,
    Impatient,
    Inclusive,
    Indiscreet,
    Keyless,
    Lenient,
    Lockless,
    Negligent,
    Overtaking,
    Overwriting,
    Pushing,
    Racy,
    Recounting,
    Relentless,
    Shallow,
    Slotless,
    Stale,
    Timely,
    Tokenless,
    Undiscerning,
    Unfenced,
    Unlocking,
    Unrevised,
    bound,
)
from tests.contract.rules import ActionRules, JobRules

PYTEST = ("-m", "pytest", "-q", *(f"-pno:{name}" for name in ("randomly", "cacheprovider", "schemathesis")))
"""Without plugins that cost seconds to load."""


class Actions(ActionStoreContract, ActionRules):
    """The contract of the store and its rules."""


class Jobs(JobStoreContract, JobRules):
    """The contract of the job store and its rules."""


BROKEN = {
    Fenceless: "test_a_run_that_was_taken_over_settles_nothing_that_the_next_one_has_ended",
    Hasty: "test_a_claim_before_the_due_time_gets_nothing_and_changes_nothing",
    Forgetful: "test_a_claim_repeated_with_its_nonce_is_the_same_claim",
    Overwriting: "test_putting_again_changes_nothing_in_a_row_that_has_run",
    Fickle: "test_the_first_request_to_cancel_stays",
    Generationless: "test_a_pending_action_gets_another_due_time",
    Shallow: "test_a_new_row_moves_no_page",
    Careless: "test_another_tenants_same_correlation_id_is_unseen",
    Indiscreet: "test_the_failed_list_shows_no_other_tenants_actions",
    Deaf: "test_a_heartbeat_returns_a_request_to_cancel",
    Relentless: "test_a_retry_is_rejected_after_a_request_to_cancel",
    Inclusive: "test_the_first_bound_is_excluded_and_the_last_included",
    Racy: "test_of_many_claims_at_once_exactly_one_wins",
    Timely: "test_an_expired_key_applies_until_its_action_is_final",
    Undiscerning: "test_of_two_payloads_under_one_key_at_once_exactly_one_wins",
    Boundless: "test_each_take_has_its_own_limit",
    Slotless: "test_fewer_than_the_limit_may_hold_slots_beside_it",
    Pushing: "test_nobody_takes_a_slot_before_those_that_joined_the_line_meanwhile",
    Lenient: "test_a_claim_that_comes_after_its_eviction_fails",
    Tokenless: "test_a_late_free_frees_no_slot_that_was_taken_again",
    Forgetting: "test_a_slot_is_not_freed_past_an_action_that_has_joined_the_line",
    Unfenced: "test_a_run_that_was_taken_over_stores_no_checkpoint",
    Backward: "test_a_checkpoint_that_arrives_after_a_later_one_changes_nothing",
    Overtaking: "test_a_row_that_changed_since_it_was_read_is_not_claimed_with_a_slot",
    Stale: "test_a_holder_that_renewed_its_lease_meanwhile_retains_its_slot",
    Gentle: "test_an_evicted_run_that_wakes_holds_nothing",
    Believing: "test_a_claim_whose_response_comes_after_its_eviction_fails",
    Keyless: "test_a_redrive_is_rejected_while_another_action_has_the_key",
}


@pytest.mark.parametrize(
    ("store", "sentence"), BROKEN.items(), ids=lambda broken: getattr(broken, "__name__", "")
)
def test_a_store_that_breaks_a_rule_fails_that_rules_test(store, sentence):
    bound(Actions(), sentence, store=MemoryStore())()
    check = bound(Actions(), sentence, store=store())
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize(
    ("clause", "change"),
    [
        ("as_read", "claim"),
        ("as_read", "take over"),
        ("as_read", "report"),
        ("unset", "ask to cancel"),
        ("unset", "dismiss"),
        ("is_handed_over", "hand over"),
        ("at_most", "renew"),
        ("above", "heartbeat by token"),
    ],
)
def test_an_engine_that_ignores_a_clause_of_rows_fails(clause, change):
    sentence = "test_a_row_that_violates_one_clause_of_the_guard_is_returned_unchanged"
    bound(Actions(), sentence, store=MemoryStore(), name=change)()
    store = MemoryStore()
    store.items.write = partial(_without_clause, store.items.write, clause)
    with pytest.raises(AssertionError):
        bound(Actions(), sentence, store=store, name=change)()


def _without_clause(write, clause, *writes, **options):
    """Write as an engine does that never looks at a clause."""
    empty = getattr(Guard(status=Status.PENDING, as_read=()), clause)
    blind = [
        one._replace(guard=replace(one.guard, **{clause: empty})) if isinstance(one, RowSwap) else one
        for one in writes
    ]
    return write(*blind, **options)


@pytest.mark.parametrize("form", items.FORMS)
@pytest.mark.parametrize("name", [name for name, case in items.GUARDS.items() if case[2]])
def test_an_engine_that_ignores_a_guard_of_items_fails(name, form):
    sentence = "test_a_write_is_made_if_its_guard_holds_and_else_returns_the_item"
    store = MemoryStore()
    write = store.items.write
    store.items.write = lambda *writes, **more: write(*(replace(one, guard=()) for one in writes), **more)
    with pytest.raises(AssertionError):
        bound(Actions(), sentence, store=store, name=name, form=form)()


def test_a_store_that_lists_out_of_due_order_fails_that_rules_test():
    check = DueOrderContract().test_a_tenants_one_shots_come_soonest_first
    check(MemoryStore())
    with pytest.raises(AssertionError):
        check(Disorderly())


BROKEN_JOBS = {
    Unrevised: "test_a_change_of_an_older_revision_changes_nothing",
    Lockless: "test_of_many_occurrences_that_claim_the_lock_at_once_exactly_one_wins",
    Grasping: "test_a_holder_that_renewed_its_lease_meanwhile_retains_the_lock",
    Recounting: "test_a_repeated_settle_is_settled_and_counted_once",
    Unlocking: "test_the_lock_of_another_is_left_alone",
    Impatient: "test_an_action_does_not_wait_in_place_of_one_that_came_before_it",
    Hurried: "test_a_plan_from_an_older_cursor_moves_nothing",
}


@pytest.mark.parametrize(
    ("jobs", "sentence"), BROKEN_JOBS.items(), ids=lambda broken: getattr(broken, "__name__", "")
)
def test_a_job_store_that_breaks_a_rule_fails_that_rules_test(jobs, sentence):
    def check_of(kind):
        store = MemoryStore()
        return bound(Jobs(), sentence, store=store, jobs=kind(store))

    check_of(MemoryJobStore)()
    check = check_of(jobs)
    with pytest.raises(AssertionError):
        check()


def test_a_job_store_that_ignores_its_job_fails_for_each_hold_that_needs_it():
    sentence = "test_a_job_that_changed_after_the_read_rejects_the_claim"
    for hold in (LockRequirement.LOCK, LockRequirement.UNCHANGED):
        for kind in (MemoryJobStore, Negligent):
            store = MemoryStore()
            check = bound(Jobs(), sentence, store=store, jobs=kind(store), hold=hold)
            with nullcontext() if kind is MemoryJobStore else pytest.raises(AssertionError):
                check()


def test_a_contract_without_a_store_names_the_fixture_to_override(tmp_path):
    outsider = tmp_path / "test_outsider.py"
    outsider.write_text(
        "from duetime_contract import ActionStoreContract\n\n\n"
        "class TestMine(ActionStoreContract):\n    pass\n"
    )
    result = _run(*PYTEST, "-x", str(outsider))
    assert "override the fixture `store`" in result.stdout


def test_one_import_runs_the_whole_contract(tmp_path):
    outsider = tmp_path / "test_outsider.py"
    outsider.write_text(
        "import pytest\n\n"
        "from duetime.memory.store import MemoryStore\n"
        "from duetime_contract import ActionStoreContract\n\n\n"
        "class TestMine(ActionStoreContract):\n"
        "    @pytest.fixture\n"
        "    def store(self):\n"
        "        return MemoryStore()\n"
    )
    result = _run(*PYTEST, "-W", "error", str(outsider))
    assert result.returncode == 0, result.stdout


def test_the_testing_package_alone_needs_no_pytest():
    result = _run("-c", "import sys, duetime.testing; print('pytest' in sys.modules)")
    assert result.stdout == "False\n"


def _run(*arguments):
    return subprocess.run(  # noqa: S603 - every argument is from this file
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )
