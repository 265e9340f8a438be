"""The order of a worker's calls: another one would lose a message, double it, or hold a lease too long."""

import threading
from dataclasses import replace
from datetime import timedelta
from unittest.mock import patch

import pytest

from duetime.errors import BackendUnavailable
from duetime.model.action import Status
from duetime.model.work_pause import PauseScope, WorkPause
from duetime.ports.wakeups import Delivery, Send
from duetime.settings import Made, Settings
from duetime.wakeups.due_messages import message_of
from duetime.worker.heartbeat import Heartbeat, WatchedRun, visibility
from duetime.worker.worker import DeliveryResult, begun
from tests.hooked import Hooked
from tests.journeys.conftest import NOON
from tests.journeys.skewed_workers import HOUR, LEASE, MINUTE, SETTINGS, TICK, Mail, SkewedWorkers
from tests.journeys.skewed_workers import skewed as skewed  # noqa: PLC0414 - a fixture

PUT_OFF, NOTHING_TO_DO = DeliveryResult.PUT_OFF, DeliveryResult.NOTHING_TO_DO
HIDDEN = timedelta(seconds=visibility(SETTINGS))


def pause_tenant(skewed):
    scope = {"scope": PauseScope.TENANT, "name": skewed.ref.tenant_id}
    skewed.cloud.pauses.begin(WorkPause(id="a-pause", **scope, reason="a loop", by="ops", since=NOON))


def failing_sends(skewed):
    """Return a list: each error that is in it when a message is sent is raised once."""
    queues, errors = Hooked(skewed.cloud.backends.queues), []

    def send(method, sends):
        if errors:
            raise errors.pop()
        return method(sends)

    queues.hooks["send"] = send
    skewed.cloud.backends = replace(skewed.cloud.backends, queues=queues)
    return errors


def between_read_and_claim(skewed, does):
    """A run with a concurrency key, which `does` changes after its row was read, before it is claimed."""
    skewed.ref = skewed.scheduler.schedule(Mail(), at=-MINUTE, concurrency_key="printer").ref
    store = Hooked(skewed.cloud.backends.store)

    def claim(_method, row, _terms):
        does(store, row)

    store.hooks["claim"] = claim
    skewed.cloud.backends = replace(skewed.cloud.backends, store=store)
    return skewed.worker("first")


def test_a_run_that_is_removed_before_its_slot_is_claimed_needs_nothing_more():
    def remove(store, _row):
        store.hooks["get_rows"] = lambda *_given, **_more: ()

    assert between_read_and_claim(SkewedWorkers(), remove)() is NOTHING_TO_DO


def test_a_run_whose_expiry_is_moved_before_its_slot_is_claimed_is_skipped():
    skewed = SkewedWorkers()

    def expire(store, row):
        store.reschedule(row, row.due_at, by="caller", at=NOON, expires_at=NOON - TICK)

    assert between_read_and_claim(skewed, expire)() is NOTHING_TO_DO
    assert (skewed.row.status, skewed.runs) == (Status.SKIPPED, [])


def empty(queues):
    for receipt in queues.messages:
        queues.delete(receipt)


def test_the_message_of_a_run_is_hidden_until_its_lease_ends_also_after_a_renewal():
    skewed = SkewedWorkers(Settings(made=Made(queue_visibility=HOUR)))
    skewed.ref = skewed.scheduler.schedule(Mail(), at=-MINUTE).ref
    queues, hidden = skewed.cloud.queues, []
    empty(queues)
    queues.send([Send("default", message_of(skewed.row), 0)])
    _, delivery = queues.receive()
    skewed.makes = lambda _name: (
        hidden.append(queues.next_at()),
        skewed.clock.wait_until(NOON + SETTINGS.heartbeat),
    )
    skewed.does = lambda _name: hidden.append(queues.next_at())
    skewed.worker("first")(delivery.receipt)
    assert hidden == [NOON + HIDDEN, NOON + SETTINGS.heartbeat + HIDDEN]


