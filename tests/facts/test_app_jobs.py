"""Apps with jobs: included apps, manifests and the check."""

import re
import types
from datetime import timedelta

import pytest

from duetime import App, Calendar, Payload, daily, every, interval, on_event, once
from duetime.check import problems, report
from duetime.errors import DeclarationError, UnknownType
from duetime.lambdas.loading import load_app
from duetime.model.manifest import Manifest
from tests.facts.job_options import NOW, clean_up, remove, takes_new


class TestIncluding:
    def test_include_assigns_jobs_to_this_worker(self):
        mail, module, app = App(), types.ModuleType("mail"), App(worker="reports")
        mail.job(daily("09:00"))(clean_up)
        module.app = mail
        app.include(mail, module)
        assert set(app.jobs) == set(mail.jobs)
        assert [job.worker for job in app.jobs.values()] == ["reports"]

    def test_include_rejects_two_jobs_of_one_name_and_names_both(self):
        one, other = App(), App()
        one.job(name="billing-nightly")(clean_up)
        other.job(name="billing-nightly")(remove)
        with pytest.raises(DeclarationError, match=r"clean_up and .*remove"):
            App().include(one, other)


def test_manifest_routes_jobs_by_name_and_has_their_definitions():
    app = App(worker="reports")
    app.job(daily("09:00"), name="billing-nightly")(clean_up)
    app.job(name="billing-old")(remove)
    app.action(takes_new)
    manifest = app.manifest
    assert manifest.types == {
        "billing-nightly": 1,
        "billing-old": 2,
        "new-orders": 1,
        "duetime-probe-reports": 1,
    }
    assert manifest.jobs == tuple(app.jobs.values())
    assert "daily 09:00" not in manifest.to_json()
    assert "daily 09:00" in manifest.jobs_json()
    assert Manifest.from_json(manifest.to_json(), manifest.jobs_json()) == manifest
    assert Manifest.from_json(manifest.to_json()).types == manifest.types


def test_manifest_hash_depends_on_jobs():
    one, same, later = (App() for _ in range(3))
    one.job(daily("09:00"))(clean_up)
    same.job(daily("09:00"))(clean_up)
    later.job(daily("10:00"))(clean_up)
    assert one.manifest.hash == same.manifest.hash != later.manifest.hash
    assert one.manifest.to_json() == later.manifest.to_json()


def test_job_name_cannot_be_scheduled_as_type():
    app = App()
    app.job(name="billing-old")(remove)
    app.action(takes_new)
    with pytest.raises(UnknownType, match=r"known are: new-orders$"):
        app.payload("billing-old", "{}")


def test_app_with_jobs_only_can_be_loaded(tmp_path, monkeypatch):
    (tmp_path / "of_jobs_alone.py").write_text(
        "from duetime import App, daily\napp = App()\n@app.job(daily('09:00'))\ndef nightly(): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert set(load_app("of_jobs_alone:app").jobs) == {"of-jobs-alone-nightly"}


class TestCheck:
    def test_check_reports_nothing_for_valid_app(self):
        app = App()
        app.job("0 3 * * *", every(minutes=10, window="09:00-17:00"), interval(minutes=7))(clean_up)
        app.job(on_event("orders", "Placed"))(remove)
        app.action(takes_new)
        assert problems(app) == []

    def test_check_reports_cadence_that_ends(self):
        app = App()
        last = Calendar(include=["2026-12-01", "2026-12-02"])
        app.job(daily("09:00", calendar=last), name="ends-soon")(clean_up)
        [problem] = problems(app, now=NOW)
        assert problem.startswith(
            "ends-soon: 'daily 09:00 calendar=include:2026-12-01,2026-12-02' is due 2 more times"
        )

    def test_check_lists_ended_cadence_without_warning(self):
        app = App()
        app.job(once("2026-10-31 09:00"), name="was-once")(clean_up)
        found = report(app, now=NOW)
        assert found.problems == ()
        assert re.match(r"was-once: 'once 2026-10-31T09:00' is over", *found.notes)
        assert report(app, now=NOW - timedelta(days=1)).notes == ()

    def test_check_shows_next_due_time_and_cadence_of_jobs(self):
        app = App()
        app.job(daily("09:00"), "0 9 * * *", name="two-at-once")(clean_up)
        [job] = report(app, now=NOW).jobs
        assert job.next.at == NOW + timedelta(hours=9)
        assert set(job.next.cadences) == {"Daily_09_00", "Cron_0_9_x_x_x"}

    def test_check_reports_invalid_example_payload(self):
        class Exampled(Payload):
            model_config = {"json_schema_extra": {"examples": [{"n": 1}, {"n": "many"}]}}  # noqa: RUF012
            n: int

        def handle(payload: Exampled) -> None: ...

        handle.__annotations__["payload"] = Exampled
        app = App()
        app.action(handle)
        [problem] = problems(app)
        assert problem.startswith("exampled: its example is not what")
