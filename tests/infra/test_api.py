"""The two REST APIs: who may call what, and the log of a call."""

import json
import re

import pytest
from aws_cdk.assertions import Annotations, Match

from duetime.cdk import Deployment
from duetime.cdk.gateway import PUBLIC_RATE
from duetime.errors import SettingsError
from duetime.settings import Settings
from tests.infra.synthesis import Synthesised, caller, listed, stack, synth, text

CONSOLE = "https://console.example.com"


@pytest.fixture(scope="module")
def with_console():
    return synth(settings=Settings(console_url=CONSOLE), deployment=Deployment(sign_in="acme-duetime"))


def apis(synthesised):
    """The two REST APIs: name to logical id."""
    return {
        resource["Properties"]["Name"]: name
        for name, resource in synthesised.resources.items()
        if resource["Type"] == "AWS::ApiGateway::RestApi"
    }


def path_of(synthesised, method):
    """``/api/v1/health`` of a method's resource."""
    parts, reference = [], method["ResourceId"]
    while "Ref" in reference:
        resource = synthesised.resources[reference["Ref"]]["Properties"]
        parts.append(resource["PathPart"])
        reference = resource["ParentId"]
    return "/" + "/".join(reversed(parts))


def methods(synthesised, api):
    """Method and path to how it is guarded."""
    return {
        (method["HttpMethod"], path_of(synthesised, method)): method["AuthorizationType"]
        for method in synthesised.of_type("AWS::ApiGateway::Method")
        if method["RestApiId"] == {"Ref": apis(synthesised)[api]}
    }


FILES = {("GET", path): "NONE" for path in ("/", "/config.json", "/assets/{file}")}
OPEN = {("GET", "/api/v1/health"): "NONE", ("GET", "/api/v1/openapi.json"): "NONE"}


def test_both_urls_guard_all_routes_with_tenant_data(synthesised):
    everything = ("ANY", "/api/v1/{proxy+}")
    assert methods(synthesised, "duetime-api-people") == {
        **OPEN,
        **FILES,
        everything: "COGNITO_USER_POOLS",
    }
    assert methods(synthesised, "duetime-api-services") == {**OPEN, everything: "AWS_IAM"}


def test_hand_overs_need_no_credentials_if_that_is_set_and_have_limits_of_their_own():
    opened = synth(deployment=Deployment(open_hand_overs=True))
    by_token = {("POST", "/api/v1/handovers/{proxy+}"): "NONE"}
    everything = {("ANY", "/api/v1/{proxy+}"): "AWS_IAM"}
    assert methods(opened, "duetime-api-services") == {**OPEN, **by_token, **everything}
    for stage in opened.of_type("AWS::ApiGateway::Stage"):
        limits = {item["ResourcePath"]: item["ThrottlingRateLimit"] for item in stage["MethodSettings"][1:]}
        assert limits["/~1api~1v1~1handovers~1{proxy+}"] == PUBLIC_RATE


def test_all_methods_but_those_of_the_consoles_files_are_served_by_the_one_function(synthesised):
    served = {}
    for method in synthesised.of_type("AWS::ApiGateway::Method"):
        function = text(method["Integration"]["Uri"]).rpartition("<")[2].partition(".")[0]
        served.setdefault(synthesised.function_names[function], set()).add(path_of(synthesised, method))
    assert served == {
        "duetime-api": {"/api/v1/health", "/api/v1/openapi.json", "/api/v1/{proxy+}"},
        "duetime-console": {path for _, path in FILES},
    }


def test_a_token_is_of_the_stacks_own_pool_and_verified_each_time(synthesised):
    authorizer = synthesised.one("AWS::ApiGateway::Authorizer")
    [pool] = authorizer["ProviderARNs"]
    assert synthesised.resources[pool["Fn::GetAtt"][0]]["Type"] == "AWS::Cognito::UserPool"
    assert authorizer["AuthorizerResultTtlInSeconds"] == 0


