"""Batches and held actions: the writes that open, change and count a batch, and that release an action."""
# ruff: noqa: D102, S101 - a test's name is its sentence

from __future__ import annotations

from dataclasses import replace

from duetime import ids
from duetime.model import transition
from duetime.model.action import Action, SkipReason, Status
from duetime.model.batch import (
    COUNTED_AT,
    COUNTING_SHARD,
    HELD_AT,
    ActionBatch,
    Counts,
    MemberStatus,
    closed,
    completed,
    counted_again,
    extended,
    missing_member,
)
from duetime.model.lease import Applied, Rejected
from duetime.model.predecessors import SKIP, Predecessors
from duetime.model.row_parts import After
from duetime.ports.action_store import ActionStore
from duetime_contract.scheduling import LARGE
from duetime_contract.specimens import (
    ACME,
    CALLER,
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
)
from duetime_contract.subject import StoreContract

NAME = "import-2027-03"
DAYS = 24 * HOUR


def opened(
    store: ActionStore, name: str = NAME, tenant_id: ids.TenantId = ACME, size: int = 0
) -> ActionBatch:
    """A stored batch."""
    batch = ActionBatch(
        tenant_id=tenant_id,
        name=name,
        first_id=ids.batch_id(NOON),
        version="v1",
        opened_at=NOON,
        opened_by=CALLER,
        size=size,
    )
    assert store.open_batch(batch, None) == batch
    return batch


def members(store: ActionStore, batch: ActionBatch, count: int, start: int = 0) -> list[Action]:
    """Stored members of a batch."""
    rows = [
        replace(
            fresh(store),
            id=batch.member(number).id,
            due_shard=ids.due_shard_of(batch.member(number).id, len(store.due_shards)),
            batch=batch.name,
            is_awaited=True,
        )
        for number in range(start, start + count)
    ]
    store.put_many(rows)
    return rows


def held(
    store: ActionStore, after: str = f"batch:{NAME}", payload: str | None = None, rule: str | None = None
) -> Action:
    """An unwritten held action."""
    row = fresh(store) if payload is None else fresh(store, payload=payload)
    return replace(
        row, due_at=HELD_AT, first_due_at=NOON, after=After(Predecessors.parse(after).text(), rule)
    )


def finish(store: ActionStore, row: Action) -> None:
    """Have a row executed."""
    store.settle(claim(store, row.ref), end(Status.EXECUTED))


def counted_names(store: ActionStore) -> list[str]:
    """The names of the batches in the due index."""
    page = store.due(COUNTING_SHARD, after=COUNTED_AT - SECOND, until=COUNTED_AT, limit=10, cursor=None)
    return [entry.ref.id for entry in page.entries]


