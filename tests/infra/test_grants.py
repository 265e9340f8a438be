"""What a grant gives to a function of one's own: what it calls, for its tenants, and no more."""

import json
import re
from datetime import timedelta
from itertools import count, permutations

import pytest
from aws_cdk import aws_iam as iam

from duetime.cdk import Duetime
from duetime.cdk.rights import UNDELIVERED
from duetime.errors import InvalidArgument, SettingsError
from duetime.ports.undelivered import UNDELIVERED as KIND
from duetime.settings import Settings
from tests.infra.rights import actions, allowed
from tests.infra.synthesis import PLAIN, Synthesised, caller, listed, stack, text


def granted(grant=Duetime.grant_schedule, *, due_order=False, regions_table="", **given):
    settings = Settings(
        prefix="b-",
        due_shards=32,
        job_grace=timedelta(hours=1),
        due_order=due_order,
        tenants="acme globex",
        regions_table=regions_table,
    )
    made, scheduler = stack(settings=settings, deployment=PLAIN)
    function = caller(made)
    grant(scheduler, function, **given)
    synthesised = Synthesised.from_stack(made)
    [policy] = synthesised.of_type("AWS::IAM::Policy")
    environment = next(
        function["Environment"]["Variables"]
        for function in synthesised.of_type("AWS::Lambda::Function")
        if "FunctionName" not in function
    )
    return policy["PolicyDocument"]["Statement"], environment


def test_a_grant_covers_exactly_the_sdks_calls():
    statements, _ = granted()
    assert actions(statements) == {
        "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem",
        "dynamodb:BatchGetItem", "dynamodb:Query",
    }  # fmt: skip
    assert {resource for _, resource in allowed(statements)} == {
        "<Arn>",
        "<Arn>/index/correlation",
        "<Arn>/index/failed",
    }
    assert keys_of(statements, "dynamodb:Query", "<Arn>") == {"any", "system#manifest", "*#counts"}


def test_with_a_standby_region_a_caller_may_read_which_region_is_active():
    statements, environment = granted(regions_table="duetime-regions")
    [read] = [one for one in statements if "duetime-regions" in json.dumps(one["Resource"])]
    assert read["Condition"]["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": ["system#region"]}
    assert read["Action"] == "dynamodb:GetItem"
    assert environment["DUETIME_REGIONS_TABLE"] == "duetime-regions"
    assert "duetime-regions" not in json.dumps(granted())


def test_a_grant_for_tenants_is_bound_to_their_keys_in_the_table_and_in_the_indexes():
    statements, _ = granted(tenants=["acme", "globex"])
    reads, writes, *indexes, hosted, counts = statements
    assert len(indexes) == 2
    assert keys_of([hosted], "dynamodb:Query", "<Arn>") == {"system#manifest"}
    assert keys_of([counts], "dynamodb:Query", "<Arn>") == {"acme#counts", "globex#counts"}
    for statement in (reads, *indexes):
        assert statement["Condition"] == {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["acme#*", "globex#*"]},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }
    places = ("?", "payload#?", "key#?", "debounce#?", "batches")
    forms = [f"{tenant}#{form}" for tenant in ("acme", "globex") for form in places]
    assert writes["Condition"]["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": forms}
    assert "dynamodb:PutItem" in writes["Action"]


def keys_of(statements, action, resource):
    return {
        key
        for statement in statements
        if action in listed(statement["Action"])
        and resource in {re.sub(r"<\w+\.(\w+)>", r"<\1>", text(arn)) for arn in listed(statement["Resource"])}
        for key in statement.get("Condition", {})
        .get("ForAllValues:StringLike", {})
        .get("dynamodb:LeadingKeys", ["any"])
    }


def test_the_grant_to_manage_jobs_covers_the_tables_alone():
    statements, _ = granted(Duetime.grant_manage_jobs)
    assert actions(statements) == {
        "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem",
        "dynamodb:BatchGetItem", "dynamodb:Query",
    }  # fmt: skip
    assert keys_of(statements, "dynamodb:UpdateItem", "<Arn>") == {"*#*-*"}


def test_a_manager_of_some_tenants_reads_declared_jobs_and_changes_none():
    statements, _ = granted(Duetime.grant_manage_jobs, tenants=["acme"])
    for action in ("dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem"):
        assert {key.partition("#")[0] for key in keys_of(statements, action, "<Arn>")} == {"acme"}
    seen = keys_of(statements, "dynamodb:BatchGetItem", "<Arn>")
    assert seen == {"acme#*-*", "system#*-*"}
    assert keys_of(statements, "dynamodb:Query", "<Arn>/index/jobs") == {"acme", "system"}
    runs = [statement for statement in statements if "dynamodb:UpdateItem" in statement["Action"]]
    assert {text(run["Resource"]) for run in runs if "system" in str(run["Condition"])} == set()


