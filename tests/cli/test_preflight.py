"""``duetime deployment preflight``: what a deploy would meet in an account, on moto."""

import json
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace

import boto3
import pytest
from moto import mock_aws

from duetime.aws import clients
from duetime.aws.account import Account
from duetime.aws.clients import default_session
from duetime.cli import main
from duetime.cli.preflight import findings, read_assembly

REGION, ACCOUNT = "eu-west-1", "123456789012"
ROLE = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/cdk-%s-role-${AWS::AccountId}-${AWS::Region}"
ROLES = {"assumeRoleArn": ROLE % "deploy", "cloudFormationExecutionRoleArn": ROLE % "cfn-exec"}
BOOTSTRAP = "/cdk-bootstrap/hnb659fds/version"
JOBS = [{"name": f"on-{source}", "cadences": [f"on_event {source} Happened"]} for source in ("shop", "bank")]
RESOURCES = {
    "Jobs": {
        "Type": "AWS::DynamoDB::Table",
        "Properties": {"TableName": "duetime-jobs"},
        "DeletionPolicy": "Retain",
    },
    "Due": {
        "Type": "AWS::SQS::Queue",
        "Properties": {"QueueName": "duetime-due-default", "RedrivePolicy": {}},
    },
    "Dead": {"Type": "AWS::SQS::Queue", "Properties": {}},
    "Logs": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/aws/lambda/duetime-api"}},
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"TopicName": "duetime-alarms"}},
    "Group": {"Type": "AWS::Scheduler::ScheduleGroup", "Properties": {"Name": "duetime-jobs"}},
    "Users": {"Type": "AWS::Cognito::UserPool", "Properties": {"UserPoolName": "duetime-users"}},
    "Account": {"Type": "AWS::ApiGateway::Account", "Properties": {}},
    "Work": {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {
            "ScalingConfig": {"MaximumConcurrency": 10},
            "EventSourceArn": {"Fn::GetAtt": ["Due", "Arn"]},
        },
    },
    "Undelivered": {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {"EventSourceArn": {"Fn::GetAtt": ["Dead", "Arn"]}},
    },
    "Arm": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": {"StartingPosition": "TRIM_HORIZON"}},
    "Notified": {"Type": "AWS::Events::Rule", "Properties": {}},
    "Manifest": {
        "Type": "Custom::DuetimeManifest",
        "Properties": {"EventBus": "default", "Jobs": json.dumps(JOBS)},
    },
}


class KnownAccount(Account):
    """An account on moto, with what moto lacks: Lambda's limit, a quota and a simulation of rights."""

    executions, rules_a_bus, denied = 1_000, 300, ()

    def concurrency(self):
        return self.executions

    def quota(self, _service, _code):
        return self.rules_a_bus

    def denied_actions(self, _role, actions):
        return [action for action in actions if action in self.denied]


@cache
def shared_session():
    """The session of all these tests: reading the models of its services takes longer than the calls."""
    return default_session()