def test_the_routes_begin_with_the_prefix_that_is_set():
    served = methods(
        synth(settings=Settings(api_prefix="/admin"), deployment=Deployment(api="people")),
        "duetime-api-people",
    )
    assert {path for _, path in served} == {"/admin/health", "/admin/openapi.json", "/admin/{proxy+}"}


def test_only_the_two_apis_may_call_the_function_and_only_the_peoples_the_consoles(synthesised):
    callers = {}
    for permission in synthesised.of_type("AWS::Lambda::Permission"):
        if permission["Principal"] == "apigateway.amazonaws.com":
            called = synthesised.function_names[permission["FunctionName"]["Fn::GetAtt"][0]]
            caller_ = text(permission["SourceArn"]).partition(":execute-api:")[2]
            callers.setdefault(called, set()).add(caller_)
    place, ids = "<AWS::Region>:<AWS::AccountId>", apis(synthesised)
    assert callers == {
        "duetime-api": {f"{place}:<{id_}>/*/*/*" for id_ in ids.values()},
        "duetime-console": {f"{place}:<{ids['duetime-api-people']}>/*/*/*"},
    }


def test_each_stage_is_throttled_and_traces_nothing(synthesised):
    for stage in synthesised.of_type("AWS::ApiGateway::Stage"):
        assert stage["StageName"] == "prod"
        assert stage["TracingEnabled"] is False
        of_all, *_ = stage["MethodSettings"]
        assert (of_all["ResourcePath"], of_all["HttpMethod"]) == ("/*", "*")
        assert (of_all["ThrottlingRateLimit"], of_all["ThrottlingBurstLimit"]) == (50, 100)
        for setting in stage["MethodSettings"]:
            assert (setting["LoggingLevel"], setting["DataTraceEnabled"]) == ("OFF", False)


def test_each_method_without_credentials_has_a_limit_of_its_own(with_console):
    for name, gateway in apis(with_console).items():
        open_methods = {
            (path_of(with_console, method), method["HttpMethod"])
            for method in with_console.of_type("AWS::ApiGateway::Method")
            if method["AuthorizationType"] == "NONE" and method["RestApiId"] == {"Ref": gateway}
        }
        [stage] = [
            stage
            for stage in with_console.of_type("AWS::ApiGateway::Stage")
            if stage["RestApiId"] == {"Ref": gateway}
        ]
        limits = {
            (setting["ResourcePath"].replace("~1", "/").replace("//", "/"), setting["HttpMethod"]): setting
            for setting in stage["MethodSettings"][1:]
        }
        assert limits.keys() == open_methods, name
        for limit in limits.values():
            assert (limit["ThrottlingRateLimit"], limit["ThrottlingBurstLimit"]) == (10, 20)


def test_the_rate_is_a_setting_and_the_burst_twice_as_high():
    for stage in synth(deployment=Deployment(api_rate=7)).of_type("AWS::ApiGateway::Stage"):
        of_all, *_ = stage["MethodSettings"]
        assert (of_all["ThrottlingRateLimit"], of_all["ThrottlingBurstLimit"]) == (7, 14)


WITHOUT_PATH = {
    *("requestId", "requestTimeEpoch", "httpMethod", "resourcePath", "status", "responseLatency"),
    *("responseLength", "error.responseType", "identity.sourceIp", "identity.userArn"),
    "authorizer.claims.sub",
}
"""What API Gateway writes without the request's own path, which in a hand-over has the token."""


def test_no_line_of_a_request_has_the_token_of_a_hand_over(synthesised, with_console):
    for made in (synthesised, with_console, synth(deployment=Deployment(open_hand_overs=True))):
        for stage in made.of_type("AWS::ApiGateway::Stage"):
            written = re.findall(r"\$([\w.]+)", stage["AccessLogSetting"]["Format"])
            assert {name.removeprefix("context.") for name in written} <= WITHOUT_PATH


