"""Rate limits in simulated time: a run that may not start yet waits for an instant of its own."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from duetime import App, Batch, Order, Payload, Rate, Retry, RetryPolicy, Run, Status
from duetime.errors import DeclarationError, InvalidArgument, Unsupported
from duetime.jobs.trusted_reading import KnownLimits
from duetime.model.active_region import FENCES
from duetime.model.metric import Metric
from duetime.model.rate_limit import HIGHEST_RATE, LARGEST_BURST, RateLimit, bucket_of
from duetime.ports.rate_limits import NoSetLimits, SetLimit
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, WorkerDied
from duetime.testing.invariants import first_excess
from duetime.worker.claim_results import Waiting
from duetime.worker.rate_turn import Deferred, RateTurns, StartsAt
from duetime_contract.specimens import terms
from tests.journeys.conftest import NOON
from tests.journeys.recorded_job import PATIENT

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
TEN_A_MINUTE = {"count": 10, "per": "minute", "burst": 1}


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


class Mail(Payload):
    to: str = "ada"
    fails: int = 0
    dies: int = 0


class Mails:
    """An app whose handler records when each mail was sent."""

    def __init__(self, rate, *, many=False, settings=PATIENT, **declared):
        self.app, self.sent, self.tries = App(), [], Counter()
        retry = RetryPolicy(attempts=5, backoff=[1], jitter=0)
        self.rate = rate
        options = {"retry": retry, "rate": rate, **declared}
        if many:

            @self.app.action(many=True, **options)
            def send_mails(batch: Batch[Mail]) -> None:
                for item in batch.items:
                    self.send(item.payload, item.run)

        else:

            @self.app.action(**options)
            def send_mail(mail: Mail, run: Run) -> None:
                self.send(mail, run)

        self.cloud = SimulatedCloud(self.app, start=NOON, settings=settings)
        self.scheduler = self.cloud.scheduler

    def send(self, mail, run):
        self.sent.append((run.now(), mail.to))
        self.tries[run.id] += 1
        if self.tries[run.id] <= mail.dies:
            raise Killed
        if self.tries[run.id] <= mail.fails:
            raise Retry

    def schedule(self, number=1, *, at=MINUTE, to="ada", scheduler=None, fails=0, dies=0, **more):
        mail = Mail(to=to, fails=fails, dies=dies)
        orders = [Order(mail, at, **more) for _ in range(number)]
        return (scheduler or self.scheduler).schedule_many(orders)

    def times(self, to=None):
        """The seconds after the first due time at which mails were sent."""
        return [(at - NOON - MINUTE).total_seconds() for at, sent_to in self.sent if to in {None, sent_to}]

    def check(self):
        """No window has too many starts by the rows' own record."""
        starts = [attempt.started_at for row in self.cloud.actions() for attempt in row.attempts]
        assert first_excess(starts, self.rate.limit.pace) is None


@pytest.fixture
def mails():
    made = Mails(Rate(**TEN_A_MINUTE))
    yield made
    made.cloud.close()


def test_runs_above_the_rate_wait_for_an_instant_each(mails):
    mails.schedule(5)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6, 12, 18, 24]
    mails.cloud.check()
    mails.check()


def test_a_burst_starts_at_once():
    mails = Mails(Rate(10, "minute", burst=3))
    mails.schedule(5)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 0, 0, 6, 12]
    mails.check()


def test_a_deferred_run_uses_no_attempt_and_sends_no_message_before_its_instant(mails):
    _, action = mails.schedule(2)
    mails.cloud.advance(MINUTE + 3 * SECOND)
    rows = [mails.scheduler.get(row.id) for row in mails.cloud.actions(Status.PENDING)]
    assert [(row.due_at, row.nominal_at, row.attempt) for row in rows] == [
        (NOON + MINUTE + 6 * SECOND, NOON + MINUTE, 0)
    ]
    assert len(mails.cloud.memory.queues.messages) == 1
    assert action.generation == 1
    assert rows[0].generation == 2


def test_a_rate_turn_with_an_instant_of_its_own_waits_for_a_start_and_reserves_no_other(mails):
    store, limit = mails.cloud.memory.store, mails.rate.limit
    (row,) = store.get_rows([mails.schedule()[0].ref])
    row, bucket = replace(row, rate_slot=row.due_at), bucket_of("mail", limit.shards, row.id)
    store.start_within_rate(bucket, limit.pace, row.due_at - 5.5 * SECOND, is_reserved=False)
    reserved = store.next_start(bucket, limit.pace, row.due_at)
    limits = KnownLimits(NoSetLimits(), mails.cloud.clock)
    turn = RateTurns(mails.app.handler_set.by_name, store, limits).of("mail", row.id)
    assert turn(row, terms(row.due_at)) == StartsAt(row.due_at + 0.5 * SECOND)
    assert store.next_start(bucket, limit.pace, row.due_at) == reserved


