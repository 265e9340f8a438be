"""What a security team may require. Each setting adds nothing when it is empty."""

from dataclasses import replace

import pytest

from duetime.cdk import Deployment
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.rights import allowed
from tests.infra.synthesis import BILLING, Synthesised, caller, made_with, stack

KEY = "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ACL = "arn:aws:wafv2:eu-west-1:123456789012:regional/webacl/office/01234567-89ab-cdef-0123-456789abcdef"
USES_KEY = {
    (f"kms:{name}", KEY)
    for name in ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "ReEncryptFrom", "ReEncryptTo")
}


@pytest.fixture(scope="module")
def hardened():
    """A deployment with every setting, and a caller."""
    chosen = Deployment(
        kms_key=KEY,
        second_factor=True,
        web_acl="managed",
        reserved_concurrency=20,
        alarm_email="ops@example.com",
    )
    made, scheduler = stack(deployment=chosen, handlers=[BILLING])
    scheduler.grant_schedule(caller(made), tenants=["acme"])
    return Synthesised.from_stack(made)


def test_the_key_encrypts_every_table_queue_topic_log_and_function(hardened):
    for table in hardened.of_type("AWS::DynamoDB::Table"):
        assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
    queues = hardened.of_type("AWS::SQS::Queue")
    assert {(queue["KmsMasterKeyId"], queue["SqsManagedSseEnabled"]) for queue in queues} == {(KEY, False)}
    for kind, name in (
        ("AWS::SNS::Topic", "KmsMasterKeyId"),
        ("AWS::Logs::LogGroup", "KmsKeyId"),
    ):
        assert {found.get(name) for found in hardened.of_type(kind)} == {KEY}, kind
    own = [function for function in hardened.of_type("AWS::Lambda::Function") if "FunctionName" in function]
    assert {function["KmsKeyArn"] for function in own} == {KEY}


def test_each_role_may_use_the_key_through_the_services_alone(hardened):
    statements = list(hardened.all_statements())
    with_key = [statement for statement in statements if "kms:Decrypt" in statement["Action"]]
    assert {frozenset(allowed([statement])) for statement in with_key} == {frozenset(USES_KEY)}
    assert {str(statement["Condition"]) for statement in with_key} == {
        str(
            {
                "StringLike": {
                    "kms:ViaService": [
                        f"{service}.eu-west-1.*" for service in ("dynamodb", "lambda", "sns", "sqs")
                    ]
                }
            }
        )
    }
    for role in hardened.of_type("AWS::IAM::Role"):
        if role.get("Description", "").startswith("duetime: ") and "API Gateway" not in role["Description"]:
            assert allowed(hardened.role_statements(role)) >= USES_KEY, role.get("Description")


def test_without_the_settings_the_template_has_none_of_it(synthesised):
    assert not {action for action, _ in allowed(synthesised.all_statements()) if action.startswith("kms:")}
    assert not [
        kind for kind in ("AWS::WAFv2::WebACL", "AWS::WAFv2::WebACLAssociation") if synthesised.of_type(kind)
    ]
    text = str(synthesised.resources)
    for name in ("KmsKeyArn", "KmsMasterKeyId", "ReservedConcurrentExecutions"):
        assert name not in text, name


def test_users_must_have_a_second_factor(hardened):
    pool = hardened.one("AWS::Cognito::UserPool")
    assert (pool["MfaConfiguration"], pool["EnabledMfas"]) == ("ON", ["SOFTWARE_TOKEN_MFA"])


def test_workers_reserve_executions_and_no_other_function_does(hardened):
    reserved = {
        function["FunctionName"]: function["ReservedConcurrentExecutions"]
        for function in hardened.of_type("AWS::Lambda::Function")
        if "ReservedConcurrentExecutions" in function
    }
    assert reserved == {"duetime-work-default": 20}


def test_both_urls_of_the_api_have_the_web_acl(hardened):
    acl = hardened.one("AWS::WAFv2::WebACL")
    assert (acl["Scope"], acl["DefaultAction"]) == ("REGIONAL", {"Allow": {}})
    assert acl["Rules"][0]["Statement"]["RateBasedStatement"]["Limit"] == 2_000
    assert len(hardened.of_type("AWS::WAFv2::WebACLAssociation")) == 2
    given = made_with(web_acl=ACL)
    assert {found["WebACLArn"] for found in given.of_type("AWS::WAFv2::WebACLAssociation")} == {ACL}
    assert not given.of_type("AWS::WAFv2::WebACL")


@pytest.mark.parametrize(
    ("chosen", "problem"),
    [
        ({"kms_key": "alias/duetime"}, "kms_key is 'alias/duetime'; allowed is the ARN of a KMS key"),
        ({"web_acl": "office"}, "web_acl is 'office'; allowed is managed, or the ARN of a regional"),
        ({"web_acl": "managed", "api": False}, "web_acl is 'managed', but api is False"),
        (
            {"second_factor": True, "api": "services"},
            "second_factor is True, but the stack creates no user",
        ),
        ({"reserved_concurrency": -1}, "reserved_concurrency is -1; allowed is 0 to 10000"),
    ],
)
def test_a_wrong_setting_is_rejected_with_what_is_allowed(chosen, problem):
    with pytest.raises(SettingsError, match=problem):
        Deployment(**chosen)


def test_fewer_reserved_executions_than_a_worker_uses_are_rejected():
    with pytest.raises(SettingsError, match="reserved_concurrency is 5, but worker 'default' handles 10"):
        stack(deployment=Deployment(reserved_concurrency=5), settings=Settings())
    narrow = replace(BILLING, concurrency=5)
    stack(deployment=Deployment(reserved_concurrency=5), handlers=[narrow])
