"""The functions of a region that stands by, of one that is cut off, and of the active one."""

from dataclasses import replace

import boto3
import pytest

from duetime import App, Run, every
from duetime.aws.backends import AwsBackends
from duetime.aws.keyed_items import DynamoItems
from duetime.aws.tables import REGIONS, create_table_request
from duetime.clock import SystemClock
from duetime.ids import SYSTEM_TENANT
from duetime.jobs.reconcile import Reconciled
from duetime.jobs.trusted_reading import KnownRegion
from duetime.lambdas.deploy import Rollout
from duetime.lambdas.frame import if_active, unless_standby
from duetime.model.job import JobRef
from duetime.ports.regions import ActiveRegions
from duetime.testing import TurnedClock
from duetime_contract.specimens import NOON
from duetime_faults.shared_region import MemoryActiveRegions, SharedRegionItem
from tests.contract.rules.regions import active_region

DONE, NOTHING = {"done": True}, {"batchItemFailures": []}
ACTIVE, STANDBY = "eu-central-1", "eu-west-1"


def results(own, **shared):
    """What a function that only wakes returns, and a pass."""
    item = SharedRegionItem(active_region(), **shared)
    region = KnownRegion(MemoryActiveRegions(own, item), TurnedClock(NOON))
    wraps = (unless_standby, if_active)
    return [wrap(region, lambda _event, _context: DONE, NOTHING)({}, None) for wrap in wraps]


@pytest.mark.parametrize("own", ["", ACTIVE])
def test_the_active_region_and_one_without_a_standby_wake_and_pass(own):
    assert results(own) == [DONE, DONE]


def test_a_region_that_stands_by_does_nothing():
    assert results(STANDBY) == [NOTHING, NOTHING]


def test_a_region_that_is_cut_off_only_wakes():
    assert results(ACTIVE, unreachable={ACTIVE}) == [DONE, NOTHING]


@pytest.mark.parametrize("is_active", [True, False], ids=["active", "standby"])
def test_a_deploy_changes_jobs_only_in_the_active_region(deployed, is_active):
    app = App()

    @app.job(every(minutes=5), name="ledger-close")
    def close(run: Run) -> None: ...

    client, settings = boto3.client("dynamodb"), replace(deployed, regions_table="duetime-regions")
    client.create_table(**create_table_request(REGIONS, "duetime-regions"))
    boto3.client("scheduler").create_schedule_group(Name=settings.made.job_group)
    own = client.meta.region_name if is_active else STANDBY + "x"
    regions = ActiveRegions(DynamoItems(client, "duetime-regions"), own)
    regions.change(None, active_region(region=own, target=own))
    done = Rollout(settings, SystemClock()).publish(app.manifest)
    jobs = AwsBackends(settings, SystemClock()).jobs
    assert (jobs.get(JobRef(SYSTEM_TENANT, "ledger-close")) is not None) == is_active
    assert (done == Reconciled()) != is_active