def test_a_request_is_a_line_of_json_without_query_header_or_body(synthesised):
    for stage in synthesised.of_type("AWS::ApiGateway::Stage"):
        line = json.loads(stage["AccessLogSetting"]["Format"])
        assert {"requestId", "method", "route", "status", "refusal", "address", "who"} <= line.keys()
        for word in ("querystring", "header", "body", "input", "requestOverride"):
            assert word not in json.dumps(line)
        log = synthesised.resources[stage["AccessLogSetting"]["DestinationArn"]["Fn::GetAtt"][0]][
            "Properties"
        ]
        assert log["LogGroupName"].startswith("/aws/apigateway/duetime-api-")
        assert log["RetentionInDays"] == 30


def test_the_accounts_role_for_logs_outlives_the_stack_and_comes_before_the_stages(synthesised):
    [account] = [
        n for n, resource in synthesised.resources.items() if resource["Type"] == "AWS::ApiGateway::Account"
    ]
    role = synthesised.resources[account]["Properties"]["CloudWatchRoleArn"]["Fn::GetAtt"][0]
    assert all(synthesised.resources[name]["DeletionPolicy"] == "Retain" for name in (account, role))
    for name, resource in synthesised.resources.items():
        if resource["Type"] == "AWS::ApiGateway::Stage":
            assert account in synthesised.depends_on(name)


def test_synthesis_warns_that_the_accounts_log_role_is_replaced():
    def warnings(**chosen):
        made, _ = stack(deployment=Deployment(**chosen))
        replaces = Match.string_like_regexp("replaces one that is set")
        return Annotations.from_stack(made).find_warning("*", replaces)

    assert len(warnings()) == 1
    assert warnings(api_log_role=False) == []


def test_an_account_that_has_such_a_role_keeps_it():
    there = synth(deployment=Deployment(api_log_role=False))
    assert not there.of_type("AWS::ApiGateway::Account")
    assert not any("ManagedPolicyArns" in role for role in there.of_type("AWS::IAM::Role"))


def test_pages_of_other_origins_may_not_call_if_the_console_is_served_here(synthesised):
    assert not any(
        method == "OPTIONS" for api in apis(synthesised) for method, _ in methods(synthesised, api)
    )
    assert "Access-Control" not in json.dumps(synthesised.of_type("AWS::ApiGateway::GatewayResponse"))


def test_pages_of_the_console_alone_may_call_and_only_with_tokens(with_console):
    preflights = [
        preflight
        for preflight in with_console.of_type("AWS::ApiGateway::Method")
        if preflight["HttpMethod"] == "OPTIONS"
    ]
    assert {preflight["RestApiId"]["Ref"] for preflight in preflights} == {
        apis(with_console)["duetime-api-people"]
    }
    assert {path_of(with_console, preflight) for preflight in preflights} == {
        path for _, path in [*OPEN, ("", "/api/v1/{proxy+}")]
    }
    for preflight in preflights:
        [response] = preflight["Integration"]["IntegrationResponses"]
        headers = response["ResponseParameters"]
        assert headers["method.response.header.Access-Control-Allow-Origin"] == f"'{CONSOLE}'"
        assert "Authorization" in headers["method.response.header.Access-Control-Allow-Headers"]
    assert with_console.environment("api")["DUETIME_CONSOLE_URL"] == CONSOLE


def test_errors_of_api_gateway_are_problems_that_the_console_can_read(with_console):
    people = {"Ref": apis(with_console)["duetime-api-people"]}
    refusals = {
        refusal["ResponseType"]: refusal
        for refusal in with_console.of_type("AWS::ApiGateway::GatewayResponse")
        if refusal["RestApiId"] == people
    }
    assert {"UNAUTHORIZED", "ACCESS_DENIED", "THROTTLED", "REQUEST_TOO_LARGE"} <= refusals.keys()
    for refusal in refusals.values():
        problem = json.loads(refusal["ResponseTemplates"]["application/json"])
        assert problem.keys() == {"type", "title", "status", "detail"}
        assert str(problem["status"]) == refusal["StatusCode"]
        headers = refusal["ResponseParameters"]
        assert headers["gatewayresponse.header.Content-Type"] == "'application/problem+json'"
        assert headers["gatewayresponse.header.Access-Control-Allow-Origin"] == f"'{CONSOLE}'"