DEAD = {"status": Status.PROCESSING, "nonce": "theirs", "lease_until": NOON - HOUR}


@pytest.mark.parametrize(
    ("changed", "is_counted"),
    [
        ({}, True),
        ({"due_at": NOON}, True),
        ({"due_at": NOON + SECOND}, False),
        ({"expires_at": NOON}, False),
        ({"status": Status.EXECUTED}, False),
        ({"fence": 2 * FENCES}, False),
        (DEAD, True),
        (DEAD | {"fence": 2 * FENCES}, False),
        (DEAD | {"nonce": "ours"}, False),
        (DEAD | {"lease_until": NOON}, False),
    ],
    ids=str,
)
def test_a_rate_turn_counts_no_start_that_no_claim_can_follow(mails, changed, is_counted):
    store, limit = mails.cloud.memory.store, mails.rate.limit
    (row,) = store.get_rows([mails.schedule(at=-HOUR)[0].ref])
    bucket = bucket_of("mail", limit.shards, row.id)
    turn = RateTurns(mails.app.handler_set.by_name, store, KnownLimits(NoSetLimits(), mails.cloud.clock))
    claims = replace(terms(NOON, nonce="ours"), epoch=1)
    assert turn.of("mail", row.id)(replace(row, **changed), claims) is None
    assert (store.next_start(bucket, limit.pace, NOON) > NOON) is is_counted


@pytest.mark.parametrize(
    ("before", "changed", "expected", "is_reserved"),
    [
        (5.5, {}, StartsAt(NOON + 0.5 * SECOND), True),
        (5, {}, StartsAt(NOON + SECOND), True),
        (4.5, {}, Deferred(), True),
        (4.5, {"expires_at": NOON + 1.6 * SECOND}, Deferred(), True),
        (4.5, {"expires_at": NOON + 1.5 * SECOND}, Deferred(), False),
        (5.5, DEAD, StartsAt(NOON + 0.5 * SECOND), False),
        (5, DEAD, StartsAt(NOON + SECOND), False),
        (4.5, DEAD, Waiting(2), True),
    ],
    ids=str,
)
def test_a_rate_turn_waits_for_a_second_and_a_row_for_longer(mails, before, changed, expected, is_reserved):
    store, limit = mails.cloud.memory.store, mails.rate.limit
    (row,) = store.get_rows([mails.schedule(at=-HOUR)[0].ref])
    bucket, free_at = bucket_of("mail", limit.shards, row.id), NOON + (6 - before) * SECOND
    store.start_within_rate(bucket, limit.pace, NOON - before * SECOND, is_reserved=False)
    turn = RateTurns(mails.app.handler_set.by_name, store, KnownLimits(NoSetLimits(), mails.cloud.clock))
    turn = turn.of("mail", row.id)
    assert turn(replace(row, **changed), terms(NOON)) == expected
    assert (store.next_start(bucket, limit.pace, NOON) > free_at) is is_reserved
    (after,) = store.get_rows([row.ref])
    assert after.due_at == (free_at if expected == Deferred() else row.due_at)
    if isinstance(expected, StartsAt):
        assert turn(replace(row, **changed), terms(expected.at)) is None
        assert turn(replace(row, **changed), terms(expected.at)) is None


def test_arrivals_keep_their_order(mails):
    for number in range(6):
        mails.schedule(at=MINUTE + number * SECOND, to=str(number))
    mails.cloud.advance(HOUR)
    assert [to for _, to in mails.sent] == list("012345")
    mails.check()


def test_a_far_instant_is_a_timer_and_not_a_message(mails):
    mails.schedule(200)
    mails.cloud.advance(2 * MINUTE)
    assert len(mails.cloud.memory.timers) > 0
    assert len(mails.cloud.memory.queues.messages) + len(mails.cloud.memory.timers) == 189
    mails.cloud.advance(HOUR)
    assert mails.times() == [6.0 * number for number in range(200)]
    mails.cloud.check()


def test_each_key_of_each_tenant_has_its_own_rate():
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda mail: mail.to))
    other = mails.cloud.scheduler_for("globex")
    for to in ("ada", "ada", "bob"):
        mails.schedule(to=to)
    mails.schedule(to="ada", scheduler=other)
    mails.cloud.advance(HOUR)
    assert sorted(mails.times("ada")) == [0, 0, 6]
    assert mails.times("bob") == [0]
    assert {row.rate_key for row in mails.cloud.actions()} == {"ada", "bob"}


