"""The drill for the jobs table, alone and together with the actions table."""

from dataclasses import replace

import boto3
import pytest

from duetime import Status, every
from duetime.ids import SYSTEM_TENANT, nominal_at, version_of
from duetime.jobs.desired_wakes import wakes_of
from duetime.model.job import JobRef
from duetime.restore.restore import HeldRows
from duetime.wakeups.due_messages import message_of
from tests.restore.drill import MINUTE
from tests.restore.story import Story, name_of

REF = JobRef(SYSTEM_TENANT, "ledger-tick")
TABLES = [("actions",), ("jobs",), ("actions", "jobs")]


def change_cadence(drill):
    """Deploy the job with another cadence: its version 2."""
    [job] = drill.app.manifest.jobs
    drill.steps.reconcile([replace(job, cadences=(every(minutes=3).text,))], worker="default")


def ticks(drill):
    return {name: count for name, count in drill.effects.items() if "ledger-tick" in name}


@pytest.mark.parametrize(
    "kinds", [TABLES[0], *(pytest.param(kinds, marks=pytest.mark.long) for kinds in TABLES[1:])]
)
def test_a_job_goes_on_from_now_and_no_nominal_time_runs_twice(drill, kinds):
    story = Story(drill, *kinds)
    story.restore().adopt()
    story.deploy(enabled=True)
    before, adopted_at = ticks(drill), drill.clock.now()
    drill.minutes(8)
    made = ticks(drill).keys() - before.keys()
    assert len(made) == 4
    assert all(nominal_at(name) > adopted_at for name in made)
    assert set(ticks(drill).values()) == {1}


@pytest.mark.long
@pytest.mark.parametrize("kinds", TABLES)
def test_all_nominal_times_since_the_restore_point_are_explained(drill, kinds):
    story = Story(drill, *kinds)
    story.restore().adopt()
    story.deploy(enabled=True)
    drill.minutes(2)
    jobs = drill.scheduler.jobs
    found = jobs.explain("ledger-tick", story.point, drill.clock.now() - MINUTE)
    assert {entry.account.value for entry in found} <= {"executed", "missed", "pending"}


@pytest.mark.long
@pytest.mark.parametrize("later", ["actions", "jobs"])
def test_tables_restored_to_different_times_are_consistent_and_each_time_is_accounted_for(drill, later):
    story = Story(drill, "actions", "jobs", later=later)
    restore = story.restore()
    report = restore.report()
    restore.adopt()
    story.deploy(enabled=True)
    adopted_at = drill.clock.now()
    [account] = [account for account in report.jobs if account.ref == REF]
    rows = drill.backends.store.of_job(REF.tenant_id, REF.name, limit=100, cursor=None)
    with_rows = {nominal_at(row.id) for row in rows}
    job = drill.backends.jobs.get(REF)
    passed = {due.at for due in job.cadence_set.between(story.point, report.at)}
    assert passed == {at for at in with_rows if story.point < at <= report.at} | {*account.times}
    assert len(account.times) == account.unknown
    before = ticks(drill)
    drill.minutes(8)
    made = ticks(drill).keys() - before.keys()
    assert len(made) == 4
    assert all(nominal_at(name) > adopted_at for name in made)
    assert set(ticks(drill).values()) == {1}


@pytest.mark.long
def test_a_damaged_job_stops_no_restore_and_is_reported(drill):
    story = Story(drill, "actions")
    key = {"pk": {"S": "system#ledger-tick"}, "sk": {"S": "current#definition"}}
    boto3.client("dynamodb").put_item(TableName=drill.settings.made.jobs_table, Item=key)
    [account] = [account for account in story.restore().adopt().jobs if account.ref == REF]
    assert "cannot be read" in account.notes[0]


