"""A pause of a type, a key or a worker: its work waits, then runs spread; or it is skipped. Others run."""

from datetime import UTC, datetime, timedelta

import pytest

from duetime import App, Payload, Rate, Run, every, instant
from duetime.ids import SYSTEM_TENANT, new_action_id
from duetime.model.action import SkipReason, Status
from duetime.model.metric import Metric
from duetime.model.work_pause import PausableWork, PauseScope, WorkPause, work_of
from duetime.retry import RetryPolicy
from duetime.testing import InvariantBroken, SimulatedCloud
from tests.journeys.shop import SCHEMA

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Receipt(Payload):
    number: int = 0


class Errand(Payload):
    pass


class Letter(Payload):
    to: str


@pytest.fixture
def ran():
    return []


@pytest.fixture
def app(ran):
    app = App()

    @app.action(retry=RetryPolicy(attempts=2, backoff=[MINUTE]))
    def send_receipt(payload: Receipt, run: Run) -> None:
        ran.append(("receipt", run.tenant_id, run.now()))
        if payload.number < 0 and run.attempt == 1:
            raise RuntimeError("the first attempt fails")

    @app.action
    def run_errand(payload: Errand, run: Run) -> None:
        del payload
        ran.append(("errand", run.tenant_id, run.now()))

    @app.action(rate=Rate(100, per="minute", key=lambda letter: letter.to))
    def send_letter(payload: Letter, run: Run) -> None:
        ran.append((payload.to, run.tenant_id, run.now()))

    return app


@pytest.fixture
def _job(app, ran):
    """Declare a job that runs each minute."""

    @app.job(every(minutes=1), name="count-orders")
    def count_orders(run: Run) -> None:
        ran.append(("job", run.tenant_id, run.now()))


@pytest.fixture
def cloud(app):
    made = SimulatedCloud(app, start=NOON)
    yield made
    made.close()


def pause(cloud, scope=PauseScope.TYPE, name="receipt", *, length=HOUR, **more):
    begun = WorkPause(
        id=new_action_id(cloud.now),
        scope=scope,
        name=name,
        reason="SES is down",
        by="ann",
        since=cloud.now,
        until=None if length is None else cloud.now + length,
        **more,
    )
    cloud.memory.pauses.begin(begun)
    return begun


def times_of(ran, kind="receipt"):
    return [at for name, _, at in ran if name == kind]


