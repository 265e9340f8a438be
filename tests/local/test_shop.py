"""The shop of `make run` shows every kind of data within a minute, and its load stays low."""

from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from duetime import Scheduler
from duetime.errors import StateConflict
from duetime.local import LocalCloud, LocalOptions
from duetime.testing import SimulatedCloud
from examples import shop
from examples.nightly_clean_up import CleanUpScheduler
from examples.plan_change import PlanScheduler
from examples.reindex import IndexScheduler
from examples.stale_records import RecordScheduler
from tests.journeys.later import Later
from tests.local.conftest import eventually

TRAFFIC, COURIER, STOCK = "shop-traffic", "shop-call-courier", "shop-count-stock"

SCHEDULERS = (shop.Acme, PlanScheduler, CleanUpScheduler, IndexScheduler, RecordScheduler, Scheduler)


def ended(cloud, job):
    tally = cloud.scheduler().jobs.get(job).tally
    return tally.executed + tally.failed


def executed(cloud, job):
    return sum(run.status == "executed" for run in cloud.scheduler().jobs.history(job))


class PublishedEvents:
    """Events that handlers put on the bus, until the simulation takes them."""

    def __init__(self):
        self.events = []

    def put(self, source, kind, detail):
        self.events.append((source, kind, detail))


@pytest.fixture(scope="module")
def cloud():
    """The shop after the runs of its first minute."""
    with LocalCloud(shop.app, LocalOptions(mail_to="ops@acme.example")) as cloud:
        for name, runs in ((TRAFFIC, 3), (COURIER, 4)):
            for n in range(1, runs + 1):
                with suppress(StateConflict):  # its own run is in progress, and counts too
                    cloud.scheduler().jobs.trigger(name)
                eventually(lambda name=name, n=n: ended(cloud, name) >= n, f"run {n} of {name}")
        yield cloud


def test_there_are_actions_of_each_status(cloud):
    kinds = set()

    def has_all():
        for action in cloud.scheduler().list(limit=200):
            is_retrying = action.status == "pending" and action.attempts
            kinds.add("retrying" if is_retrying else action.status.value)
        return kinds >= {"executed", "failed", "cancelled", "pending", "processing", "retrying"}

    eventually(has_all, "an action of each kind")


def test_one_customer_has_several_actions_with_one_rescheduled_and_one_due_tomorrow(cloud):
    actions = cloud.scheduler().list(correlation_id="customer:bob").actions
    assert len(actions) >= 4
    assert any(action.due_at > action.created_at + timedelta(hours=23) for action in actions)
    soon = min(actions, key=lambda action: action.due_at)
    assert soon.due_at + timedelta(minutes=1) in {
        action.due_at for action in actions
    }  # was due in half an hour


def test_events_start_jobs_and_three_at_once_start_one_reindex(cloud):
    for name in ("billing-book-payment", "ingestion-refresh-prices"):
        eventually(lambda name=name: executed(cloud, name), f"a run of {name}")
    eventually(lambda: executed(cloud, "search-document-changed") >= 3, "the runs of three events")
    reindexed = cloud.scheduler().list(correlation_id="document:how-to-brew-tea")
    assert len(reindexed) in {1, 2}  # their window may end between two of the three


def test_notifications_report_repeated_failures_of_a_job_and_its_recovery(cloud):
    expected = {f"system: {COURIER} {what}" for what in ("keeps failing", "succeeds again")}
    eventually(lambda: expected <= {mail.subject for mail in cloud.outbox.mails.list()}, "both mails")


def test_the_other_tenant_has_its_own_actions(cloud):
    found = eventually(lambda: cloud.scheduler(tenant_id="globex").list().actions, "globex' actions")
    assert {action.tenant_id for action in found} == {"globex"}
    assert {action.tenant_id for action in cloud.scheduler().list()} == {"acme"}


@pytest.fixture(scope="module")
def hour():
    schedulers = {scheduler: Later() for scheduler in SCHEDULERS}
    globex, bus = Later(), PublishedEvents()
    given = {**schedulers, shop.Globex: globex, shop.Bus: bus}
    cloud = SimulatedCloud(shop.app, start=datetime(2026, 3, 1, 12, tzinfo=UTC), resources=given)
    for later in schedulers.values():
        later.is_of(cloud.scheduler)
    globex.is_of(cloud.scheduler_for("globex"))
    for _ in range(60 * 4):
        cloud.advance(seconds=15)
        while bus.events:
            cloud.send_event(*bus.events.pop())
    return cloud


def test_no_action_is_overdue(hour):
    grace = timedelta(seconds=30)
    open_actions = [action for action in hour.actions() if not action.status.is_final]
    assert open_actions
    assert [action for action in open_actions if action.due_at < hour.now - grace] == []
    hour.check()


def test_each_ending_occurs_for_both_tenants(hour):
    one_shots = [action for action in hour.actions() if action.job is None]
    of_acme = {one_shot.status for one_shot in one_shots if one_shot.tenant_id == "acme"}
    assert of_acme >= {"executed", "failed", "cancelled", "pending"}
    of_globex = {one_shot.status for one_shot in one_shots if one_shot.tenant_id == "globex"}
    assert of_globex >= {"executed", "failed", "pending"}


def test_dead_letters_of_two_errors_come_within_a_minute(hour):
    failed = [action for action in hour.actions("failed") if action.job is None]
    until = min(action.created_at for action in failed) + timedelta(minutes=1)
    soon = [action for action in failed if action.attempts[-1].finished_at < until]
    reasons = {action.failure_reason.partition(":")[0] for action in soon}
    assert reasons == {"Fatal", "ConnectionError"}


def test_the_shop_schedules_a_few_actions_a_minute(hour):
    created = Counter(action.created_at.replace(second=0) for action in hour.actions() if action.job is None)
    first, *later = [count for _, count in sorted(created.items())]
    assert first <= 20
    assert max(later) <= 8


def test_a_repeatedly_changed_order_has_one_pending_action(hour):
    changes = Counter(action.status for action in hour.actions() if action.type == "change-plan")
    assert changes["pending"] == 1
    assert changes["cancelled"] > 10


def test_the_courier_fails_three_times_in_a_row_and_then_again_half_an_hour_later(hour):
    assert hour.jobs.get(COURIER).tally.failed == 6
    assert len(hour.events("job.failing")) == len(hour.events("job.succeeding")) == 2


def test_the_count_of_the_stock_fails_each_third_time_and_recovers(hour):
    assert hour.jobs.get(STOCK).tally.failed == 0
    runs = [action for action in hour.actions("executed") if action.job == STOCK]
    tried_again = sum(len(run.attempts) == 2 for run in runs)
    assert len(runs) // 3 - 1 <= tried_again <= len(runs) // 3 + 1
