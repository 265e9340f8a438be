"""A deploy changes tables and schedules on AWS."""

import json
from dataclasses import replace
from datetime import timedelta

from duetime.clock import SystemClock
from tests.emulated import EmulatedCloud, EmulatedOptions
from tests.emulated.conftest import SHORT
from tests.emulated.test_event_shapes import EVENTS, types
from tests.local.recording_app import MINUTE, Document, Runs, app_of


def test_a_deploy_with_the_due_order_applies_it_to_new_actions():
    runs = Runs()
    with EmulatedCloud(app_of(runs), EmulatedOptions(settings=replace(SHORT, enabled=False))) as cloud:
        cloud.scheduler().schedule(Document(document=1), at=timedelta(hours=1))
        cloud.redeploy(due_order=True)
        cloud.redeploy()
        scheduler = cloud.scheduler()
        later, sooner = (
            scheduler.schedule(Document(document=2), at=timedelta(hours=hours)) for hours in (3, 2)
        )
        listed = scheduler.list(due_after=timedelta(0))
        assert [row.id for row in listed] == [sooner.id, later.id]


def test_a_jobs_schedule_equals_the_sample_and_its_wake_plans():
    with EmulatedCloud(app_of(Runs()), EmulatedOptions(settings=SHORT)) as cloud:
        group = cloud.settings.made.job_group
        schedule = cloud.client("scheduler").get_schedule(Name=MINUTE, GroupName=group)
        payloads = json.loads(schedule["Target"]["Input"])
        assert types(payloads) == types(json.loads((EVENTS / "dispatch-job.json").read_text()))
        assert cloud.invoke("dispatch", payloads).error is None
        horizon = SystemClock().now() + timedelta(minutes=1)
        cursor = cloud.scheduler().jobs.get(MINUTE).cursor
        assert cursor >= horizon.replace(second=0, microsecond=0)