def test_a_callers_key_replaces_that_of_the_payload():
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda mail: mail.to))
    mails.schedule(to="ada", rate_key="shared")
    mails.schedule(to="bob", rate_key="shared")
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6]


class Digest(Payload, merge=lambda old, new: Digest(to=old.to + new.to)):
    to: str


@pytest.mark.parametrize(("given", "expected"), [({}, "adabob"), ({"rate_key": "shared"}, "shared")])
def test_a_debounced_call_gives_the_key_of_the_payload_that_runs(given, expected):
    app = App()

    @app.action(rate=Rate(**TEN_A_MINUTE, key=lambda digest: digest.to))
    def send_digest(digest: Digest) -> None:
        pass

    cloud = SimulatedCloud(app, start=NOON)
    for to in ("ada", "bob"):
        action = cloud.scheduler.schedule(Digest(to=to), at=MINUTE, debounce_key="digest", **given)
    assert cloud.scheduler.get(action.id).rate_key == expected


def test_a_call_with_the_debounce_key_of_a_deferred_action_gives_up_its_instant(mails):
    mails.schedule()
    mails.scheduler.schedule(Mail(), at=MINUTE, debounce_key="mail")
    mails.cloud.advance(MINUTE + SECOND)
    mails.scheduler.schedule(Mail(to="bob"), at=30 * SECOND, debounce_key="mail")
    mails.cloud.advance(HOUR)
    assert mails.times("bob") == [31]
    mails.check()


def test_an_action_in_a_callers_transaction_has_its_key():
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda mail: mail.to))
    order = Order(Mail(to="ada"), MINUTE)
    with pytest.raises(Unsupported, match="a transaction of your own needs DynamoDB"):
        mails.scheduler.transact_items(order.payload, at=MINUTE, rate_key="shared")
    with pytest.raises(InvalidArgument, match="rate_key"):
        mails.scheduler.transact_items(order.payload, at=MINUTE, rate_key="a#b")


@pytest.mark.parametrize(("per_tenant", "expected"), [(False, [0, 6]), (True, [0, 0])])
def test_a_rate_is_of_the_type_or_of_each_tenant(per_tenant, expected):
    mails = Mails(Rate(**TEN_A_MINUTE, per_tenant=per_tenant))
    mails.schedule()
    mails.schedule(scheduler=mails.cloud.scheduler_for("globex"))
    mails.cloud.advance(HOUR)
    assert mails.times() == expected


def test_other_types_are_not_limited(mails):
    done = []

    class Note(Payload):
        pass

    @mails.app.action
    def take_note(note: Note, run: Run) -> None:
        done.append(run.now())

    mails.cloud.deploy(mails.app)
    mails.schedule(3)
    mails.scheduler.schedule_many([Order(Note(), MINUTE)] * 3)
    mails.cloud.advance(HOUR)
    assert done == [NOON + MINUTE] * 3


def test_a_retry_is_a_start(mails):
    mails.schedule(2, fails=1)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6, 12, 18]
    mails.check()


def test_a_redriven_run_is_a_start(mails):
    (action,) = mails.schedule(fails=5)
    mails.cloud.advance(HOUR)
    mails.schedule(3, at=timedelta(0))
    mails.scheduler.redrive(action.id)
    mails.cloud.advance(HOUR)
    assert mails.scheduler.get(action.id).status == Status.EXECUTED
    mails.check()


def test_a_take_over_is_a_start():
    mails = Mails(Rate(**TEN_A_MINUTE), settings=Settings())
    (dead,) = mails.schedule(dies=1)
    with pytest.raises(Killed):
        mails.cloud.advance(MINUTE + SECOND)
    lease_end = mails.scheduler.get(dead.id).lease_until
    mails.schedule(20, at=lease_end - mails.cloud.now)
    mails.cloud.advance(2 * HOUR)
    assert mails.scheduler.get(dead.id).status == Status.EXECUTED
    assert len(mails.sent) == 22
    mails.check()
    mails.cloud.check()


def test_the_runs_of_a_batch_are_counted_one_by_one():
    mails = Mails(Rate(10, "minute", burst=3), many=True, settings=Settings(worker_batch=10))
    mails.schedule(5)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 0, 0, 6, 12]
    mails.check()


def test_a_run_waits_for_its_slot_before_its_rate(mails):
    mails.schedule(3, concurrency_key="till")
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6, 12]
    mails.check()


