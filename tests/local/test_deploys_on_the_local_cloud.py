"""A deploy changes jobs while the cloud runs, and while the deployment is disabled."""

from dataclasses import replace
from datetime import timedelta

import boto3
import pytest

from duetime import App, every
from duetime.errors import DeclarationError, SettingsError
from duetime.local import LocalCloud, LocalOptions
from duetime.model.action import SkipReason, Status
from tests.local.conftest import SHORT, eventually, rest
from tests.local.recording_app import MINUTE, TEN_SECONDS, UPLOADED, Runs, app_of


def wakes_in(cloud):
    return {name for _, name in cloud._engine.cloud.job_wakes.known() if not name.startswith("duetime-")}


def test_a_deploy_changes_a_cadence_and_removes_a_job(caplog):
    runs = Runs()
    with caplog.at_level("INFO", "duetime.local.news"), LocalCloud(app_of(runs)) as cloud:
        jobs = cloud.scheduler().jobs
        caplog.clear()
        cloud.redeploy(app=app_of(runs, cadence=every(seconds=2), has_events=False))
        assert f"changed {TEN_SECONDS}: every 2 seconds, UTC, version 2" in caplog.text
        assert "jobs: 1 changed, 3 dropped" in caplog.text
        assert wakes_in(cloud) == {TEN_SECONDS}
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
        assert {TEN_SECONDS, MINUTE, "shop-clean-up"} <= wakes_in(cloud)
        boto3.client("events").put_events(Entries=[UPLOADED | {"EventBusName": "library"}])
        rest(1.5)
        assert runs.calls == []
        assert list(jobs.history(TEN_SECONDS)) == []
        (held,) = jobs.history("search-add-document")
        assert held.status is Status.PENDING
        cloud.redeploy(enabled=True)
        runs.wait_for(TEN_SECONDS)
