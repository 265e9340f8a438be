"""A deploy changes jobs while the cloud runs, and while the deployment is disabled."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duetime import App, every
from duetime.errors import DeclarationError, SettingsError
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import SkipReason, Status
from tests.local.conftest import SHORT, eventually, rest
from tests.local.recording_app import MINUTE, TEN_SECONDS, UPLOADED, Document, Runs, app_of


def wakes_in(cloud):
    group = cloud.settings.made.job_group
    return {
        schedule["Name"]
        for schedule in cloud.client("scheduler").list_schedules(GroupName=group)["Schedules"]
    }


def test_a_deploy_changes_a_cadence_and_removes_a_job(caplog):
    runs = Runs()
    with caplog.at_level("INFO", "duetime.local.news"), LocalCloud(app_of(runs)) as cloud:
        jobs = cloud.scheduler().jobs
        caplog.clear()
        cloud.redeploy(app=app_of(runs, cadence=every(seconds=2), has_events=False))
        assert f"changed {TEN_SECONDS}: every 2 seconds, UTC, version 2" in caplog.text
        assert "jobs: 1 changed, 3 dropped" in caplog.text
        assert wakes_in(cloud) == {TEN_SECONDS}
        (rule,) = cloud.client("events").list_rules()["Rules"]
        assert rule["Name"] == "duetime-notifications"  # not a rule of a job
        assert jobs.get(MINUTE).removed_at
        never_ran = [row for row in jobs.history(MINUTE) if not row.attempts]  # a minute may just have begun
        assert {row.skip_reason for row in never_ran} == {SkipReason.DISABLED}
        eventually(lambda: [run for run in runs.of(TEN_SECONDS) if ".000002." in run.id], "the new version")
        assert [job.name for job in cloud.jobs] == [TEN_SECONDS]
        caplog.clear()
        cloud.redeploy()
        assert "jobs:" not in caplog.text
        with pytest.raises(DeclarationError, match="worker"):
            cloud.redeploy(app=App("another"))


class Press:
    """A resource that no app provides."""


def test_a_rejected_app_or_setting_leaves_the_previous_one_running():
    runs, broken = Runs(), app_of(Runs())

    @broken.job(every(minutes=1), name="shop-print")
    def print_papers(press: Press) -> None: ...

    with LocalCloud(app_of(runs, cadence=every(seconds=1))) as cloud:
        app, settings, wakes = cloud.app, cloud.settings, wakes_in(cloud)
        with pytest.raises(DeclarationError, match="Press"):
            cloud.redeploy(app=broken, enabled=False)
        with pytest.raises(SettingsError, match="lease"):
            cloud.redeploy(app=app_of(Runs()), lease=timedelta(days=9))
        assert (cloud.app, cloud.settings, wakes_in(cloud)) == (app, settings, wakes)
        runs_before = len(runs.of(TEN_SECONDS))
        eventually(lambda: len(runs.of(TEN_SECONDS)) > runs_before, "another run of the previous app")


def test_a_disabled_deployment_lists_jobs_fires_nothing_and_loses_no_event():
    runs = Runs()
    off = replace(SHORT, enabled=False, event_bus="library")
    with LocalCloud(app_of(runs, cadence=every(seconds=1)), LocalOptions(settings=off)) as cloud:
        jobs = cloud.scheduler().jobs
        assert [job.name for job in cloud.jobs] == sorted(cloud.app.jobs)
        assert wakes_in(cloud) == {TEN_SECONDS, MINUTE, "shop-clean-up"}
        cloud.client("events").put_events(Entries=[UPLOADED | {"EventBusName": "library"}])
        rest(1.5)
        assert runs.calls == []
        assert list(jobs.history(TEN_SECONDS)) == []
        (held,) = jobs.history("search-add-document")
        assert held.status is Status.PENDING
        cloud.redeploy(enabled=True)
        cloud.invoke("sweep")
        runs.wait_for(TEN_SECONDS)


def test_a_deploy_with_the_due_order_applies_it_to_new_actions():
    runs = Runs()
    with LocalCloud(app_of(runs), LocalOptions(settings=replace(SHORT, enabled=False))) as cloud:
        cloud.scheduler().schedule(Document(document=1), at=timedelta(hours=1))
        cloud.redeploy(due_order=True)
        cloud.redeploy()
        scheduler = cloud.scheduler()
        later, sooner = (
            scheduler.schedule(Document(document=2), at=timedelta(hours=hours)) for hours in (3, 2)
        )
        listed = scheduler.list(due_after=timedelta(0))
        assert [row.id for row in listed] == [sooner.id, later.id]