class BatchContract(StoreContract):
    """The item of a batch, and its members."""

    def test_a_batch_is_opened_with_its_completion_action(self, store: ActionStore) -> None:
        completion = replace(held(store, payload=LARGE), payload_size=len(LARGE))
        batch = replace(opened(store, "other"), name=NAME, on_complete=completion.id)
        assert store.open_batch(batch, completion) == batch
        assert store.find_batch(batch.ref) == batch
        assert stored_row(store, completion.ref) == completion
        assert stored_row(store, completion.ref).is_held

    def test_a_second_batch_of_a_name_is_not_opened_nor_its_action(self, store: ActionStore) -> None:
        first, completion = opened(store), held(store)
        second = replace(first, version="v2", first_id=ids.batch_id(NOON), on_complete=completion.id)
        assert store.open_batch(second, completion) == first
        assert store.get(completion.ref) is None

    def test_a_repeated_open_returns_its_own_batch(self, store: ActionStore) -> None:
        batch, completion = opened(store), held(store)
        assert store.open_batch(batch, completion) == batch

    def test_another_tenants_batch_is_another_one(self, store: ActionStore) -> None:
        batch = opened(store)
        other = opened(store, tenant_id=GLOBEX)
        assert store.find_batch(batch.ref) == batch
        assert store.find_batch(other.ref) == other

    def test_a_batch_is_changed_if_its_version_is_as_read(self, store: ActionStore) -> None:
        batch = opened(store)
        changed = replace(extended(batch, 7), version="v2")
        assert store.change_batch(batch, changed)
        assert store.find_batch(batch.ref) == changed

    def test_a_change_of_an_older_version_changes_nothing(self, store: ActionStore) -> None:
        batch = opened(store)
        changed = replace(extended(batch, 7), version="v2")
        assert store.change_batch(batch, changed)
        assert not store.change_batch(batch, replace(extended(batch, 9), version="v3"))
        assert store.find_batch(batch.ref) == changed

    def test_a_repeated_change_reports_its_success(self, store: ActionStore) -> None:
        batch = opened(store)
        changed = replace(extended(batch, 7), version="v2")
        assert store.change_batch(batch, changed)
        assert store.change_batch(batch, changed)

    def test_a_batch_that_is_gone_is_not_changed(self, store: ActionStore) -> None:
        batch = replace(opened(store), name="gone")
        assert not store.change_batch(batch, replace(batch, version="v2"))
        assert store.find_batch(batch.ref) is None

    def test_each_value_of_a_batch_is_stored(self, store: ActionStore) -> None:
        batch = opened(store, size=5)
        full = replace(
            closed(batch, by="ops", at=NOON + MINUTE),
            version="v2",
            on_complete=fresh(store).id,
            followers=(fresh(store).id, fresh(store).id),
            counts=Counts(1, 2, 0, 1),
            counted_at=NOON + HOUR,
            prefix=3,
            prefix_counts=Counts(1, 1, 0, 1),
            short_list=(3,),
        )
        assert store.change_batch(batch, full)
        assert store.find_batch(batch.ref) == full
        done = replace(completed(full, at=NOON + HOUR, kept_until=NOON + DAYS), version="v3")
        assert store.change_batch(full, done)
        assert store.find_batch(batch.ref) == done
        again = replace(counted_again(done, at=NOON + 2 * HOUR), version="v4")
        assert store.change_batch(done, again)
        assert store.find_batch(batch.ref) == again
        redone = replace(completed(again, at=NOON + 2 * HOUR, kept_until=NOON + DAYS), version="v5")
        assert redone.recount_at == NOON + 3 * HOUR
        assert store.change_batch(again, redone)
        assert store.find_batch(batch.ref) == redone

    def test_the_due_index_has_the_batches_that_are_not_complete(self, store: ActionStore) -> None:
        batch = opened(store)
        assert counted_names(store) == [NAME]
        done = replace(
            completed(closed(batch, by="ops", at=NOON), at=NOON, kept_until=NOON + DAYS), version="v2"
        )
        assert store.change_batch(batch, done)
        assert counted_names(store) == []
        again = replace(counted_again(done, at=NOON), version="v3")
        assert store.change_batch(done, again)
        assert counted_names(store) == [NAME]

    def test_the_due_index_has_a_batch_that_a_redrive_completed_until_it_is_counted_once_more(
        self, store: ActionStore
    ) -> None:
        batch = opened(store)
        again = replace(counted_again(closed(batch, by="ops", at=NOON), at=NOON), version="v2")
        assert store.change_batch(batch, again)
        redone = replace(completed(again, at=NOON, kept_until=NOON + DAYS), version="v3")
        assert store.change_batch(again, redone)
        assert counted_names(store) == [NAME]
        recounted = replace(completed(redone, at=NOON + HOUR, kept_until=NOON + DAYS), version="v4")
        assert store.change_batch(redone, recounted)
        assert counted_names(store) == []

    def test_batches_are_listed_by_name_page_by_page(self, store: ActionStore) -> None:
        for name in ("c", "a", "b"):
            opened(store, name)
        opened(store, "d", GLOBEX)
        first = store.batches(ACME, limit=2, cursor=None)
        assert [batch.name for batch in first] == ["a", "b"]
        rest = store.batches(ACME, limit=2, cursor=first.cursor)
        assert ([batch.name for batch in rest], rest.cursor) == (["c"], None)

    def test_the_statuses_of_members_are_read_by_number(self, store: ActionStore) -> None:
        batch = opened(store, size=40)
        rows = members(store, batch, 40)
        finish(store, rows[16])
        statuses = {
            number: status
            for shard in ids.SHARDS
            for number, status in store.member_statuses(batch, shard, 3, 33).items()
        }
        assert sorted(statuses) == list(range(3, 33))
        executed = MemberStatus(Status.EXECUTED)
        assert {number for number, status in statuses.items() if status == executed} == {16}

    def test_a_member_has_the_time_of_its_redrive_until_it_ends_again(self, store: ActionStore) -> None:
        batch = opened(store, size=1)
        (row,) = members(store, batch, 1)
        store.settle(claim(store, row.ref), end(Status.FAILED))
        assert store.member_statuses(batch, "0", 0, 1) == {0: MemberStatus(Status.FAILED)}
        at = NOON + HOUR
        redriven = applied(store, row.ref, store.redrive(stored_row(store, row.ref), at, by="ops", at=at))
        assert store.member_statuses(batch, "0", 0, 1) == {0: MemberStatus(Status.PENDING, at)}
        store.settle(claim(store, redriven.ref, at), end(Status.EXECUTED))
        assert store.member_statuses(batch, "0", 0, 1) == {0: MemberStatus(Status.EXECUTED, at)}

    def test_no_members_and_missing_members_have_no_status(self, store: ActionStore) -> None:
        batch = opened(store, size=40)
        members(store, batch, 3)
        assert store.member_statuses(batch, "0", 0, 0) == {}
        assert store.member_statuses(batch, "1", 0, 40) == {1: MemberStatus(Status.PENDING)}
        assert store.member_statuses(batch, "5", 0, 40) == {}

    def test_other_actions_are_no_members(self, store: ActionStore) -> None:
        batch = opened(store, size=16)
        for _ in range(20):
            store.put(fresh(store))
        assert not any(store.member_statuses(batch, shard, 0, 16) for shard in ids.SHARDS)

    def test_a_row_in_a_missing_members_place_keeps_a_late_put_out(self, store: ActionStore) -> None:
        batch = closed(opened(store, size=1), by="ops", at=NOON)
        row = missing_member(batch, 0, due_shard="0", at=NOON, kept_until=NOON + DAYS)
        store.record(row)
        members(store, batch, 1)
        assert stored_row(store, row.ref).status is Status.SKIPPED
        assert batch.has_member(stored_row(store, row.ref))


