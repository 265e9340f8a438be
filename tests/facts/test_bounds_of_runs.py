"""What a worker decides about a message, and about the end of a run, one step at a time."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from duetime import App, Payload, Rate, RetryPolicy, Run, ids, instant
from duetime.errors import BackendUnavailable, StateConflict
from duetime.jobs.trusted_reading import KnownLimits
from duetime.memory.store import MemoryStore
from duetime.model.action import Attempt, Ending, Status
from duetime.model.hand_over import HandedOver
from duetime.model.lease import SettleResult
from duetime.model.outcome import NOT_BEGUN, SUCCEEDED, TIMED_OUT, UNDECIDED, Outcome
from duetime.model.row_parts import Act, HandOver, Progress
from duetime.model.run import RunCancelled
from duetime.model.work_pause import BreakerState, Hold, PauseScope, WorkPause
from duetime.ports.jobs import LockRequirement
from duetime.ports.rate_limits import NoSetLimits
from duetime.ports.wakeups import LONGEST_DELAY, Delivery
from duetime.settings import Made, Settings
from duetime.testing import TurnedClock
from duetime.wakeups.due_messages import message_of
from duetime.worker.claim_results import ClaimWon, LockFreed, Waiting
from duetime.worker.end_run import CommitStage, EndRun, RunCheckpoints, RunCommit, Settle
from duetime.worker.hand_over import RunExternalWork
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.paused_work import Held
from duetime.worker.rate_turn import RateTurns
from duetime.worker.worker import DeliveryResult, Execution, Worker
from duetime_contract.specimens import (
    EXPIRY,
    HOUR,
    MINUTE,
    NOON,
    SECOND,
    TICK,
    end,
    fresh,
    put,
    scheduled,
    stored_row,
)
from tests.backends import backends
from tests.cases import for_each
from tests.contract.rules.slots import keyed
from tests.facts.claim_decisions import job, row
from tests.slots import NoQueues

NOTHING_TO_DO, PUT_OFF, RAN = DeliveryResult.NOTHING_TO_DO, DeliveryResult.PUT_OFF, DeliveryResult.RAN
NOTHING, LOCK = LockRequirement.NOTHING, LockRequirement.LOCK
PAUSE = WorkPause(id="p", scope=PauseScope.TENANT, name="acme", reason="a test", by="ann", since=NOON)
BROKEN = replace(PAUSE, breaker=BreakerState(open_for=HOUR, probes_at=NOON + MINUTE))
SLACK = 10 * SECOND


class ApplyPlanChange(Payload):
    subscription_id: int = 0


class Desk:
    """A worker over a store in memory, which records what it sends."""

    def __init__(self, settings=None, **given):
        app, self.clock, self.queues, self.hidden = App(), TurnedClock(NOON), NoQueues(), []

        @app.action(retry=RetryPolicy(attempts=2))
        def apply_plan_change(payload: ApplyPlanChange, run: Run) -> None: ...

        self.store, settings = MemoryStore(), settings or Settings()
        self.over = backends(self.store, clock=self.clock, settings=settings, sends=self.queues, **given)
        self.queues.version_of = lambda _type: None
        heartbeat = Heartbeat(self.over)
        self.worker = Worker(app.handler_set, self.over, heartbeat, instance="w-1", jitter_draw=lambda: 0.5)
        heartbeat.hide = lambda _delivery, queue: self.hidden.append(queue)

    def delivery(self, its_row=None, *, due_at=NOON, queue=None, **message):
        found = message_of(its_row or scheduled(self.store, due_at=due_at))
        return Delivery(replace(found, **message), NOON, "r-1", queue=queue)

    @property
    def sent(self):
        """The delays and the messages."""
        return [(send.delay, send.message) for send in self.queues.sent]

    @property
    def delays(self):
        return [delay for delay, _ in self.sent]


@for_each(
    ("its_row", "is_keyed", "expected"),
    [(None, False, True), (row(NOON), False, False), (row(NOON), True, True)],
)
def test_the_message_of_a_run_that_waits_is_of_a_keyed_one_shot_or_as_it_was(its_row, is_keyed, expected):
    desk = Desk()
    assert desk.worker._again(desk.delivery(its_row, is_keyed=is_keyed), Waiting(7)) is PUT_OFF
    ((delay, message),) = desk.sent
    assert (delay, message.is_keyed, message.replaced_until > NOON) == (7, expected, True)
    copy = replace(desk.delivery(its_row), message=message)
    assert desk.worker._again(copy, Waiting(9)) is NOTHING_TO_DO
    desk.clock.wait_until(NOON + 7 * SECOND)
    assert desk.worker._again(copy, Waiting(9)) is PUT_OFF
    desk.clock.wait_until(message.replaced_until)
    assert desk.worker._again(copy, Waiting(9)) is NOTHING_TO_DO
    assert desk.delays == [7, 9]


def test_a_free_lock_wakes_the_run_that_waits_for_it_at_once():
    desk = Desk()
    for due_at in (NOON + MINUTE, NOON - MINUTE):
        assert desk.worker._again(desk.delivery(), LockFreed(row(due_at))) is NOTHING_TO_DO
    assert [(delay, message.due_at) for delay, message in desk.sent] == [(0, NOON), (0, NOON - MINUTE)]


@for_each(
    ("hold", "delays"),
    [
        (Hold(PAUSE, NOON + LONGEST_DELAY * SECOND), [LONGEST_DELAY]),
        (Hold(PAUSE, NOON + LONGEST_DELAY * SECOND + TICK), []),
        (Hold(PAUSE, NOON + SECOND / 2), [1]),
        (Hold(BROKEN, instant.LATEST), [60]),
    ],
)
def test_a_held_message_comes_again_if_the_end_is_near_or_it_may_probe(hold, delays):
    desk = Desk()
    its_row = put(desk.store, keyed(desk.store))
    result = desk.worker._again(desk.delivery(its_row, is_keyed=False), Held(hold))
    assert (result, desk.delays) == (PUT_OFF if delays else NOTHING_TO_DO, delays)
    assert all(message.is_keyed for _, message in desk.sent)


@for_each(
    ("first", "second", "results"),
    [
        (None, None, [60]),
        (None, NOON + HOUR, [60]),
        (NOON + HOUR, NOON + HOUR, [60]),
        (NOON + HOUR, None, [60, 60]),
        (NOON + HOUR, NOON + 2 * HOUR, [60, 60]),
        (NOON + HOUR, NOON + MINUTE, [60]),
    ],
)
def test_one_of_two_messages_comes_again_whose_chain_ends_no_sooner(first, second, results):
    desk = Desk()
    delivery = desk.delivery()
    for until in (first, second):
        desk.worker._come_again(
            replace(delivery, message=replace(delivery.message, replaced_until=until)), 60
        )
    assert desk.delays == results


def test_of_two_messages_the_later_does_not_replace_the_sooner():
    desk = Desk()
    delivery = desk.delivery()
    assert [desk.worker._come_again(delivery, seconds) for seconds in (60, 30, 60)] == [
        PUT_OFF,
        PUT_OFF,
        NOTHING_TO_DO,
    ]


def test_after_a_lease_its_message_comes_when_the_clocks_differ_no_more():
    desk = Desk()
    desk.worker._after_lease(desk.delivery(), NOON + MINUTE)
    assert desk.delays == [61 + Settings().clock_skew // SECOND]


@for_each(("ahead", "delays"), [(2 * SECOND, [2]), (HOUR, [LONGEST_DELAY]), (SECOND, [])])
def test_a_message_is_early_from_two_seconds_also_in_a_region_that_is_unknown(ahead, delays):
    def unknown():
        raise BackendUnavailable("the regions table", "throttled")

    desk = Desk(regions=SimpleNamespace(own="eu-central-1", read=unknown))
    assert desk.worker.begin(desk.delivery(due_at=NOON + ahead), shares_process=False) is PUT_OFF
    assert desk.delays == (delays or [5])
    assert not desk.hidden


@for_each(
    ("longer", "queue", "hidden"),
    [
        (SLACK, None, []),
        (SLACK + SECOND, None, ["default"]),
        (SLACK + SECOND, "default-high", ["default-high"]),
    ],
)
def test_a_message_is_hidden_in_its_queue_if_that_hides_it_much_longer_than_a_lease(longer, queue, hidden):
    settings = Settings()
    desk = Desk(replace(settings, made=Made(queue_visibility=settings.lease + longer)))
    execution = desk.worker.begin(desk.delivery(queue=queue), shares_process=False)
    assert (isinstance(execution, Execution), desk.hidden) == (True, hidden)
    execution.abandon()


def test_a_copy_of_a_message_that_comes_later_begins_no_run():
    desk = Desk()
    delivery = desk.delivery(replaced_until=NOON + HOUR)
    desk.worker._put_offs.sent(delivery.message, NOON + MINUTE, NOON + HOUR, NOON)
    assert desk.worker.begin(delivery, shares_process=False) is NOTHING_TO_DO
    assert stored_row(desk.store, delivery.message.ref).status is Status.PENDING


def test_a_hand_over_after_the_commit_ends_nothing():
    desk = Desk()
    execution = desk.worker.begin(desk.delivery(), shares_process=False)
    execution.run.commit(())
    assert execution.end(Outcome(Ending.EXECUTED, hand_over=HandedOver(HOUR))) is RAN
    assert desk.sent == []


@for_each(("outcome", "calls"), [(SUCCEEDED, 1), (TIMED_OUT, 0)])
def test_a_backfill_goes_on_after_the_end_of_a_run_and_not_before_its_retry(outcome, calls):
    desk, advanced = Desk(), []
    desk.worker._advance_backfill = advanced.append
    execution = desk.worker.begin(desk.delivery(), shares_process=False)
    assert execution.end(outcome) is RAN
    assert len(advanced) == calls


ATTEMPTS = tuple(Attempt(queued_at=at, started_at=at, instance="w") for at in (NOON - HOUR, NOON))
LAST = HandOver(fence=1, at=NOON - HOUR, times_out_at=NOON, key="k")


@for_each(
    ("changed", "expected"),
    [
        ({}, None),
        ({"cancel_request": Act(NOON, "ann")}, NOT_BEGUN),
        ({"hand_over": LAST}, TIMED_OUT),
        ({"hand_over": replace(LAST, question="Pay?")}, UNDECIDED),
        ({"hand_over": replace(LAST, question="Pay?"), "cancel_request": Act(NOON, "ann")}, NOT_BEGUN),
        ({"hand_over": replace(LAST, times_out_at=NOON + TICK)}, None),
    ],
)
def test_a_run_is_not_begun_after_a_cancel_or_a_time_out(changed, expected):
    claimed = replace(row(), attempts=ATTEMPTS, **changed)
    assert Desk().worker._not_begun(ClaimWon(claimed, None, NOTHING)) == expected


@for_each(
    ("its_job", "is_planned"),
    [
        (None, False),
        (job(maintain_at=NOON + 9 * HOUR), False),
        (job(maintain_at=NOON), True),
        (job(maintain_at=NOON + 9 * HOUR, maintain_failures=1), True),
    ],
)
def test_a_run_plans_its_job_if_that_is_behind(its_job, is_planned):
    worker, plans = Desk().worker, []
    worker._plan = plans.append
    worker._plan_ahead(ClaimWon(replace(row(), attempts=ATTEMPTS), its_job, NOTHING))
    assert bool(plans) is is_planned


class Settled:
    """The writes by which a run may end."""

    def __init__(self):
        self.writes = []
        self.settle = Settle(backends(), SimpleNamespace(is_current=lambda _fence: True))
        self.settle._wake_next = lambda _ref: self.writes.append("wake")

    def end(self, held, status):
        def alone(*_given):
            self.writes.append("row")
            return SettleResult.SETTLED

        def with_job(*_given, has_lock=True):
            self.writes.append("job" if has_lock else "count")
            return SettleResult.SETTLED

        self.settle._end(held, end(status), alone, with_job)
        return self.writes


CLAIMED = replace(row(), status=Status.PROCESSING, attempts=ATTEMPTS, attempt=1)
BACKFILL = replace(CLAIMED, id=f"{CLAIMED.id}.b{ids.new_backfill_id()}")
EVENT = replace(row(kind="event"), status=Status.PROCESSING, attempts=ATTEMPTS, attempt=1)


@for_each(
    ("claimed", "its_job", "hold", "status", "writes"),
    [
        (CLAIMED, job(), LOCK, Status.EXECUTED, ["job"]),
        (CLAIMED, job("queue_one"), LOCK, Status.EXECUTED, ["job", "wake"]),
        (CLAIMED, job(), LOCK, Status.PENDING, ["row"]),
        (CLAIMED, job(), NOTHING, Status.EXECUTED, ["count"]),
        (CLAIMED, None, NOTHING, Status.EXECUTED, ["row"]),
        (BACKFILL, job(), NOTHING, Status.FAILED, ["row"]),
        (EVENT, job(), NOTHING, Status.EXECUTED, ["row"]),
        (EVENT, job(), NOTHING, Status.FAILED, ["count"]),
        (replace(CLAIMED, id=ids.new_action_id(NOON)), job(), NOTHING, Status.FAILED, ["row"]),
    ],
)
def test_the_end_of_a_run_is_written_with_its_job_if_that_counts_it(claimed, its_job, hold, status, writes):
    assert Settled().end(ClaimWon(claimed, its_job, hold), status) == writes


def commit_of(store, claimed):
    def settle(*_given):
        raise AssertionError("it commits")

    heartbeat = SimpleNamespace(rest=settle, resume=settle)
    commit = RunCommit(
        ClaimWon(claimed, None, NOTHING),
        threading.Event(),
        settle=settle,
        heartbeat=heartbeat,
        executed=settle,
    )
    return commit, RunCheckpoints(claimed, store, commit)


@for_each(("stage", "error"), [(CommitStage.LOST, RunCancelled), (CommitStage.COMMITTED, StateConflict)])
def test_after_its_end_a_run_stores_nothing_more(stage, error):
    commit, checkpoints = commit_of(MemoryStore(), CLAIMED)
    commit.stage = stage
    for write in (lambda: commit(()), lambda: checkpoints("1")):
        with pytest.raises(error):
            write()


RETENTION = Settings().retention


@for_each(
    ("changed", "kept_until"),
    [
        ({"kept_until": EXPIRY}, EXPIRY),
        ({"status": Status.PENDING, "kept_until": None, "due_at": NOON + HOUR}, NOON + HOUR + RETENTION),
        ({"kept_until": None}, NOON + SECOND + RETENTION),
        ({"ending": Ending.CANCELLED}, None),
    ],
)
def test_a_traceback_is_kept_as_long_as_the_row_that_its_attempt_left(changed, kept_until):
    store, stored = SimpleNamespace(put_traceback=lambda *given: stored.append(given)), []
    end_run = EndRun(replace(backends(), store=store), None, None, None, jitter_draw=lambda: 0)
    outcome = Outcome(Ending.FAILED, "no bank", traceback="Traceback: no bank")
    end_run._keep_traceback(CLAIMED, outcome, replace(end(Status.FAILED), **changed))
    assert [(found.text, until) for _, found, until in stored] == (
        [] if kept_until is None else [("Traceback: no bank", kept_until)]
    )


@for_each(
    ("waits", "share", "reports"), [(5 * SECOND, 0.2, 2), (5 * SECOND - TICK, 0.2, 1), (0 * TICK, 1, 2)]
)
def test_progress_is_written_every_five_seconds_and_at_the_end(waits, share, reports):
    clock, written = TurnedClock(NOON), []
    store = SimpleNamespace(report=lambda _row, progress: written.append(progress.share))
    external = RunExternalWork(CLAIMED, store, clock, threading.Event())
    external.report(Progress(0.1))
    clock.wait_until(NOON + waits)
    external.report(Progress(share))
    assert len(written) == reports


class Mail(Payload):
    to: str = "ada"


def turns_of(store, rate):
    app, clock = App(), TurnedClock(NOON)

    @app.action(rate=rate)
    def mail(payload: Mail) -> None: ...

    return RateTurns(app.handler_set.by_name, store, KnownLimits(NoSetLimits(), clock))


def mail_row(**changed):
    its_row = replace(fresh(MemoryStore()), type="mail", payload='{"to": "bob"}')
    return replace(its_row, **changed)


KEYED, PER_TENANT, PLAIN = (
    Rate(1, "second", key=lambda payload: payload.to),
    Rate(1, "second", per_tenant=True),
    Rate(1, "second"),
)


@for_each(
    ("rate", "changed", "key", "bucket"),
    [
        (KEYED, {}, "bob", "acme"),
        (KEYED, {"rate_key": "eve"}, "eve", "acme"),
        (KEYED, {"payload": None, "payload_size": 500_000}, "bob", "acme"),
        (KEYED, {"payload": "{"}, None, None),
        (KEYED, {"payload_version": 2}, None, None),
        (PER_TENANT, {"rate_key": "eve"}, None, "acme"),
        (PLAIN, {"rate_key": "eve"}, None, "system"),
    ],
)
def test_a_rate_counts_by_type_tenant_or_key(rate, changed, key, bucket):
    its_row = mail_row(**changed)
    store = SimpleNamespace(get=lambda _ref: mail_row())
    turn = turns_of(store, rate).of("mail", its_row.id)
    found = turn._bucket(its_row, 1)
    assert turn.key_of(its_row) == key
    assert (found and found.tenant_id) == bucket
    assert found is None or found.key == (key or "")
    assert (turn.failure is None) is (changed.get("payload") != "{")


def test_a_payload_that_is_gone_meanwhile_gives_no_key():
    turn = turns_of(SimpleNamespace(get=lambda _ref: None), KEYED).of("mail", ids.new_action_id(NOON))
    assert turn.key_of(mail_row(payload=None, payload_size=500_000)) is None


def test_only_one_shots_of_a_type_with_a_rate_have_a_turn():
    turns = turns_of(None, PLAIN)
    assert turns.of("mail", ids.new_action_id(NOON)) is not None
    assert turns.of("mail", row().id) is None
    assert turns.of("other", ids.new_action_id(NOON)) is None
