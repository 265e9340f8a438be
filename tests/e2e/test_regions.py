"""The region drill: the active region freezes in the middle of a run, another takes over, the first wakes.

The emulator has regions, but no global tables: the drill copies rows from the first region to the second, and
stops when the first freezes. The command line and the functions' handlers are those of a real failover.
"""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from datetime import timedelta

import boto3
import pytest

from duetime import Scheduler
from duetime.aws import clients
from duetime.aws.backends import action_store
from duetime.aws.deployed import DeployedTables
from duetime.aws.tables import REGIONS, create_table_request
from duetime.clock import SystemClock
from duetime.model.active_region import epoch_of
from duetime.model.deployed_shards import DeployedShards
from duetime.rehearsal import emulator
from duetime.settings import Made, Settings
from duetime.wakeups import system_jobs
from tests.e2e.deployment import ROOT
from tests.e2e.emulated import use_emulator
from tests.e2e.region_process import EFFECTS, SHARED_REGION, Errand, app, wait
from tests.standby.regions import (
    FIRST,
    REGIONS_TABLE,
    SECOND,
    create_regions_table,
    deploy,
    deploy_again,
    replicate,
)

pytestmark = [pytest.mark.e2e, pytest.mark.drill]

SETTINGS = Settings(
    made=Made(
        dispatch_arn="arn:aws:lambda:eu-west-1:000000000000:function:duetime-dispatch",
        timer_role_arn="arn:aws:iam::000000000000:role/duetime-timers",
        queue_visibility=timedelta(seconds=60),
    ),
    regions_table=REGIONS_TABLE,
    lease=timedelta(seconds=6),
    heartbeat=timedelta(seconds=2),
    cancel_poll=timedelta(seconds=1),
    clock_skew=timedelta(seconds=1),
)
LASTS = 30
"""Seconds of the run in whose middle the region freezes."""


def failover(*words):
    """Run the command line; return its JSON."""
    command = [sys.executable, "-m", "duetime", "deployment", "failover", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def eventually(found, within=60):
    ends = time.monotonic() + within
    while not found():
        assert time.monotonic() < ends, "not in time"
        wait(0.5)


class Drill:
    def __init__(self):
        self.settings = {name: deploy(SETTINGS, name, is_fenced=name == SECOND) for name in (FIRST, SECOND)}
        create_regions_table()
        effects = create_table_request(REGIONS, EFFECTS)
        clients.dynamodb(region=SHARED_REGION).create_table(**effects)
        clients.use_region(FIRST)
        self.first_store = action_store(self.settings[FIRST], clients.dynamodb(region=FIRST))
        self.second_store = action_store(self.settings[SECOND], clients.dynamodb(region=SECOND))
        self.scheduler = Scheduler(
            self.first_store, tenant_id="acme", actor="drill", clock=SystemClock(), settings=SETTINGS
        )
        self.publish_types()

    def publish_types(self):
        settings = self.settings[FIRST]
        tables = DeployedTables(clients.dynamodb(region=FIRST), settings.made.jobs_table)
        for manifest in (app.manifest, system_jobs.manifest(settings)):
            tables.publish(manifest, DeployedShards(settings.due_shards), SystemClock().now())

    @contextmanager
    def region(self, name, directory):
        """Run the functions of a region; yield their process."""
        environment = {**emulator.environment_of(self.endpoint), **self.settings[name].to_env()}
        environment |= {"AWS_REGION": name, "AWS_DEFAULT_REGION": name, "PYTHONPATH": str(ROOT)}
        with (directory / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.region_process"],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )
            try:
                yield process
            finally:
                process.kill()
                process.wait()

    @contextmanager
    def replication(self):
        """Copy the rows of the first region each second, with a lag of up to one."""
        over = threading.Event()

        def copy():
            while not over.wait(1):
                replicate(SETTINGS)

        thread = threading.Thread(target=copy)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def schedule(self, name, seconds, **more):
        return self.scheduler.schedule(Errand(name=name, **more), at=timedelta(seconds=seconds))

    def effects(self):
        """Return the number of effects by name and epoch."""
        items = clients.dynamodb(region=SHARED_REGION).scan(TableName=EFFECTS)["Items"]
        return Counter((item["pk"]["S"], epoch_of(int(item["sk"]["S"]))) for item in items)

    def rows_of_first(self):
        items = clients.dynamodb(region=FIRST).scan(TableName=SETTINGS.made.actions_table)["Items"]
        return {(item["pk"]["S"], item["sk"]["S"]): item for item in items}


@pytest.fixture(scope="module")
def drill(tmp_path_factory):
    directory = tmp_path_factory.mktemp("regions")
    before = boto3.DEFAULT_SESSION
    with pytest.MonkeyPatch.context() as patch, emulator.running(directory) as endpoint:
        use_emulator(patch, endpoint)
        drill = Drill()
        drill.endpoint, drill.directory = endpoint, directory
        assert failover("--to", FIRST, "--regions-table", REGIONS_TABLE, "--yes")["epoch"] == 1
        deploy_again(drill.settings[FIRST], FIRST)
        yield drill
    boto3.DEFAULT_SESSION = before


def test_a_standby_takes_over_from_a_region_that_freezes_and_the_frozen_one_changes_nothing(drill):
    with drill.region(FIRST, drill.directory) as first, drill.region(SECOND, drill.directory):
        with drill.replication():
            actions = {
                "before": drill.schedule("before", 1),
                "half": drill.schedule("half", 2, lasts=LASTS),
                "after": drill.schedule("after", 75),
                "far": drill.schedule("far", 4 * 3_600),
            }
            eventually(lambda: drill.effects()["before", 1])
            eventually(lambda: (row := drill.second_store.get(actions["half"].ref)) and row.lease_until)
        first.send_signal(signal.SIGSTOP)
        lost = drill.schedule("lost", 5)
        report = failover("--to", SECOND, "--yes")
        assert (report["epoch"], report["active"]) == (2, SECOND)
        eventually(lambda: drill.effects()["half", 2], within=120)
        eventually(lambda: drill.effects()["after", 2], within=120)
        before = drill.rows_of_first()
        first.send_signal(signal.SIGCONT)
        eventually(lambda: drill.effects()["half", 1])  # the frozen run ends, and settles nothing
        wait(8)
        assert drill.rows_of_first() == before
    assert drill.effects() == {("before", 1): 1, ("half", 1): 1, ("half", 2): 1, ("after", 2): 1}
    schedules = boto3.client("scheduler", region_name=SECOND)
    listed = schedules.list_schedules(GroupName=SETTINGS.made.schedule_group)["Schedules"]
    assert any(actions["far"].id in schedule["Name"] for schedule in listed)
    found = failover("--to", SECOND, "--compare", FIRST)
    assert [row["id"] for row in found["missing"]] == [lost.id]
    assert found["ran_twice"] == []  # its claim was copied, so it was taken over, and is no surprise
