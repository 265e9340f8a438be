"""The rights of the deployment's own functions, and that no other role has more."""

from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest

from duetime import ids
from duetime.aws.job_items import job_key
from duetime.aws.keyed_items import item_key
from duetime.aws.keys import payload_key, row_key
from duetime.cdk.job_rights import JOBS
from duetime.cdk.rights import BOOKMARKS, FORMAT, MANIFESTS, UNDELIVERED
from duetime.model.action import ActionRef
from duetime.model.job import JobRef
from duetime.ports.action_keys import IDEMPOTENCY_KEY, key_of
from duetime.settings import Settings
from tests.infra.rights import actions, allowed
from tests.infra.synthesis import listed, synth, text


def test_no_role_may_do_everything_or_touch_anything(synthesised):
    everything = {action for action, resource in allowed(synthesised.all_statements()) if resource == "*"}
    assert everything == {"scheduler:ListSchedules", "events:ListRuleNamesByTarget"}  # names alone
    assert not any("*" in action for action in actions(synthesised.all_statements()))


def test_a_wildcard_replaces_only_names_that_others_choose(synthesised):
    wild = {resource for _, resource in allowed(synthesised.all_statements()) if "*" in resource} - {"*"}
    assert {resource.partition("<AWS::AccountId>:")[2] for resource in wild} == {
        "schedule/duetime-actions/*",
        "schedule/duetime-jobs/*",
        "rule/duetime-*",
        "log-group:/aws/lambda/duetime-work-*",
        "table/duetime-actions/stream/*",
        "table/duetime-jobs/stream/*",
    }


EVENTBRIDGE = ("events:", "scheduler:", "iam:")


def those_who_may(synthesised, action):
    return {name for name in synthesised.functions() if action in actions(synthesised.rights(name))}


def test_only_functions_that_maintain_jobs_may_change_their_wakes(synthesised):
    writers = {"deploy", "sweep", "catch-up"}
    for action in ("scheduler:UpdateSchedule", "events:PutRule", "events:PutTargets", "events:DeleteRule"):
        assert those_who_may(synthesised, action) == writers
    assert those_who_may(synthesised, "events:PutEvents") == {"publish", "undelivered"}
    for name in synthesised.functions().keys() - writers - {"arm", "undelivered", "publish"}:
        assert not any(action.startswith(EVENTBRIDGE) for action in actions(synthesised.rights(name)))


def test_the_undelivered_handler_reads_the_targets_of_rules_and_has_otherwise_the_rights_of_arm(synthesised):
    arm, undelivered = (
        {right for right in allowed(synthesised.rights(name)) if right[0].startswith(EVENTBRIDGE)}
        for name in ("arm", "undelivered")
    )
    assert {action for action, _ in undelivered - arm} == {"events:ListTargetsByRule", "events:PutEvents"}
    assert arm <= undelivered


def test_the_only_target_of_a_rule_is_dispatch(synthesised):
    for name in ("deploy", "sweep", "catch-up"):
        rights = synthesised.rights(name)
        [put] = [right for right in rights if "events:PutTargets" in listed(right["Action"])]
        assert listed(put["Action"]) == ["events:PutTargets"]
        [target] = put["Condition"]["ForAllValues:ArnEquals"].values()
        assert text(target).endswith(":function:duetime-dispatch")
        assert put["Condition"]["Null"] == {"events:TargetArn": "false"}


@pytest.mark.parametrize("name", ["deploy", "sweep", "catch-up"])
def test_schedules_of_jobs_are_set_in_their_group_and_rules_with_the_prefix_only(synthesised, name):
    rights = allowed(synthesised.rights(name))
    rules = {resource for action, resource in rights if action.startswith("events:") and "List" not in action}
    assert [rule.rpartition(":")[2] for rule in rules] == ["rule/duetime-*"]
    updated = {resource for action, resource in rights if action == "scheduler:UpdateSchedule"}
    assert [arn.rpartition(":")[2] for arn in updated] == ["schedule/duetime-jobs/*"]


