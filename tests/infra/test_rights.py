import re
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import permutations

import pytest
from aws_cdk import aws_iam as iam

from duetime import ids
from duetime.action import ActionRef
from duetime.aws.job_items import job_key
from duetime.aws.keys import idempotency_key, payload_key, row_key
from duetime.aws.undelivered import PARTITION
from duetime.cdk import Duetime
from duetime.cdk.job_rights import JOBS
from duetime.cdk.rights import BOOKMARKS, FORMAT, MANIFESTS, UNDELIVERED
from duetime.errors import InvalidIdentifier, SettingsError
from duetime.job import JobRef
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, caller, listed, stack, text


def allowed(statements):
    """(action, resource) of each statement; references by their attribute only."""
    return {
        (action, re.sub(r"<\w+\.(\w+)>", r"<\1>", text(resource)))
        for each in statements
        if each["Effect"] == "Allow"
        for action in listed(each["Action"])
        for resource in listed(each["Resource"])
    }


def actions(statements):
    return {action for action, _ in allowed(statements)}


def test_no_role_may_do_everything_or_touch_anything(synthesised):
    everything = {action for action, resource in allowed(synthesised.all_statements()) if resource == "*"}
    assert everything == {"scheduler:ListSchedules", "events:ListRuleNamesByTarget"}  # names alone
    assert not any("*" in action for action in actions(synthesised.all_statements()))


def test_a_wildcard_stands_only_where_something_else_makes_up_the_name(synthesised):
    wild = {resource for _, resource in allowed(synthesised.all_statements()) if "*" in resource} - {"*"}
    assert {resource.partition("<AWS::AccountId>:")[2] for resource in wild} == {
        "schedule/duetime-actions/*",
        "schedule/duetime-jobs/*",
        "rule/duetime-*",
        "table/duetime-actions/stream/*",
        "table/duetime-jobs/stream/*",
    }


EVENTBRIDGE = ("events:", "scheduler:", "iam:")


def those_who_may(synthesised, action):
    return {name for name in synthesised.functions() if action in actions(synthesised.rights(name))}


def test_only_who_attends_to_jobs_may_change_what_wakes_them(synthesised):
    writers = {"deploy", "sweep", "catch-up"}
    for action in ("scheduler:UpdateSchedule", "events:PutRule", "events:PutTargets", "events:DeleteRule"):
        assert those_who_may(synthesised, action) == writers
    assert those_who_may(synthesised, "events:PutEvents") == {"publish", "salvage"}
    for name in synthesised.functions().keys() - writers - {"arm", "salvage", "publish"}:
        assert not any(each.startswith(EVENTBRIDGE) for each in actions(synthesised.rights(name)))


def test_salvage_reads_what_rules_say_and_sets_no_more_than_arm(synthesised):
    arm, salvage = (
        {each for each in allowed(synthesised.rights(name)) if each[0].startswith(EVENTBRIDGE)}
        for name in ("arm", "salvage")
    )
    assert {action for action, _ in salvage - arm} == {"events:ListTargetsByRule", "events:PutEvents"}
    assert arm <= salvage


@pytest.mark.parametrize("name", ["deploy", "sweep", "catch-up"])
def test_schedules_of_jobs_are_set_in_their_group_and_rules_with_the_prefix_only(synthesised, name):
    rights = allowed(synthesised.rights(name))
    rules = {resource for action, resource in rights if action.startswith("events:") and "List" not in action}
    assert [each.rpartition(":")[2] for each in rules] == ["rule/duetime-*"]
    updated = {resource for action, resource in rights if action == "scheduler:UpdateSchedule"}
    assert [each.rpartition(":")[2] for each in updated] == ["schedule/duetime-jobs/*"]


@pytest.mark.parametrize("name", ["dispatch", "sweep", "catch-up", "deploy", "salvage", "work-default"])
def test_who_plans_jobs_can_put_nothing_but_jobs_runs_and_publish_nothing(synthesised, name):
    puts = [
        keys
        for each in synthesised.rights(name)
        if "dynamodb:PutItem" in listed(each["Action"])
        for keys in each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    ]
    payloads = {"*#payload#*"}
    notes = {
        "deploy": {"system#manifest", "system#format"}, "dispatch": payloads, "salvage": payloads,
    }  # fmt: skip
    bookmark = {"system#bookmark"} if name in {"sweep", "catch-up"} else set()
    assert set(puts) == {"*#*-*"} | notes.get(name, bookmark)