def test_the_trail_is_added_to_and_read_and_never_changed(synthesised):
    bound = [
        (action, key)
        for right in synthesised.rights("api")
        for action in listed(right["Action"])
        for key in right.get("Condition", {})
        .get("ForAllValues:StringLike", {})
        .get("dynamodb:LeadingKeys", [])
    ]
    audit = {action for action, key in bound if "audit" in key}
    assert audit == {"dynamodb:PutItem", "dynamodb:Query", "dynamodb:BatchGetItem"}
    assert {key for action, key in bound if action == "dynamodb:DeleteItem"} == {"system#limits"}
    assert {key for action, key in bound if action == "dynamodb:UpdateItem"} == {"*#*-*", "*#inbox"}


def test_the_api_has_no_right_on_eventbridge_and_of_queues_on_failures_alone(synthesised):
    used = {action for right in synthesised.rights("api") for action in listed(right["Action"])}
    assert {action.partition(":")[0] for action in used} == {"dynamodb", "logs", "sqs"}
    assert {action for action in used if action.startswith("sqs:")} == {
        "sqs:SendMessage",
        "sqs:GetQueueAttributes",
    }


def test_the_grant_to_call_the_api_covers_the_signed_api_alone():
    made, scheduler = stack()
    scheduler.grant_call_api(caller(made))
    there = Synthesised.from_stack(made)
    [policy] = there.of_type("AWS::IAM::Policy")
    [statement] = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "execute-api:Invoke"
    signed = apis(there)["duetime-api-services"]
    assert text(statement["Resource"]).endswith(f":<{signed}>/prod/*/api/v1/*")


def test_without_the_api_there_is_no_pool_and_no_grant_to_call():
    made, scheduler = stack(deployment=Deployment(api=False))
    kinds = {resource["Type"] for resource in Synthesised.from_stack(made).resources.values()}
    assert not any(kind.startswith(("AWS::ApiGateway", "AWS::Cognito")) for kind in kinds)
    assert not {"api", "console"} & Synthesised.from_stack(made).functions().keys()
    with pytest.raises(SettingsError, match="api is False"):
        scheduler.grant_call_api(caller(made))


@pytest.mark.parametrize(
    ("settings", "deployment", "problem"),
    [
        ({"roles": {"the boss": "admin"}}, {}, "roles names 'the boss', which cannot be a Cognito group"),
        ({"api_prefix": "/~ops"}, {}, "api_prefix is '/~ops'; API Gateway's paths allow no ~"),
        ({}, {"user_pool_id": "people"}, "user_pool_id is 'people'; allowed is a pool's id"),
        (
            {"console_url": CONSOLE},
            {"sign_in": "my-aws"},
            "sign_in is 'my-aws'; allowed for the stack's own pool are lower-case letters",
        ),
        (
            {},
            {"sign_in": "acme", "api": "people"},
            "api is 'people' and console_url is empty",
        ),
        ({}, {"user_pool_id": "eu-west-1_aB3"}, r"sign_in is empty; .*https://.*, or .* api=people"),
        ({}, {"sign_in": "https://a.example.com"}, "allowed for the stack's own pool are lower-case letters"),
        (
            {},
            {"user_pool_id": "eu-west-1_aB3", "sign_in": "https://a.example.com/"},
            "sign_in is 'https://a.example.com/'; allowed for the pool 'eu-west-1_aB3' is an origin",
        ),
        ({"api_prefix": "/assets/v1"}, {}, "api_prefix is '/assets/v1', but the console uses /assets"),
        (
            {"console_url": CONSOLE},
            {"sign_in": "acme", "user_pool_id": "eu-west-1_aB3"},
            "sign_in is 'acme'; allowed for the pool 'eu-west-1_aB3' is an origin",
        ),
    ],
)
def test_settings_of_the_api_that_contradict_each_other_or_aws_are_rejected(settings, deployment, problem):
    with pytest.raises(SettingsError, match=problem):
        stack(settings=Settings(**settings), deployment=Deployment(**deployment))