@pytest.mark.long
def test_unknown_times_of_a_job_that_would_make_up_for_them_are_reported(drill):
    report = Story(drill, "actions").restore().report()
    [account] = [account for account in report.jobs if account.ref == REF]
    planned = [row for row in report.doubtful if row.row.job == REF.name]
    assert account.unknown + len(planned) == 5  # ten minutes of a run every two
    assert account.unknown == 0 or "`duetime jobs trigger ledger-tick`" in " ".join(account.notes)


@pytest.mark.long
def test_lost_times_of_a_version_that_has_ended_since_are_reported_and_explained(drill):
    story = Story(drill, "actions")
    change_cadence(drill)
    since = drill.backends.jobs.get(REF).since
    report = story.restore().adopt()
    [account] = [account for account in report.jobs if account.ref == REF]
    lost = [at for at in account.times if at <= since]
    assert lost
    spans = drill.backends.jobs.spans(REF, story.point, report.at)
    assert all(any(span.start < at <= span.end for span in spans) for at in lost)


@pytest.mark.long
def test_a_version_that_the_restore_lost_is_not_used_again(drill):
    story = Story(drill, "jobs", after=change_cadence)
    lost = drill.backends.jobs.get(REF)
    assert lost.version == 2
    story.lose()
    story.restore().adopt()
    story.deploy(enabled=True)
    assert drill.backends.jobs.get(REF).version == 3
    drill.minutes(10)
    runs = {version_of(name) for name in ticks(drill) if nominal_at(name) > story.point + 10 * MINUTE}
    assert runs == {3}
    assert set(ticks(drill).values()) == {1}


@pytest.mark.long
def test_changes_of_a_job_since_the_restore_point_are_reported(drill):
    def after(drill):
        drill.scheduler.jobs.pause("ledger-tick", reason="migration")

    report = Story(drill, "jobs", after=after).restore().report()
    [account] = [account for account in report.jobs if account.ref == REF]
    assert account.notes[0] == "changed after the restore point: pauses"


@pytest.mark.long
@pytest.mark.parametrize("kinds", TABLES)
def test_the_schedules_of_jobs_match_their_rows_afterwards(drill, kinds):
    story = Story(drill, *kinds, after=change_cadence)
    story.restore().adopt()
    story.deploy(enabled=True)
    job = drill.backends.jobs.get(REF)
    [wake] = wakes_of(job, drill.clock.now(), drill.settings)
    assert drill.schedule_of(wake.name) == (wake.expression, "ENABLED")
    assert not job.wakes.is_stale


def test_a_run_that_was_under_way_at_the_restore_point_is_held_and_blocks_no_later_run(drill):
    def claim(drill):
        """Leave a run of the job processing, as a worker does that is at it at the restore point."""
        drill.clock.wait_until(drill.clock.now() + 2 * MINUTE)
        rows = [row for row in drill.rows() if row.job == REF.name and row.due_at <= drill.clock.now()]
        drill.claim(min(rows, key=lambda row: row.due_at))

    story = Story(drill, "actions", "jobs", before=claim)
    report = story.restore().report()
    [under_way] = [row for row in report.doubtful if row.row.status is Status.PROCESSING]
    assert under_way.row.job == REF.name
    report = story.restore().adopt()
    [account] = [account for account in report.jobs if account.ref == REF]
    assert f"its lock, held by {under_way.row.id}, is freed" in account.notes
    held = HeldRows(
        drill.settings.with_made(actions_table=story.restored["actions"]),
        drill.clock,
    ).list()
    assert under_way.row.id in {name_of(row) for row in held}
    story.deploy(enabled=True)
    before = ticks(drill)
    drill.minutes(6)
    assert len(ticks(drill).keys() - before.keys()) == 3


@pytest.mark.long
def test_the_due_message_of_a_held_row_changes_nothing(drill):
    story = Story(drill, "actions")
    row = next(row for row in drill.rows(story.restored["actions"]) if name_of(row) == "ran-after")
    message = message_of(row)
    story.restore().adopt()
    story.deploy(enabled=True)
    drill.deliver(message)
    assert drill.effects["ran-after"] == 1
