"""The order of the calls by which actions follow others, and batches count their members."""

from dataclasses import replace

from duetime.actions.chains import follow
from duetime.ids import ActionId
from duetime.model.action import ActionRef
from duetime.model.predecessors import Predecessors
from duetime.model.row_parts import After
from duetime_contract.batches import NAME, held, opened
from duetime_contract.specimens import fresh, scheduled, stored_row


def test_a_held_action_follows_its_actions_and_its_batches(store):
    batch, one = opened(store), scheduled(store)
    row = held(store, Predecessors((one.id,), (NAME,)).text())
    follow(row, store)
    assert row.id in stored_row(store, one.ref).followers
    assert row.id in store.find_batch(batch.ref).followers


def test_an_action_whose_predecessors_have_ended_follows_none(store):
    one = scheduled(store)
    follow(replace(fresh(store), after=After(one.id)), store)
    assert not stored_row(store, one.ref).followers


def test_a_held_action_whose_batch_is_gone_follows_the_others(store):
    one = scheduled(store)
    row = held(store, Predecessors((one.id,), (NAME,)).text())
    follow(row, store)
    assert row.id in stored_row(store, one.ref).followers


def test_followers_have_the_ids_of_actions(store):
    one = scheduled(store)
    assert store.add_follower(one.ref, ActionId("a"))
    assert not store.add_follower(ActionRef(one.tenant_id, ActionId("gone")), ActionId("a"))
