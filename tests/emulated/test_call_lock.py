import threading
from datetime import UTC, datetime, timedelta

from duetime.clock import SystemClock
from tests.emulated.call_lock import RECEIVE, AwsCall, CallLock, without_long_poll
from tests.emulated.conftest import eventually
from tests.emulated.poller import WakeableSleeper

CALL = AwsCall("AmazonSQS.SendMessage", "POST", "/", b"{}")


def test_one_call_runs_at_a_time():
    lock, inside, most = CallLock(), [], []

    def call():
        inside.append(1)
        most.append(len(inside))
        threading.Event().wait(0.002)
        inside.pop()

    workers = [threading.Thread(target=lambda: [lock.call(CALL, call) for _ in range(5)]) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(most) == 40
    assert max(most) == 1


def test_listeners_are_called_after_the_call():
    lock, events = CallLock(), []
    lock.listen(lambda call: events.append(("listener", call.target)))
    lock.call(CALL, lambda: events.append("call"))
    assert events == ["call", ("listener", "AmazonSQS.SendMessage")]


def test_a_failed_call_releases_the_lock():
    lock = CallLock()
    try:
        lock.call(CALL, lambda: 1 // 0)
    except ZeroDivisionError:
        assert lock.call(CALL, lambda: "next") == "next"


def test_urgent_threads_get_the_lock_before_most_others():
    lock, order, threads = CallLock(), [], []

    def ordinary(name):
        with lock:
            order.append(name)

    def urgent(name):
        with lock.urgent():
            ordinary(name)

    def start(target, name):
        waiting = lock.waiting
        threads.append(threading.Thread(target=target, args=(name,)))
        threads[-1].start()
        eventually(lambda: lock.waiting > waiting)

    with lock:
        for name in ("a", "b"):
            start(ordinary, name)
        for name in ("X", "Y", "Z"):
            start(urgent, name)
    for thread in threads:
        thread.join()
    assert order == ["X", "Y", "a", "Z", "b"]


def test_the_lock_is_reentrant():
    lock = CallLock()
    with lock, lock:
        pass
    with lock:
        pass


def test_a_long_poll_becomes_short_polls_of_the_same_total_length():
    request = b'{"QueueUrl": "q", "WaitTimeSeconds": 20, "MaxNumberOfMessages": 10}'
    passed = without_long_poll(RECEIVE, request)
    assert len(passed) == len(request)
    assert b'"WaitTimeSeconds":  0,' in passed
    assert without_long_poll("AmazonSQS.SendMessage", request) == request


def test_an_alarm_wakes_once_at_its_earliest_instant():
    clock = SystemClock()
    alarm = WakeableSleeper(clock)
    soon = clock.now() + timedelta(milliseconds=30)
    alarm.set_for(soon + timedelta(hours=1))
    alarm.set_for(soon)
    alarm.set_for(soon)
    alarm.wait(timedelta(minutes=1))
    assert clock.now() >= soon
    before = clock.now()
    alarm.wait(timedelta(milliseconds=30))
    assert clock.now() - before >= timedelta(milliseconds=30)


def test_an_alarm_that_rang_before_the_wait_wakes_at_once():
    alarm = WakeableSleeper(SystemClock())
    alarm.set_for(datetime(2001, 1, 1, tzinfo=UTC))
    alarm.wait(timedelta(hours=1))
    waiter = threading.Thread(target=alarm.wait, args=(timedelta(hours=1),))
    waiter.start()
    alarm.ring()
    waiter.join(30)
    assert not waiter.is_alive()
