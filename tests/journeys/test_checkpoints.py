"""A long run in parts: it stores a checkpoint, continues at once, and uses up no attempt."""

from datetime import timedelta
from functools import partial

import boto3
import pytest
from moto import mock_aws

from duetime import (
    App,
    Batch,
    Breaker,
    Continue,
    Order,
    Payload,
    RetryPolicy,
    Run,
    Status,
    every,
)
from duetime.errors import InvalidArgument, StateConflict
from duetime.memory.store import MemoryStore
from duetime.model import outcome
from duetime.model.action import Ending
from duetime.model.checkpoint import CHECKPOINT_LIMIT
from duetime.model.outcome import settlement
from duetime.testing import SimulatedCloud, WorkerDied, create_tables, fake_run
from duetime_contract.specimens import running
from tests.journeys.conftest import NOON
from tests.journeys.recorded_job import PATIENT

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


class Import(Payload):
    rows: int = 5
    part: int = 2
    dies: bool = False
    fails: bool = False


class Shop:
    """An app whose handler imports rows in parts, and records each run."""

    def __init__(self, **declared):
        self.app, self.runs, self.rows = App(), [], []

        @self.app.action(**declared)
        def import_rows(payload: Import, run: Run) -> None:
            self.handle(payload, run)

        self.cloud = SimulatedCloud(self.app, start=NOON, settings=PATIENT)

    def handle(self, payload, run):
        done = (run.last_checkpoint or {"done": 0})["done"]
        self.runs.append((run.now(), done))
        end = min(done + payload.part, payload.rows)
        self.rows += range(done, end)
        if end == payload.rows:
            return
        run.checkpoint({"done": end})
        assert run.last_checkpoint == {"done": end}
        if payload.dies and len(self.runs) == 1:
            raise Killed
        if payload.fails and len(self.runs) == 2:
            raise ConnectionError("down")
        raise Continue

    def schedule(self, payload=None, **options):
        return self.cloud.scheduler.schedule(payload or Import(), **{"at": MINUTE, **options})

    def row(self, action):
        return self.cloud.scheduler.get(action.id)


@pytest.fixture
def shop():
    made = Shop(retry=RetryPolicy(attempts=2, backoff=[1], jitter=0))
    yield made
    made.cloud.close()


def test_a_run_continues_at_once_from_its_checkpoint_and_uses_up_no_attempt(shop):
    action = shop.schedule(Import(rows=20))
    shop.cloud.advance(HOUR)
    row = shop.row(action)
    assert row.status is Status.EXECUTED
    assert shop.rows == list(range(20))
    assert [done for _, done in shop.runs] == list(range(0, 20, 2))
    assert shop.runs[-1][0] - shop.runs[0][0] < 10 * SECOND * len(shop.runs)
    assert (row.attempt, row.continued, row.nominal_at) == (10, 9, NOON + MINUTE)
    assert row.checkpoint.value == {"done": 18}
    shop.cloud.check()


def test_failures_between_parts_use_up_attempts_of_their_own(shop):
    action = shop.schedule(Import(rows=10, fails=True))
    shop.cloud.advance(HOUR)
    assert shop.row(action).status is Status.EXECUTED
    assert [done for _, done in shop.runs] == [0, 2, 4, 6, 8], "the failed run had stored its checkpoint"
    endings = [attempt.ending for attempt in shop.row(action).attempts]
    assert endings == [Ending.RETRY, Ending.FAILED, Ending.RETRY, Ending.RETRY, Ending.EXECUTED]


def test_a_run_that_dies_after_its_checkpoint_is_repeated_from_there(shop):
    action = shop.schedule(Import(dies=True))
    with pytest.raises(Killed):
        shop.cloud.advance(HOUR)
    shop.cloud.advance(timedelta(days=1))
    assert shop.row(action).status is Status.EXECUTED
    assert shop.rows == list(range(5))
    shop.cloud.check()


@pytest.mark.parametrize("checkpoint", [None, {"done": 1}])
def test_a_run_that_continues_without_progress_fails_its_attempt(checkpoint):
    app, seen = App(), []

    @app.action(retry=RetryPolicy(attempts=3, backoff=[1], jitter=0))
    def import_rows(payload: Import, run: Run) -> None:
        seen.append(run.last_checkpoint)
        if checkpoint is not None:
            run.checkpoint({"done": 7})
            run.checkpoint(checkpoint)
        raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=MINUTE)
    cloud.advance(HOUR)
    row = cloud.scheduler.get(action.id)
    assert row.status is Status.FAILED
    assert len(seen) == 3 + (checkpoint is not None), "the first run with a checkpoint makes progress"
    assert "Continue without progress" in row.failure_reason
    cloud.close()


def test_an_action_continues_only_so_often_and_a_redrive_allows_more(shop, monkeypatch):
    monkeypatch.setattr(outcome, "MOST_CONTINUATIONS", 3)
    action = shop.schedule(Import(rows=14))
    shop.cloud.advance(HOUR)
    row = shop.row(action)
    assert row.status is Status.FAILED
    assert row.failure_reason.startswith("it has continued 3 times")
    assert len(shop.runs) == 4
    shop.cloud.scheduler.redrive(action.id)
    shop.cloud.advance(HOUR)
    assert shop.row(action).status is Status.EXECUTED
    assert shop.rows == list(range(14))


def test_give_up_after_ends_no_run_that_continues():
    shop = Shop(retry=RetryPolicy(give_up_after=0))
    action = shop.schedule(Import(rows=10))
    shop.cloud.advance(HOUR)
    assert shop.row(action).status is Status.EXECUTED
    shop.cloud.close()