def test_the_grant_to_redrive_reads_undelivered_inputs_and_sends_to_the_failure_queue():
    statements, environment = granted(Duetime.grant_redrive)
    assert actions(statements) == {"dynamodb:Query", "dynamodb:GetItem", "sqs:SendMessage"}
    for action in ("dynamodb:Query", "dynamodb:GetItem"):
        assert keys_of(statements, action, "<Arn>") == {UNDELIVERED} == {KIND.partition}
    settings = Settings.from_env({name: text(value) for name, value in environment.items()})
    assert settings.made.jobs_table == "b-jobs"
    assert settings.made.failure_queue


GRANTS = (Duetime.grant_schedule, Duetime.grant_manage_jobs)


@pytest.fixture(scope="module")
def made():
    """A scheduler, and functions with different names."""
    into, scheduler = stack()
    names = (f"Caller{place}" for place in count())
    return lambda: (scheduler, caller(into, next(names)))


@pytest.mark.parametrize("grant", GRANTS)
@pytest.mark.parametrize("tenant", ["*", "a#b", "", "a?c", "system"])
def test_a_grant_rejects_a_tenant_that_would_widen_it(made, grant, tenant):
    with pytest.raises(InvalidArgument, match="tenant"):
        grant(*made(), tenants=[tenant])


@pytest.mark.parametrize("grant", GRANTS)
def test_a_grant_without_tenants_is_rejected(made, grant):
    with pytest.raises(ValueError, match="at least one"):
        grant(*made(), tenants=[])


def test_a_grant_sets_the_tables_name_in_the_environment():
    _, environment = granted()
    variables = {name: text(value) for name, value in environment.items()}
    settings = Settings.from_env(variables)
    assert settings.made.actions_table == "b-actions"
    assert settings.due_shards == 32
    assert settings.tenants == "acme globex"


def test_a_function_of_another_stack_is_granted_by_its_role_and_gets_an_environment_to_copy():
    made, scheduler = stack(settings=Settings(prefix="b-", due_shards=32))
    role = iam.Role.from_role_arn(made, "Theirs", "arn:aws:iam::123456789012:role/shop-checkout")
    scheduler.grant_schedule(role, tenants=["acme"])
    [policy] = Synthesised.from_stack(made).of_type("AWS::IAM::Policy")
    assert policy["Roles"] == ["shop-checkout"]
    assert len(policy["PolicyDocument"]["Statement"]) == 5
    callers = Settings.from_env(scheduler.caller_environment)
    assert (callers.made.actions_table, callers.due_shards) == ("b-actions", 32)


def test_a_function_that_is_granted_all_finds_both_tables_in_whatever_order():
    made, scheduler = stack(settings=Settings(prefix="b-"))
    orders = [*permutations((*GRANTS, Duetime.grant_redrive))]
    for place, order in enumerate(orders):
        function = caller(made, f"Caller{place}")
        for grant in order:
            grant(scheduler, function)
    functions = Synthesised.from_stack(made).of_type("AWS::Lambda::Function")
    environments = [
        function["Environment"]["Variables"] for function in functions if "FunctionName" not in function
    ]
    assert len(environments) == len(orders)
    for environment in environments:
        granted = Settings.from_env({name: text(value) for name, value in environment.items()})
        assert (granted.made.actions_table, granted.made.jobs_table) == ("b-actions", "b-jobs")


def test_an_unknown_worker_is_rejected_with_the_known_ones():
    _, scheduler = stack()
    with pytest.raises(SettingsError, match="worker is 'reports'; allowed is default"):
        scheduler.worker("reports")


def test_a_caller_writes_and_reads_the_deployments_due_order():
    statements, environment = granted(tenants=["acme"], due_order=True)
    assert environment["DUETIME_DUE_ORDER"] == "true"
    assert keys_of(statements, "dynamodb:Query", "<Arn>/index/tenant_due") == {"acme#*"}


def test_a_manager_of_jobs_plans_with_the_deployments_settings():
    _, environment = granted(Duetime.grant_manage_jobs)
    settings = Settings.from_env({name: text(value) for name, value in environment.items()})
    assert (settings.made.actions_table, settings.made.jobs_table) == ("b-actions", "b-jobs")
    assert settings.due_shards == 32
    assert settings.job_grace == timedelta(hours=1)


def test_the_construct_is_importable_from_the_package_alone():
    assert Duetime.__module__ == "duetime.cdk.scheduler"
