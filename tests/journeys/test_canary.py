"""The canary takes the path of a far action, and leaves one metric."""

from datetime import timedelta

import pytest

from duetime.ids import SYSTEM_TENANT
from duetime.model.built_in import CANARY
from duetime.model.metric import Metric
from duetime.settings import Made, Settings
from duetime.testing import SimulatedCloud
from tests.journeys.conftest import NOON

MINUTE = timedelta(minutes=1)


def made(shop, **settings):
    return SimulatedCloud(
        shop.app, start=NOON, settings=Settings(**{"made": Made(canary=5 * MINUTE)} | settings)
    )


def canaries(cloud):
    return [row for row in cloud.memory.store.rows() if row.type == CANARY]


@pytest.mark.parametrize("timers", ["eventbridge", "wheel"])
def test_a_canary_runs_to_the_second_and_its_lateness_is_its_only_metric(shop, timers):
    cloud = made(shop, timers=timers)
    assert cloud.memory.steps.canary()
    cloud.advance(minutes=20)
    row = min(canaries(cloud), key=lambda row: row.due_at)
    assert (row.tenant_id, row.status, row.due_at) == (SYSTEM_TENANT, "executed", NOON + 16 * MINUTE)
    assert row.attempts[-1].started_at == row.due_at
    assert {metric for metric in Metric if cloud.metrics.values(metric)} == {Metric.CANARY_LATENESS}
    assert cloud.metrics.values(Metric.CANARY_LATENESS) == (0,)
    assert cloud.events() == ()


def test_one_canary_is_scheduled_for_each_interval(shop):
    cloud = made(shop)
    scheduled = []
    for _ in range(11):
        scheduled.append(cloud.memory.steps.canary())
        cloud.advance(minutes=1)
    assert [minute for minute, is_new in enumerate(scheduled) if is_new] == [0, 5, 10]
    assert len(canaries(cloud)) == 3


def test_a_repeated_sweep_schedules_the_same_canary(shop):
    cloud = made(shop)
    for _ in range(2):
        assert cloud.memory.steps.canary()
    assert len(canaries(cloud)) == 1


@pytest.mark.parametrize("settings", [{"enabled": False}, {"made": Made(canary=timedelta(0))}], ids=str)
def test_without_the_setting_or_while_switched_off_there_is_none(shop, settings):
    cloud = made(shop, **settings)
    assert not cloud.memory.steps.canary()
    assert canaries(cloud) == []