def test_the_pattern_of_jobs_matches_jobs_and_their_runs_and_nothing_else():
    job = ids.job_name("billing-nightly")
    event_run = ids.event_run_id(job, datetime(2026, 6, 1, tzinfo=UTC), "e")
    theirs = [JobRef("my-tenant", job), JobRef(ids.SYSTEM_TENANT, job)]
    keys = [job_key(each, "")["pk"]["S"] for each in theirs]
    keys += [
        row_key(ActionRef("acme", each))["pk"]["S"] for each in (job + ".000001.20260601T000000Z", event_run)
    ]
    assert all(fnmatchcase(each, JOBS[0]) for each in keys)
    one_shot = ActionRef("my-tenant", ids.new_action_id(datetime(2026, 6, 1, tzinfo=UTC)))
    others = [row_key(one_shot), payload_key(one_shot), payload_key(ActionRef("my-tenant", event_run))]
    others.append(idempotency_key("my-tenant", "an-order"))
    notes = [MANIFESTS, BOOKMARKS, FORMAT, UNDELIVERED]
    assert not any(fnmatchcase(each, JOBS[0]) for each in (*(item["pk"]["S"] for item in others), *notes))


def test_no_managed_policy_is_attached_but_what_api_gateway_needs_for_all_apis_of_an_account(synthesised):
    managed = [each for each in synthesised.of_type("AWS::IAM::Role") if "ManagedPolicyArns" in each]
    [role] = managed
    [trusted] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "apigateway.amazonaws.com"}
    [policy] = role["ManagedPolicyArns"]
    assert text(policy).endswith(":policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs")


def test_nobody_may_scan(synthesised):
    assert "dynamodb:Scan" not in actions(synthesised.all_statements())


