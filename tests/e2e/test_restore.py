"""The restore drill on a deployed stack: backup, more runs, both tables lost, restored, adopted, deployed.

The emulator restores a table to a backup, not to a point in time: here the backup is the restore point. Half
a minute of runs stands for ten. The command line and the functions are those of a real restore.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta

import boto3
import pytest

from duetime import Scheduler, Status
from duetime.clock import SystemClock
from duetime.rehearsal import emulator
from tests.e2e.conftest import Bench
from tests.e2e.deployment import PREFIX, ROOT, SENDER, Deployment
from tests.e2e.emulated import use_emulator
from tests.e2e.handlers.errands import RunErrand

pytestmark = [pytest.mark.e2e, pytest.mark.drill]

TABLES = {"actions": f"{PREFIX}actions", "jobs": f"{PREFIX}jobs"}
RESTORED = {kind: f"{name}-2" for kind, name in TABLES.items()}
SOON, FAR, AFTER_THE_DRILL = timedelta(seconds=6), timedelta(minutes=8), timedelta(hours=5)


@pytest.fixture(scope="module")
def lost(tmp_path_factory):
    """A deployment of its own on an emulator of its own: the drill leaves nothing as it was."""
    directory = tmp_path_factory.mktemp("restore")
    with pytest.MonkeyPatch.context() as patch, emulator.running(directory) as endpoint:
        use_emulator(patch, endpoint)
        for kind, name in TABLES.items():
            patch.setenv(f"DUETIME_{kind.upper()}_TABLE", name)
        boto3.client("ses").verify_email_identity(EmailAddress=SENDER)
        deployment = Deployment(directory)
        deployment.bootstrap()
        deployment.deploy()
        yield Bench(Scheduler.from_env(tenant_id="acme", actor="e2e"), deployment)


@dataclass(frozen=True)
class Drilled:
    """What happened, and what `duetime deployment restore adopt` reported."""

    bench: Bench
    actions: dict
    report: dict
    restored_at: datetime


def duetime(*words):
    """Run the command line; return its JSON."""
    command = [sys.executable, "-m", "duetime", "deployment", "restore", *words, "--prefix", PREFIX, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def drilled(lost):
    scheduler, dynamodb = lost.scheduler, lost.client("dynamodb")
    actions = {
        "before": scheduler.schedule(RunErrand(what="before"), at=SOON),
        "after": scheduler.schedule(RunErrand(what="after"), at=timedelta(seconds=90)),
        "far": scheduler.schedule(RunErrand(what="far"), at=FAR),
        "cancelled": scheduler.schedule(RunErrand(what="cancelled"), at=AFTER_THE_DRILL),
    }
    lost.settled(actions["before"].id, within=60)
    lost.eventually(lambda: len(timers_of(lost, actions)) == 3, within=60)
    lost.eventually(lambda: executed_ticks(lost) > 0, within=90)
    point = SystemClock().now()
    assert point < actions["after"].due_at, "this machine is too slow for the drill"
    backups = {
        kind: dynamodb.create_backup(TableName=name, BackupName="drill")["BackupDetails"]["BackupArn"]
        for kind, name in TABLES.items()
    }
    lost.settled(actions["after"].id, within=180)
    scheduler.cancel(actions["cancelled"].id)
    actions["lost"] = scheduler.schedule(RunErrand(what="lost"), at=AFTER_THE_DRILL)
    lost.eventually(lambda: {"far", "lost"} == timers_of(lost, actions), within=60)
    lost.deployment.deploy(enabled="false")
    for kind, name in TABLES.items():
        dynamodb.restore_table_from_backup(TargetTableName=RESTORED[kind], BackupArn=backups[kind])
        dynamodb.delete_table(TableName=name)
    words = [word for kind, name in RESTORED.items() for word in (f"--{kind}", name)]
    report = duetime("adopt", *words, "--restored-to", point.isoformat())
    streams = {name.removeprefix("duetime:"): arn for name, arn in report["settings"].items()}
    with pytest.MonkeyPatch.context() as patch:
        for kind, name in RESTORED.items():
            patch.setenv(f"DUETIME_{kind.upper()}_TABLE", name)
        lost.deployment.deploy(**streams)
        bench = Bench(Scheduler.from_env(tenant_id="acme", actor="e2e"), lost.deployment)
        yield Drilled(bench, actions, report, SystemClock().now())


def timers_of(bench, actions):
    """Return the names of the actions that have timers."""
    timers = bench.timers()
    return {name for name, action in actions.items() if any(f".{action.id}." in timer for timer in timers)}


def executed_ticks(bench):
    return sum(row.status is Status.EXECUTED for row in bench.scheduler.jobs.history("errands-tick"))


def test_the_report_lists_exactly_the_actions_that_may_double(drilled):
    found = {row["id"]: row["verdict"] for row in drilled.report["doubtful"] if row["job"] is None}
    assert found == {drilled.actions[name].id: "ended" for name in ("after", "cancelled")}  # by the logs
    assert all(row["held"] for row in drilled.report["doubtful"])


def test_the_report_lists_the_action_that_was_scheduled_after_the_backup(drilled):
    lost = {row["id"]: row["open"] for row in drilled.report["lost"]}
    assert lost[drilled.actions["lost"].id] is True


def test_the_report_accounts_for_each_nominal_time_of_a_job_since_the_backup(drilled):
    report = drilled.report
    start, end = (datetime.fromisoformat(report[name]) for name in ("restored_to", "at"))
    planned = [
        row
        for row in report["doubtful"]
        if row["job"] == "errands-tick" and start < datetime.fromisoformat(row["nominal_at"]) <= end
    ]
    unknown = sum(job["unknown"] for job in report["jobs"] if job["name"] == "errands-tick")
    assert abs(len(planned) + unknown - (end - start) / timedelta(seconds=10)) <= 1


def test_the_restored_tables_have_what_the_restore_left_out(drilled):
    for parts in drilled.report["enabled"].values():
        assert {"stream", "time to live", "point-in-time recovery", "deletion protection"} <= set(parts)


def test_an_action_that_ran_after_the_backup_is_held_until_an_operator_runs_it_again(drilled):
    action = drilled.bench.scheduler.get(drilled.actions["after"].id)
    assert (action.status, action.due_at.year, len(action.attempts)) == (Status.PENDING, 2199, 0)
    assert action.id in {row["id"] for row in duetime("list")["rows"]}
    duetime("run", action.id)
    again = drilled.bench.settled(action.id, within=90)
    assert (again.status, len(again.attempts)) == (Status.EXECUTED, 1)


def test_an_operator_marks_a_held_action_as_done(drilled):
    duetime("done", drilled.actions["cancelled"].id)
    assert drilled.bench.scheduler.get(drilled.actions["cancelled"].id).status is Status.SKIPPED


def test_a_new_action_is_armed_by_the_stream_of_the_restored_table(drilled):
    action = drilled.bench.scheduler.schedule(RunErrand(what="new"), at=timedelta(seconds=40))
    drilled.bench.eventually(lambda: timers_of(drilled.bench, {"new": action}), within=60)
    assert drilled.bench.settled(action.id, within=120).status is Status.EXECUTED


def test_jobs_go_on_at_their_next_times_and_make_up_for_none(drilled):
    def later():
        runs = drilled.bench.scheduler.jobs.history("errands-tick")
        return [row for row in runs if row.status is Status.EXECUTED and row.nominal_at > drilled.restored_at]

    assert drilled.bench.eventually(later, within=120)
    assert set(drilled.bench.job_schedules()) >= {"errands-tick", "errands-round"}


def test_an_action_that_was_due_later_runs_once(drilled):
    action = drilled.bench.settled(drilled.actions["far"].id, within=600)
    assert (action.status, len(action.attempts)) == (Status.EXECUTED, 1)
