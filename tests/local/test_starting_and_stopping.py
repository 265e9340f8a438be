import os
import threading
from datetime import timedelta

import pytest
from moto import mock_aws

from duetime.local import LocalCloud, LocalOptions
from duetime.local.emulator import AlreadyRunning
from duetime.model.action import Status
from tests.local.conftest import SHORT, Note, settled

LEFT_TO_ITSELF = {"duetime-heartbeat", "duetime-strand"}
"""Threads that live as long as their process, and sleep.

The worker's heartbeat, and a simulation's, of another test.
"""


def running():
    ours = [row for row in threading.enumerate() if row.name.startswith("duetime-")]
    return [our for our in ours if "scanner" not in our.name and our.name not in LEFT_TO_ITSELF]


def threads():
    return {row.name for row in running()}


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
    notes._write = lambda *_: release.wait(30)
    options = LocalOptions(settings=SHORT, stop_within=timedelta(seconds=0.2))
    with mock_aws():  # outlasts the cloud: whoever is left behind asks nobody else
        with LocalCloud(notes.app, options) as cloud:
            cloud.scheduler().schedule(Note(text="endless"), at=timedelta(0))
            while cloud.scheduler().list().actions[0].status is Status.PENDING:
                threading.Event().wait(0.02)
        assert "1 still running after 0.2 s" in caplog.text
        release.set()
        for row in running():
            row.join(30)
    assert threads() == set()


def test_a_second_cloud_in_one_process_is_rejected_and_the_first_keeps_running(cloud, notes):
    with pytest.raises(AlreadyRunning):
        LocalCloud(notes.app).start()
    settled(cloud, cloud.scheduler().schedule(Note(text="still"), at=timedelta(0)))
    assert notes.of("still")