def test_a_worker_reads_and_changes_actions_by_their_keys_and_takes_from_its_own_queue(synthesised):
    rights = actions(synthesised.rights("work-default"))
    assert {each for each in rights if each.startswith("dynamodb:")} == {
        "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query",
        "dynamodb:PutItem", "dynamodb:ConditionCheckItem",
    }  # fmt: skip
    queried = [
        keys
        for each in synthesised.rights("work-default")
        if "dynamodb:Query" in listed(each["Action"])
        for keys in each["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    ]
    assert sorted(queried) == ["*#*-*", "system#manifest"]
    queues = {
        text(each["Resource"]) for each in synthesised.rights("work-default") if "sqs:" in str(each["Action"])
    }
    assert len(queues) == 1


def test_whoever_is_bound_to_keys_must_name_one(synthesised):
    bound = [each for each in synthesised.all_statements() if "ForAllValues" in str(each.get("Condition"))]
    assert bound
    assert all(each["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"} for each in bound)


def test_arm_may_set_timers_in_their_group_only_and_hand_over_one_role_to_the_scheduler_only(synthesised):
    rights = synthesised.rights("arm")
    [create] = [each for each in rights if each["Action"] == "scheduler:CreateSchedule"]
    assert text(create["Resource"]).endswith(":schedule/duetime-actions/*")
    [hand_over] = [each for each in rights if each["Action"] == "iam:PassRole"]
    assert hand_over["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}
    assert hand_over["Resource"] == synthesised.environment("arm")["DUETIME_TIMER_ROLE_ARN"]


def test_with_the_wheel_nobody_may_set_timers():
    made, _ = stack(settings=Settings(timers="wheel"))
    wheel = Synthesised.of(made)
    assert not any("schedule/duetime-actions/" in each for _, each in allowed(wheel.all_statements()))
    assert not any(each.startswith(EVENTBRIDGE) for each in actions(wheel.rights("arm")))


def groups(role):
    """The groups whose schedules may act in a role."""
    trust = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["ArnEquals"]["aws:SourceArn"]
    return tuple(text(each).rpartition("/")[2] for each in listed(trust))


def called_by(synthesised, role):
    """The names of the functions that a role may call, which it knows by reference or by name."""
    arns = [
        arn
        for each in synthesised.role_statements(role)
        if each["Action"] == "lambda:InvokeFunction"
        for arn in listed(each["Resource"])
    ]
    return {
        synthesised.function_names[arn["Fn::GetAtt"][0]]
        if "Fn::GetAtt" in arn
        else text(arn).rpartition(":")[2]
        for arn in arns
    }


def test_a_timer_may_call_dispatch_and_a_pass_its_own_function_each_for_its_own_group_only(synthesised):
    wakers = [
        role
        for role in synthesised.of_type("AWS::IAM::Role")
        if "scheduler" in str(role["AssumeRolePolicyDocument"])
    ]
    called = {groups(role): called_by(synthesised, role) for role in wakers}
    assert called == {
        ("duetime-actions", "duetime-jobs"): {"duetime-dispatch"},
        ("duetime-passes",): {"duetime-sweep", "duetime-catch-up"},
    }
    for role in wakers:
        assert actions(synthesised.role_statements(role)) == {"lambda:InvokeFunction", "sqs:SendMessage"}
        trust = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
        assert trust["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_a_function_writes_to_its_own_log_only(synthesised):
    for name in synthesised.functions():
        logs = [each for each in synthesised.rights(name) if "logs:" in str(each["Action"])]
        assert [text(each["Resource"]) for each in logs] == [
            f"<{synthesised.functions()[name]['LoggingConfig']['LogGroup']['Ref']}.Arn>"
        ]


def granted(grant=Duetime.grant_schedule, *, due_order=False, **given):
    settings = Settings(prefix="b-", due_shards=32, job_grace=timedelta(hours=1), due_order=due_order)
    made, scheduler = stack(settings=settings)
    function = caller(made)
    grant(scheduler, function, **given)
    synthesised = Synthesised.of(made)
    [policy] = synthesised.of_type("AWS::IAM::Policy")
    environment = next(
        each["Environment"]["Variables"]
        for each in synthesised.of_type("AWS::Lambda::Function")
        if "FunctionName" not in each
    )
    return policy["PolicyDocument"]["Statement"], environment


def test_a_grant_gives_what_the_sdk_calls_and_no_more():
    statements, _ = granted()
    assert actions(statements) == {
        "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem",
        "dynamodb:BatchWriteItem", "dynamodb:BatchGetItem", "dynamodb:Query",
    }  # fmt: skip
    assert {resource for _, resource in allowed(statements)} == {
        "<Arn>",
        "<Arn>/index/correlation",
        "<Arn>/index/failed",
    }


def test_a_grant_for_tenants_is_bound_to_their_keys_in_the_table_and_in_the_indexes():
    statements, _ = granted(tenants=["acme", "globex"])
    assert len(statements) == 3
    for each in statements:
        assert each["Condition"] == {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["acme#*", "globex#*"]},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }


def keys_of(statements, action, resource):
    return {
        key
        for each in statements
        if action in listed(each["Action"])
        and resource in {re.sub(r"<\w+\.(\w+)>", r"<\1>", text(arn)) for arn in listed(each["Resource"])}
        for key in each.get("Condition", {})
        .get("ForAllValues:StringLike", {})
        .get("dynamodb:LeadingKeys", ["any"])
    }


def test_who_manages_jobs_may_do_so_in_the_tables_alone():
    statements, _ = granted(Duetime.grant_manage_jobs)
    assert actions(statements) == {
        "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem",
        "dynamodb:BatchGetItem", "dynamodb:Query",
    }  # fmt: skip
    assert keys_of(statements, "dynamodb:UpdateItem", "<Arn>") == {"*#*-*"}


def test_who_manages_some_tenants_jobs_sees_codes_and_changes_none_of_them():
    statements, _ = granted(Duetime.grant_manage_jobs, tenants=["acme"])
    for action in ("dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem"):
        assert {each.partition("#")[0] for each in keys_of(statements, action, "<Arn>")} == {"acme"}
    seen = keys_of(statements, "dynamodb:BatchGetItem", "<Arn>")
    assert seen == {"acme#*-*", "system#*-*"}
    assert keys_of(statements, "dynamodb:Query", "<Arn>/index/jobs") == {"acme", "system"}
    runs = [each for each in statements if "dynamodb:UpdateItem" in each["Action"]]
    assert {text(each["Resource"]) for each in runs if "system" in str(each["Condition"])} == set()


def test_who_redrives_sees_what_is_undelivered_and_asks_for_it_in_the_failure_queue():
    statements, environment = granted(Duetime.grant_redrive)
    assert actions(statements) == {"dynamodb:Query", "dynamodb:GetItem", "sqs:SendMessage"}
    for action in ("dynamodb:Query", "dynamodb:GetItem"):
        assert keys_of(statements, action, "<Arn>") == {UNDELIVERED} == {PARTITION}
    told = Settings.from_env({name: text(value) for name, value in environment.items()})
    assert told.jobs_table == "b-jobs"
    assert told.failure_queue


GRANTS = (Duetime.grant_schedule, Duetime.grant_manage_jobs)


@pytest.mark.parametrize("grant", GRANTS)
@pytest.mark.parametrize("tenant", ["*", "a#b", "", "a?c", "system"])
def test_a_grant_refuses_a_tenant_that_would_widen_it(grant, tenant):
    with pytest.raises(InvalidIdentifier):
        granted(grant, tenants=[tenant])


@pytest.mark.parametrize("grant", GRANTS)
def test_a_grant_for_no_tenant_at_all_is_refused(grant):
    with pytest.raises(ValueError, match="at least one"):
        granted(grant, tenants=[])


def test_a_grant_tells_the_function_where_the_table_is():
    _, environment = granted()
    told = {name: text(value) for name, value in environment.items()}
    settings = Settings.from_env(told)
    assert settings.actions_table == "b-actions"
    assert settings.due_shards == 32


def test_a_function_that_another_stack_made_is_granted_by_its_role_and_told_what_to_know():
    made, scheduler = stack(settings=Settings(prefix="b-", due_shards=32))
    role = iam.Role.from_role_arn(made, "Theirs", "arn:aws:iam::123456789012:role/shop-checkout")
    scheduler.grant_schedule(role, tenants=["acme"])
    [policy] = Synthesised.of(made).of_type("AWS::IAM::Policy")
    assert policy["Roles"] == ["shop-checkout"]
    assert len(policy["PolicyDocument"]["Statement"]) == 3
    told = Settings.from_env(scheduler.caller_environment)
    assert (told.actions_table, told.due_shards) == ("b-actions", 32)


@pytest.mark.parametrize("order", [*permutations((*GRANTS, Duetime.grant_redrive))])
def test_a_function_that_is_granted_all_finds_both_tables_in_whatever_order(order):
    made, scheduler = stack(settings=Settings(prefix="b-"))
    function = caller(made)
    for grant in order:
        grant(scheduler, function)
    functions = Synthesised.of(made).of_type("AWS::Lambda::Function")
    [environment] = [each["Environment"]["Variables"] for each in functions if "FunctionName" not in each]
    told = Settings.from_env({name: text(value) for name, value in environment.items()})
    assert (told.actions_table, told.jobs_table) == ("b-actions", "b-jobs")


def test_a_worker_that_is_not_there_is_told_with_those_that_are():
    _, scheduler = stack()
    with pytest.raises(SettingsError, match="worker is 'reports'; allowed is default"):
        scheduler.worker("reports")


def test_who_schedules_writes_and_reads_the_due_order_that_the_deployment_has():
    statements, environment = granted(tenants=["acme"], due_order=True)
    assert environment["DUETIME_DUE_ORDER"] == "true"
    assert keys_of(statements, "dynamodb:Query", "<Arn>/index/tenant_due") == {"acme#*"}


def test_the_api_may_read_the_due_order_that_the_deployment_has():
    made, _ = stack(settings=Settings(due_order=True))
    synthesised = Synthesised.of(made)
    readers = {
        name
        for name in synthesised.functions()
        if any("/index/tenant_due" in resource for _, resource in allowed(synthesised.rights(name)))
    }
    assert readers == {"api"}
    assert synthesised.environment("api")["DUETIME_DUE_ORDER"] == "true"


def test_who_manages_jobs_plans_as_the_deployment_does():
    _, environment = granted(Duetime.grant_manage_jobs)
    settings = Settings.from_env({name: text(value) for name, value in environment.items()})
    assert (settings.actions_table, settings.jobs_table) == ("b-actions", "b-jobs")
    assert settings.due_shards == 32
    assert settings.job_grace == timedelta(hours=1)


def test_the_construct_is_importable_from_the_package_alone():
    assert Duetime.__module__ == "duetime.cdk.scheduler"