def test_no_run_continues_from_its_expiry_on():
    claimed = running(MemoryStore())
    ends = partial(
        settlement,
        outcome.of_continue(claimed, has_advanced=True),
        claimed,
        RetryPolicy(),
        now=NOON,
        retention=HOUR,
        jitter_draw=0,
    )
    assert ends(expires_at=NOON + SECOND).continues
    expired = ends(expires_at=NOON)
    assert (expired.status, expired.message) == (Status.FAILED, "it expired before it could continue")


def test_a_request_to_cancel_ends_a_run_that_continues_as_cancelled():
    app = App()

    @app.action
    def import_rows(payload: Import, run: Run) -> None:
        cloud.scheduler.cancel(run.id)
        run.checkpoint(1)
        assert run.cancelled, "the write returns the request"
        raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=MINUTE)
    cloud.advance(HOUR)
    row = cloud.scheduler.get(action.id)
    assert (row.status, row.attempts[-1].ending) == (Status.CANCELLED, Ending.CANCELLED)
    assert len(row.attempts) == 1
    cloud.close()


def test_a_breaker_counts_no_run_that_continues():
    shop = Shop(breaker=Breaker(failures=2, within="1h", open_for="1h"))
    action = shop.schedule(Import(rows=20))
    shop.cloud.advance(HOUR)
    assert shop.row(action).status is Status.EXECUTED
    assert not shop.cloud.memory.pauses.list()
    shop.cloud.close()


def test_others_of_a_concurrency_key_begin_between_two_parts(shop):
    first = shop.schedule(Import(rows=6), concurrency_key="table")
    second = shop.schedule(Import(rows=2), concurrency_key="table")
    shop.cloud.advance(HOUR)
    assert {shop.row(action).status for action in (first, second)} == {Status.EXECUTED}
    shop.cloud.check()


def test_a_jobs_run_continues_and_holds_its_lock():
    app, seen = App(), []

    @app.job(every(minutes=1), name="import-orders", overlap="skip")
    def import_orders(run: Run) -> None:
        part = run.last_checkpoint or 0
        seen.append((run.nominal_at, part))
        if part < 2:
            run.checkpoint(part + 1)
            raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    cloud.advance(3 * MINUTE + 30 * SECOND)
    at = sorted({nominal_at for nominal_at, _ in seen})
    assert len(at) == 3
    assert seen == [(nominal_at, part) for nominal_at in at for part in range(3)]
    cloud.close()


async def _pass() -> None:
    pass


def test_an_async_handler_continues():
    app, seen = App(), []

    @app.action
    async def import_rows(payload: Import, run: Run) -> None:
        await _pass()
        seen.append(run.last_checkpoint)
        if len(seen) < 3:
            run.checkpoint(len(seen))
            raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=MINUTE)
    cloud.advance(HOUR)
    assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    assert seen == [None, 1, 2]
    cloud.close()


@pytest.mark.parametrize("raises_itself", [False, True])
def test_each_run_of_a_batch_continues_on_its_own(raises_itself):
    app, seen = App(), []

    @app.action(many=True, retry=RetryPolicy(attempts=1))
    def import_rows(batch: Batch[Import]) -> None:
        for payload, run in batch.items:
            part = run.last_checkpoint or 0
            seen.append((payload.part, part))
            if part < payload.part:
                run.checkpoint(part + 1)
                if not raises_itself:
                    batch.fail(run, Continue())
        if raises_itself:
            raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    actions = cloud.scheduler.schedule_many([Order(Import(part=part), MINUTE) for part in range(3)])
    cloud.advance(HOUR)
    statuses = [cloud.scheduler.get(action.id).status for action in actions]
    if raises_itself:  # the last run of each has no other checkpoint
        assert set(statuses) == {Status.FAILED}
    else:
        assert set(statuses) == {Status.EXECUTED}
    assert sorted(seen) == [(part, number) for part in range(3) for number in range(part + 1)]
    cloud.close()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "None"),
        ({1, 2}, "no JSON value"),
        (float("nan"), "no JSON value"),
        ("x" * CHECKPOINT_LIMIT, "it has 2,050 bytes as JSON; allowed are 2,048"),
        ("é" * CHECKPOINT_LIMIT, "it has 4,098 bytes"),
    ],
)
def test_a_bad_checkpoint_is_rejected_where_it_is_stored(value, problem):
    run = fake_run(last_checkpoint={"done": 1})
    with pytest.raises(InvalidArgument, match=problem):
        run.checkpoint(value)
    assert run.last_checkpoint == {"done": 1}


def test_a_run_that_has_committed_stores_no_checkpoint():
    app, raised = App(), []

    @app.action
    def import_rows(payload: Import, run: Run) -> None:
        run.commit([])
        try:
            run.checkpoint(1)
        except StateConflict as error:
            raised.append(error)
        raise Continue

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=MINUTE)
    cloud.advance(HOUR)
    assert len(raised) == 1
    assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    cloud.close()


def test_it_continues_over_dynamodb(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    app, seen = App(), []

    @app.action(retry=RetryPolicy(attempts=1))
    def import_rows(payload: Import, run: Run) -> None:
        seen.append(run.last_checkpoint)
        if len(seen) < 3:
            run.checkpoint({"done": len(seen)})
            raise Continue

    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        cloud = SimulatedCloud(app, dynamodb=client)
        action = cloud.scheduler.schedule(Import(), at=MINUTE)
        cloud.advance(HOUR)
        assert cloud.scheduler.get(action.id).status is Status.EXECUTED
    assert seen == [None, {"done": 1}, {"done": 2}]
