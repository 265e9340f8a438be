"""A handler that commits.

Its action is executed by its own write, and whatever comes after that changes nothing.
"""

import logging

import pytest

from duetime import App, Fatal, Retry, RetryPolicy, Run, Status, daily, manual
from duetime.errors import AlreadyCommitted, BackendUnavailable, CommitRejected, InvalidCommit
from duetime.model.action import Ending
from duetime.model.run import MOST_ENTRIES, RunCancelled
from duetime.testing import SimulatedCloud, fake_run
from tests.journeys.books import BOOKED, REFUSED, Office
from tests.journeys.conftest import NOON


def test_a_commit_executes_the_action_with_its_attempt():
    office = Office(lambda run: run.commit([BOOKED]))
    done = office.after(seconds=1)
    assert (done.status, done.executed_at, done.attempt) == (Status.EXECUTED, NOON, 1)
    assert [attempt.ending for attempt in done.attempts] == [Ending.EXECUTED]
    assert office.table == [BOOKED]


def test_an_empty_commit_needs_no_table():
    office = Office(lambda run: run.commit([]), takes=False)
    assert office.after(seconds=1).status is Status.EXECUTED


def test_entries_without_a_table_fail_and_say_where_they_can_be_written():
    office = Office(lambda run: run.commit([BOOKED]), takes=False, policy=RetryPolicy(attempts=1))
    failed = office.after(seconds=1)
    assert failed.status is Status.FAILED
    assert "need DynamoDB; in memory, SimulatedCloud(app, on_commit=…)" in failed.failure_reason


@pytest.mark.parametrize("error", [ValueError("too late"), Fatal("no more"), Retry(after=5), RunCancelled()])
def test_whatever_is_raised_after_a_commit_is_only_told(error, caplog):
    def handle(run):
        run.commit([BOOKED])
        raise error

    office = Office(handle)
    with caplog.at_level(logging.WARNING):
        assert office.after(hours=1).status is Status.EXECUTED
    assert "raised after its commit" in caplog.text
    assert (office.handled, office.table) == (1, [BOOKED])


def test_a_second_commit_of_a_run_is_an_error_and_writes_nothing():
    def handle(run):
        run.commit([BOOKED])
        with pytest.raises(AlreadyCommitted, match="commit all that belongs together at once"):
            run.commit([BOOKED])

    office = Office(handle)
    assert office.after(seconds=1).status is Status.EXECUTED
    assert office.table == [BOOKED]


def test_a_refusal_that_is_let_pass_is_retried_by_policy():
    office = Office(lambda run: run.commit([BOOKED]), refuses=1)
    done = office.after(hours=1)
    assert [attempt.ending for attempt in done.attempts] == [Ending.FAILED, Ending.EXECUTED]
    assert done.attempts[0].message.startswith(
        "CommitRejected: the commit was refused, and nothing was written"
    )
    assert office.table == [BOOKED]


def test_a_handler_whose_commit_was_refused_may_return_and_is_executed():
    def handle(run):
        with pytest.raises(CommitRejected):
            run.commit([BOOKED])
        assert run.committed is None

    office = Office(handle, refuses=1)
    assert office.after(seconds=1).status is Status.EXECUTED
    assert office.table == []


def test_a_requested_cancel_stops_no_commit():
    def handle(run):
        office.cloud.scheduler.cancel(run.id)
        run.stop.set()
        run.commit([BOOKED])

    office = Office(handle)
    done = office.after(seconds=1)
    assert (done.status, done.cancel_requested_by) == (Status.EXECUTED, "simulation")


def test_a_run_that_was_taken_over_is_stopped_by_its_commit_and_leaves_the_row_to_the_other():
    def handle(run):
        if run.fence == 1:
            office.cloud.advance(minutes=20)
        run.commit([{**BOOKED, "Put": {**BOOKED["Put"], "TableName": f"ledger-{run.fence}"}}])

    office = Office(handle)
    done = office.after(minutes=1)
    assert (done.status, done.fence, done.recoveries) == (Status.EXECUTED, 2, 1)
    assert [entry["Put"]["TableName"] for entry in office.table] == ["ledger-2"]


def test_a_commit_without_an_answer_leaves_the_action_to_be_taken_over_and_uses_up_no_attempt():
    def handle(run):
        office.refuses = 0
        run.commit([BOOKED])

    office = Office(handle, policy=RetryPolicy(attempts=1))
    memory, answers = office.cloud.memory.store, [BackendUnavailable("the table", "no answer")]
    memory.on_commit = lambda entries: _raise(answers.pop()) if answers else office.table.extend(entries)
    assert office.after(minutes=4).status is Status.PROCESSING
    done = office.after(minutes=2)
    assert (done.status, done.attempt, done.recoveries) == (Status.EXECUTED, 1, 1)
    assert office.table == [BOOKED]


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
def test_what_is_no_list_of_entries_is_refused_before_anything_is_written(entries):
    run = fake_run()
    with pytest.raises(InvalidCommit):
        run.commit(entries)
    run.commit([BOOKED] * MOST_ENTRIES)
    assert len(run.committed) == MOST_ENTRIES


def test_a_fake_run_keeps_what_was_committed_and_may_refuse_it():
    run = fake_run()
    assert run.committed is None
    run.commit(entry for entry in [BOOKED])
    assert run.committed == (BOOKED,)
    with pytest.raises(AlreadyCommitted):
        run.commit([])
    refusing = fake_run(on_commit=lambda _entries: _raise(REFUSED))
    with pytest.raises(CommitRejected):
        refusing.commit([BOOKED])
    assert refusing.committed is None
