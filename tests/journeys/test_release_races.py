"""Held actions and batches whose rows are damaged, or whose writes another process overtook."""

from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest

from duetime import App, Payload, Run
from duetime.actions.order import Order
from duetime.model.action import Status
from duetime.model.batch import BatchState
from duetime.model.predecessors import Predecessors
from duetime.ports.actions import DamagedRow
from duetime.settings import Settings
from duetime.testing import SimulatedCloud
from duetime.wakeups.assembly import Steps
from duetime.wakeups.count_batch import CountBatch, Release
from duetime.wakeups.follow import Follow, SweepHeld
from duetime_contract.batches import held
from duetime_contract.specimens import NOON, fresh, put, scheduled, stored_row
from tests.backends import backends
from tests.hooked import Hooked

MINUTE = timedelta(minutes=1)


def test_an_action_stays_held_while_the_row_of_a_predecessor_is_damaged(store):
    """A row that cannot be read may still run; a row that is gone has ended."""
    one, hooked = scheduled(store), Hooked(store)
    row = put(store, held(store, Predecessors((one.id,), ()).text()))

    def reads(get_rows, refs, damaged=None):
        found = list(get_rows(refs))
        if damaged is None:
            return found
        damaged += [DamagedRow(item.ref, "it has no due time") for item in found]
        return []

    hooked.hooks["get_rows"] = reads
    release = Release(backends(hooked))
    assert not release(row.ref)
    assert stored_row(store, row.ref) == row
    del hooked.hooks["get_rows"]
    store.cancel(one, by="ada", at=NOON, kept_until=NOON + MINUTE)
    assert release(row.ref)


class Line(Payload):
    number: int


class Report(Payload):
    pass


@pytest.fixture
def cloud():
    app, reports = App(), []

    @app.action
    def import_line(payload: Line, run: Run) -> None: ...

    @app.action
    def report(payload: Report, run: Run) -> None:
        reports.append(cloud.now)

    cloud = SimulatedCloud(app, start=NOON)
    cloud.reports = reports
    yield cloud
    cloud.close()


def fill(cloud, count):
    with cloud.scheduler.batch("import", on_complete=Report()) as batch:
        batch.schedule_many(Order(Line(number=number), at=MINUTE) for number in range(count))
    return cloud.scheduler.batches.get("import").ref


def test_a_record_of_a_complete_batch_releases_again_what_an_earlier_process_left_waiting(cloud):
    """The process that completed the batch died before it released the completion action."""
    with (
        patch.object(SweepHeld, "__call__", lambda *_, **__: 0),
        patch.object(SweepHeld, "check_all", lambda *_, **__: 0),
    ):
        with patch.object(CountBatch, "_release_all", lambda *_: None):
            ref = fill(cloud, 3)
            cloud.advance(2 * MINUTE)
        store = cloud.memory.store
        assert store.find_batch(ref).state is BatchState.COMPLETE
        assert cloud.reports == []
        count = Steps(backends(store, clock=cloud.clock)).count_batch
        count.wake(ref, stop_at=cloud.now + MINUTE)
        cloud.advance(MINUTE)
    assert len(cloud.reports) == 1


@pytest.mark.parametrize("is_written", [True, False], ids=["its write is made", "another writer was faster"])
def test_a_count_releases_what_waits_for_the_batch_only_after_its_own_write(cloud, is_written):
    with (
        patch.object(Follow, "__call__", lambda *_, **__: None),
        patch.object(SweepHeld, "__call__", lambda *_, **__: 0),
        patch.object(SweepHeld, "check_all", lambda *_, **__: 0),
    ):
        ref = fill(cloud, 3)
        cloud.advance(2 * MINUTE)
    store, released = Hooked(cloud.memory.store), []
    if not is_written:
        store.hooks["change_batch"] = lambda *_given: False
    release = lambda ref, **_: released.append(ref.id)  # noqa: E731
    count = CountBatch(backends(store, clock=cloud.clock), release)
    count.sweep(ref, stop_at=cloud.now + MINUTE)
    batch = cloud.memory.store.find_batch(ref)
    assert batch.state is (BatchState.COMPLETE if is_written else BatchState.RUNNING)
    assert released == ([batch.on_complete] if is_written else [])


@pytest.fixture
def release(store):
    return Release(backends(store))


def test_only_a_held_action_is_released(store, release):
    row = scheduled(store)
    assert not release(row.ref, has_success=True)
    assert stored_row(store, row.ref) == row
    assert not release(fresh(store).ref)


@pytest.mark.parametrize(
    ("early", "has_success", "wakes"),
    [(MINUTE, True, True), (MINUTE, False, False), (timedelta(0), True, False), (-MINUTE, True, False)],
    ids=["after a success", "after a failure", "at its due time", "after its due time"],
)
def test_a_run_that_waits_for_another_jobs_run_is_due_at_once_after_a_success(
    store, release, early, has_success, wakes
):
    row = put(store, replace(fresh(store, due_at=NOON + early), waits_for="another"))
    assert release(row.ref, has_success=has_success) is wakes
    after = stored_row(store, row.ref)
    assert (after.due_at, after.generation) == ((NOON, 2) if wakes else (row.due_at, 1))
    assert after.waits_for == "another"


def test_an_action_that_must_be_skipped_names_its_predecessor(store, release):
    one = scheduled(store)
    row = put(store, held(store, Predecessors((one.id,), ()).text(), rule="skip"))
    store.cancel(one, by="ada", at=NOON, kept_until=NOON + MINUTE)
    assert release(row.ref)
    after = stored_row(store, row.ref)
    problem = f"its predecessor {one.id} was cancelled"
    assert (after.status, after.note, after.unmet) == (Status.SKIPPED, problem, problem)
    assert after.kept_until == NOON + Settings().retention