@pytest.fixture
def aws(monkeypatch):
    for name, value in (
        ("ACCESS_KEY_ID", "test"),
        ("SECRET_ACCESS_KEY", "test"),
        ("DEFAULT_REGION", REGION),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", shared_session())
    with mock_aws():
        yield


@pytest.fixture
def bootstrapped(aws):
    boto3.client("ssm").put_parameter(Name=BOOTSTRAP, Value="21", Type="String")


@pytest.fixture
def assembly(tmp_path):
    properties = {
        "templateFile": "stack.json",
        "requiresBootstrapStackVersion": 6,
        "bootstrapStackVersionSsmParameter": BOOTSTRAP,
        **ROLES,
    }
    artifact = {"type": "aws:cloudformation:stack", "properties": properties}
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": {"duetime-scheduler": artifact}}))
    (tmp_path / "stack.json").write_text(json.dumps({"Resources": RESOURCES}))
    return tmp_path


@pytest.fixture
def check(assembly):
    def found(about, **facts):
        account = type("Stated", (KnownAccount,), facts)()
        [stack] = read_assembly(assembly)
        return [
            (finding.state, finding.message, finding.remedy)
            for finding in findings(account, stack)
            if finding.about == about
        ]

    return found


@pytest.mark.usefixtures("bootstrapped")
def test_an_empty_account_has_no_obstacle(check):
    assert check("names") == [("ok", "the names of 5 new resources are free", "")]
    assert check("permissions")[0][0] == "ok"
    assert check("region") == [("ok", "eu-west-1 has all services of the stack", "")]
    assert check("log role")[0][0] == "ok"
    assert check("user pool") == []


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("status", "state", "message", "remedy"),
    [
        ("ROLLBACK_COMPLETE", "ok", "was rolled back; cdk deploy deletes and creates it", ""),
        ("ROLLBACK_FAILED", "ok", "was rolled back; cdk deploy deletes and creates it", ""),
        ("UPDATE_IN_PROGRESS", "ill", "another deploy is under way", "wait for its end"),
        (
            "UPDATE_ROLLBACK_FAILED",
            "ill",
            "accepts no deploy",
            "continue-update-rollback --stack-name duetime-",
        ),
        ("DELETE_FAILED", "ill", "accepts no deploy", "npx cdk destroy duetime-scheduler"),
    ],
)
def test_a_stack_that_blocks_a_deploy_is_named_with_its_remedy(check, status, state, message, remedy):
    [found] = check("stack", stack_status=lambda _account, _name: status)
    assert found[0] == state
    assert message in found[1]
    assert remedy in found[2]


@pytest.mark.usefixtures("aws")
def test_a_new_or_healthy_stack_is_no_finding(check):
    assert check("stack") == []
    assert check("stack", stack_status=lambda _account, _name: "UPDATE_COMPLETE") == []


@pytest.mark.usefixtures("aws")
def test_a_missing_bootstrap_names_its_command(check):
    target = f"aws://{ACCOUNT}/{REGION}"
    message = f"the bootstrap stack of {target} is missing"
    assert check("permissions") == [("ill", message, f"npx cdk bootstrap {target}")]


@pytest.mark.usefixtures("bootstrapped")
def test_credentials_that_may_not_deploy_name_the_role_to_assume(check):
    role = f"arn:aws:iam::{ACCOUNT}:role/cdk-deploy-role-{ACCOUNT}-{REGION}"
    with denying("sts", "AssumeRole"):
        [(state, message, remedy)] = check("permissions")
    assert state == "ill"
    assert f"may not assume {role}, in which CDK deploys" in message
    assert remedy == f"allow sts:AssumeRole on {role}"


@pytest.mark.usefixtures("bootstrapped")
def test_a_right_that_cloudformation_lacks_names_role_right_and_resource(check):
    [(state, message, remedy)] = check("permissions", denied=("scheduler:CreateScheduleGroup",))
    role = f"arn:aws:iam::{ACCOUNT}:role/cdk-cfn-exec-role-{ACCOUNT}-{REGION}"
    assert state == "ill"
    assert message == f"{role}, in which CloudFormation works, may not create AWS::Scheduler::ScheduleGroup"
    assert remedy.startswith("allow it scheduler:CreateScheduleGroup")