def test_a_run_that_waits_for_its_slot_takes_no_start_from_others():
    mails = Mails(Rate(10, "minute", burst=3))
    send = mails.send

    def first_lasts(mail, run):
        send(mail, run)
        if len(mails.sent) == 1:
            mails.cloud.advance(5 * SECOND)

    mails.send = first_lasts
    mails.schedule(2, concurrency_key="till")
    mails.schedule(2, at=MINUTE + 4 * SECOND)
    mails.cloud.advance(HOUR)
    assert mails.times()[:3] == [0, 4, 4]
    mails.check()


def test_late_runs_that_bunch_do_not_exceed_the_rate(mails):
    mails.schedule(10)
    mails.cloud.advance(MINUTE + SECOND)
    mails.cloud.memory.concurrency = 0
    mails.cloud.advance(MINUTE)
    mails.cloud.memory.concurrency = 100
    mails.cloud.advance(HOUR)
    assert len(mails.sent) == 10
    mails.check()


def test_a_run_that_would_start_after_its_expiry_is_skipped_and_takes_no_instant(mails):
    mails.schedule(2)
    (late,) = mails.schedule(expires_after=10 * SECOND)
    mails.schedule()
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6, 12]
    assert mails.scheduler.get(late.id).status == Status.SKIPPED


def test_a_types_expiry_counts_from_the_first_due_time():
    mails = Mails(Rate(**TEN_A_MINUTE), expires_after=15 * SECOND)
    mails.schedule(5)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 6, 12]
    assert len(mails.cloud.actions(Status.SKIPPED)) == 2


def test_a_cancelled_run_leaves_its_instant_unused(mails):
    mails.schedule(3)
    mails.cloud.advance(MINUTE)
    waiting = sorted(mails.cloud.actions(Status.PENDING), key=lambda row: row.due_at)
    mails.scheduler.cancel(waiting[0].id)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 12]


def test_a_rescheduled_run_waits_in_line_again(mails):
    mails.schedule(3)
    mails.cloud.advance(MINUTE)
    waiting = sorted(mails.cloud.actions(Status.PENDING), key=lambda row: row.due_at)
    mails.scheduler.reschedule(waiting[0].id, SECOND)
    mails.cloud.advance(HOUR)
    assert mails.times() == [0, 12, 18]


def raised(count, per="minute", burst=1):
    return SetLimit(name="mail", limit=RateLimit.parse(count, per, burst), by="ops", at=NOON)


def test_a_limit_that_an_operator_sets_holds_within_five_seconds_until_it_is_reset(mails):
    mails.schedule(2)
    mails.cloud.advance(MINUTE)
    mails.cloud.memory.limits.set(raised(60))
    mails.cloud.advance(MINUTE)
    mails.schedule(3, at=timedelta(0))
    mails.cloud.advance(MINUTE)
    assert mails.times()[2:] == [60, 61, 62]
    mails.cloud.memory.limits.reset("mail")
    mails.cloud.advance(MINUTE)
    mails.schedule(3, at=timedelta(0))
    mails.cloud.advance(MINUTE)
    assert mails.times()[5:] == [180, 186, 192]


def test_after_a_raise_waiting_runs_keep_their_instants_unless_they_are_rescheduled(mails):
    mails.schedule(4)
    mails.cloud.advance(MINUTE)
    mails.cloud.memory.limits.set(raised(60))
    mails.cloud.advance(5 * SECOND)
    *_, last = sorted(mails.cloud.actions(Status.PENDING), key=lambda row: row.due_at)
    mails.scheduler.reschedule(last.id, timedelta(0))
    mails.cloud.advance(HOUR)
    times = {row.id: row.attempts[0].started_at for row in mails.cloud.actions()}
    assert times[last.id] < NOON + MINUTE + 12 * SECOND
    assert [round(seconds) for seconds in mails.times()[2:]] == [6, 12]


def test_a_lowered_limit_holds_for_runs_that_wait_already(mails):
    mails.schedule(5)
    mails.cloud.advance(MINUTE)
    mails.cloud.memory.limits.set(raised(1))
    mails.cloud.advance(HOUR)
    times = mails.times()
    assert len(times) == 5
    assert all(later - sooner >= 60 for sooner, later in pairwise(times[1:]))


def test_a_deferral_is_an_event_and_is_counted():
    mails = Mails(Rate(**TEN_A_MINUTE), settings=Settings(events="standard"))
    mails.schedule(3)
    mails.cloud.advance(HOUR)
    events = mails.cloud.events("action.deferred")
    assert [event["detail"]["action"]["due_at"][14:19] for event in events] == ["01:06", "01:12"]
    assert mails.cloud.metrics.total(Metric.DEFERRED) == 2
    assert mails.cloud.metrics.total(Metric.RESCHEDULED) == 0


