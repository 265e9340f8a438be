"""Rows that the scheduler and the planner cannot have written: no handler of a job runs for them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, Payload, Registration, Run, on_event
from duetime.errors import DeclarationError
from duetime.model.action import SkipReason, Status
from duetime.testing import SimulatedCloud
from tests.journeys.recorded_job import MIDNIGHT


class Note(Payload):
    text: str


class Forgery:
    """An app with an action and two jobs of code, of which events start one for tenants."""

    def __init__(self):
        self.app, self.ran = App(), []

        @self.app.action
        def write(note: Note, run: Run) -> None:
            self.ran.append((run.tenant_id, note.text))

        @self.app.job(name="nightly-purge")
        def purge(run: Run) -> None:
            self.ran.append((run.tenant_id, "purge"))

        @self.app.job(on_event("kb", "Uploaded", tenant="detail.tenant_id"), name="kb-index")
        def index(run: Run) -> None:
            self.ran.append((run.tenant_id, "index"))

        self.cloud = SimulatedCloud(self.app, start=MIDNIGHT)

    def put(self, row):
        """Put a row as a caller of its tenant may; return it once it had its time."""
        self.cloud.memory.store.put(row)
        self.cloud.advance(hours=1)
        return self.cloud.memory.store.get(row.ref)

    def one_shot(self):
        """Return the row of an action that acme scheduled, which is cancelled."""
        scheduler = self.cloud.scheduler_for("acme", "mallory")
        action = scheduler.schedule(Note(text="mine"), at=timedelta(minutes=1))
        scheduler.cancel(action.id)
        return action

    def event_run(self):
        """Return a pending run that an event of acme started."""
        self.cloud.send_event("kb", "Uploaded", {"tenant_id": "acme"})
        self.cloud.advance(minutes=1)
        (run,) = (row for row in self.cloud.actions() if row.job == "kb-index")
        self.ran.clear()
        return replace(run, status=Status.PENDING, attempts=(), attempt=0, fence=0, kept_until=None)


@pytest.fixture
def forgery():
    return Forgery()


def another_id(row):
    """Return the id of an equal run that does not exist yet."""
    return row.id[:-1] + ("1" if row.id.endswith("0") else "0")


def test_a_one_shot_with_the_type_of_a_job_fails_and_runs_nothing(forgery):
    genuine = forgery.one_shot()
    forged = replace(genuine, id=another_id(genuine), type="nightly-purge", payload=None)
    ended = forgery.put(forged)
    assert (ended.status, forgery.ran) == (Status.FAILED, [])
    assert "handler of a job" in ended.attempts[-1].message


@pytest.mark.parametrize("type_name", ["nightly-purge", "Note"])
def test_a_run_with_another_type_than_its_jobs_is_refused(forgery, type_name):
    run = forgery.event_run()
    ended = forgery.put(replace(run, id=another_id(run), type=type_name, payload='{"text": "x"}'))
    assert (ended.status, ended.skip_reason, forgery.ran) == (Status.SKIPPED, SkipReason.REFUSED, [])
    assert "did not write it" in ended.note


def test_a_run_of_codes_job_that_no_event_starts_for_tenants_is_refused(forgery):
    run = forgery.event_run()
    forged = replace(run, id=run.id.replace("kb-index", "nightly-purge"), type="nightly-purge")
    ended = forgery.put(forged)
    assert (ended.status, ended.skip_reason, forgery.ran) == (Status.SKIPPED, SkipReason.REFUSED, [])
    job = forgery.cloud.jobs.get("nightly-purge")
    assert job.running is None
    assert job.tally.executed == 0


def test_the_run_of_an_event_runs(forgery):
    run = forgery.event_run()
    ended = forgery.put(replace(run, id=another_id(run)))
    assert (ended.status, forgery.ran) == (Status.EXECUTED, [("acme", "index")])


def test_no_registered_job_has_the_handler_of_a_job_with_cadences(forgery):
    jobs = forgery.cloud.scheduler_for("acme", "mallory").jobs
    with pytest.raises(DeclarationError, match="kb-index is a job with cadences"):
        jobs.register(Registration(name="acme-index", handler="kb-index"))
    assert jobs.register(Registration(name="acme-purge", handler="nightly-purge")).name == "acme-purge"