@pytest.mark.parametrize("name", ["dispatch", "sweep", "catch-up", "deploy", "undelivered", "work-default"])
def test_functions_that_plan_jobs_put_only_their_runs_and_checks_and_publish_nothing(synthesised, name):
    puts = [
        keys
        for right in synthesised.rights(name)
        if "dynamodb:PutItem" in listed(right["Action"])
        for keys in right["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    ]
    payloads = {"*#payload#*"}
    notes = {
        "deploy": {"system#manifest", "system#format"},
        "dispatch": payloads,
        "undelivered": payloads | {"system#bookmark"},
        "work-default": {"system#failures", "system#pauses"},  # of breakers
    }
    bookmark = {"system#bookmark"} if name in {"sweep", "catch-up"} else set()
    batches = {"*#?", "*#batches"} if name in {"sweep", "catch-up"} else set()  # and rows of missing members
    assert set(puts) == {"*#*-*", "system#?"} | notes.get(name, bookmark) | batches


def test_the_pattern_of_jobs_matches_jobs_and_their_runs_and_nothing_else():
    job = ids.job_name("billing-nightly")
    event_run = ids.event_run_id(job, datetime(2026, 6, 1, tzinfo=UTC), "e")
    theirs = [JobRef("my-tenant", job), JobRef(ids.SYSTEM_TENANT, job)]
    keys = [job_key(their, "")["pk"]["S"] for their in theirs]
    keys += [
        row_key(ActionRef("acme", run))["pk"]["S"] for run in (job + ".000001.20260601T000000Z", event_run)
    ]
    assert all(fnmatchcase(key, JOBS[0]) for key in keys)
    one_shot = ActionRef("my-tenant", ids.new_action_id(datetime(2026, 6, 1, tzinfo=UTC)))
    others = [row_key(one_shot), payload_key(one_shot), payload_key(ActionRef("my-tenant", event_run))]
    others.append(item_key(key_of(IDEMPOTENCY_KEY, "my-tenant", "an-order")))
    notes = [MANIFESTS, BOOKMARKS, FORMAT, UNDELIVERED]
    assert not any(fnmatchcase(note, JOBS[0]) for note in (*(item["pk"]["S"] for item in others), *notes))


def test_the_only_managed_policy_is_that_of_api_gateways_log_role(synthesised):
    managed = [role for role in synthesised.of_type("AWS::IAM::Role") if "ManagedPolicyArns" in role]
    [role] = managed
    [trusted] = role["AssumeRolePolicyDocument"]["Statement"]
    assert trusted["Principal"] == {"Service": "apigateway.amazonaws.com"}
    [policy] = role["ManagedPolicyArns"]
    assert text(policy).endswith(":policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs")


def test_no_role_may_scan(synthesised):
    assert "dynamodb:Scan" not in actions(synthesised.all_statements())


def test_a_worker_reads_and_changes_actions_by_their_keys_and_takes_from_its_own_queue(synthesised):
    rights = actions(synthesised.rights("work-default"))
    assert {right for right in rights if right.startswith("dynamodb:")} == {
        "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem", "dynamodb:Query",
        "dynamodb:PutItem", "dynamodb:ConditionCheckItem", "dynamodb:DeleteItem",
    }  # fmt: skip
    [removing] = (
        right
        for right in synthesised.rights("work-default")
        if "dynamodb:DeleteItem" in listed(right["Action"])
    )
    assert removing["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"] == ["*#tail#*"]
    queries = [
        right for right in synthesised.rights("work-default") if "dynamodb:Query" in listed(right["Action"])
    ]
    [due] = (right for right in queries if "Condition" not in right)
    assert text(due["Resource"]).endswith("/index/due")
    assert due["Action"] == "dynamodb:Query"
    queried = [
        keys
        for right in queries
        if right is not due
        for keys in right["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    ]
    assert sorted(queried) == [
        "*#*-*", "*#*-*", "*#tail#*", "system#limits", "system#manifest", "system#pauses",
    ]  # fmt: skip
    queues = {
        text(right["Resource"])
        for right in synthesised.rights("work-default")
        if "sqs:" in str(right["Action"])
    }
    assert len(queues) == 1


def test_rights_restricted_to_keys_require_a_key(synthesised):
    bound = [
        statement
        for statement in synthesised.all_statements()
        if "ForAllValues:StringLike" in str(statement.get("Condition"))
    ]
    assert bound
    assert all(statement["Condition"]["Null"] == {"dynamodb:LeadingKeys": "false"} for statement in bound)


def test_arm_may_set_timers_in_their_group_only_and_hand_over_one_role_to_the_scheduler_only(synthesised):
    rights = synthesised.rights("arm")
    [create] = [right for right in rights if right["Action"] == "scheduler:CreateSchedule"]
    assert text(create["Resource"]).endswith(":schedule/duetime-actions/*")
    [hand_over] = [right for right in rights if right["Action"] == "iam:PassRole"]
    assert hand_over["Condition"] == {"StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}}
    assert hand_over["Resource"] == synthesised.environment("arm")["DUETIME_TIMER_ROLE_ARN"]


def test_with_the_wheel_no_role_may_set_timers():
    wheel = synth(settings=Settings(timers="wheel"))
    assert not any("schedule/duetime-actions/" in arn for _, arn in allowed(wheel.all_statements()))
    assert not any(action.startswith(EVENTBRIDGE) for action in actions(wheel.rights("arm")))


def groups(role):
    """The groups whose schedules may act in a role."""
    trust = role["AssumeRolePolicyDocument"]["Statement"][0]["Condition"]["ArnEquals"]["aws:SourceArn"]
    return tuple(text(service).rpartition("/")[2] for service in listed(trust))


def called_by(synthesised, role):
    """The names of the functions that a role may call, by reference or by name."""
    arns = [
        arn
        for role_statement in synthesised.role_statements(role)
        if role_statement["Action"] == "lambda:InvokeFunction"
        for arn in listed(role_statement["Resource"])
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
        logs = [right for right in synthesised.rights(name) if "logs:Put" in str(right["Action"])]
        assert [text(log["Resource"]) for log in logs] == [
            f"<{synthesised.functions()[name]['LoggingConfig']['LogGroup']['Ref']}.Arn>"
        ]


def test_the_api_alone_may_read_logs_and_only_those_of_workers(synthesised):
    assert those_who_may(synthesised, "logs:FilterLogEvents") == {"api"}
    [logs] = {on for action, on in allowed(synthesised.rights("api")) if action == "logs:FilterLogEvents"}
    names = [synthesised.functions()[name]["FunctionName"] for name in synthesised.functions()]
    read = {name for name in names if fnmatchcase(f"/aws/lambda/{name}", logs.rpartition(":")[2])}
    assert read == {"duetime-work-default"}


def test_the_api_may_read_the_due_order_that_the_deployment_has():
    synthesised = synth(settings=Settings(due_order=True))
    readers = {
        name
        for name in synthesised.functions()
        if any("/index/tenant_due" in resource for _, resource in allowed(synthesised.rights(name)))
    }
    assert readers == {"api"}
    assert synthesised.environment("api")["DUETIME_DUE_ORDER"] == "true"
