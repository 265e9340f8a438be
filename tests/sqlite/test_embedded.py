"""The embedded scheduler over a file: restarts, kills, and several processes."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from datetime import timedelta

import pytest

from duetime import App, Breaker, Order, RetryPolicy, Run, every
from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured, BackendUnavailable, Unsupported
from duetime.model.action import Status
from tests.sqlite.shop import Errand, runs_in, shop

HOUR = timedelta(hours=1)


CLOCK = SystemClock()


def wait(seconds):
    CLOCK.wait_until(CLOCK.now() + timedelta(seconds=seconds))


def wait_for(condition):
    while not condition():
        wait(0.01)


def begin(database, runs, first):
    return subprocess.Popen(  # noqa: S603 - this repository's own module
        [sys.executable, "-m", "tests.sqlite.shop", database, runs, str(first)],
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def database(tmp_path):
    return tmp_path / "jobs.db"


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


def test_an_action_that_fell_due_while_no_process_ran_runs_in_the_next_one(database, runs):
    with shop(runs).embedded(database) as scheduler:
        action = scheduler.schedule(Errand(number=1), at=timedelta(seconds=2))
        far = scheduler.schedule(Errand(number=2), at=HOUR)
    assert runs_in(runs) == []
    wait(2.5)
    with shop(runs).embedded(database) as scheduler:
        wait_for(lambda: scheduler.get(action.id).status is Status.EXECUTED)
        assert scheduler.get(far.id).status is Status.PENDING
        assert [row.id for row in scheduler.list()] == [far.id, action.id]
    assert [(number, ran) for number, ran, _ in runs_in(runs)] == [(1, action.id)]


def test_the_past_of_a_job_outlasts_the_process(database):
    app, seen = App(), []

    @app.job(every(seconds=1), name="shop-tick")
    def tick(run: Run) -> None:
        seen.append(run.nominal_at)

    with app.embedded(database) as scheduler:
        wait_for(lambda: len(seen) > 1)
        scheduler.jobs.pause("shop-tick", reason="restart")
    before = list(seen)
    with app.embedded(database) as scheduler:
        assert scheduler.jobs.get("shop-tick").pauses
        scheduler.jobs.resume("shop-tick")
        wait_for(lambda: len(seen) > len(before))
    assert len(set(seen)) == len(seen)


@pytest.mark.long  # a minute: what a pause holds at the start waits for the second sweep
def test_a_breaker_opens_probes_and_closes_and_its_state_is_in_the_file(database):
    app, calls = App(), []

    @app.action(
        breaker=Breaker(failures=2, within="1m", open_for="1s"), retry=RetryPolicy(attempts=3, backoff=0.1)
    )
    def run_errand(payload: Errand, run: Run) -> None:
        calls.append(payload.number)
        if len(calls) <= 3:
            raise ConnectionError("down")

    with app.embedded(database) as scheduler:
        action = scheduler.schedule(Errand(number=1), at=timedelta(0))
        wait_for(lambda: len(calls) >= 2)
    with app.embedded(database) as scheduler:
        wait_for(lambda: scheduler.get(action.id).status is Status.EXECUTED)
        held_by = scheduler.get(action.id).held_by
    assert len(calls) >= 4
    assert "a probe succeeds" in (held_by or "")


@pytest.mark.long
def test_whatever_is_killed_at_any_instant_loses_no_action_and_settles_each_once(database, runs):
    accepted, dice = {}, random.Random(3)  # noqa: S311 - when each process dies
    for attempt in range(6):
        with begin(database, runs, attempt * 10_000) as process:
            assert process.stdout.readline() == "ready\n"
            wait(0.1 + dice.random() / 2)
            process.send_signal(signal.SIGKILL)
            lines = [
                line.split() for line in process.stdout.read().splitlines(keepends=True) if line[-1] == "\n"
            ]
        accepted |= {action: int(number) for number, action in lines}
    assert len(accepted) > 30
    with shop(runs).embedded(database) as scheduler:
        wait_for(lambda: all(scheduler.get(action).status is not Status.PENDING for action in accepted))
        cut_short = {action for action in accepted if scheduler.get(action).status is Status.PROCESSING}
    ran = [action for _, action, _ in runs_in(runs)]
    assert set(accepted) - set(ran) <= cut_short
    assert len(ran) == len(set(ran))


def test_of_two_processes_exactly_one_runs_each_action(database, runs):
    at = CLOCK.now() + timedelta(seconds=3)
    with ExitStack() as stack:
        schedulers = [stack.enter_context(shop(runs).embedded(database)) for _ in range(2)]
        other = stack.enter_context(begin(database, runs, 10_000))
        actions = [
            action
            for scheduler in schedulers
            for action in scheduler.schedule_many([Order(payload=Errand(number=1), at=at)] * 100)
        ]
        wait_for(lambda: all(schedulers[0].get(action.id).status is Status.EXECUTED for action in actions))
        other.kill()
        other.stdout.close()
    ran = [action for number, action, _ in runs_in(runs) if number == 1]
    assert sorted(ran) == sorted(action.id for action in actions)


def test_a_file_of_another_program_is_rejected(tmp_path):
    (tmp_path / "notes.txt").write_text("This file is not a database. " * 100)
    with pytest.raises(BackendMisconfigured, match="Name a file that duetime has made"):
        App().embedded(tmp_path / "notes.txt").__enter__()


def test_a_folder_that_is_missing_is_named(tmp_path):
    with pytest.raises(BackendMisconfigured, match="folder that exists"):
        App().embedded(tmp_path / "missing" / "jobs.db").__enter__()


def test_entries_of_a_commit_need_dynamodb(database):
    app, raised = App(), []

    @app.action
    def book(payload: Errand, run: Run) -> None:
        try:
            run.commit([{"Put": {"TableName": "orders", "Item": {"id": {"S": str(payload.number)}}}}])
        except Unsupported as error:
            raised.append(str(error))

    with app.embedded(database) as scheduler:
        scheduler.schedule(Errand(number=1), at=timedelta(milliseconds=1))
        wait_for(lambda: raised)
    assert "DynamoDB" in raised[0]


def test_a_transaction_of_ones_own_needs_dynamodb(database, runs):
    with shop(runs).embedded(database) as scheduler, pytest.raises(Unsupported, match="SQLite file"):
        scheduler.transact_items(Errand(number=1), at=HOUR)


def test_a_call_fails_while_another_process_holds_the_file_and_the_scheduler_goes_on(
    database, runs, monkeypatch
):
    monkeypatch.setattr("duetime.sqlite.database._BUSY", 0.05)
    with shop(runs).embedded(database) as scheduler, closing(sqlite3.connect(database)) as another:
        another.execute("BEGIN IMMEDIATE")
        with pytest.raises(BackendUnavailable, match="locked"):
            scheduler.schedule(Errand(number=1), at=timedelta(seconds=1))
        another.rollback()
        action = scheduler.schedule(Errand(number=1), at=timedelta(seconds=1))
        wait_for(lambda: scheduler.get(action.id).status is Status.EXECUTED)


def test_a_scheduler_whose_block_has_ended_is_not_available(database, runs):
    with shop(runs).embedded(database) as scheduler:
        pass
    with pytest.raises(BackendUnavailable, match=r"the block of app\.embedded has ended"):
        scheduler.list()
