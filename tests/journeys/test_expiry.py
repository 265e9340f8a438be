"""Expiry in simulated time: after it, no run of a one-shot begins."""

from datetime import timedelta

import pytest

from duetime import App, Order, Payload, Retry, RetryPolicy, Run, Status, instant
from duetime.errors import DeclarationError, InvalidArgument
from duetime.model.metric import Metric
from duetime.testing import SimulatedCloud, WorkerDied
from tests.journeys.conftest import NOON
from tests.journeys.recorded_job import PATIENT

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Killed(WorkerDied):
    """Stands for a Lambda that was ended in the middle of a run."""


class Offer(Payload):
    lasts: timedelta = timedelta(0)
    fails: bool = False
    dies: bool = False


class Offers:
    """An app whose handler records when it began."""

    def __init__(self, **declared):
        self.app, self.begun = App(), []
        retry = RetryPolicy(attempts=3, backoff=[600], jitter=0)

        @self.app.action(retry=retry, **declared)
        def make_offer(offer: Offer, run: Run) -> None:
            self.begun.append(run.now())
            self.cloud.advance(offer.lasts)
            if offer.dies:
                raise Killed
            if offer.fails:
                raise Retry

        self.cloud = SimulatedCloud(self.app, start=NOON, settings=PATIENT)
        self.scheduler = self.cloud.scheduler

    def schedule(self, *, at=MINUTE, **more):
        offer = Offer(**{name: more.pop(name) for name in ("lasts", "fails", "dies") if name in more})
        return self.scheduler.schedule(offer, at=at, **more)


@pytest.fixture
def offers():
    made = Offers()
    yield made
    made.cloud.close()


def busy_until(offers, end):
    """Hold the key's only slot until a time."""
    offers.schedule(at=timedelta(0), lasts=end, concurrency_key="till")


def test_an_action_that_begins_in_time_runs(offers):
    action = offers.schedule(expires_after=SECOND)
    offers.cloud.advance(HOUR)
    assert (offers.begun, offers.scheduler.get(action.id).status) == ([NOON + MINUTE], Status.EXECUTED)


@pytest.mark.parametrize(
    "expiry",
    [{"expires_after": 2 * MINUTE}, {"expires_at": NOON + 3 * MINUTE}],
    ids=lambda given: next(iter(given)),
)
def test_an_action_that_cannot_begin_in_time_is_skipped(offers, expiry):
    busy_until(offers, 10 * MINUTE)
    action = offers.schedule(concurrency_key="till", **expiry)
    offers.cloud.advance(HOUR)
    skipped = offers.scheduler.get(action.id)
    assert offers.begun == [NOON]
    assert (skipped.status, skipped.skip_reason, skipped.attempts) == (Status.SKIPPED, "expired", ())
    assert skipped.note == f"it expired at {instant.text(NOON + 3 * MINUTE)}"
    assert skipped.expires_at == NOON + 3 * MINUTE
    assert list(offers.scheduler.list(status="failed")) == []


def test_an_expired_action_is_reported_by_an_event_and_a_metric(offers):
    busy_until(offers, 10 * MINUTE)
    action = offers.schedule(concurrency_key="till", expires_after=MINUTE)
    offers.cloud.advance(HOUR)
    [event] = offers.cloud.events("action.skipped")
    expected = (action.id, offers.scheduler.get(action.id).note)
    assert (event["detail"]["action"]["id"], event["detail"]["action"]["reason"]) == expected
    assert offers.cloud.metrics.total(Metric.EXPIRED) == 1


def test_without_an_expiry_an_action_waits_as_long_as_it_must(offers):
    busy_until(offers, 10 * MINUTE)
    action = offers.schedule(concurrency_key="till")
    offers.cloud.advance(HOUR)
    assert offers.scheduler.get(action.id).status is Status.EXECUTED


def test_an_attempt_that_fails_is_the_last_if_the_next_would_begin_after_the_expiry(offers):
    action = offers.schedule(fails=True, expires_after=15 * MINUTE)
    offers.cloud.advance(HOUR)
    failed = offers.scheduler.get(action.id)
    assert (failed.status, failed.attempt) == (Status.FAILED, 2)  # at 12:01 and 12:11, not at 12:21