def test_waiting_actions_each_begin_at_an_instant_of_their_own_within_the_spread(cloud, ran):
    begun = pause(cloud, spread=30 * MINUTE)
    scheduler = cloud.scheduler_for("acme")
    waiting = [scheduler.schedule(Receipt(), at=30 * MINUTE) for _ in range(60)]
    scheduler.schedule(Errand(), at=30 * MINUTE)
    expected = {action.id: begun.holds_until(work_of(action, None)) for action in waiting}
    cloud.advance(HOUR)
    assert times_of(ran, "errand") == [NOON + 30 * MINUTE]
    assert times_of(ran) == []
    cloud.advance(30 * MINUTE + 2 * SECOND)
    starts = {row.id: row.attempts[0].started_at for row in cloud.actions() if row.attempts}
    assert all(timedelta(0) <= starts[id_] - at < 2 * SECOND for id_, at in expected.items())
    parts = [min((at - NOON - HOUR) // (3 * MINUTE), 9) for at in times_of(ran)]
    tenths = [parts.count(part) for part in range(10)]
    assert sum(tenths) == 60
    assert max(tenths) <= 15


def test_after_an_early_end_all_have_begun_when_the_pause_is_over(cloud, ran):
    begun = pause(cloud, length=None, spread=15 * MINUTE)
    for _ in range(60):
        cloud.scheduler_for("acme").schedule(Receipt(), at=timedelta(0))
    cloud.advance(HOUR + 5 * MINUTE)
    ended = begun.ended(by="ann", at=cloud.now)
    cloud.memory.pauses.end(ended)
    cloud.advance(HOUR)
    assert len(times_of(ran)) == 60
    assert ended.end < min(times_of(ran)) < max(times_of(ran)) - 10 * MINUTE
    assert max(times_of(ran)) <= ended.over_at


def test_a_short_pause_is_spread_over_its_own_length(cloud, ran):
    pause(cloud, length=2 * MINUTE)
    for _ in range(20):
        cloud.scheduler_for("acme").schedule(Receipt(), at=MINUTE)
    cloud.advance(4 * MINUTE + 2 * SECOND)
    assert len(times_of(ran)) == 20
    assert max(times_of(ran)) - min(times_of(ran)) > MINUTE


def test_what_becomes_due_after_the_end_is_not_delayed(cloud, ran):
    pause(cloud, length=10 * MINUTE)
    cloud.scheduler_for("acme").schedule(Receipt(), at=10 * MINUTE)
    cloud.advance(11 * MINUTE)
    assert times_of(ran) == [NOON + 10 * MINUTE]


def test_a_run_that_a_limit_defers_after_a_pause_keeps_which_pause_held_it():
    app = App()

    @app.action(rate=Rate(1, per="hour"))
    def send_letter(letter: Letter) -> None: ...

    cloud = SimulatedCloud(app, start=NOON)
    begun = pause(cloud, name="letter")
    letters = [cloud.scheduler.schedule(Letter(to=to), at=MINUTE) for to in ("ada", "ben", "cy")]
    cloud.advance(timedelta(days=3))  # the pause is no longer stored when the last one begins
    assert {cloud.scheduler.get(letter.id).held_by for letter in letters} == {begun.story(begun.until)}
    cloud.close()


def test_the_row_keeps_which_pause_held_it(cloud):
    pause(cloud, length=HOUR)
    receipt = cloud.scheduler_for("acme").schedule(Receipt(), at=MINUTE)
    other = cloud.scheduler_for("acme").schedule(Errand(), at=MINUTE)
    cloud.advance(timedelta(days=3))
    get = cloud.scheduler_for("acme").get
    assert get(receipt.id).held_by == (
        "the type receipt was paused until 2026-03-01T13:00:00Z, by ann: SES is down"
    )
    assert get(other.id).held_by is None


def test_work_that_becomes_due_under_a_pause_that_skips_is_skipped_and_reported(cloud, ran):
    begun = pause(cloud, length=None, skips=True)
    scheduler = cloud.scheduler_for("acme")
    skipped = scheduler.schedule(Receipt(), at=MINUTE)
    later = scheduler.schedule(Receipt(), at=2 * HOUR)
    cloud.advance(HOUR)
    cloud.memory.pauses.end(begun.ended(by="ann", at=cloud.now))
    cloud.advance(2 * HOUR)
    row = scheduler.get(skipped.id)
    assert (row.status, row.skip_reason) == (Status.SKIPPED, SkipReason.PAUSED)
    assert row.note == "the type receipt is paused without an end, by ann: SES is down"
    [event] = cloud.events("action.skipped")
    assert event["detail"]["action"]["reason"] == row.note
    assert cloud.metrics.total(Metric.SKIPPED) == 1
    assert cloud.metrics.total(Metric.EXPIRED) == 0
    assert scheduler.get(later.id).status is Status.EXECUTED
    assert times_of(ran) == [NOON + 2 * HOUR]


@pytest.mark.parametrize(
    ("scope", "tenant_id", "expected"),
    [
        (PauseScope.TYPE, "acme", "acme"),
        (PauseScope.CONCURRENCY_KEY, "acme", "acme"),
        (PauseScope.RATE_KEY, "acme", "acme"),
        (PauseScope.WORKER, None, SYSTEM_TENANT),
    ],
)
def test_a_pause_and_its_end_by_a_caller_are_events_with_the_caller(cloud, scope, tenant_id, expected):
    begun = pause(cloud, scope, "receipt", tenant_id=tenant_id)
    pause(cloud, scope, "other", length=MINUTE, tenant_id=tenant_id)  # its end by time has no event
    cloud.advance(2 * MINUTE)
    cloud.memory.pauses.end(begun.ended(by="bob", at=cloud.now))
    cloud.advance(MINUTE)
    paused, other, resumed = (event["detail"] for event in cloud.events() if "work" in event["detail"])
    for detail in (paused, other, resumed):
        SCHEMA.validate(detail)
    assert [detail["type"] for detail in (paused, other, resumed)] == [*["work.paused"] * 2, "work.resumed"]
    assert (paused["by"], paused["tenant_id"]) == ("ann", expected)
    assert (resumed["by"], resumed["at"]) == ("bob", instant.text(NOON + 2 * MINUTE))
    assert {detail["work"]["pause_id"] for detail in (paused, resumed)} == {begun.id}
    assert paused["work"] == {
        "scope": scope.value,
        "name": "receipt",
        "of": tenant_id,
        "pause_id": begun.id,
        "reason": "SES is down",
        "since": instant.text(NOON),
        "until": instant.text(NOON + HOUR),
        "skips": False,
    }


def test_a_process_that_has_not_read_the_end_of_a_pause_reads_it_before_it_skips(cloud):
    scheduler = cloud.scheduler_for("acme")
    begun = pause(cloud, length=None, skips=True)
    for due in (9, 11):
        scheduler.schedule(Receipt(), at=due * SECOND)
    cloud.advance(10 * SECOND)
    cloud.memory.pauses.end(begun.ended(by="ann", at=cloud.now))
    cloud.advance(HOUR)
    receipts = {row.due_at - NOON: row.status for row in cloud.actions() if row.type == "receipt"}
    assert receipts == {9 * SECOND: Status.SKIPPED, 11 * SECOND: Status.EXECUTED}


def test_a_retry_waits_even_if_the_pause_skips(cloud, ran):
    scheduler = cloud.scheduler_for("acme")
    failing = scheduler.schedule(Receipt(number=-1), at=SECOND)
    cloud.advance(2 * SECOND)
    pause(cloud, length=HOUR, skips=True)
    cloud.advance(2 * HOUR)
    row = scheduler.get(failing.id)
    assert (row.status, row.attempt) == (Status.EXECUTED, 2)
    assert row.attempts[1].started_at > NOON + HOUR
    assert len(times_of(ran)) == 2


def test_a_retry_of_a_jobs_run_waits_even_if_the_pause_skips(ran):
    app = App()

    @app.job(every(hours=1), name="count-orders", retry=RetryPolicy(attempts=2, backoff=[MINUTE]))
    def count_orders(run: Run) -> None:
        ran.append(run.now())
        if run.attempt == 1:
            raise RuntimeError("the first attempt fails")

    cloud = SimulatedCloud(app, start=NOON)
    cloud.advance(HOUR + SECOND)
    pause(cloud, name="count-orders", length=HOUR / 2, skips=True)
    cloud.advance(HOUR - MINUTE)
    assert [at < NOON + HOUR * 1.5 for at in ran] == [True, False]


def test_an_action_that_has_expired_is_skipped_for_that_also_under_a_pause(cloud):
    pause(cloud, length=None, skips=True)
    late = cloud.scheduler_for("acme").schedule(Receipt(), at=MINUTE, expires_after=SECOND)
    cloud.clock.wait_until(NOON + 2 * MINUTE)  # nothing works for so long
    cloud.advance(HOUR)
    assert cloud.scheduler_for("acme").get(late.id).skip_reason is SkipReason.EXPIRED


def test_a_pause_of_one_tenant_s_type_holds_no_other_tenant(cloud, ran):
    pause(cloud, tenant_id="acme")
    for tenant in ("acme", "globex"):
        cloud.scheduler_for(tenant).schedule(Receipt(), at=MINUTE)
    cloud.advance(HOUR)
    assert [tenant for _, tenant, _ in ran if tenant != "system"] == ["globex"]


@pytest.mark.parametrize(
    ("scope", "name", "held"),
    [
        (PauseScope.CONCURRENCY_KEY, "smtp", ["keyed"]),
        (PauseScope.WORKER, "default", ["keyed", "free"]),
        (PauseScope.TENANT, "acme", ["keyed", "free"]),
        (PauseScope.WORKER, "another", []),
        (PauseScope.TYPE, "another", []),
    ],
)
def test_each_scope_holds_its_own_work(cloud, scope, name, held):
    pause(cloud, scope, name, spread=timedelta(0))
    scheduler = cloud.scheduler_for("acme")
    actions = {
        "keyed": scheduler.schedule(Receipt(), at=MINUTE, concurrency_key="smtp"),
        "free": scheduler.schedule(Receipt(), at=MINUTE),
    }
    cloud.advance(30 * MINUTE)
    waiting = [name for name, action in actions.items() if scheduler.get(action.id).status is Status.PENDING]
    assert waiting == held
    cloud.advance(HOUR)
    assert {scheduler.get(action.id).status for action in actions.values()} == {Status.EXECUTED}


def test_a_rate_key_is_paused_also_if_only_the_worker_knows_it(cloud, ran):
    pause(cloud, PauseScope.RATE_KEY, "ann", spread=timedelta(0))
    for name in ("ann", "bob"):
        cloud.scheduler_for("acme").schedule(Letter(to=name), at=MINUTE)
    cloud.advance(HOUR - SECOND)
    assert (times_of(ran, "ann"), times_of(ran, "bob")) == ([], [NOON + MINUTE])
    cloud.advance(MINUTE)
    assert len(times_of(ran, "ann")) == 1


@pytest.mark.usefixtures("_job")
def test_runs_of_a_paused_job_s_type_wait_and_then_count_as_missed_after_its_grace(cloud, ran):
    cloud.advance(2 * MINUTE)
    before = len(times_of(ran, "job"))
    assert before
    pause(cloud, name="count-orders", spread=timedelta(0))
    cloud.advance(59 * MINUTE)
    assert len(times_of(ran, "job")) == before
    cloud.advance(31 * MINUTE)
    assert len(times_of(ran, "job")) > before + 20
    missed = [row for row in cloud.actions(Status.SKIPPED) if row.job == "count-orders"]
    assert {row.skip_reason for row in missed} == {SkipReason.MISSED}


@pytest.mark.usefixtures("_job")
def test_runs_of_a_job_are_skipped_under_a_pause_that_skips(cloud, ran):
    pause(cloud, name="count-orders", length=5 * MINUTE, skips=True)
    cloud.advance(10 * MINUTE)
    skipped = [row for row in cloud.actions(Status.SKIPPED) if row.job == "count-orders"]
    assert {row.skip_reason for row in skipped} == {SkipReason.PAUSED}
    assert all(NOON <= row.due_at <= row.changed.at < NOON + 5 * MINUTE for row in skipped)
    assert min(times_of(ran, "job")) >= NOON + 5 * MINUTE


def test_of_two_pauses_the_work_waits_for_both(cloud, ran):
    pause(cloud, length=10 * MINUTE, spread=timedelta(0))
    pause(cloud, PauseScope.WORKER, "default", length=30 * MINUTE, spread=timedelta(0))
    cloud.scheduler_for("acme").schedule(Receipt(), at=MINUTE)
    cloud.advance(HOUR)
    assert times_of(ran)[0] >= NOON + 30 * MINUTE


def test_a_far_action_whose_timer_fires_under_a_pause_waits(cloud, ran):
    scheduler = cloud.scheduler_for("acme")
    scheduler.schedule(Receipt(), at=3 * HOUR)
    cloud.advance(HOUR)
    pause(cloud, length=4 * HOUR, spread=timedelta(0))
    cloud.advance(3 * HOUR)
    assert times_of(ran) == []
    cloud.advance(2 * HOUR)
    assert [at - NOON - 5 * HOUR < 2 * SECOND for at in times_of(ran)] == [True]


def messages(cloud):
    return [message for message in cloud.memory.queues.messages.values() if message.type == "receipt"]


def test_held_work_has_no_message_and_no_pass_sends_one(cloud, ran):
    pause(cloud, length=None)
    cloud.scheduler_for("acme").schedule(Receipt(), at=MINUTE)
    for _ in range(3):
        cloud.advance(HOUR)
        cloud.jobs.trigger("duetime-catch-up")
        cloud.advance(MINUTE)
        assert messages(cloud) == []
    assert times_of(ran) == []


def lose_all(cloud):
    for receipt in cloud.memory.queues.messages:
        cloud.memory.queues.delete(receipt)


@pytest.mark.parametrize("minutes", [20, 90, 200])
def test_a_pause_whose_messages_are_lost_ends_within_its_spread(cloud, minutes):
    begun = pause(cloud, length=minutes * MINUTE, spread=2 * MINUTE)
    waiting = [cloud.scheduler.schedule(Receipt(), at=at * MINUTE) for at in (0, 3, minutes - 1)]
    for minute in (1, minutes // 2, minutes - 4, minutes - 2.5):
        cloud.advance(NOON + minute * MINUTE - cloud.now)
        lose_all(cloud)
    cloud.advance(begun.over_at + MINUTE - cloud.now)
    starts = {row.id: row.attempts[0].started_at for row in cloud.actions() if row.attempts}
    late = [starts[row.id] - begun.holds_until(work_of(row, None)) for row in waiting]
    assert timedelta(0) <= min(late) <= max(late) <= MINUTE


def test_work_that_is_to_be_skipped_is_skipped_though_its_message_is_lost(cloud):
    pause(cloud, length=None, skips=True)
    receipt = cloud.scheduler.schedule(Receipt(), at=MINUTE)
    cloud.advance(SECOND)
    lose_all(cloud)
    cloud.advance(8 * MINUTE)
    assert cloud.scheduler.get(receipt.id).status is Status.SKIPPED


@pytest.mark.parametrize("minute", [-1, 1, 3, 6, 14])
def test_what_waits_runs_minutes_after_its_instant_though_all_messages_are_lost_then(cloud, ran, minute):
    begun = pause(cloud, length=HOUR, spread=5 * MINUTE)
    for _ in range(20):
        cloud.scheduler.schedule(Receipt(), at=MINUTE)
    cloud.advance(HOUR + minute * MINUTE)
    lose_all(cloud)
    cloud.advance(begun.over_at + 7 * MINUTE - cloud.now)
    assert len(times_of(ran)) == 20
    ages = cloud.metrics.values(Metric.OLDEST_DUE_AGE)
    assert max(ages, default=0) < 15 * 60  # from its instant, as the pause does not count


@pytest.mark.parametrize("length", [None, 4 * HOUR])
@pytest.mark.parametrize(
    ("scope", "name"),
    [(PauseScope.TYPE, "letter"), (PauseScope.RATE_KEY, "ann"), (PauseScope.WORKER, "default")],
)
def test_a_check_of_the_cloud_admits_what_a_pause_holds_and_nothing_else(cloud, scope, name, length):
    pause(cloud, scope, name, length=length)
    cloud.scheduler_for("acme").schedule(Letter(to="ann"), at=MINUTE)
    cloud.advance(3 * HOUR)
    cloud.check()
    cloud.memory.items.partitions.clear()
    with pytest.raises(InvariantBroken, match=r"is pending since 03-01 12:01:00 \(invariant 2\)"):
        cloud.check()


def work_at(number):
    return PausableWork(tenant_id="acme", id=f"a{number}", type="t", due_at=NOON)


def test_instants_of_the_spread_are_even():
    begun = WorkPause(
        id="p", scope=PauseScope.TYPE, name="t", reason="", by="ann", since=NOON, until=NOON + HOUR
    )
    offsets = sorted(
        (begun.holds_until(work_at(number)) - NOON - HOUR) / (10 * MINUTE) for number in range(1_000)
    )
    assert max(abs(offset - (place + 0.5) / 1_000) for place, offset in enumerate(offsets)) < 0.06
