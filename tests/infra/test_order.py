"""What a deploy does first, and what it does not do at all when it must refuse."""

from datetime import timedelta

import pytest

from duetime.aws.tables import FORMAT
from duetime.cdk import Handlers
from duetime.model.manifest import Manifest, unpacked
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from tests.infra.synthesis import ROOT, synth


def manifest_of(synthesised, worker):
    [found] = [
        name
        for name in names(synthesised, "Custom::DuetimeManifest")
        if synthesised.resources[name]["Properties"]["Worker"] == worker
    ]
    return found


def names(synthesised, kind):
    return [name for name, resource in synthesised.resources.items() if resource["Type"] == kind]


CHANGED = (
    "AWS::Scheduler::Schedule",
    "AWS::Scheduler::ScheduleGroup",
    "AWS::SQS::Queue",
    "AWS::Cognito::UserPool",
    "AWS::ApiGateway::Stage",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::EventInvokeConfig",
    "AWS::CloudWatch::Alarm",
    "Custom::DuetimeManifest",
)


@pytest.mark.parametrize("kind", CHANGED)
def test_nothing_of_the_scheduler_changes_before_the_tables_format_is_checked(synthesised, kind):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    assert names(synthesised, kind)
    for name in names(synthesised, kind):
        assert check in synthesised.depends_on(name)


def test_wakes_from_outside_change_nothing_before_the_check(synthesised):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    for kind in ("AWS::Lambda::Permission", "AWS::SQS::QueuePolicy"):
        for name in names(synthesised, kind):
            assert check in synthesised.depends_on(name)


def test_no_function_but_the_one_that_checks_changes_before_the_check(synthesised):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    early = [
        synthesised.function_names[name]
        for name in names(synthesised, "AWS::Lambda::Function")
        if check not in synthesised.depends_on(name)
    ]
    assert early == ["duetime-deploy"]


def test_a_table_depends_on_nothing_so_that_cloudformation_can_import_it(synthesised):
    for name in names(synthesised, "AWS::DynamoDB::Table"):
        assert not synthesised.depends_on(name)


def test_the_check_waits_for_no_table(synthesised):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    kinds = {synthesised.resources[name]["Type"] for name in synthesised.depends_on(check)}
    assert kinds == {"AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup"}


def test_the_check_is_made_again_when_the_format_changes(synthesised):
    assert synthesised.one("Custom::DuetimeFormat")["Format"] == str(FORMAT)


def test_types_are_published_after_the_senders_and_before_the_worker(bundled):
    published = manifest_of(bundled, "default")
    functions = {bundled.function_names.get(name) for name in bundled.depends_on(published)}
    assert {"duetime-arm", "duetime-dispatch", "duetime-sweep", "duetime-catch-up"} <= functions
    assert "duetime-work-default" not in functions
    [worker] = [name for name, shown in bundled.function_names.items() if shown == "duetime-work-default"]
    assert published in bundled.depends_on(worker)


def test_jobs_are_reconciled_when_all_that_wakes_them_is_there(bundled):
    for worker in ("default", "system"):
        awaited = {
            bundled.resources[name]["Type"] for name in bundled.depends_on(manifest_of(bundled, worker))
        }
        assert awaited >= {
            "AWS::DynamoDB::Table",
            "AWS::Scheduler::ScheduleGroup",
            "AWS::Lambda::Permission",
            "AWS::SQS::QueuePolicy",
        }


@pytest.mark.parametrize("changed", [{"event_bus": "orders"}, {"default_tz": "Europe/Paris"}])
def test_a_setting_that_decides_on_jobs_has_them_reconciled(synthesised, changed):
    before, after = (
        {manifest["Worker"]: manifest for manifest in template.of_type("Custom::DuetimeManifest")}
        for template in (synthesised, synth(settings=Settings(**changed)))
    )
    assert all(before[worker] != after[worker] for worker in ("default", "system"))


def test_the_systems_types_are_published_after_the_function_that_runs_them(bundled):
    functions = {
        bundled.function_names.get(name) for name in bundled.depends_on(manifest_of(bundled, "system"))
    }
    assert "duetime-catch-up" in functions


def test_the_manifests_list_the_registrations_of_the_apps(bundled):
    published = {manifest["Worker"]: manifest for manifest in bundled.of_type("Custom::DuetimeManifest")}
    app = Handlers(app="examples.billing:app", source=ROOT).manifest(at_most=timedelta(minutes=10))
    read = {
        name: Manifest.from_json(manifest["Manifest"], unpacked(manifest["Jobs"])).hash
        for name, manifest in published.items()
    }
    assert read == {"default": app.hash, "system": system_jobs.manifest(Settings()).hash}