class ReleaseContract(StoreContract):
    """Held actions."""

    def test_no_scan_of_due_rows_reaches_a_held_row(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        late = NOON + 1000 * DAYS
        assert not store.due(row.due_shard, after=None, until=late, limit=10, cursor=None).entries
        page = store.due(row.due_shard, after=HELD_AT - SECOND, until=HELD_AT, limit=10, cursor=None)
        assert [entry.ref for entry in page.entries] == [row.ref]

    def test_a_released_row_has_its_due_time(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        released = transition.released(row, now=NOON - HOUR, unmet=None)
        assert applied(store, row.ref, store.release(row, released)) == released
        assert stored_row(store, row.ref) == released
        assert (released.due_at, released.nominal_at, released.is_held) == (NOON, NOON, False)

    def test_a_row_released_late_is_due_then(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        released = applied(
            store, row.ref, store.release(row, transition.released(row, now=NOON + HOUR, unmet=None))
        )
        assert (released.due_at, released.nominal_at) == (NOON + HOUR, NOON + HOUR)
        assert claim(store, released.ref, NOON + HOUR).attempt == 1

    def test_a_row_is_released_once(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        applied(store, row.ref, store.release(row, transition.released(row, now=NOON, unmet=None)))
        second = store.release(row, transition.released(row, now=NOON + MINUTE, unmet="it failed"))
        assert isinstance(second, Rejected)
        assert stored_row(store, row.ref).unmet is None

    def test_a_repeated_release_reports_its_success(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        released = transition.released(row, now=NOON, unmet="it failed")
        applied(store, row.ref, store.release(row, released))
        assert store.release(row, released) == Applied(released)

    def test_a_late_release_does_not_undo_a_run(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        released = applied(store, row.ref, store.release(row, transition.released(row, now=NOON, unmet=None)))
        finish(store, released)
        assert isinstance(store.release(row, transition.released(row, now=NOON, unmet=None)), Rejected)
        assert stored_row(store, row.ref).status is Status.EXECUTED

    def test_a_cancelled_row_is_not_released(self, store: ActionStore) -> None:
        row = held(store)
        store.put(row)
        applied(store, row.ref, store.cancel(row, by="ops", at=NOON, kept_until=NOON + DAYS))
        assert isinstance(store.release(row, transition.released(row, now=NOON, unmet=None)), Rejected)

    def test_a_release_can_skip_and_keeps_the_reason(self, store: ActionStore) -> None:
        row = held(store, rule=SKIP)
        store.put(row)
        skipped = transition.skipped(
            row, SkipReason.PREDECESSOR, note="x failed", by="duetime", at=NOON, kept_until=NOON + DAYS
        )
        applied(store, row.ref, store.release(row, skipped))
        found = stored_row(store, row.ref)
        assert (found.status, found.skip_reason, found.note) == (
            Status.SKIPPED,
            SkipReason.PREDECESSOR,
            "x failed",
        )

    def test_followers_are_added_to_a_row_of_any_status(self, store: ActionStore) -> None:
        row, first, second = fresh(store), held(store), held(store)
        store.put(row)
        assert store.add_follower(row.ref, second.id)
        finish(store, row)
        assert store.add_follower(row.ref, first.id)
        assert store.add_follower(row.ref, first.id)
        found = stored_row(store, row.ref)
        assert found.followers == tuple(sorted((first.id, second.id)))
        assert (found.status, found.is_awaited) == (Status.EXECUTED, True)

    def test_a_missing_row_gets_no_follower(self, store: ActionStore) -> None:
        row = fresh(store)
        assert not store.add_follower(row.ref, held(store).id)
        assert store.get(row.ref) is None

    def test_a_release_keeps_the_followers(self, store: ActionStore) -> None:
        row, follower = held(store), held(store)
        store.put(row)
        assert store.add_follower(row.ref, follower.id)
        applied(store, row.ref, store.release(row, transition.released(row, now=NOON, unmet=None)))
        assert stored_row(store, row.ref).followers == (follower.id,)
