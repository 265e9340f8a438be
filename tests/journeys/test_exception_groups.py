"""An exception in a group has the effect that it has alone."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duetime import App, Batch, Fatal, Payload, Retry, RetryPolicy, Run, Status
from duetime.model.outcome import leaves_of, of_error
from duetime.model.run import RunCancelled
from duetime.retry import Continue
from duetime.settings import Settings
from duetime.telemetry.tracebacks import traceback_of
from duetime.testing import SimulatedCloud, WorkerDied

NOON = datetime(2027, 6, 1, 12, tzinfo=UTC)


class Import(Payload):
    pass


def nested(*errors):
    return BaseExceptionGroup("outer", [BaseExceptionGroup("inner", [*errors])])


def ended(*errors, many=False, wait=60):
    """Return an action after one attempt that raised these in nested groups."""
    app, policy = App(), RetryPolicy(attempts=3, backoff=wait, jitter=0)

    def raise_all(_=None):
        raise nested(*errors)

    if many:

        @app.action(many=True, retry=policy)
        def import_many(batch: Batch[Import]) -> None:
            raise_all()
    else:

        @app.action(retry=policy)
        def import_one(payload: Import) -> None:
            raise_all()

    cloud = SimulatedCloud(app, start=NOON, settings=Settings(worker_batch=10 if many else 1))
    action = cloud.scheduler.schedule(Import(), at=NOON)
    cloud.advance(seconds=1)
    return cloud.scheduler.get(action.id)


@pytest.mark.parametrize("many", [False, True])
def test_any_fatal_is_fatal(many):
    found = ended(ValueError("row 17"), RunCancelled(), Fatal("the order is void"), Retry(30), many=many)
    assert (found.status, found.attempt) == (Status.FAILED, 1)
    assert found.failure_reason == "Fatal: the order is void; and 3 more"


def test_a_cancel_comes_before_errors():
    assert ended(ValueError("row 17"), RunCancelled(), Retry(30)).status is Status.CANCELLED


@pytest.mark.parametrize(
    ("errors", "seconds", "message"),
    [
        ([Retry(30), Retry(90), Retry(10)], 90, "the handler requested another attempt; and 2 more"),
        ([Retry(30)], 30, "the handler requested another attempt"),
        ([Retry(30), Retry()], 60, "the handler requested another attempt; and 1 more"),
        ([Retry(30), ValueError("row 17 is bad")], 60, "ValueError: row 17 is bad; and 1 more"),
        ([Retry(90), ValueError("row 17 is bad")], 90, "ValueError: row 17 is bad; and 1 more"),
        ([ValueError("row 17 is bad"), KeyError("x")], 60, "ValueError: row 17 is bad; and 1 more"),
        ([Continue(), ValueError("row 17 is bad")], 60, "ValueError: row 17 is bad; and 1 more"),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_the_longest_wait_is_that_of_the_group(errors, seconds, message, many):
    found = ended(*errors, many=many)
    assert (found.status, found.attempts[-1].message) == (Status.PENDING, message)
    assert found.due_at - NOON == timedelta(seconds=seconds)


def test_a_continue_of_a_task_continues():
    app, runs = App(), []

    @app.action
    async def import_all(payload: Import, run: Run) -> None:
        async def part():
            if len(runs) < 3:
                runs.append(run.last_checkpoint)
                run.checkpoint(len(runs))
                raise Continue

        async with asyncio.TaskGroup() as group:
            group.create_task(part())

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=NOON)
    cloud.advance(minutes=1)
    assert (runs, cloud.scheduler.get(action.id).status) == ([None, 1, 2], Status.EXECUTED)


def test_a_worker_that_dies_in_a_group_is_taken_over():
    app, runs = App(), []

    @app.action
    def import_all(payload: Import) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise nested(ValueError(), WorkerDied())

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=NOON)
    with pytest.raises(WorkerDied):
        cloud.advance(seconds=1)
    cloud.advance(hours=1)
    found = cloud.scheduler.get(action.id)
    assert (found.status, found.recoveries, len(runs)) == (Status.EXECUTED, 1, 2)


def test_the_reason_has_notes_and_the_cause_and_the_traceback_has_each_part():
    bad = ValueError("row 17 is bad")
    bad.add_note("file a.csv")

    def read_price():
        raise KeyError("price")

    def read_row():
        try:
            read_price()
        except KeyError as error:
            raise bad from error

    with pytest.raises(ValueError, match="row 17"):
        read_row()
    group = nested(bad, RuntimeError("no room"))
    group.add_note("of the nightly import")
    reason = "ValueError: row 17 is bad; file a.csv; caused by KeyError: 'price'"
    assert of_error(group).message == f"{reason}; of the nightly import; and 1 more"
    assert of_error(bad).message == reason
    text = traceback_of(group)
    for part in (
        "of the nightly import",
        "file a.csv",
        "KeyError: 'price'",
        "RuntimeError: no room",
        'raise KeyError("price")',
    ):
        assert part in text


def test_the_notes_and_the_cause_of_each_group_are_in_the_reason_once():
    group = nested(ValueError("row 17 is bad"), Fatal("void"))
    group.add_note("file a.csv")
    group.exceptions[0].add_note("of shop 3")
    group.__cause__ = group.exceptions[0].__cause__ = KeyError("config")
    reason = "Fatal: void; file a.csv; caused by KeyError: 'config'; of shop 3; and 1 more"
    assert of_error(group).message == reason


def test_a_reason_stays_within_its_limit_and_names_how_many_there_are():
    message = of_error(nested(ValueError("x" * 2_000), *[KeyError("y")] * 200)).message
    assert len(message) <= 500
    assert message.endswith("…; and 200 more")


def test_a_group_as_the_cause_is_named_by_its_leaves():
    error = RuntimeError("the import failed")
    error.__cause__ = nested(ValueError("row 17 is bad"), KeyError("price"))
    reason = "RuntimeError: the import failed; caused by ValueError: row 17 is bad; and 1 more"
    assert of_error(error).message == reason


def test_a_group_is_read_whatever_its_class_says_of_its_parts():
    class Odd(ExceptionGroup):
        @property
        def exceptions(self):
            raise RuntimeError("boo")

    assert of_error(Odd("odd", [Fatal("no such order")])) == of_error(Fatal("no such order"))


def test_groups_of_any_depth_are_read():
    error = ValueError("deep")
    for _ in range(5_000):
        error = ExceptionGroup("one", [error])
    assert of_error(error).message == "ValueError: deep"


ERRORS = st.sampled_from(
    [ValueError("x"), Retry(5), Retry(), Fatal("y"), RunCancelled(), SystemExit(1), Continue()]
)
GROUPS = st.recursive(
    ERRORS,
    lambda parts: st.builds(
        lambda errors: BaseExceptionGroup("g", errors), st.lists(parts, min_size=1, max_size=3)
    ),
)


@settings(max_examples=60)
@given(GROUPS)
def test_a_group_is_what_its_leaves_are(error):
    leaves = leaves_of(error)
    outcome = of_error(error)
    alone = [of_error(leaf) for leaf in leaves]
    if any(isinstance(leaf, Fatal) for leaf in leaves):
        assert (outcome.may_retry, outcome.ending.value) == (False, "failed")
    elif any(isinstance(leaf, RunCancelled) for leaf in leaves):
        assert outcome.ending.value == "cancelled"
    else:
        assert outcome.may_retry
        assert outcome.retry_after == max((one.retry_after for one in alone if one.retry_after), default=None)
    if len(leaves) == 1:
        assert outcome == alone[0]


@pytest.mark.parametrize("is_cause", [False, True])
def test_a_part_that_is_raised_out_of_its_group_ends_the_attempt_as_alone(is_cause):
    app = App()

    @app.action(retry=RetryPolicy(attempts=3, backoff=60, jitter=0))
    def import_one(payload: Import) -> None:
        try:
            raise nested(ValueError("row 17"))
        except BaseExceptionGroup as group:
            part = leaves_of(group)[0]
            if is_cause:
                raise part from group
            raise part  # noqa: B904 - as handlers are written

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Import(), at=NOON)
    cloud.advance(seconds=1)
    found = cloud.scheduler.get(action.id)
    assert (found.status, len(found.attempts)) == (Status.PENDING, 1)
    assert found.attempts[0].message.startswith("ValueError: row 17")
