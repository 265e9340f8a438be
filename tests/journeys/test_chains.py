"""Chains: an action is held until its predecessors have ended."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import pytest

from duetime import App, Fatal, Payload, Run
from duetime.actions.order import Order
from duetime.errors import BackendUnavailable, InvalidArgument, NotFound, StateConflict
from duetime.ids import new_action_id
from duetime.model.action import SkipReason, Status
from duetime.model.action_events import of_action
from duetime.model.change import Change
from duetime.model.lifecycle import EventName
from duetime.model.metric import Metric
from duetime.telemetry.transition_log import transition_of
from duetime.testing import SimulatedCloud
from duetime.wakeups.follow import Follow

NOON = datetime(2027, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
NOW = timedelta(0)


class Step(Payload):
    name: str
    fails: bool = False


@pytest.fixture
def ran():
    return []


@pytest.fixture
def cloud(ran):
    app = App()

    @app.action
    def step(payload: Step, run: Run) -> None:
        ran.append(payload.name)
        if payload.fails:
            raise Fatal("broken")

    cloud = SimulatedCloud(app, start=NOON)
    yield cloud
    cloud.check()
    cloud.close()


@pytest.fixture
def scheduler(cloud):
    return cloud.scheduler


def test_a_chain_runs_in_its_order_without_waiting_for_a_sweep(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    c = scheduler.schedule(Step(name="c"), at=NOW, after=[b.id, a])
    cloud.advance(minutes=59)
    assert (ran, scheduler.get(c.id).is_held) == ([], True)
    cloud.advance(minutes=1, seconds=30)
    assert ran == ["a", "b", "c"]


def test_a_held_action_is_due_at_its_own_time_if_that_is_later(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=NOW)
    b = scheduler.schedule(Step(name="b"), at=HOUR, after=a)
    cloud.advance(minutes=30)
    row = scheduler.get(b.id)
    assert (ran, row.is_held, row.due_at, row.nominal_at) == (["a"], False, NOON + HOUR, NOON + HOUR)
    cloud.advance(minutes=40)
    assert ran == ["a", "b"]


def test_all_predecessors_must_be_executed(cloud, scheduler, ran):
    first = [scheduler.schedule(Step(name=name), at=at) for name, at in (("a", NOW), ("b", HOUR))]
    scheduler.schedule(Step(name="c"), at=NOW, after=first)
    cloud.advance(minutes=30)
    assert ran == ["a"]
    cloud.advance(minutes=31)
    assert ran == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ({}, Status.FAILED),
        ({"after_failure": "skip"}, Status.SKIPPED),
        ({"after_failure": "run"}, Status.EXECUTED),
    ],
)
@pytest.mark.parametrize("end", ["failed", "cancelled", "failed before"])
def test_what_follows_a_predecessor_that_is_not_executed(cloud, scheduler, rule, status, end):
    a = scheduler.schedule(Step(name="a", fails=True), at=NOW)
    if end == "cancelled":
        a = scheduler.schedule(Step(name="a"), at=HOUR)
    if end == "failed before":
        cloud.advance(minutes=1)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a, **rule)
    if end == "cancelled":
        scheduler.cancel(a.id)
    cloud.advance(minutes=1)
    row = scheduler.get(b.id)
    assert row.status is status
    word = "cancelled" if end == "cancelled" else "failed"
    if status is Status.FAILED:
        assert row.failure_reason == f"its predecessor {a.id} was {word}"
    if status is Status.SKIPPED:
        assert (row.skip_reason, row.note) == (SkipReason.PREDECESSOR, f"its predecessor {a.id} was {word}")


def test_one_failure_decides_though_others_have_not_ended(cloud, scheduler):
    a = scheduler.schedule(Step(name="a", fails=True), at=NOW)
    later = scheduler.schedule(Step(name="later"), at=HOUR)
    b = scheduler.schedule(Step(name="b"), at=10 * HOUR, after=[later, a])
    c = scheduler.schedule(Step(name="c"), at=NOW, after=[later, a], after_failure="run")
    cloud.advance(minutes=2)
    assert (scheduler.get(b.id).status, scheduler.get(c.id).is_held) == (Status.FAILED, True)


def test_a_redrive_runs_what_failed_for_its_predecessor(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a", fails=True), at=NOW)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    cloud.advance(minutes=1)
    scheduler.redrive(b.id)
    cloud.advance(minutes=1)
    assert ran == ["a", "b"]


def test_a_predecessor_that_was_executed_before_holds_nothing(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=NOW)
    cloud.advance(minutes=1)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    assert not b.is_held
    cloud.advance(minutes=1)
    assert ran == ["a", "b"]


def test_without_a_record_of_the_stream_the_sweep_releases(cloud, scheduler, ran):
    with patch.object(Follow, "__call__", lambda *_: None):
        a = scheduler.schedule(Step(name="a"), at=NOW)
        scheduler.schedule(Step(name="b"), at=NOW, after=a)
        cloud.advance(minutes=17)
    assert ran == ["a", "b"]


def test_without_its_mark_at_the_predecessor_the_sweep_releases(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=NOW)
    with patch.object(cloud.memory.store, "add_follower", side_effect=BackendUnavailable("DynamoDB", "down")):
        scheduler.schedule(Step(name="b"), at=NOW, after=a)
    cloud.advance(minutes=17)
    assert ran == ["a", "b"]


def test_an_action_follows_a_batch(cloud, scheduler, ran):
    with scheduler.batch("lines") as batch:
        batch.schedule_many(Order(Step(name="member"), at=HOUR) for _ in range(3))
    scheduler.schedule(Step(name="after"), at=NOW, after=batch)
    scheduler.schedule(Step(name="after too"), at=NOW, after="batch:lines")
    cloud.advance(minutes=61)
    assert (ran[:3], set(ran[3:])) == (["member"] * 3, {"after", "after too"})


def test_a_batch_with_a_failed_member_is_not_executed(cloud, scheduler):
    with scheduler.batch("lines") as batch:
        batch.schedule_many(Order(Step(name="member", fails=n == 1), at=NOW) for n in range(3))
    after = scheduler.schedule(Step(name="after"), at=NOW, after=batch)
    cloud.advance(minutes=2)
    reason = "its predecessor batch lines executed 2 of 3 members"
    assert scheduler.get(after.id).failure_reason == reason


def test_many_are_held_with_one_call(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    scheduler.schedule_many([Order(Step(name="b"), at=NOW, after=a), Order(Step(name="c"), at=NOW)])
    cloud.advance(minutes=61)
    assert ran == ["c", "a", "b"]


def test_a_repeat_under_an_idempotency_key_returns_the_held_action(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    b, again = (scheduler.schedule(Step(name="b"), at=NOW, after=a, idempotency_key="b") for _ in range(2))
    assert again.id == b.id
    cloud.advance(minutes=61)
    assert ran == ["a", "b"]


def test_a_held_action_can_be_cancelled_and_not_rescheduled(cloud, scheduler, ran):
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    with pytest.raises(StateConflict, match="it is held, and only one that does not wait for others"):
        scheduler.reschedule(b.id, HOUR)
    assert scheduler.cancel(b.id).status is Status.CANCELLED
    cloud.advance(minutes=61)
    assert ran == ["a"]


def test_unknown_and_foreign_predecessors_are_rejected(cloud, scheduler):
    unknown = "01a5d82c-1800-79e3-aeda-66f0e0000000"
    foreign = cloud.scheduler_for("bolt").schedule(Step(name="x"), at=HOUR)
    cloud.scheduler_for("bolt").batch("theirs").open()
    for one in (unknown, foreign.id):
        with pytest.raises(NotFound, match=one):
            scheduler.schedule(Step(name="b"), at=NOW, after=[one])
    with pytest.raises(NotFound, match="theirs"):
        scheduler.schedule(Step(name="b"), at=NOW, after="batch:theirs")
    assert not [row for row in cloud.actions() if row.after]


def test_no_cycle_is_possible(cloud, scheduler):
    """An id must exist when it is named: also the action's own, if its random bytes are known before."""
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    context = scheduler._context
    fixed = type(scheduler).in_context(
        type(context)(
            **{name: getattr(context, name) for name in ("store", "tenant_id", "actor", "clock", "settings")},
            random_bytes=lambda size: b"\1" * size,
        ),
        None,
        None,
        None,
    )
    own = new_action_id(cloud.now, lambda size: b"\1" * size)
    with pytest.raises(NotFound, match="no action"):
        fixed.schedule(Step(name="self"), at=NOW, after=own)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    rows = {row.id: row for row in cloud.actions()}
    assert rows[b.id].after.names == a.id
    assert rows[a.id].after is None


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"after": []}, "has 0 entries; 1 to 20 are allowed"),
        ({"after": [f"01a5d82c-1800-79e3-aeda-66f0e000{n:04x}" for n in range(21)]}, "21 entries"),
        ({"after": "tomorrow"}, "is no id of an action"),
        ({"after": "nightly-run.000001.20270601T070000Z"}, "is no id of an action"),
        ({"after": "batch:a b"}, "letters, digits"),
        ({"after": 7}, "must be ids, actions or batches"),
        ({"after_failure": "run"}, "after.*is missing"),
        ({"after_failure": "skip"}, "after.*is missing"),
        ({"after": "batch:x", "after_failure": "go"}, "must be 'fail', 'skip' or 'run'"),
        ({"after": "batch:x", "after_failure": ["skip"]}, "must be 'fail', 'skip' or 'run'"),
        ({"after": "batch:x", "debounce_key": "k"}, "is not possible with after"),
    ],
)
def test_wrong_rules_are_rejected(scheduler, rules, message):
    with pytest.raises(InvalidArgument, match=message):
        scheduler.schedule(Step(name="b"), at=NOW, **rules)


def test_an_action_has_a_bounded_number_of_followers(scheduler):
    a = scheduler.schedule(Step(name="a"), at=HOUR)
    for _ in range(50):
        scheduler.schedule(Step(name="b"), at=NOW, after=a)
    with pytest.raises(InvalidArgument, match="has 50 actions that wait for it; at most 50"):
        scheduler.schedule(Step(name="b"), at=NOW, after=a)


def test_a_release_is_an_event_and_is_counted(cloud, scheduler):
    a = scheduler.schedule(Step(name="a"), at=NOW)
    b = scheduler.schedule(Step(name="b"), at=NOW, after=a)
    held = scheduler.get(b.id)
    cloud.advance(minutes=1)
    released = replace(held, due_at=NOON, first_due_at=None, generation=2)
    (event,) = of_action(Change(held, released), NOON)
    assert (event.word, event.by) == (EventName.RELEASED, None)
    assert transition_of(Change(held, released)) is Metric.RELEASED
    assert cloud.metrics.total(Metric.RELEASED) == 1
