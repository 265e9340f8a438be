"""``duetime deployment failover`` with AWS credentials, over two regions of moto."""

import json
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import App, Payload, Run, Scheduler, Status, every
from duetime.aws import clients
from duetime.cli import main
from duetime.clock import SystemClock
from duetime.errors import BackendMisconfigured
from duetime.ids import SYSTEM_TENANT
from duetime.instant import text
from duetime.jobs.trusted_reading import KnownRegion
from duetime.model.active_region import FENCES
from duetime.ports.wakeups import Delivery
from duetime.settings import Made, Settings
from duetime.standby.compare import all_rows, compare
from duetime.standby.run_failover import RunFailover
from duetime.testing import TurnedClock
from duetime.wakeups.assembly import Steps
from duetime.wakeups.due_messages import message_of
from duetime.wakeups.sweep import BOOKMARK as SWEEP
from duetime.wakeups.sweep import bands
from duetime.worker.heartbeat import Heartbeat
from duetime.worker.worker import Worker
from tests.quick_moto import fast_path
from tests.standby.regions import (
    FIRST,
    REGIONS_TABLE,
    SECOND,
    backends_in,
    create_regions_table,
    deploy,
    deploy_again,
    in_region,
    replicate,
)

pytestmark = pytest.mark.usefixtures("wide_terminal")

__all__ = ["in_region"]
MINUTE = timedelta(minutes=1)
FIRST_FAILOVER = ("--to", FIRST, "--regions-table", REGIONS_TABLE, "--yes", "--json")


class Charge(Payload):
    account: str