@pytest.mark.parametrize("late", [timedelta(0), TICK])
def test_a_run_is_renewed_until_its_deadline_and_no_longer(skewed, late):
    beaten = []

    def lasts(_name):
        row = skewed.row
        heartbeat = Heartbeat(replace(skewed.cloud.backends, clock=skewed.clock, settings=SETTINGS))
        deadline = NOON + SETTINGS.heartbeat
        delivery = Delivery(message_of(row), NOON, "first")
        run = WatchedRun(row, threading.Event(), deadline, delivery, "default", since=began, renewed=began)
        skewed.clock.wait_until(deadline + late)
        heartbeat.look_after(run)
        beaten.append(skewed.row.lease_until - NOON)

    began = skewed.clock.elapsed()
    skewed.does = lasts
    skewed.worker("first")()
    assert beaten == [LEASE if late else SETTINGS.heartbeat + LEASE]


def test_a_message_that_could_not_be_sent_again_while_the_pauses_are_not_known_comes_back():
    skewed = SkewedWorkers()
    skewed.ref = skewed.scheduler.schedule(Mail(), at=-MINUTE).ref
    throttled = BackendUnavailable("a service", "it is throttled")
    failing_sends(skewed).append(throttled)
    with patch.object(skewed.cloud.pauses, "list", side_effect=throttled):
        work = skewed.worker("first")
        with pytest.raises(BackendUnavailable):
            work()
        assert [work(), work()] == [PUT_OFF, NOTHING_TO_DO]
    assert skewed.runs == []


def test_an_early_message_of_a_paused_tenant_is_sent_for_its_due_time():
    skewed = SkewedWorkers()
    skewed.ref = skewed.scheduler.schedule(Mail(), at=HOUR).ref
    pause_tenant(skewed)
    empty(skewed.cloud.queues)
    assert skewed.worker("first")() is PUT_OFF
    assert skewed.cloud.queues.next_at() == NOON + 15 * MINUTE


def test_of_the_messages_of_a_run_that_waits_for_its_slot_one_is_sent_again():
    skewed = SkewedWorkers()
    first, second = (
        skewed.scheduler.schedule(Mail(), at=-MINUTE, concurrency_key="printer").ref for _ in range(2)
    )
    empty(skewed.cloud.queues)
    errors, results = failing_sends(skewed), []

    def second_waits(name):
        if name == "first":
            skewed.ref = second
            work = skewed.worker("second")
            results.append(work())
            (sent,) = skewed.cloud.queues.messages.values()
            results.append(work(message=sent))
            store, comes_at = skewed.cloud.backends.store, skewed.cloud.queues.next_at()
            assert store.renew(store.get(first), comes_at + MINUTE)
            skewed.clock.wait_until(comes_at)
            errors.append(BackendUnavailable("the queue", "it is throttled"))
            with pytest.raises(BackendUnavailable):
                work(message=sent)
            results.append(work(message=sent))

    skewed.does, skewed.ref = second_waits, first
    skewed.worker("first")()
    assert results == [PUT_OFF, NOTHING_TO_DO, PUT_OFF]


def test_of_the_messages_of_a_run_that_goes_on_elsewhere_one_is_sent_again_for_the_end_of_its_lease(skewed):
    empty(skewed.cloud.queues)
    errors, results = failing_sends(skewed), []

    def copies_come(name):
        if name == "first":
            work = skewed.worker("second")
            errors.append(BackendUnavailable("the queue", "it is throttled"))
            with pytest.raises(BackendUnavailable):
                work()
            results.extend([work(), work()])
            skewed.clock.wait_until(skewed.cloud.queues.next_at())
            assert skewed.cloud.store.renew(skewed.row, NOON + 2 * LEASE)
            results.extend([work(), work()])

    skewed.does = copies_come
    skewed.worker("first")()
    assert results == [PUT_OFF, NOTHING_TO_DO, PUT_OFF, NOTHING_TO_DO]
    assert len(skewed.cloud.queues.messages) == 2
    assert skewed.row.status is Status.EXECUTED


def test_an_execution_that_is_abandoned_leaves_its_steps_at_once():
    left = []

    def steps():
        try:
            yield "a run"
        finally:
            left.append("a run")

    execution = begun(steps())
    assert (execution.run, left) == ("a run", [])
    execution.abandon()
    assert left == ["a run"]
