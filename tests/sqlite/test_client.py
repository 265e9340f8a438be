"""Schedulers of other processes over the file of one that runs the app: ``DUETIME_FILE``."""

import asyncio
import subprocess
import sys
from datetime import timedelta

import pytest

from duetime import App, AsyncScheduler, Payload, Run, Scheduler
from duetime.errors import BackendMisconfigured, UnknownType
from tests.local.conftest import eventually


class Note(Payload):
    text: str


class Unknown(Payload):
    text: str = ""


@pytest.fixture
def ran():
    return []


@pytest.fixture
def app(ran):
    app = App()

    @app.action
    def note(payload: Note, run: Run) -> None:
        ran.append((payload.text, run.id))

    @app.job(name="shop-sweep")
    def sweep(run: Run) -> None:
        ran.append(("sweep", run.id))

    return app


@pytest.fixture
def file(app, tmp_path, monkeypatch):
    """A file whose app runs in this process, and the variable that names it."""
    path = tmp_path / "rows.db"
    monkeypatch.setenv("DUETIME_FILE", str(path))
    with app.embedded(path):
        yield path


def test_another_process_schedules_and_the_owner_runs_it_at_once(file, ran):
    program = """
from datetime import timedelta
from duetime import Payload, Scheduler
class Note(Payload):
    text: str
print(Scheduler.from_env().schedule(Note(text="from afar"), at=timedelta(0)).id)
"""
    called = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)  # noqa: S603 - as above
    eventually(lambda: ran, "the run")
    assert ran == [("from afar", called.stdout.strip())]


def test_changes_and_jobs_of_others_reach_the_owner(file, ran):
    scheduler = Scheduler.from_env()
    later = scheduler.schedule(Note(text="later"), at=timedelta(days=9), idempotency_key="once")
    assert scheduler.schedule(Note(text="later"), at=timedelta(days=9), idempotency_key="once").id == later.id
    assert scheduler.cancel(later.id).status == "cancelled"
    soon = scheduler.schedule(Note(text="soon"), at=timedelta(days=9))
    scheduler.reschedule(soon.id, timedelta(0))
    triggered = scheduler.jobs.trigger("shop-sweep")
    eventually(lambda: len(ran) == 2, "both runs")
    assert {*ran} == {("soon", soon.id), ("sweep", triggered.id)}


def test_an_asynchronous_scheduler_uses_the_file(file, ran):
    async def schedule():
        async with AsyncScheduler.from_env() as scheduler:
            return await scheduler.schedule(Note(text="async"), at=timedelta(0))

    action = asyncio.run(schedule())
    eventually(lambda: ran == [("async", action.id)], "the run")


def test_a_type_that_the_owner_does_not_host_is_rejected(file, monkeypatch):
    with pytest.raises(UnknownType, match="known are: note"):
        Scheduler.from_env().schedule(Unknown(), at=timedelta(0))
    monkeypatch.setenv("DUETIME_CHECK_TYPES", "false")
    assert Scheduler.from_env().schedule(Unknown(), at=timedelta(days=1)).status == "pending"


def test_a_missing_file_names_what_makes_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DUETIME_FILE", str(tmp_path / "none.db"))
    with pytest.raises(BackendMisconfigured, match=r"none\.db does not exist"):
        Scheduler.from_env()
