import re

import pytest

from duetime.cdk import Duetime
from duetime.errors import InvalidIdentifier
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
    for action, resource in allowed(synthesised.all_statements()):
        assert "*" not in action
        assert resource != "*"


def test_a_wildcard_stands_only_where_aws_makes_up_the_name(synthesised):
    wild = {resource for _, resource in allowed(synthesised.all_statements()) if "*" in resource}
    assert {resource.partition("<AWS::AccountId>:")[2] for resource in wild} == {
        "schedule/duetime-actions/*",
        "table/duetime-actions/stream/*",
    }


def test_no_managed_policy_is_attached(synthesised):
    assert not any("ManagedPolicyArns" in each for each in synthesised.of_type("AWS::IAM::Role"))


def test_nobody_may_scan(synthesised):
    assert "dynamodb:Scan" not in actions(synthesised.all_statements())


def test_a_worker_reads_and_changes_actions_by_their_keys_and_takes_from_its_own_queue(synthesised):
    rights = actions(synthesised.rights("work-default"))
    assert {each for each in rights if each.startswith("dynamodb:")} == {
        "dynamodb:GetItem", "dynamodb:UpdateItem", "dynamodb:Query",
    }  # fmt: skip
    [query] = [each for each in synthesised.rights("work-default") if each["Action"] == "dynamodb:Query"]
    assert query["Condition"]["ForAllValues:StringLike"] == {"dynamodb:LeadingKeys": ["system#manifest"]}
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
    assert not {each for each in actions(wheel.all_statements()) if each.startswith(("scheduler:", "iam:"))}


def test_a_timer_may_call_dispatch_and_a_pass_its_own_function_each_for_its_own_group_only(synthesised):
    wakers = {
        text(
            role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["ArnEquals"]["aws:SourceArn"]
        ): role
        for role in synthesised.of_type("AWS::IAM::Role")
        if "scheduler" in str(role["AssumeRolePolicyDocument"])
    }
    called = {
        source.rpartition("/")[2]: {
            synthesised.function_names[arn["Fn::GetAtt"][0]]
            for each in synthesised.role_statements(role)
            if each["Action"] == "lambda:InvokeFunction"
            for arn in listed(each["Resource"])
        }
        for source, role in wakers.items()
    }
    assert called == {
        "duetime-actions": {"duetime-dispatch"},
        "duetime-passes": {"duetime-sweep", "duetime-catch-up"},
    }
    for role in wakers.values():
        assert actions(synthesised.role_statements(role)) == {"lambda:InvokeFunction", "sqs:SendMessage"}
        trust = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]
        assert trust["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}


def test_a_function_writes_to_its_own_log_only(synthesised):
    for name in synthesised.functions():
        logs = [each for each in synthesised.rights(name) if "logs:" in str(each["Action"])]
        assert [text(each["Resource"]) for each in logs] == [
            f"<{synthesised.functions()[name]['LoggingConfig']['LogGroup']['Ref']}.Arn>"
        ]


def granted(**given):
    made, scheduler = stack(settings=Settings(prefix="b-", due_shards=32))
    function = caller(made)
    scheduler.grant_schedule(function, **given)
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
        "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:UpdateItem",
        "dynamodb:BatchWriteItem", "dynamodb:BatchGetItem", "dynamodb:Query",
    }  # fmt: skip
    assert {resource for _, resource in allowed(statements)} == {"<Arn>", "<Arn>/index/correlation"}


def test_a_grant_for_tenants_is_bound_to_their_keys_in_the_table_and_in_the_index():
    statements, _ = granted(tenants=["acme", "globex"])
    assert len(statements) == 2
    for each in statements:
        assert each["Condition"] == {
            "ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["acme#*", "globex#*"]},
            "Null": {"dynamodb:LeadingKeys": "false"},
        }


@pytest.mark.parametrize("tenant", ["*", "a#b", "", "a?c"])
def test_a_grant_refuses_a_tenant_that_would_widen_it(tenant):
    with pytest.raises(InvalidIdentifier):
        granted(tenants=[tenant])


def test_a_grant_for_no_tenant_at_all_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        granted(tenants=[])


def test_a_grant_tells_the_function_where_the_table_is():
    _, environment = granted()
    told = {name: text(value) for name, value in environment.items()}
    settings = Settings.from_env(told)
    assert settings.actions_table == "b-actions"
    assert settings.due_shards == 32


def test_the_construct_is_importable_from_the_package_alone():
    assert Duetime.__module__ == "duetime.cdk.scheduler"