@pytest.mark.usefixtures("aws")
def test_retained_tables_are_imported_and_other_names_that_exist_are_taken(check):
    boto3.client("dynamodb").create_table(
        TableName="duetime-jobs",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    boto3.client("sqs").create_queue(QueueName="duetime-due-default")
    boto3.client("logs").create_log_group(logGroupName="/aws/lambda/duetime-api")
    boto3.client("sns").create_topic(Name="duetime-alarms")
    boto3.client("scheduler").create_schedule_group(Name="duetime-jobs")
    table, *taken = check("names")
    assert table == (
        "look",
        "duetime-jobs exist, with the data of an earlier deployment",
        "npx cdk deploy --import-existing-resources",
    )
    assert [state for state, _, _ in taken] == ["ill"] * 4
    assert {remedy for _, _, remedy in taken} == {"delete that resource, or choose another prefix"}
    assert (
        taken[0][1]
        == "the name duetime-due-default of an AWS::SQS::Queue is taken: names are unique in a region"
    )


@pytest.mark.usefixtures("aws")
def test_names_of_the_deployed_stack_itself_are_not_taken(check):
    queue = {"Due": RESOURCES["Due"]}
    boto3.client("cloudformation").create_stack(
        StackName="duetime-scheduler", TemplateBody=json.dumps({"Resources": queue})
    )
    assert check("names") == [("ok", "the names of 4 new resources are free", "")]
    assert check("user pool") == []


@pytest.mark.usefixtures("aws")
def test_a_retained_pool_is_adopted_with_its_groups_and_pages(check):
    cognito = boto3.client("cognito-idp")
    pool = cognito.create_user_pool(PoolName="duetime-users")["UserPool"]["Id"]
    cognito.create_group(UserPoolId=pool, GroupName="admins")
    cognito.create_user_pool_domain(UserPoolId=pool, Domain="acme")
    [(state, message, remedy)] = check("user pool")
    assert (state, "groups admins" in message) == ("look", True)
    assert remedy == (
        f"npx cdk deploy --import-existing-resources -c duetime:user_pool_id={pool}"
        " -c duetime:sign_in=https://acme.auth.eu-west-1.amazoncognito.com"
    )


@pytest.mark.usefixtures("aws")
def test_an_empty_pool_of_a_failed_deploy_is_to_be_deleted(check):
    pool = boto3.client("cognito-idp").create_user_pool(PoolName="duetime-users")["UserPool"]["Id"]
    [(_, message, remedy)] = check("user pool")
    assert message == f"duetime-users {pool} of a failed deploy is empty"
    assert f"aws cognito-idp delete-user-pool --user-pool-id {pool}" in remedy


@pytest.mark.usefixtures("aws")
def test_the_role_of_api_gateways_logs_is_named_before_it_is_replaced(check):
    role = f"arn:aws:iam::{ACCOUNT}:role/logs-of-all"
    patch = [{"op": "replace", "path": "/cloudwatchRoleArn", "value": role}]
    boto3.client("apigateway").update_account(patchOperations=patch)
    [(state, message, remedy)] = check("log role")
    assert state == "look"
    assert f"all REST APIs of the account in eu-west-1 log in {role}; the deploy replaces it" in message
    assert remedy == "-c duetime:api_log_role=false keeps it"


@pytest.mark.usefixtures("aws")
def test_ten_executions_at_once_are_too_few_for_the_defaults(check):
    [(state, message, remedy)] = check("concurrency", executions=10)
    assert state == "look"
    assert message.startswith("Lambda runs 10 executions at once here; the stack uses up to 14.")
    assert "-c duetime:worker_concurrency=2" in remedy
    assert check("concurrency")[0][0] == "ok"


@pytest.mark.usefixtures("aws")
def test_reserved_executions_leave_a_hundred_to_the_account(check, assembly):
    worker = {"Type": "AWS::Lambda::Function", "Properties": {"ReservedConcurrentExecutions": 20}}
    template = assembly / "stack.json"
    template.write_text(json.dumps({"Resources": {**RESOURCES, "Worker": worker}}))
    [(state, message, remedy)] = check("concurrency", executions=119)
    assert state == "ill"
    assert message.endswith("and reserves 20; Lambda keeps 100 unreserved")
    assert "lower reserved_concurrency" in remedy
    assert check("concurrency", executions=120)[0][0] == "ok"


@pytest.mark.usefixtures("aws")
def test_a_bus_without_room_names_the_bus_the_quota_and_the_remedy(check):
    boto3.client("events").put_rule(Name="other", EventPattern='{"source": ["other"]}')
    assert check("rules", rules_a_bus=4)[0][0] == "ok"
    [(state, message, remedy)] = check("rules", rules_a_bus=3)
    assert state == "ill"
    assert message == (
        "the event bus default has room for 2 rules; the stack and its jobs need 3, and a bus has at most 3"
    )
    assert remedy == "raise the quota L-244521F2 of events in Service Quotas, or set event_bus to another bus"


@pytest.mark.usefixtures("aws")
def test_a_region_without_a_service_names_the_service_and_other_regions(check, monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", "cn-north-1")
    [(state, message, remedy)] = check("region")
    assert state == "ill"
    assert message == "cn-north-1 has no Amazon Cognito, which the stack needs"
    assert remedy.startswith("set api=services, or deploy elsewhere: no region")


@pytest.mark.usefixtures("aws")
def test_a_check_whose_read_is_denied_says_so_and_the_others_go_on(check):
    with denying("apigateway", "GetAccount"):
        [(state, message, remedy)] = check("log role")
        assert check("region")[0][0] == "ok"
    assert state == "look"
    assert "not checked: " in message
    assert "AccessDenied" in message
    assert remedy == "allow this read, and repeat"


@pytest.mark.usefixtures("aws")
def test_an_obstacle_is_printed_and_fails_the_command(assembly, capsys):
    assert main(["deployment", "preflight", "--assembly", str(assembly)]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith(f"duetime-scheduler in the account {ACCOUNT}, {REGION}, as arn:aws")
    assert f"npx cdk bootstrap aws://{ACCOUNT}/{REGION}" in printed
    assert main(["deployment", "preflight", "--assembly", str(assembly), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["account"], document["region"], document["status"]) == (ACCOUNT, REGION, "ill")


def test_a_directory_without_an_assembly_names_the_command_that_makes_one(tmp_path, capsys):
    assert main(["deployment", "preflight", "--assembly", str(tmp_path)]) == 2
    assert "is no cloud assembly" in (printed := capsys.readouterr().err)
    assert "run `npx cdk synth --quiet` first" in printed


@contextmanager
def denying(service, operation):
    client = clients.of(service)
    event = f"before-call.{client.meta.service_model.service_id.hyphenize()}.{operation}"
    error = {"Error": {"Code": "AccessDeniedException", "Message": f"not authorized: {operation}"}}

    def deny(**_context):
        return SimpleNamespace(status_code=403), error

    client.meta.events.register(event, deny)
    yield
    client.meta.events.unregister(event, deny)


ACL_NAME, OTHER = "office", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/1"


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("state", "finding"),
    [
        ("as it is", "can be used"),
        ("disabled", "is in the state Disabled"),
        ("absent", "does not exist"),
        ("elsewhere", "is in us-east-1; the stack is in eu-west-1"),
    ],
)
def test_a_key_and_a_web_acl_that_settings_name_must_exist_and_be_usable(check, assembly, state, finding):
    kms, waf = (boto3.client(name) for name in ("kms", "wafv2"))
    key = kms.create_key()["KeyMetadata"]["Arn"]
    config = {"SampledRequestsEnabled": False, "CloudWatchMetricsEnabled": False, "MetricName": "m"}
    acl = waf.create_web_acl(
        Name=ACL_NAME, Scope="REGIONAL", DefaultAction={"Allow": {}}, VisibilityConfig=config
    )["Summary"]
    if state == "disabled":
        kms.disable_key(KeyId=key.rpartition("/")[2])
    if state == "absent":
        key = key[:-4] + "ffff"
        waf.delete_web_acl(Name=ACL_NAME, Scope="REGIONAL", Id=acl["Id"], LockToken=acl["LockToken"])
    named = {
        "Arm2": {
            "Type": "AWS::Lambda::Function",
            "Properties": {"KmsKeyArn": OTHER if state == "elsewhere" else key},
        },
        "Acl": {"Type": "AWS::WAFv2::WebACLAssociation", "Properties": {"WebACLArn": acl["ARN"]}},
    }
    (assembly / "stack.json").write_text(json.dumps({"Resources": {**RESOURCES, **named}}))
    of_key, of_acl = check("resources")
    assert of_key[0] == of_acl[0] == "ok" if state == "as it is" else of_key[0] == "ill"
    assert finding in of_key[1]
    assert of_acl[1].endswith("does not exist" if state == "absent" else "can be used")
