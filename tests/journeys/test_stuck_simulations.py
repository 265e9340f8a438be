"""A simulation that makes no progress raises an error; it never hangs."""

import sys
import threading
from datetime import timedelta

import pytest

from duetime import App, Payload, Run, every
from duetime.errors import BackendUnavailable, Unsupported
from duetime.testing import Faults, SimulatedCloud, SimulationStuck, journey
from duetime_faults import faulty_cloud, processes


class Note(Payload):
    n: int = 0


def app_of(do):
    app = App()

    @app.action
    def note(payload: Note, run: Run) -> None:
        do(payload, run)

    return app


def nothing(_payload, _run):
    """Handle nothing."""


@pytest.mark.parametrize("faults", [None, Faults.only(1)])
def test_turns_that_change_nothing_at_one_instant_raise(monkeypatch, faults):
    monkeypatch.setattr(journey, "MOST_TURNS", 50)
    cloud = SimulatedCloud(app_of(nothing), faults=faults)
    monkeypatch.setattr(cloud.memory, "next_at", lambda: cloud.now)
    with pytest.raises(SimulationStuck, match="and time stands"):
        cloud.advance(seconds=1)
    cloud.close()


@pytest.mark.parametrize("faults", [None, Faults.only(1)])
def test_a_handler_that_schedules_itself_at_once_raises(monkeypatch, faults):
    monkeypatch.setattr(journey, "MOST_TURNS", 50)
    cloud = SimulatedCloud(app_of(lambda note, _: again(note)), faults=faults)

    def again(note):
        cloud.scheduler.schedule(Note(n=note.n + 1), at=timedelta(0))

    again(Note())
    with pytest.raises(SimulationStuck, match="may schedule itself at once"):
        cloud.advance(minutes=1)
    cloud.close()


@pytest.mark.parametrize("faults", [None, Faults.only(1)])
def test_many_actions_at_one_instant_are_progress(monkeypatch, faults):
    monkeypatch.setattr(journey, "MOST_TURNS", 50)
    cloud = SimulatedCloud(app_of(nothing), faults=faults)
    for n in range(200):
        cloud.scheduler.schedule(Note(n=n), at=timedelta(seconds=30))
    cloud.advance(minutes=1)
    assert len(cloud.actions("executed")) == 200
    cloud.check()
    cloud.close()


def test_faults_name_the_distribution_that_has_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "duetime_faults.faulty_cloud", None)
    with pytest.raises(Unsupported, match="pip install duetime-contract"):
        SimulatedCloud(app_of(nothing), faults=Faults(1))


def test_a_process_that_waits_for_what_a_suspended_one_holds_raises(monkeypatch):
    lock, suspended = threading.Lock(), threading.Event()

    def hold(payload, run):
        with lock:
            suspended.set()
            monkeypatch.setattr(processes, "LOOK", 0.5)
            cloud.memory.processes.wait_until(cloud.now + timedelta(minutes=1))

    cloud = SimulatedCloud(app_of(hold), faults=Faults.only(1))
    for n in range(2):
        cloud.scheduler.schedule(Note(n=n), at=timedelta(seconds=1))
    with pytest.raises(SimulationStuck, match="with lock"):
        cloud.advance(minutes=5)
    assert suspended.is_set()


def test_a_deploy_that_always_fails_raises(monkeypatch):
    monkeypatch.setattr(faulty_cloud, "_MOST_DEPLOYS", 3)
    cloud = SimulatedCloud(app_of(nothing), faults=Faults.only(1))

    def fail(*_args):
        raise BackendUnavailable("the table", "it is gone")

    monkeypatch.setattr(cloud.memory, "_deploy", fail)
    with pytest.raises(SimulationStuck, match="3 deploys in a row have failed"):
        cloud.deploy(app_of(nothing))
    cloud.close()


def test_a_backfill_over_a_change_of_the_cadence_breaks_no_invariant():
    def with_job(minutes):
        app = App()
        app.job(every(minutes=minutes), name="close-books")(lambda: None)
        return app

    cloud = SimulatedCloud(with_job(20))
    start = cloud.now
    cloud.advance(hours=2)
    cloud.deploy(with_job(30))
    cloud.advance(hours=2)
    cloud.jobs.backfill("close-books", start, cloud.now, again=True)
    cloud.advance(hours=4)
    cloud.check()
