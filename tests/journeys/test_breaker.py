"""A breaker opens after failures, probes with one run, and closes; it uses up no attempts meanwhile."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from duetime import App, Breaker, Payload, Run
from duetime.errors import DeclarationError
from duetime.jobs.trusted_reading import KnownPauses
from duetime.memory.store import MemoryStore
from duetime.model.action import Status
from duetime.ports.wakeups import Send
from duetime.ports.work_pauses import WorkPauses
from duetime.retry import RetryPolicy
from duetime.testing import SimulatedCloud
from duetime.wakeups.due_messages import message_of
from tests.journeys.shop import SCHEMA

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


class Receipt(Payload):
    number: int = 0


class Errand(Payload):
    pass


class Downstream:
    """A service that is down for a time, and the runs that called it."""

    def __init__(self):
        self.is_down, self.calls = True, []

    def call(self, run):
        self.calls.append((run.tenant_id, run.now(), run.attempt))
        if self.is_down:
            raise ConnectionError("SES is down")


@pytest.fixture
def downstream():
    return Downstream()


@pytest.fixture
def cloud(downstream):
    app = App()

    @app.action(
        breaker=Breaker(failures=5, within="1m", open_for="5m"),
        retry=RetryPolicy(attempts=3, backoff=[10 * SECOND, MINUTE]),
    )
    def send_receipt(payload: Receipt, run: Run) -> None:
        del payload
        downstream.call(run)

    @app.action(retry=RetryPolicy(attempts=1))
    def run_errand(payload: Errand, run: Run) -> None:
        del payload
        downstream.call(run)

    made = SimulatedCloud(app, start=NOON)
    yield made
    made.close()


def schedule(cloud, number, every=SECOND, tenant="acme"):
    scheduler = cloud.scheduler_for(tenant)
    return [scheduler.schedule(Receipt(number=index), at=(index + 1) * every).id for index in range(number)]


def pauses(cloud):
    return list(cloud.memory.pauses.list())


def statuses(cloud, ids, tenant="acme"):
    return {cloud.scheduler_for(tenant).get(id_).status for id_ in ids}


def test_it_opens_after_so_many_failures_and_closes_after_a_probe_succeeds(cloud, downstream):
    ids = schedule(cloud, 50)
    cloud.advance(2 * MINUTE)
    [opened] = pauses(cloud)
    assert (opened.name, opened.tenant_id, opened.by) == ("receipt", "acme", "duetime")
    assert opened.reason == (
        "the breaker opened after 5 failures within 60 s; the last: ConnectionError: SES is down"
    )
    failed = len(downstream.calls)
    assert 5 <= failed <= 11, "other processes know it within five seconds"
    cloud.advance(2.5 * MINUTE)
    assert len(downstream.calls) == failed
    cloud.advance(MINUTE)
    assert len(downstream.calls) == failed + 1, "one run probes"
    downstream.is_down = False
    cloud.advance(HOUR)
    assert statuses(cloud, ids) == {Status.EXECUTED}
    [closed] = pauses(cloud)
    assert closed.ended_by == "duetime"
    assert [
        event["detail-type"] for event in cloud.events() if event["detail-type"].startswith("breaker.")
    ] == [
        "breaker.opened",
        "breaker.closed",
    ]


def test_a_probe_that_fails_opens_it_again_and_reports_nothing(cloud, downstream):
    schedule(cloud, 20)
    cloud.advance(HOUR)
    opened = [at for _, at, _ in downstream.calls if at > NOON + 2 * MINUTE]
    assert 8 <= len(opened) <= 11
    assert all(later - at >= 5 * MINUTE for at, later in pairwise(opened))
    assert len(cloud.events("breaker.opened")) == 1
    assert cloud.events("breaker.closed") == ()


def test_no_attempt_is_used_up_while_it_is_open(cloud, downstream):
    ids = schedule(cloud, 20)
    cloud.advance(5 * HOUR)
    assert statuses(cloud, ids) == {Status.PENDING}
    downstream.is_down = False
    cloud.advance(HOUR)
    assert statuses(cloud, ids) == {Status.EXECUTED}
    assert max(attempt for _, _, attempt in downstream.calls) > 3, "probes have numbers of their own"


def test_what_waits_after_it_closed_runs_spread(cloud, downstream):
    schedule(cloud, 60)
    cloud.advance(3 * MINUTE)
    failed = len(downstream.calls)
    downstream.is_down = False
    cloud.advance(30 * MINUTE)
    after = [at for _, at, _ in downstream.calls[failed + 1 :]]
    assert len(after) >= 59
    assert max(after) - min(after) > 3 * MINUTE


def test_other_tenants_and_types_go_on(cloud, downstream):
    schedule(cloud, 20)
    cloud.advance(MINUTE)
    downstream.is_down = False
    mine = schedule(cloud, 1)
    others = schedule(cloud, 1, tenant="globex")
    errand = cloud.scheduler_for("acme").schedule(Errand(), at=SECOND).id
    cloud.advance(10 * SECOND)
    assert statuses(cloud, others, "globex") == {Status.EXECUTED}
    assert statuses(cloud, [errand]) == {Status.EXECUTED}
    assert statuses(cloud, mine) == {Status.PENDING}


def test_failures_further_apart_than_the_window_do_not_open_it(cloud):
    rare = Breaker(failures=5, within="1m", open_for="5m")
    count = cloud.memory.pauses.failures("acme", "other")
    for number in range(50):
        count = count.failed(rare, NOON + number * 16 * SECOND, "n")
        assert not count.opens(rare)
    assert len(count.failed_at) == 4


def test_a_success_and_a_type_without_breaker_write_nothing(cloud, downstream, monkeypatch):
    written = []
    for name in ("count_failure", "failures", "replace", "begin"):
        monkeypatch.setattr(WorkPauses, name, lambda *_args, name=name: written.append(name))
    downstream.is_down = False
    ids = schedule(cloud, 20)
    cloud.advance(MINUTE)
    assert statuses(cloud, ids) == {Status.EXECUTED}
    downstream.is_down = True
    for _ in range(10):
        cloud.scheduler_for("acme").schedule(Errand(), at=SECOND)
    cloud.advance(MINUTE)
    assert written == []


def test_a_probe_has_ended_when_its_run_is_settled(cloud, monkeypatch):
    """Its next message may come at once, and must not wait for the end of its own run."""
    probing, settle = [], MemoryStore.settle

    def settled(store, claimed, settlement):
        probing.extend(pause.breaker.probe for pause in pauses(cloud))
        return settle(store, claimed, settlement)

    monkeypatch.setattr(MemoryStore, "settle", settled)
    schedule(cloud, 20)
    cloud.advance(30 * MINUTE)
    assert len(probing) >= 5
    assert set(probing) == {None}


def test_an_operator_closes_it(cloud, downstream):
    ids = schedule(cloud, 20)
    cloud.advance(MINUTE)
    downstream.is_down = False
    known = KnownPauses(cloud.memory.pauses, cloud.clock)
    known.end_all(known.list(), "ann")
    cloud.advance(15 * MINUTE)
    assert statuses(cloud, ids) == {Status.EXECUTED}
    assert [pause.ended_by for pause in pauses(cloud)] == ["ann"]
    [closed] = cloud.events("breaker.closed")
    SCHEMA.validate(closed["detail"])
    assert closed["detail"]["by"] == "ann"
    assert closed["detail"]["breaker"]["name"] == "receipt"


def test_a_second_opening_is_another_pause(cloud, downstream):
    schedule(cloud, 10)
    cloud.advance(2 * MINUTE)
    downstream.is_down = False
    cloud.advance(HOUR)
    downstream.is_down = True
    schedule(cloud, 10)
    cloud.advance(2 * MINUTE)
    assert len(pauses(cloud)) == 2
    assert len(cloud.events("breaker.opened")) == 2


def test_a_process_that_dies_with_its_probe_leaves_it_to_another(cloud, downstream):
    schedule(cloud, 10)
    cloud.advance(4 * MINUTE)
    [opened] = pauses(cloud)
    state = opened.breaker
    dead = replace(state, probe="gone", probe_until=cloud.now + 20 * MINUTE, revision=state.revision + 1)
    assert cloud.memory.pauses.replace(opened, replace(opened, breaker=dead))
    before = len(downstream.calls)
    cloud.advance(19 * MINUTE)
    assert len(downstream.calls) == before
    downstream.is_down = False
    cloud.advance(30 * MINUTE)
    assert {row.status for row in cloud.actions()} == {Status.EXECUTED}


def test_a_check_of_the_cloud_admits_what_an_open_breaker_holds(cloud, downstream):
    schedule(cloud, 20)
    for _ in range(3):
        cloud.advance(HOUR)
        cloud.check()
    downstream.is_down = False
    cloud.advance(HOUR)
    cloud.check()


def test_the_metric_counts_openings(cloud):
    schedule(cloud, 20)
    cloud.advance(HOUR)
    assert cloud.metrics.total("breaker_opened") == 1


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"failures": 0}, "allowed is 1 to 100"),
        ({"failures": 101}, "allowed is 1 to 100"),
        ({"failures": "20"}, "is no whole number"),
        ({"within": "0s"}, "1 second to 24 hours"),
        ({"within": "a while"}, "1 second to 24 hours"),
        ({"within": timedelta(days=2)}, "1 second to 24 hours"),
        ({"open_for": 300}, "1 second to 24 hours"),
        ({"open_for": "999999999999h"}, "1 second to 24 hours"),
    ],
    ids=str,
)
def test_a_bad_breaker_is_rejected_where_it_is_declared(declared, problem):
    with pytest.raises(DeclarationError, match=problem):
        Breaker(**{"failures": 20, "within": "1m", "open_for": "5m"} | declared)


def test_what_is_no_breaker_is_rejected():
    with pytest.raises(DeclarationError, match=r"use Breaker\("):
        App().action(breaker=20)(lambda: None)


def test_a_probe_whose_action_was_cancelled_leaves_it_to_the_next_message(cloud, downstream):
    *others, last = schedule(cloud, 30)
    cloud.advance(2 * MINUTE)
    [opened] = pauses(cloud)
    for action in others:
        cloud.scheduler_for("acme").cancel(action)
    downstream.is_down = False
    cloud.advance(opened.breaker.probes_at + 2 * MINUTE - cloud.now)
    assert statuses(cloud, [last]) == {Status.EXECUTED}
    assert pauses(cloud)[0].ended_by == "duetime"


def test_a_message_that_comes_before_its_due_time_is_no_probe(cloud, downstream):
    opened_by = schedule(cloud, 30)
    cloud.advance(2 * MINUTE)
    [opened] = pauses(cloud)
    scheduler = cloud.scheduler_for("acme")
    later = scheduler.schedule(Receipt(), at=opened.breaker.probes_at + 10 * MINUTE)
    for action in opened_by:
        scheduler.cancel(action)
    cloud.clock.wait_until(opened.breaker.probes_at + MINUTE)
    cloud.memory.queues.send([Send("default", message_of(later), 0)])
    cloud.advance(SECOND)
    assert pauses(cloud)[0].breaker.probe != later.id


def test_a_breaker_whose_waiting_messages_are_lost_probes_all_the_same():
    app, service = App(), Downstream()

    @app.action(retry=RetryPolicy(attempts=50, backoff=[20]), breaker=Breaker(3, within="5m", open_for="2m"))
    def send_receipt(payload: Receipt, run: Run) -> None:
        service.call(run)
        if service.is_down:
            raise ConnectionError("the mail service is down")

    cloud = SimulatedCloud(app, start=NOON)
    for number in range(4):
        cloud.scheduler.schedule(Receipt(number=number), at=timedelta(0))
    cloud.advance(minutes=6)
    for receipt in [*cloud.memory.queues.messages]:
        cloud.memory.queues.delete(receipt)
    service.is_down, called = False, len(service.calls)
    cloud.advance(minutes=30)
    assert len(service.calls) > called
    cloud.advance(hours=6)
    assert {action.status for action in cloud.actions()} == {Status.EXECUTED}
    cloud.check()
