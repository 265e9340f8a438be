"""The profile `small` keeps a deployment of a few jobs small; settings that are given win."""

import aws_cdk as cdk
import pytest

from duetime.cdk import Deployment, Duetime, Handlers, from_context
from duetime.errors import SettingsError
from duetime.lambdas.loading import load_app
from duetime.settings import Settings
from tests.infra.synthesis import PAGE, ROOT, Synthesised, stack, synth

CRONTAB = Handlers(app="tests.infra.apps.crontab:app", source=ROOT)


def small(handlers=CRONTAB, **given):
    made, scheduler = stack(handlers=[handlers], profile="small", **given)
    return Synthesised.from_stack(made), scheduler


def read(**context):
    return from_context(cdk.App(context={f"duetime:{name}": value for name, value in context.items()}).node)


def test_an_app_of_twelve_cron_lines_has_as_many_jobs():
    assert len(load_app(CRONTAB.app).jobs) == 12


def test_a_small_deployment_has_one_tenant_three_alarms_and_an_api_for_signers_only():
    synthesised, scheduler = small()
    assert scheduler.settings.tenants == "default"
    assert scheduler.caller_environment["DUETIME_TENANTS"] == "default"
    assert sorted(scheduler.alarms.names) == ["duetime-canary", "duetime-failed", "duetime-undelivered"]
    kinds = {resource["Type"] for resource in synthesised.resources.values()}
    assert not {kind for kind in kinds if "Cognito" in kind or kind == "AWS::ApiGateway::Account"}
    assert {way["AuthorizationType"] for way in synthesised.of_type("AWS::ApiGateway::Method")} == {"AWS_IAM"}
    assert "duetime-console" not in synthesised.function_names.values()
    assert "AccessLogSetting" not in synthesised.one("AWS::ApiGateway::Stage")


def test_with_many_tenants_admins_belong_to_one_and_the_bus_is_the_stacks_own():
    made, scheduler = stack(handlers=[CRONTAB], profile="many", settings=Settings(prefix="jobs-"))
    synthesised = Synthesised.from_stack(made)
    assert scheduler.settings.tenants == "*"
    assert synthesised.one("AWS::Events::EventBus")["Name"] == "jobs-events"
    has_system = {
        role for role, names in scheduler.settings.roles.items() if {"system", "admin"} & {*names.split()}
    }
    assert has_system == {"operators"}
    assert scheduler.settings.roles["admins"] == "tenant:admin"
    open_methods = [
        m for m in synthesised.of_type("AWS::ApiGateway::Method") if m["AuthorizationType"] == "NONE"
    ]
    assert all("MOCK" in str(m) or "console" in str(m).lower() for m in open_methods), open_methods
    existing = Settings(event_bus="orders", roles={"admins": "admin"})
    made, given = stack(handlers=[CRONTAB], profile="many", settings=existing)
    assert (given.settings.event_bus, given.settings.roles) == ("orders", {"admins": "admin"})
    assert not Synthesised.from_stack(made).of_type("AWS::Events::EventBus")


def test_settings_that_are_given_win_over_the_profile_also_with_their_default_values():
    synthesised, scheduler = small(
        settings=Settings(events="standard", prefix="billing-"),
        deployment=Deployment(api=True, alarms="all"),
    )
    assert (scheduler.settings.events, scheduler.settings.prefix) == ("standard", "billing-")
    assert scheduler.api.console is not None
    assert scheduler.deployment.alarms == "all"
    assert synthesised.of_type("AWS::Cognito::UserPool")


def test_a_deployments_own_profile_the_argument_and_the_context_choose_the_same():
    expected = small()[0].resources.keys()
    assert synth(handlers=[CRONTAB], deployment=Deployment(profile="small")).resources.keys() == expected
    assert synth(handlers=[CRONTAB], context={"duetime:profile": "small"}).resources.keys() == expected


def test_the_context_gives_the_profile_and_what_wins_over_it():
    settings, deployment = read(
        profile="small", api="true", identities='{"arn:aws:iam::1:role/x": "default admins"}'
    )
    assert (settings.events, settings.tenants) == ("off", "default")
    assert settings.identities == {"arn:aws:iam::1:role/x": "default admins"}
    assert (deployment.api, deployment.alarms) == (True, "few")


def test_settings_from_the_context_keep_what_was_given_when_the_construct_reads_the_profile_again():
    app = cdk.App(
        context={"duetime:profile": "small", "duetime:events": "all", "aws:cdk:bundling-stacks": []}
    )
    settings, deployment = from_context(app.node)
    made = Duetime(
        cdk.Stack(app, "test"),
        "Duetime",
        handlers=[CRONTAB],
        settings=settings,
        deployment=deployment,
        console_page=PAGE,
    )
    assert (made.settings.events, made.deployment.api) == ("all", "services")


@pytest.mark.parametrize("choose", [lambda: read(profile="tiny"), lambda: stack(profile="tiny")])
def test_an_unknown_profile_is_rejected_with_the_allowed_ones(choose):
    with pytest.raises(SettingsError, match="profile is 'tiny'; allowed is 'standard', 'small', 'many'"):
        choose()