def test_a_key_that_cannot_be_computed_where_it_is_scheduled_is_rejected():
    def key(mail):
        raise LookupError(f"no customer {mail.to}")

    mails = Mails(Rate(**TEN_A_MINUTE, key=key))
    with pytest.raises(
        InvalidArgument, match="'LookupError: no customer ada' was raised by the key function"
    ):
        mails.schedule()


@pytest.mark.parametrize("key", [None, 7, "", "a#b", "x" * 129])
def test_a_key_that_is_no_text_for_a_key_is_rejected(key):
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda _mail: key))
    with pytest.raises(InvalidArgument, match="rate_key"):
        mails.schedule()


def test_a_key_that_the_worker_cannot_compute_fails_the_action_without_a_run():
    keys = iter(["ada"])
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda _mail: next(keys)))
    (action,) = mails.schedule()
    store = mails.cloud.memory.store
    with store.lock:  # as if a caller without the handlers had scheduled it
        row = store.get(action.ref)
        store.write(row, replace(row, rate_key=None))
    mails.cloud.advance(HOUR)
    failed = mails.scheduler.get(action.id)
    assert (failed.status, failed.attempt, mails.sent) == (Status.FAILED, 1, [])
    assert failed.failure_reason == "Fatal: its rate key cannot be computed from its payload: StopIteration"
    assert not [item for item in store.items.partitions if "#rate#" in item]  # it takes no start from others


def test_the_worker_computes_the_key_of_a_caller_without_the_handlers():
    mails = Mails(Rate(**TEN_A_MINUTE, key=lambda mail: mail.to))
    Mail.type_rate = None
    mails.schedule(2)
    mails.cloud.advance(HOUR)
    assert {row.rate_key for row in mails.cloud.actions()} == {None}
    assert mails.times() == [0, 6]


@pytest.mark.parametrize("rate", [None, Rate(10, "minute"), Rate(10, "minute", per_tenant=True)])
def test_a_key_for_a_type_without_a_rate_by_key_is_rejected(rate):
    mails = Mails(rate)
    with pytest.raises(InvalidArgument, match="the type declares no rate with a key"):
        mails.schedule(rate_key="ada")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": 0, "per": "minute"}, "rate is 0; allowed is a whole number of starts from 1"),
        ({"count": -3, "per": "minute"}, "rate is -3; allowed"),
        ({"count": 1.5, "per": "minute"}, "rate is 1.5; allowed"),
        ({"count": True, "per": "minute"}, "rate is True; allowed"),
        ({"count": HIGHEST_RATE + 1, "per": "second"}, "the highest that can be enforced is 4000 a second"),
        ({"count": 10, "per": "week"}, "per is 'week'; allowed are 'second', 'minute', 'hour', 'day'"),
        ({"count": 10, "per": timedelta(days=32)}, "from 1 s to 31 days"),
        ({"count": 10, "per": "minute", "burst": 0}, "burst is 0; allowed is a whole number from 1"),
        ({"count": 10, "per": "minute", "burst": 2.5}, "burst is 2.5; allowed"),
        ({"count": 10, "per": "minute", "burst": LARGEST_BURST + 1}, "to 1000000"),
        (
            {"count": 1_000, "per": "second", "burst": 3},
            "burst is 3; allowed is a whole number from 4, since",
        ),
        ({"count": 1, "per": "second", "key": "to"}, "key is 'to'; allowed is a function"),
        ({"count": 1, "per": "second", "per_tenant": 1}, "per_tenant is 1; allowed is True or False"),
        ({"count": 1, "per": "second", "key": str, "per_tenant": True}, "pass key or per_tenant, not both"),
    ],
)
def test_a_rate_that_cannot_be_enforced_is_rejected_where_it_is_declared(arguments, message):
    with pytest.raises(DeclarationError, match=message):
        Rate(**arguments)


def test_a_rate_that_is_none_is_rejected():
    with pytest.raises(DeclarationError, match="rate is '10/m'; allowed is a Rate, such as Rate"):
        Mails("10/m")


@pytest.mark.parametrize("count", [1, 7, 249, 251, 999, 1_000, 1_001, HIGHEST_RATE])
@pytest.mark.parametrize("per", ["second", "minute", "day"])
def test_the_shards_of_a_limit_never_exceed_it_and_miss_less_than_a_thousandth(count, per):
    limit = RateLimit.parse(count, per)
    pace, micro = limit.pace, limit.per / timedelta(microseconds=1)
    allowed = limit.shards * micro / pace.interval
    assert 0.999 * count < allowed <= count
    assert limit.shards * (pace.tolerance // pace.interval + 1) <= limit.burst
