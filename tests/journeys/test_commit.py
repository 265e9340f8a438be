"""A handler that commits.

Its action is executed by its own write, and whatever comes after that changes nothing.
"""

import logging

import pytest

from duetime import App, Fatal, Retry, RetryPolicy, Run, Status, daily, manual
from duetime.errors import BackendUnavailable, CommitRejected, InvalidArgument, StateConflict
from duetime.model.action import Ending
from duetime.model.run import MOST_ENTRIES, RunCancelled
from duetime.telemetry.run_log import LOST
from duetime.testing import SimulatedCloud, fake_run
from tests.journeys.books import BOOKED, REFUSED, BookingApp
from tests.journeys.conftest import NOON


def test_a_commit_executes_the_action_with_its_attempt():
    booking = BookingApp(lambda run: run.commit([BOOKED]))
    done = booking.after(seconds=1)
    assert (done.status, done.executed_at, done.attempt) == (Status.EXECUTED, NOON, 1)
    assert [attempt.ending for attempt in done.attempts] == [Ending.EXECUTED]
    assert booking.table == [BOOKED]


def test_an_empty_commit_needs_no_table():
    booking = BookingApp(lambda run: run.commit([]), takes=False)
    assert booking.after(seconds=1).status is Status.EXECUTED


def test_entries_without_a_table_fail_and_the_error_names_the_possible_tables():
    booking = BookingApp(lambda run: run.commit([BOOKED]), takes=False, policy=RetryPolicy(attempts=1))
    failed = booking.after(seconds=1)
    assert failed.status is Status.FAILED
    assert "need DynamoDB: start `duetime local` with --setup; in tests, Sim" in failed.failure_reason


@pytest.mark.parametrize("error", [ValueError("too late"), Fatal("no more"), Retry(after=5), RunCancelled()])
def test_exceptions_after_a_commit_are_only_logged(error, caplog):
    def handle(run):
        run.commit([BOOKED])
        raise error

    booking = BookingApp(handle)
    with caplog.at_level(logging.WARNING):
        assert booking.after(hours=1).status is Status.EXECUTED
    assert "raised after its commit" in caplog.text
    assert (booking.handled, booking.table) == (1, [BOOKED])


def test_a_second_commit_of_a_run_is_an_error_and_writes_nothing():
    def handle(run):
        run.commit([BOOKED])
        with pytest.raises(StateConflict, match="commit all that belongs together at once"):
            run.commit([BOOKED])

    booking = BookingApp(handle)
    assert booking.after(seconds=1).status is Status.EXECUTED
    assert booking.table == [BOOKED]


def test_an_uncaught_rejection_is_retried_by_policy():
    booking = BookingApp(lambda run: run.commit([BOOKED]), refuses=1)
    done = booking.after(hours=1)
    assert [attempt.ending for attempt in done.attempts] == [Ending.FAILED, Ending.EXECUTED]
    assert done.attempts[0].message.startswith(
        "CommitRejected: the commit was refused, and nothing was written"
    )
    assert booking.table == [BOOKED]


def test_a_handler_may_return_after_a_rejected_commit_and_is_executed():
    def handle(run):
        with pytest.raises(CommitRejected):
            run.commit([BOOKED])
        assert run.committed is None

    booking = BookingApp(handle, refuses=1)
    assert booking.after(seconds=1).status is Status.EXECUTED
    assert booking.table == []


def test_a_requested_cancel_stops_no_commit():
    def handle(run):
        booking.cloud.scheduler.cancel(run.id)
        run.stop.set()
        run.commit([BOOKED])

    booking = BookingApp(handle)
    done = booking.after(seconds=1)
    assert (done.status, done.cancel_request.by) == (Status.EXECUTED, "simulation")


def test_a_run_that_was_taken_over_is_stopped_by_its_commit_and_settles_nothing():
    def handle(run):
        if run.fence == 1:
            booking.cloud.advance(minutes=20)
        try:
            run.commit([{**BOOKED, "Put": {**BOOKED["Put"], "TableName": f"ledger-{run.fence}"}}])
        finally:
            stopped.append(run.cancelled)

    stopped, booking = [], BookingApp(handle)
    done = booking.after(minutes=1)
    assert (done.status, done.fence, done.recoveries) == (Status.EXECUTED, 2, 1)
    assert stopped == [False, True]
    assert [entry["Put"]["TableName"] for entry in booking.table] == ["ledger-2"]


def test_a_commit_without_a_response_allows_a_takeover_and_uses_no_attempt(caplog):
    def handle(run):
        booking.refuses = 0
        run.commit([BOOKED])

    booking = BookingApp(handle, policy=RetryPolicy(attempts=1))
    memory, answers = booking.cloud.memory.store, [BackendUnavailable("the table", "no answer")]
    memory.on_commit = lambda entries: _raise(answers.pop()) if answers else booking.table.extend(entries)
    assert booking.after(minutes=4).status is Status.PROCESSING
    assert LOST not in caplog.messages
    done = booking.after(minutes=2)
    assert (done.status, done.attempt, done.recoveries) == (Status.EXECUTED, 1, 1)
    assert booking.table == [BOOKED]


def _raise(error):
    raise error


@pytest.mark.parametrize("overlap", ["skip", "queue-one", "allow"])
def test_a_jobs_run_that_commits_frees_the_lock_and_is_counted(overlap):
    app, booked = App(), []

    @app.job(daily("12:30", tz="UTC"), manual(), name="night-books", overlap=overlap.replace("-", "_"))
    def books(run: Run) -> None:
        run.commit([BOOKED])

    cloud = SimulatedCloud(app, start=NOON, on_commit=booked.extend)
    cloud.advance(days=3)
    job = cloud.jobs.get("night-books")
    assert {action.status for action in cloud.actions() if action.attempts} == {Status.EXECUTED}
    assert (len(booked), job.tally.executed) == (3, 3)
    assert cloud.memory.job_store.get(job.ref).running is None


@pytest.mark.parametrize(
    "entries",
    [[{}], [{"Put": {}, "Delete": {}}], [{"Get": {}}], [BOOKED, "Put"], [BOOKED] * (MOST_ENTRIES + 1)],
)
def test_an_invalid_list_of_entries_is_rejected_before_any_write(entries):
    run = fake_run()
    with pytest.raises(InvalidArgument, match="entr"):
        run.commit(entries)
    run.commit([BOOKED] * MOST_ENTRIES)
    assert len(run.committed) == MOST_ENTRIES


def test_a_fake_run_records_commits_and_may_reject_them():
    run = fake_run()
    assert run.committed is None
    run.commit(entry for entry in [BOOKED])
    assert run.committed == (BOOKED,)
    with pytest.raises(StateConflict, match="commit all that belongs together"):
        run.commit([])
    refusing = fake_run(on_commit=lambda _entries: _raise(REFUSED))
    with pytest.raises(CommitRejected):
        refusing.commit([BOOKED])
    assert refusing.committed is None
