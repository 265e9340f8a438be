"""Handed-over actions in simulated time: an external party ends them by token, once."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from duetime import App, Payload, RetryPolicy, Run, Status, manual
from duetime.actions.why import WhySources, why
from duetime.errors import HandOverEnded, InvalidArgument, NotFound, StateConflict, Unsupported
from duetime.memory.notes import MemoryRoutes
from duetime.model.expiry import NO_EXPIRY
from duetime.model.hand_over_token import PREFIX, token_of
from duetime.model.metric import Metric
from duetime.model.row_parts import Progress
from duetime.ports.wakeups import Delivery
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, fake_run
from duetime.wakeups.due_messages import message_of
from tests.journeys.conftest import NOON

NOW, SECOND, MINUTE, HOUR = timedelta(0), timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Print(Payload):
    pages: int = 1
    timeout: timedelta = HOUR
    heartbeat: timedelta | None = None


class PrintShop:
    """An app whose handler hands its work to a printer, which has the token."""

    def __init__(self):
        self.app, self.tokens, self.begun = App(), [], []
        self.app.action(retry=RetryPolicy(attempts=2, backoff=[600], jitter=0))(self._print())
        self.app.job(manual(), name="print-press", overlap="queue_one")(self._press())
        self.cloud = SimulatedCloud(self.app, start=NOON)

    def _print(self):
        def send_to_printer(payload: Print, run: Run):
            self.tokens.append(run.token)
            self.begun.append(run.now())
            return run.hand_over(timeout=payload.timeout, heartbeat=payload.heartbeat)

        return send_to_printer

    def _press(self):
        async def press(run: Run):
            self.tokens.append(run.token)
            return run.hand_over(timeout=HOUR)

        return press

    @property
    def scheduler(self):
        return self.cloud.scheduler

    def handed_over(self, *, key=None, **payload):
        action = self.scheduler.schedule(Print(**payload), at=NOW, concurrency_key=key)
        self.cloud.advance(seconds=1)
        return action.id

    def row(self, action_id):
        return self.scheduler.get(action_id)


@pytest.fixture
def shop():
    shop = PrintShop()
    yield shop
    shop.cloud.check()
    shop.cloud.close()


def test_a_hand_over_of_more_than_two_deep_sweeps_breaks_no_invariant_while_its_lease_lives():
    shop = PrintShop()
    action = shop.scheduler.schedule(Print(timeout=24 * HOUR), at=NOW)
    shop.cloud.advance(hours=13)
    assert shop.scheduler.get(action.id).status is Status.PROCESSING
    shop.cloud.check()


def test_a_completion_executes_the_action_and_stores_its_result(shop):
    action = shop.handed_over()
    assert shop.row(action).is_handed_over
    shop.cloud.advance(minutes=59)
    done = shop.scheduler.complete(shop.tokens[0], result={"pages": 3})
    assert (done.status, done.result) == (Status.EXECUTED, '{"pages":3}')
    assert len(shop.begun) == 1


def test_a_second_completion_changes_nothing_and_says_so(shop):
    action = shop.handed_over()
    shop.scheduler.complete(shop.tokens[0])
    row = shop.row(action)
    for again in (shop.scheduler.complete, lambda token: shop.scheduler.fail(token, "late")):
        with pytest.raises(HandOverEnded, match=r"ended at .*The action is executed"):
            again(shop.tokens[0])
    with pytest.raises(HandOverEnded):
        shop.scheduler.heartbeat(shop.tokens[0])
    assert shop.row(action) == row


def test_a_failure_is_retried_by_the_policy_and_the_next_run_has_another_token(shop):
    action = shop.handed_over()
    assert shop.scheduler.fail(shop.tokens[0], "out of paper").status is Status.PENDING
    shop.cloud.advance(minutes=11)
    with pytest.raises(HandOverEnded, match="a later run has begun"):
        shop.scheduler.complete(shop.tokens[0])
    failed = shop.scheduler.fail(shop.tokens[1], "on fire")
    assert (failed.status, failed.failure_reason, failed.id) == (Status.FAILED, "on fire", action)


@pytest.mark.parametrize(("retry", "due_in"), [(False, None), (timedelta(minutes=3), 3 * MINUTE)])
def test_the_party_that_fails_it_decides_on_the_retry(shop, retry, due_in):
    shop.handed_over()
    failed = shop.scheduler.fail(shop.tokens[0], "no", retry=retry)
    assert failed.status is (Status.FAILED if due_in is None else Status.PENDING)
    if due_in:
        assert failed.due_at == shop.cloud.clock.now() + due_in


@pytest.mark.parametrize("heartbeat", [timedelta(seconds=10), 5 * MINUTE, timedelta(minutes=40)])
def test_a_missed_heartbeat_lets_the_handler_run_again_within_a_minute(shop, heartbeat):
    action = shop.handed_over(heartbeat=heartbeat)
    missed_at = shop.row(action).lease_until
    shop.cloud.advance(heartbeat + MINUTE)
    assert len(shop.begun) > 1
    assert timedelta(0) < shop.begun[1] - missed_at < MINUTE
    with pytest.raises(HandOverEnded, match="a later run has begun"):
        shop.scheduler.complete(shop.tokens[0])


def test_heartbeats_keep_it_alive_up_to_its_time_out(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    for _ in range(14):
        shop.cloud.advance(minutes=4)
        beat = shop.scheduler.heartbeat(shop.tokens[0], progress=0.4, note="12,000 of 30,000")
        assert not beat.cancel_requested
    assert beat.waits_until == NOON + SECOND - SECOND + HOUR
    row = shop.row(action)
    assert (row.progress, row.recoveries) == (Progress(0.4, "12,000 of 30,000"), 0)
    assert len(shop.begun) == 1
    shop.cloud.advance(minutes=10)
    with pytest.raises(HandOverEnded):
        shop.scheduler.heartbeat(shop.tokens[0])


def test_a_time_out_fails_the_attempt_and_the_policy_decides(shop):
    action = shop.handed_over()
    shop.cloud.advance(HOUR + MINUTE)
    row = shop.row(action)
    assert (row.status, row.due_at > shop.cloud.clock.now()) == (Status.PENDING, True)
    assert "timed out" in row.attempts[-1].message
    assert len(shop.begun) == 1
    shop.cloud.advance(hours=2)
    assert shop.row(action).status is Status.FAILED
    assert len(shop.begun) == 2


def test_a_completion_between_the_time_out_and_its_discovery_changes_nothing(shop):
    action = shop.handed_over()
    shop.cloud.advance(shop.row(action).hand_over.times_out_at - shop.cloud.clock.now())
    assert shop.row(action).is_handed_over
    with pytest.raises(HandOverEnded, match="its time-out has passed"):
        shop.scheduler.complete(shop.tokens[0])


def test_a_cancel_reaches_the_party_with_its_next_heartbeat(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    assert shop.scheduler.cancel(action).status is Status.PROCESSING
    assert shop.scheduler.heartbeat(shop.tokens[0]).cancel_requested
    ended = shop.scheduler.fail(shop.tokens[0], "stopped")
    assert (ended.status, ended.attempts[-1].message) == (Status.CANCELLED, "stopped")


def test_a_completion_wins_over_a_request_to_cancel(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    shop.scheduler.cancel(action)
    assert shop.scheduler.complete(shop.tokens[0]).status is Status.EXECUTED


def test_a_cancel_ends_a_hand_over_without_heartbeats_at_once(shop):
    action = shop.handed_over(key="printer")
    assert shop.scheduler.cancel(action).status is Status.CANCELLED
    with pytest.raises(HandOverEnded):
        shop.scheduler.complete(shop.tokens[0])


def test_a_request_to_cancel_ends_a_lost_hand_over(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    shop.scheduler.cancel(action)
    shop.cloud.advance(minutes=7)
    assert shop.row(action).status is Status.CANCELLED
    assert len(shop.begun) == 1


@pytest.mark.parametrize("end", ["complete", "fail", "retry", "cancel"])
def test_the_slot_of_a_concurrency_key_is_passed_on_at_the_end(shop, end):
    first = shop.handed_over(key="printer")
    shop.scheduler.schedule(Print(), at=NOW, concurrency_key="printer")
    shop.cloud.advance(minutes=2)
    assert len(shop.begun) == 1
    if end == "cancel":
        shop.scheduler.cancel(first)
    elif end == "complete":
        shop.scheduler.complete(shop.tokens[0])
    else:
        shop.scheduler.fail(shop.tokens[0], "no", retry=end == "retry")
    ended_at = shop.cloud.clock.now()
    shop.cloud.advance(minutes=1)
    assert len(shop.begun) == 2
    assert shop.begun[1] - ended_at <= timedelta(seconds=5)
    shop.scheduler.complete(shop.tokens[1])


def test_the_lock_of_a_job_is_freed_and_its_run_counted_at_the_end(shop):
    first, second = (shop.scheduler.jobs.trigger("print-press") for _ in range(2))
    shop.cloud.advance(minutes=1)
    assert len(shop.tokens) == 1
    shop.scheduler.complete(shop.tokens[0])
    shop.cloud.advance(seconds=5)
    assert len(shop.tokens) == 2
    shop.scheduler.fail(shop.tokens[1], "jammed", retry=False)
    shop.cloud.advance(seconds=5)
    job = shop.scheduler.jobs.get("print-press")
    assert (job.running, job.tally.executed, job.tally.failed) == (None, 1, 1)
    assert job.tally.last_error == "jammed"
    assert {shop.row(run.id).status for run in (first, second)} == {Status.EXECUTED, Status.FAILED}


def test_a_handler_that_has_not_returned_yet_cannot_be_completed():
    app, raised = App(), []

    @app.action
    def quick(payload: Print, run: Run):
        with pytest.raises(StateConflict, match="call again in a second"):
            cloud.scheduler.complete(run.token)
        raised.append(True)
        return run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(seconds=1)
    assert raised == [True]


def test_the_token_of_a_run_that_handed_nothing_over_changes_nothing(shop):
    app, tokens = App(), []

    @app.action(retry=RetryPolicy(attempts=3, backoff=[600], jitter=0))
    def lend(payload: Print, run: Run):
        tokens.append(run.token)
        if run.attempt != 2:
            raise ConnectionError("no printer")
        return run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(seconds=1)
    with pytest.raises(NotFound, match="its run handed nothing over"):
        cloud.scheduler.complete(tokens[0])
    cloud.advance(minutes=11)
    with pytest.raises(NotFound, match="its run handed nothing over"):
        cloud.scheduler.complete(tokens[0])
    cloud.scheduler.fail(tokens[1], "no paper")
    cloud.advance(minutes=11)
    with pytest.raises(HandOverEnded, match=r"its run ended without a hand-over at .*The action is failed"):
        cloud.scheduler.complete(tokens[2])
    cloud.close()


@pytest.mark.parametrize("key", [None, "printer"])
def test_the_progress_of_a_run_ends_with_the_next_one(key):
    app, seen = App(), []

    @app.action(retry=RetryPolicy(attempts=2, backoff=[600], jitter=0))
    def lend(payload: Print, run: Run):
        row = cloud.scheduler.get(run.id)
        seen.append(row.progress)
        run.progress(0.9, "nearly")
        raise ConnectionError("no printer")

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Print(), at=NOW, concurrency_key=key)
    cloud.advance(minutes=5)
    assert cloud.scheduler.get(action.id).progress == Progress(0.9, "nearly")
    cloud.advance(minutes=20)
    assert seen == [None] * 2
    cloud.close()


def test_the_progress_of_a_lost_run_ends_with_its_take_over(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    shop.scheduler.heartbeat(shop.tokens[0], progress=0.4, note="half")
    shop.cloud.advance(minutes=7)
    row = shop.row(action)
    assert (len(shop.tokens), row.progress) == (2, None)


def test_the_end_of_a_hand_over_wakes_the_waiting_run_through_the_queue_of_its_type():
    shop = PrintShop()
    first, second = (shop.scheduler.jobs.trigger("print-press") for _ in range(2))
    shop.cloud.advance(minutes=1)
    shop.scheduler.complete(shop.tokens[0])
    routed = MemoryRoutes([replace(shop.app.manifest, worker="other")])
    sent, worker = [], shop.cloud.memory.workers["default"]
    worker._routes, worker._queues = routed, SimpleNamespace(send=sent.extend)
    worker(Delivery(message_of(shop.row(first.id)), shop.cloud.now, "receipt"))
    assert [(send.queue, send.message.ref.id) for send in sent] == [("other", second.id)]
    shop.cloud.close()


def test_a_token_that_no_run_made_changes_nothing(shop):
    action = shop.handed_over()
    row, token = shop.row(action), shop.tokens[0]
    packed = urlsafe_b64decode(token.removeprefix(PREFIX) + "==")
    flipped = bytes([packed[0] ^ 1]) + packed[1:]
    other_fence = packed[:16] + packed[16:].replace(b"1\n", b"2\n", 1)
    forged = [PREFIX + urlsafe_b64encode(made).decode().rstrip("=") for made in (flipped, other_fence)]
    for bad in [
        "",
        PREFIX,
        token.removeprefix(PREFIX),
        "x" * 5_000,
        "é",
        token[:-4],
        token + "A",
        None,
        7,
        *forged,
    ]:
        for call in (shop.scheduler.complete, shop.scheduler.heartbeat):
            with pytest.raises(NotFound, match="no hand-over"):
                call(bad)
    assert shop.row(action) == row


def test_no_token_looks_like_an_option_of_the_command_line(shop):
    row = shop.row(shop.handed_over())
    tokens = [
        token_of(replace(row, hand_over=replace(row.hand_over, key=f"key {number}"))) for number in range(500)
    ]
    assert {token[:3] for token in tokens} == {PREFIX}


def test_a_token_of_another_tenant_changes_nothing(shop):
    action = shop.handed_over()
    stranger = shop.cloud.scheduler_for("bolt", "clerk")
    with pytest.raises(NotFound, match="another tenant"):
        stranger.complete(shop.tokens[0])
    assert shop.row(action).is_handed_over


@pytest.mark.parametrize(
    ("times", "problem"),
    [
        ({"timeout": HOUR, "heartbeat": 2 * HOUR}, "longer than the timeout"),
        ({"timeout": SECOND}, "allowed is a timedelta from"),
        ({"timeout": timedelta(days=400)}, "allowed is a timedelta from"),
        ({"timeout": 60}, "timeout is 60; allowed"),
        ({"timeout": HOUR, "heartbeat": 30}, "heartbeat is 30; allowed"),
    ],
)
def test_a_hand_over_with_bad_times_is_refused(times, problem):
    with pytest.raises(InvalidArgument, match=problem):
        fake_run().hand_over(**times)


@pytest.mark.parametrize(
    "end",
    [
        lambda scheduler, token: scheduler.complete(token, result="é" * 1_024),
        lambda scheduler, token: scheduler.complete(token, result={1, 2}),
        lambda scheduler, token: scheduler.complete(token, result=float("nan")),
        lambda scheduler, token: scheduler.fail(token, " "),
        lambda scheduler, token: scheduler.fail(token, "no", retry=-HOUR),
        lambda scheduler, token: scheduler.fail(token, "no", retry=5),
        lambda scheduler, token: scheduler.heartbeat(token, progress=1.1),
        lambda scheduler, token: scheduler.heartbeat(token, progress=True),
        lambda scheduler, token: scheduler.heartbeat(token, progress=0.5, note="x" * 201),
        lambda scheduler, token: scheduler.heartbeat(token, note="half"),
    ],
)
def test_bad_input_of_the_party_changes_nothing(shop, end):
    action = shop.handed_over()
    row = shop.row(action)
    with pytest.raises(InvalidArgument, match=r"allowed|pass"):
        end(shop.scheduler, shop.tokens[0])
    assert shop.row(action) == row


def test_a_result_of_2_kb_is_stored_whole(shop):
    action = shop.handed_over()
    shop.scheduler.complete(shop.tokens[0], result="é" * 1_023)
    assert len(shop.row(action).result.encode()) == 2_048


def test_a_hand_over_under_a_concurrency_key_is_bounded(shop):
    action = shop.handed_over(key="printer", timeout=timedelta(hours=49))
    row = shop.row(action)
    assert (row.status, row.is_handed_over) == (Status.PENDING, False)
    assert "at most 2 days" in row.attempts[-1].message


def test_a_handler_reports_its_progress_seldom():
    app = App()

    @app.action
    def count(payload: Print, run: Run) -> None:
        for number in range(1, 11):
            run.progress(number / 10, f"{number} of 10")
        shown.append(cloud.scheduler.get(run.id).progress.note)
        run.progress(0.2)

    shown, cloud = [], SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(seconds=1)
    assert shown == ["10 of 10"]
    assert cloud.scheduler.get(action.id).progress == Progress(1, "10 of 10")
    assert len([line for line in cloud.story(action.id).splitlines() if "progress" in line]) == 2


def test_why_names_what_a_handed_over_action_waits_for(shop):
    action = shop.handed_over(heartbeat=5 * MINUTE)
    shop.scheduler.heartbeat(shop.tokens[0], progress=0.4, note="12,000 of 30,000")
    sources = WhySources(
        store=None,
        settings=Settings(),
        hold_of=lambda _: None,
        skip_of=lambda _: None,
        job_of=lambda _: None,
        expiry_of=lambda _: NO_EXPIRY,
    )
    sentence = why(shop.row(action), shop.cloud.clock.now(), sources).sentence
    assert "handed over at 2026-03-01T12:00:00Z" in sentence
    assert "times out at 2026-03-01T13:00:00Z" in sentence
    assert "40 % is done: 12,000 of 30,000" in sentence


def test_hand_overs_and_their_ends_are_counted(shop):
    for number in range(3):
        shop.handed_over()
        if number == 0:
            shop.scheduler.complete(shop.tokens[number])
        else:
            shop.scheduler.fail(shop.tokens[number], "no", retry=number == 2)
    shop.cloud.advance(seconds=5)
    counted = {name: shop.cloud.metrics.total(name) for name in _COUNTED}
    assert counted == {
        Metric.HANDED_OVER: 3,
        Metric.EXECUTED: 1,
        Metric.FAILED: 1,
        Metric.RETRIED: 1,
    }


def test_a_hand_over_and_its_end_are_published():
    app = App()

    @app.action
    def handed(payload: Print, run: Run):
        tokens.append(run.token)
        return run.hand_over(timeout=HOUR)

    tokens, cloud = [], SimulatedCloud(app, start=NOON, settings=Settings(events="all"))
    cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(seconds=1)
    cloud.scheduler.complete(tokens[0])
    cloud.advance(seconds=1)
    words = ["scheduled", "started", "handed_over", "executed"]
    assert [event["detail-type"] for event in cloud.events()] == [f"action.{word}" for word in words]


_COUNTED = (Metric.HANDED_OVER, Metric.EXECUTED, Metric.FAILED, Metric.RETRIED)


def test_a_fake_run_has_a_token_and_returns_a_hand_over():
    reported = []
    run = fake_run(token="t-1", on_progress=reported.append)
    run.progress(0.5, "half")
    assert (run.token, reported[0].share, reported[0].note) == ("t-1", 0.5, "half")
    assert run.hand_over(timeout=HOUR, heartbeat=MINUTE).heartbeat == MINUTE


def test_an_embedded_run_of_many_cannot_hand_over():
    from duetime import Batch  # noqa: PLC0415

    app = App()

    @app.action(many=True)
    def many(batch: Batch[Print]):
        return batch.items[0].run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    action = cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(seconds=1)
    assert "cannot hand over" in cloud.scheduler.get(action.id).attempts[0].message


def test_a_run_without_a_scheduler_has_no_token():
    from dataclasses import replace  # noqa: PLC0415

    with pytest.raises(Unsupported, match="no token"):
        _ = replace(fake_run(), external=None).token


def test_a_cancel_before_a_hand_over_without_heartbeats_is_not_lost():
    app = App()

    @app.action
    def stubborn(payload: Print, run: Run):
        cloud.scheduler.cancel(run.id)
        return run.hand_over(timeout=HOUR, heartbeat=payload.heartbeat)

    cloud = SimulatedCloud(app, start=NOON)
    deaf, warned = (
        cloud.scheduler.schedule(Print(heartbeat=beat), at=NOW, concurrency_key=key)
        for beat, key in ((None, "deaf"), (5 * MINUTE, "warned"))
    )
    follower = cloud.scheduler.schedule(Print(), at=NOW, concurrency_key="deaf")
    cloud.advance(minutes=1)
    row = cloud.scheduler.get(deaf.id)
    assert (row.status, row.cancelled_by) == (Status.CANCELLED, "simulation")
    assert cloud.scheduler.get(warned.id).is_handed_over
    assert cloud.scheduler.get(follower.id).status is Status.CANCELLED
    cloud.check()
    cloud.close()


def test_a_later_run_ends_a_handed_over_one_that_nothing_else_can_stop():
    app, tokens = App(), []

    @app.job(manual(), name="latest-print", overlap="cancel_running")
    def latest(run: Run):
        tokens.append(run.token)
        return run.hand_over(timeout=HOUR)

    cloud = SimulatedCloud(app, start=NOON)
    first = cloud.scheduler.jobs.trigger("latest-print")
    cloud.advance(minutes=1)
    second = cloud.scheduler.jobs.trigger("latest-print")
    cloud.advance(seconds=5)
    assert cloud.scheduler.get(first.id).status is Status.CANCELLED
    assert cloud.scheduler.get(second.id).is_handed_over
    assert cloud.scheduler.jobs.get("latest-print").running == second.ref
    cloud.close()


def test_time_outs_count_as_no_dead_workers_and_leave_the_retries_to_the_policy():
    app, begun = App(), []

    @app.action(retry=RetryPolicy(attempts=10, backoff=[1], jitter=0))
    def forgetful(payload: Print, run: Run):
        begun.append(run.attempt)
        return run.hand_over(timeout=MINUTE)

    cloud = SimulatedCloud(app, start=NOON)
    ids = [cloud.scheduler.schedule(Print(), at=NOW, concurrency_key=key).id for key in (None, "printer")]
    cloud.advance(hours=2)
    assert sorted(begun) == sorted([*range(1, 11)] * 2)
    for row in map(cloud.scheduler.get, ids):
        assert (row.status, row.attempt, row.recoveries) == (Status.FAILED, 10, 0)
        assert "timed out" in row.failure_reason
    assert cloud.metrics.total(Metric.RECOVERED) == 0
    cloud.check()
    cloud.close()


def test_missed_heartbeats_fail_the_action_in_their_own_words():
    app = App()

    @app.action
    def silent(payload: Print, run: Run):
        return run.hand_over(timeout=HOUR, heartbeat=timedelta(seconds=10))

    cloud = SimulatedCloud(app, start=NOON, settings=Settings(max_recoveries=2))
    action = cloud.scheduler.schedule(Print(), at=NOW)
    cloud.advance(minutes=30)
    row = cloud.scheduler.get(action.id)
    assert row.failure_reason == (
        "Fatal: its run was lost 3 times (its worker died, or a heartbeat was missed)"
    )
    assert cloud.metrics.total(Metric.RECOVERED) == 3
    cloud.close()
