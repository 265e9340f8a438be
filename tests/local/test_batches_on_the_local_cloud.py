"""Several messages in one call of the worker, on the local cloud."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime.embedded.cloud import InProcessCloud
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import Status
from tests.local.conftest import SHORT, Deadly, Note, settled


def test_a_call_has_several_messages_each_of_which_runs_once(notes, monkeypatch):
    calls, options = [], {"settings": replace(SHORT, worker_batch=10), "concurrency": 1}
    run = InProcessCloud.run

    def recorded(cloud, *deliveries):
        calls.append(deliveries)
        run(cloud, *deliveries)

    monkeypatch.setattr(InProcessCloud, "run", recorded)
    with LocalCloud(notes.app, LocalOptions(**options)) as cloud:
        at = timedelta(seconds=3)
        actions = [cloud.scheduler().schedule(Note(text=f"note {n}"), at=at) for n in range(25)]
        rows = [settled(cloud, action) for action in actions]
    assert {row.status for row in rows} == {Status.EXECUTED}
    assert sorted(text for text, _ in notes.runs) == sorted(f"note {n}" for n in range(25))
    sizes = [len(call) for call in calls]
    assert 1 < max(sizes) <= 10
    assert all(row.attempts[0].started_at >= row.due_at for row in rows)


@pytest.mark.long
def test_the_neighbours_of_a_run_that_kills_its_process_are_executed(notes):
    notes.kills_left = 1
    with LocalCloud(
        notes.app, LocalOptions(settings=replace(SHORT, worker_batch=10), concurrency=1)
    ) as cloud:
        at = timedelta(seconds=3)
        actions = [cloud.scheduler().schedule(Note(text=f"note {n}"), at=at) for n in range(5)]
        deadly = cloud.scheduler().schedule(Deadly(text="deadly"), at=at)
        rows = [settled(cloud, action) for action in (*actions, deadly)]
    assert [row.status for row in rows] == [Status.EXECUTED] * 6
    assert [row.recoveries for row in rows] == [0] * 5 + [1]