def app_of(ran):
    app = App()

    @app.action
    def charge(payload: Charge, run: Run) -> None:
        ran.append((payload.account, run.fence // FENCES))

    @app.job(every(minutes=5), name="ledger-close")
    def close(run: Run) -> None:
        ran.append((f"{run.nominal_at:%H:%M}", run.fence // FENCES))

    return app


@pytest.fixture
def duetime(capsys):
    def run(*words):
        status = main(["deployment", "failover", *words])
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


@pytest.fixture(autouse=True)
def quick_tables():
    with fast_path():
        yield


@pytest.fixture
def settings(mocked_aws, in_region):
    return Settings(
        made=Made(
            dispatch_arn="arn:aws:lambda:eu-west-1:123456789012:function:duetime-dispatch",
            timer_role_arn="arn:aws:iam::123456789012:role/duetime-timers",
        ),
        regions_table=REGIONS_TABLE,
    )


@pytest.fixture
def two(settings):
    """Two regions, of which the first is active."""
    create_regions_table()
    found = {name: deploy(settings, name, is_fenced=name == SECOND) for name in (FIRST, SECOND)}
    assert main(["deployment", "failover", *FIRST_FAILOVER]) == 0
    deploy_again(found[FIRST], FIRST)
    return found


def test_the_first_region_becomes_active_at_epoch_1_without_a_wait(settings, duetime):
    create_regions_table()
    deploy(settings, FIRST, is_fenced=False)
    status, output, _ = duetime(*FIRST_FAILOVER)
    report = json.loads(output)
    assert (status, report["epoch"], report["active"]) == (0, 1, FIRST)


def test_a_dry_run_prints_what_would_happen_and_changes_nothing(two, duetime):
    status, output, _ = duetime("--to", SECOND, "--dry-run")
    assert status == 0
    assert f"{SECOND} would become active; nothing has changed" in output
    assert FIRST in output
    assert "320 s" in output
    assert json.loads(duetime("--to", SECOND, "--dry-run", "--json")[1])["active"] == FIRST


BAD_INPUT = {
    f"--to {FIRST} --yes": "eu-central-1 is active already, at epoch 1; nothing was changed",
    "--to eu-wset-1 --yes": "'eu-wset-1' is no region of DynamoDB; similar ones are eu-west-1",
    "--to eu-north-1 --yes": "the function duetime-arm does not exist in this account and region",
    f"--to {SECOND}": "there is no terminal for the confirmation: look with --dry-run, then use --yes",
    f"--to {SECOND} --reconcile": "eu-west-1 is not active",
}


def test_bad_input_names_the_value_and_the_remedy(two, duetime):
    printed = {words: duetime(*words.split()) for words in BAD_INPUT}
    accepted = [words for words, (status, _, _) in printed.items() if status == 0]
    unnamed = {words: error for words, (_, _, error) in printed.items() if BAD_INPUT[words] not in error}
    assert (accepted, unnamed) == ([], {})


def test_a_region_without_a_replica_is_rejected(settings, duetime):
    create_regions_table()
    deploy(settings, SECOND, is_new=False)
    _, _, error = duetime("--to", SECOND, "--yes")
    assert (
        "duetime-jobs in eu-west-1 has the format None; allowed is 1. Add a replica of both tables" in error
    )


def test_a_deployment_without_the_table_of_the_active_region_names_the_setting(settings, duetime):
    deploy(
        Settings(
            made=Made(dispatch_arn=settings.made.dispatch_arn, timer_role_arn=settings.made.timer_role_arn)
        ),
        FIRST,
    )
    _, _, error = duetime("--to", FIRST, "--yes")
    assert "has no setting regions_table" in error
    assert "--regions-table" in error


class Region:
    """The processes of one region: its steps, its worker, and a caller."""

    def __init__(self, name, settings, clock, ran):
        self.clock, app = clock, app_of(ran)
        self.backends = backends = backends_in(name, settings, clock)
        self.work = Worker(app.handler_set, backends, Heartbeat(backends), instance=name)
        self.steps, self.app = Steps(backends), app
        self.scheduler = Scheduler(
            backends.store, tenant_id="acme", actor="caller", clock=clock, settings=settings
        )

    def deliver(self, action):
        return self.work(Delivery(message_of(action), action.due_at, "receipt"))

    def rows(self):
        return [
            row for page in all_rows(self.backends.store._table.client, "duetime-actions") for row in page
        ]


class SweepingClock(TurnedClock):
    """While it waits, a region sweeps each minute, whose bookmarks are replicated here."""

    def __init__(self, start, bookmarks):
        super().__init__(start)
        self.bookmarks = bookmarks

    def wait_until(self, instant):
        while self.now() < instant:
            super().wait_until(min(instant, self.now() + MINUTE))
            late = bands(Settings())[0]
            mark = text(self.now() - late)
            self.bookmarks.write(SWEEP, {f"{late.total_seconds():g}/0": mark})


@pytest.mark.parametrize(
    ("lease", "is_first"),
    [
        (10, True),
        (300, False),
        pytest.param(10, False, marks=pytest.mark.long),
        pytest.param(300, True, marks=pytest.mark.long),
    ],
)
def test_a_failover_from_a_region_without_the_setting_is_rejected_and_leaves_the_target_standing_by(
    settings, is_first, lease
):
    settings = replace(settings, lease=timedelta(seconds=lease), heartbeat=timedelta(seconds=5))
    create_regions_table()
    deploy(settings, FIRST, is_fenced=False)
    if not is_first:
        assert main(["deployment", "failover", *FIRST_FAILOVER]) == 0
    standby = deploy(settings, SECOND)
    start = SystemClock().now().replace(microsecond=0)
    backends = backends_in(SECOND, standby, TurnedClock(start))
    clock = SweepingClock(start, backends.bookmarks)
    with pytest.raises(
        BackendMisconfigured, match="does not have the setting regions_table; eu-west-1 has not"
    ):
        RunFailover(target=SECOND, settings=standby, clock=clock, by="ada")()
    assert KnownRegion(backends.regions, clock).is_standby()
    RunFailover(target=SECOND, settings=standby, clock=TurnedClock(clock.now()), by="ada")()
    assert KnownRegion(backends.regions, clock).is_active()


def test_only_after_a_sweep_under_the_setting_short_leases_end_a_failover_before_two_sweeps(two):
    clock, short = TurnedClock(SystemClock().now()), {"lease": timedelta(seconds=10)}
    fenced, standby = (
        replace(two[name], **short, heartbeat=timedelta(seconds=5)) for name in (FIRST, SECOND)
    )
    step = RunFailover(target=SECOND, settings=standby, clock=clock, by="ada")
    waits = []
    for settings in (fenced, replace(fenced, regions_table="")):
        Region(FIRST, settings, clock, []).steps.sweep(stop_at=clock.now() + MINUTE)
        replicate(fenced)
        clients.use_region(SECOND)
        waits.append(step.preview().quiet_time.total_seconds())
    assert waits == [30, 200]


def test_a_failover_fences_the_former_region_and_takes_over_its_rows_jobs_and_wakes(two):
    ran, clock = [], TurnedClock(SystemClock().now().replace(second=0, microsecond=0))
    first, second = (Region(name, two[name], clock, ran) for name in (FIRST, SECOND))
    first.steps.reconcile(first.app.manifest.jobs, worker="default")
    far, near, lost = (
        first.scheduler.schedule(Charge(account=name), at=after)
        for name, after in (("far", 60 * MINUTE), ("near", MINUTE), ("lost", MINUTE))
    )
    occurrence = next(row for row in first.rows() if row.job == "ledger-close")
    replicate(two[FIRST], without={lost.id, occurrence.id})
    second.deliver(near)
    assert ran == []  # it stands by

    clients.use_region(SECOND)
    report = RunFailover(target=SECOND, settings=two[SECOND], clock=clock, by="ada")()
    assert (report.after.epoch, report.after.region, report.after.source) == (2, SECOND, FIRST)
    assert report.reconciled.armed >= 2
    assert [len(times) for times in report.reconciled.missing.values()] == [1]
    schedules = boto3.client("scheduler", region_name=SECOND)
    assert far.id in json.dumps(schedules.list_schedules(GroupName="duetime-actions"), default=str)
    assert "ledger-close" in json.dumps(schedules.list_schedules(GroupName="duetime-jobs"), default=str)
    entries = second.backends.audit_trail.list(SYSTEM_TENANT, None, limit=9, cursor=None).entries
    [entry] = [entry for entry in entries if entry.target.name == SECOND]
    assert (entry.operation, entry.by, entry.status, len(entry.links)) == ("failover", "ada", 200, 2)

    clock.wait_until(clock.now() + MINUTE)
    first.deliver(near)
    first.deliver(lost)
    assert ran == []  # the former region is fenced
    second.deliver(near)
    second.deliver(next(row for row in second.rows() if row.id == occurrence.id))
    assert [epoch for _, epoch in ran] == [2, 2]
    found = compare(all_rows(clients.dynamodb(region=FIRST), "duetime-actions"), second.backends.store)
    assert [row.id for row in found.missing] == [lost.id]
    assert found.twice == []


def test_a_comparison_lists_what_began_in_both_regions(two, duetime):
    ran, clock = [], TurnedClock(SystemClock().now().replace(second=0, microsecond=0))
    first, second = (Region(name, two[name], clock, ran) for name in (FIRST, SECOND))
    action = first.scheduler.schedule(Charge(account="twice"), at=timedelta(0))
    replicate(two[FIRST])
    first.deliver(action)
    clients.use_region(SECOND)
    RunFailover(target=SECOND, settings=two[SECOND], clock=clock, by="ada")()
    second.deliver(action)
    assert ran == [("twice", 1), ("twice", 2)]
    assert second.scheduler.get(action.id).status is Status.EXECUTED
    report = json.loads(duetime("--to", SECOND, "--compare", FIRST, "--json")[1])
    assert [row["id"] for row in report["ran_twice"]] == [action.id]
    assert action.id in duetime("--to", SECOND, "--compare", FIRST)[1]


def test_a_reconcile_of_the_active_region_makes_its_wakes_again(two, duetime):
    clock = TurnedClock(SystemClock().now())
    first = Region(FIRST, two[FIRST], clock, [])
    first.scheduler.schedule(Charge(account="far"), at=60 * MINUTE)
    status, output, _ = duetime("--to", FIRST, "--reconcile")
    assert status == 0
    assert "actions with a new wake" in output
    assert boto3.client("scheduler", region_name=FIRST).list_schedules(GroupName="duetime-actions")[
        "Schedules"
    ]
