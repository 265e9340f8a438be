"""What a run writes before its end: its progress, checkpoints and hand-over, and what stops it then."""

import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import App, Payload, Run
from duetime.errors import StateConflict
from duetime.model.action import Status
from duetime.model.change import Change
from duetime.model.hand_over import HandedOver, Progress
from duetime.model.run import RunCancelled
from duetime.testing import SimulatedCloud
from duetime.testing.turned_clock import TurnedClock
from duetime.wakeups.follow import AfterHandOver
from duetime.worker.end_run import CommitStage, RunCheckpoints
from duetime.worker.hand_over import HandOverRun, RunExternalWork
from duetime_contract.specimens import (
    CALLER,
    HOUR,
    NOON,
    ORPHANED_AT,
    SECOND,
    claim,
    end,
    running,
    stored_row,
)
from tests.backends import backends
from tests.contract.rules.slots import holding
from tests.slots import NoQueues

CLOCK = TurnedClock(NOON)


class Print(Payload):
    pass


@pytest.fixture
def run(store):
    return running(store)


def ask_to_cancel(store, run):
    store.ask_to_cancel(run, by=CALLER, at=NOON + SECOND)


def take_over(store, run):
    claim(store, run.ref, ORPHANED_AT)


@pytest.mark.parametrize(("change", "is_stopped"), [(None, False), (ask_to_cancel, True), (take_over, True)])
def test_a_report_of_progress_stops_a_run_that_was_taken_over_or_whose_cancel_was_requested(
    store, run, change, is_stopped
):
    if change:
        change(store, run)
    stop = threading.Event()
    RunExternalWork(run, store, CLOCK, stop).report(Progress(0.5))
    assert stop.is_set() is is_stopped


def checkpoints_of(store, run, stage=CommitStage.OPEN):
    commit = SimpleNamespace(stage=stage, stop=threading.Event())
    return RunCheckpoints(run, store, commit), commit.stop


def test_a_checkpoint_of_a_run_whose_cancel_was_requested_is_stored_and_stops_it(store, run):
    ask_to_cancel(store, run)
    store_checkpoint, stop = checkpoints_of(store, run)
    store_checkpoint("1")
    assert (stored_row(store, run.ref).checkpoint.text, stop.is_set()) == ("1", True)


def test_a_checkpoint_of_a_run_that_was_taken_over_stops_it(store, run):
    take_over(store, run)
    store_checkpoint, stop = checkpoints_of(store, run)
    with pytest.raises(RunCancelled):
        store_checkpoint("1")
    assert (stored_row(store, run.ref).checkpoint, stop.is_set()) == (None, True)


def test_a_run_whose_commit_is_in_doubt_stores_no_checkpoint(store, run):
    store_checkpoint, _ = checkpoints_of(store, run, CommitStage.IN_DOUBT)
    with pytest.raises(StateConflict, match="commit all that belongs together"):
        store_checkpoint("1")
    assert stored_row(store, run.ref).checkpoint is None


@pytest.mark.parametrize("is_current", [True, False])
def test_a_run_of_a_region_that_is_no_longer_active_hands_nothing_over(store, run, is_current):
    region = SimpleNamespace(is_current=lambda _fence: is_current)
    terms = HandOverRun(backends(store, clock=CLOCK), region)(run, HandedOver(HOUR))
    assert (terms is not None) is is_current
    assert stored_row(store, run.ref).is_handed_over is is_current


def test_a_run_that_was_taken_over_ends_without_its_hand_over():
    app = App()

    @app.action
    def send_to_printer(payload: Print, run: Run):
        row = cloud.actions(Status.PROCESSING)[0]
        claim(cloud.memory.store, row.ref, row.lease_until + HOUR)
        return run.hand_over(timeout=timedelta(minutes=9))

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Print(), at=timedelta(0))
    cloud.advance(seconds=1)
    row = cloud.scheduler.get(action.id)
    assert (row.status, row.fence, row.is_handed_over) == (Status.PROCESSING, 2, False)


def test_the_end_of_a_hand_over_wakes_what_waits_for_its_slot(store):
    run, queues = holding(store), NoQueues()
    store.hand_over(run, HandedOver(HOUR).by(run, NOON))
    handed_over = stored_row(store, run.ref)
    store.settle(run, end(Status.EXECUTED))
    change = Change(handed_over, stored_row(store, run.ref))
    AfterHandOver(backends(store, sends=queues, clock=CLOCK))([change])
    assert [send.message.ref for send in queues.sent] == [run.ref]
