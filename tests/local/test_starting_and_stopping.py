import os
import threading
from datetime import timedelta

import pytest
from moto import mock_aws

from duetime import Scheduler
from duetime.embedded.embedded import Engine
from duetime.errors import OperationFailed
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import Status
from duetime.settings import Settings
from tests.local.conftest import SHORT, Note, eventually, settled

PERMANENT = {"duetime-heartbeat", "duetime-simulated"}
"""Threads that live as long as their process: heartbeats of workers and of simulations."""


BEFORE = set()
"""The threads that other tests of this process have left, such as those of a function that they keep."""


@pytest.fixture(autouse=True)
def others():
    BEFORE.update(threading.enumerate())
    yield
    BEFORE.clear()


def running():
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("duetime-")]
    ours = [thread for thread in ours if thread not in BEFORE]
    return [thread for thread in ours if "scanner" not in thread.name and thread.name not in PERMANENT]


def threads():
    return {thread.name for thread in running()}


def test_a_stop_ends_all_threads_and_frees_the_port_and_the_environment(notes):
    variables = dict(os.environ)  # noqa: TID251 - what must not change
    with LocalCloud(notes.app, LocalOptions(settings=SHORT)) as cloud:
        port = int(cloud.url.rpartition(":")[2])
        settled(cloud, cloud.scheduler().schedule(Note(text="one"), at=timedelta(0)))
        assert threads()
    assert threads() == set()
    assert dict(os.environ) == variables  # noqa: TID251 - as above
    with LocalCloud(notes.app, LocalOptions(port=port)) as again:
        assert again.url == cloud.url
        assert list(again.scheduler().list()) == []


def test_a_stop_waits_for_a_current_run(notes):
    entered, ended = threading.Event(), threading.Event()

    class Slow(Note):
        pass

    @notes.app.action
    def slow(payload: Slow) -> None:
        entered.set()
        threading.Event().wait(0.5)
        ended.set()

    with LocalCloud(notes.app, LocalOptions(settings=SHORT)) as cloud:
        cloud.scheduler().schedule(Slow(text="slow"), at=timedelta(0))
        assert entered.wait(30)
    assert ended.is_set()


def test_a_stop_waits_for_a_limited_time(notes, caplog):
    release = threading.Event()
    notes.blocked_until = release
    options = LocalOptions(settings=SHORT, stop_within=timedelta(seconds=0.2))
    with mock_aws():  # outlasts the cloud, for the thread that still runs
        with LocalCloud(notes.app, options) as cloud:
            cloud.scheduler().schedule(Note(text="endless"), at=timedelta(0))
            while cloud.scheduler().list().actions[0].status is Status.PENDING:
                threading.Event().wait(0.02)
        assert "1 still running after 0.2 s" in caplog.text
        release.set()
        for thread in running():
            thread.join(30)
    assert threads() == set()


def test_a_stop_starts_nothing_that_waits_for_a_free_worker(notes):
    notes.blocked_until = threading.Event()
    engine = Engine(notes.app, Settings(), concurrency=1)
    engine.start()
    scheduler = Scheduler(
        engine.cloud.store, tenant_id="acme", actor="test", clock=engine.clock, settings=engine.cloud.settings
    )
    for text in ("first", "second"):
        scheduler.schedule(Note(text=text), at=timedelta(0))
    eventually(lambda: scheduler.list(status="processing").actions, "the first run")
    stopping = threading.Thread(target=engine.stop)
    stopping.start()
    eventually(lambda: not engine._thread.is_alive(), "the last turn")
    notes.blocked_until.set()
    stopping.join(30)
    assert [text for text, _ in notes.runs] == ["first"]


def test_a_start_that_fails_late_leaves_no_thread(notes, monkeypatch):
    monkeypatch.setattr("duetime.local.cloud.choose_everything", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LocalCloud(notes.app, LocalOptions(settings=SHORT, mail_to="ada@acme.example")).start()
    assert threads() == set()


def test_a_second_cloud_in_one_process_is_rejected_and_the_first_keeps_running(cloud, notes):
    with pytest.raises(OperationFailed, match="local cloud"):
        LocalCloud(notes.app).start()
    settled(cloud, cloud.scheduler().schedule(Note(text="still"), at=timedelta(0)))
    assert notes.of("still")
