"""What a deploy does first, and what it does not do at all when it must refuse."""

import pytest

from duetime.aws.tables import FORMAT


def names(synthesised, kind):
    return [name for name, each in synthesised.resources.items() if each["Type"] == kind]


CHANGED = (
    "AWS::DynamoDB::Table",
    "AWS::Scheduler::Schedule",
    "AWS::Scheduler::ScheduleGroup",
    "AWS::SQS::Queue",
    "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::EventInvokeConfig",
    "Custom::DuetimeManifest",
)


@pytest.mark.parametrize("kind", CHANGED)
def test_nothing_of_the_scheduler_changes_before_the_tables_format_is_checked(synthesised, kind):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    assert names(synthesised, kind)
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


def test_the_check_waits_for_no_table(synthesised):
    [check] = names(synthesised, "Custom::DuetimeFormat")
    kinds = {synthesised.resources[name]["Type"] for name in synthesised.depends_on(check)}
    assert kinds == {"AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup"}


def test_the_check_is_made_again_when_the_format_changes(synthesised):
    assert synthesised.one("Custom::DuetimeFormat")["Format"] == str(FORMAT)


def test_types_are_published_after_those_who_send_and_before_the_worker(bundled):
    [published] = names(bundled, "Custom::DuetimeManifest")
    functions = {bundled.function_names.get(name) for name in bundled.depends_on(published)}
    assert {"duetime-arm", "duetime-dispatch", "duetime-sweep", "duetime-catch-up"} <= functions
    assert "duetime-work-default" not in functions
    [worker] = [name for name, shown in bundled.function_names.items() if shown == "duetime-work-default"]
    assert published in bundled.depends_on(worker)


def test_the_manifest_is_what_the_app_registers(bundled):
    published = bundled.one("Custom::DuetimeManifest")
    assert (
        published["Manifest"] == '{"types": {"apply-plan-change": 1, "send-receipt": 1}, "worker": "default"}'
    )