def test_no_run_repeats_that_of_a_dead_worker_after_the_expiry(offers):
    action = offers.schedule(dies=True, expires_after=MINUTE)
    with pytest.raises(Killed):
        offers.cloud.advance(HOUR)
    offers.cloud.advance(24 * HOUR)  # longer than a lease
    failed = offers.scheduler.get(action.id)
    assert (len(offers.begun), failed.status) == (1, Status.FAILED)
    assert failed.failure_reason == "it expired; no run of it begins any more"


def test_a_type_has_an_expiry_for_all_its_actions():
    offers = Offers(expires_after=2 * MINUTE)
    busy_until(offers, 10 * MINUTE)
    action, patient = (
        offers.schedule(concurrency_key="till", **more) for more in ({}, {"expires_after": HOUR})
    )
    offers.cloud.advance(HOUR)
    found = [offers.scheduler.get(row.id).status for row in (action, patient)]
    assert found == [Status.SKIPPED, Status.EXECUTED]


def test_a_type_can_have_its_expired_actions_fail():
    offers = Offers(expires_after=2 * MINUTE, on_expiry="fail")
    busy_until(offers, 10 * MINUTE)
    action = offers.schedule(concurrency_key="till")
    offers.cloud.advance(HOUR)
    [failed] = offers.scheduler.list(status="failed")
    assert (failed.id, failed.failure_reason) == (action.id, "it expired; no run of it begins any more")
    assert offers.begun == [NOON]


def test_a_redriven_action_has_no_expiry_of_its_own_and_its_types_counts_anew():
    offers = Offers(expires_after=2 * MINUTE, on_expiry="fail")
    busy_until(offers, 10 * MINUTE)
    actions = [
        offers.schedule(concurrency_key="till", expires_after=MINUTE),
        offers.schedule(concurrency_key="till"),
    ]
    offers.cloud.advance(HOUR)
    for action in actions:
        offers.scheduler.redrive(action.id)
    offers.cloud.advance(MINUTE)
    rows = [offers.scheduler.get(action.id) for action in actions]
    assert [(row.status, row.expires_at) for row in rows] == [(Status.EXECUTED, None)] * 2


def test_a_rescheduled_action_keeps_its_expiry_or_gets_another(offers):
    action = offers.schedule(expires_at=NOON + HOUR)
    assert offers.scheduler.reschedule(action.id, 2 * MINUTE).expires_at == NOON + HOUR
    with pytest.raises(InvalidArgument, match="is not after the due time"):
        offers.scheduler.reschedule(action.id, HOUR)
    later = offers.scheduler.reschedule(action.id, HOUR, expires_after=MINUTE)
    assert later.expires_at == NOON + HOUR + MINUTE


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"expires_at": NOON + MINUTE}, "is not after the due time"),
        ({"expires_at": NOON - HOUR}, "is not after the due time"),
        ({"expires_at": MINUTE}, "is no datetime; pass a timedelta from the due time as expires_after"),
        ({"expires_at": NOON.replace(tzinfo=None)}, "is naive"),
        ({"expires_after": timedelta(0)}, "is no timedelta above 0"),
        ({"expires_after": -MINUTE}, "is no timedelta above 0"),
        ({"expires_after": 60}, "is no timedelta above 0"),
        ({"expires_after": timedelta(days=90_000)}, "lies outside the years"),
        ({"expires_after": HOUR, "expires_at": NOON + HOUR}, "pass one of them"),
    ],
)
def test_an_expiry_before_which_no_run_could_begin_is_rejected(offers, given, problem):
    with pytest.raises(InvalidArgument, match=problem) as rejected:
        offers.schedule(**given)
    assert rejected.value.field in given
    assert not list(offers.scheduler.list())


def test_orders_in_bulk_have_an_expiry(offers):
    [action] = offers.scheduler.schedule_many([Order(Offer(), MINUTE, expires_after=HOUR)])
    assert offers.scheduler.get(action.id).expires_at == NOON + MINUTE + HOUR


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"expires_after": 0}, "expires_after is 0 s, so no run could begin"),
        ({"expires_after": -1}, "allowed is 0 seconds to 90 days"),
        ({"expires_after": "1h"}, "use a timedelta, or a number of seconds"),
        ({"on_expiry": "drop"}, "on_expiry is 'drop'; use 'skip' or 'fail'"),
    ],
)
def test_a_wrong_declaration_is_rejected(declared, problem):
    with pytest.raises(DeclarationError, match=problem):
        Offers(**declared)
