"""A REST API of API Gateway: its callers, its limits, its refusals and its access log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Annotations, Duration, RemovalPolicy, Size, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.api.problems import MEDIA_TYPE, TYPE_PREFIX
from duetime.cdk.deployment import Deployment
from duetime.cdk.log_group import log_group
from duetime.cdk.rules import accept

PUBLIC_RATE = 10
"""Requests a second that each public path allows; twice as many at once."""

STAGE = "prod"
OPEN = ("health", "openapi.json")
"""The public paths under the prefix."""

_COMPRESSED = Size.kibibytes(1)
"""Responses of at least this size are compressed if the client accepts it."""
_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match")
_LOG_POLICY = "service-role/AmazonAPIGatewayPushToCloudWatchLogs"
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")

_LINE = {
    "requestId": "$context.requestId",
    "at": "$context.requestTimeEpoch",
    "method": "$context.httpMethod",
    "route": "$context.resourcePath",
    "status": "$context.status",
    "refusal": "$context.error.responseType",
    "ms": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "address": "$context.identity.sourceIp",
}
"""A line for each request, without headers, body, query string or path, which may contain sensitive values.

The path of a hand-over has its token, a right by itself. The route has a placeholder instead.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPurpose:
    """The purpose of one REST API.

    Attributes:
        name: its name.
        about: its description.
        prefix: the function serves every path under it.
        public_paths: the paths under the prefix that need no credentials.
        has_open_hand_overs: whether the paths of hand-overs need none: the token in the path is the right.
        guard: the authorization of all paths that are not public.
        who: the caller in a line of the log.
        origin: the origin of pages that may call the API; empty for none.
    """

    name: str
    about: str
    prefix: str
    guard: apigateway.MethodOptions
    who: str
    origin: str = ""
    public_paths: Sequence[str] = OPEN
    has_open_hand_overs: bool = False


class Gateway(Construct):
    """One REST API before a function."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        purpose: GatewayPurpose,
        *,
        function: lambda_.Function,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._purpose, self._limits = purpose, 0
        self.api = self._rest_api(deployment)
        here = Stack.of(self)
        self.address = f"https://{self.api.rest_api_id}.execute-api.{here.region}.{here.url_suffix}/{STAGE}"
        """The stage's address, without a slash at the end. It depends on no method: functions may use it."""
        self._serve(function)
        _refuse(self.api, purpose.origin)
        self.url = f"{self.api.url_for_path('/')}{purpose.prefix.removeprefix('/')}"
        self.arn = self.api.arn_for_execute_api("*", f"{purpose.prefix}/*", STAGE)
        """The ARN of the paths that authorized callers may call."""
        accept(
            self.api, "AwsSolutions-APIG2", "The function validates each request, and lists all its problems."
        )
        for rule, reason in _ACCEPTED.items():
            accept(self.api.deployment_stage, rule, reason)
        if deployment.api_log_role == "none":
            accept(self.api.deployment_stage, "AwsSolutions-APIG1", "The deployment chose no access log.")

    def serve_openly(self, path: str, function: lambda_.Function, reason: str) -> None:
        """Let a function serve GET requests for a public path outside the prefix."""
        resource = self.api.root if path == "/" else self.api.root.resource_for_path(path)
        integration = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        _accept_open(resource.add_method("GET", integration), reason)
        self._limit(path, "GET")

    def _limit(self, path: str, method: str) -> None:
        """Limit requests without credentials, so that they use up no other path's limit."""
        self._limits += 1
        setting = {
            "ResourcePath": "/" + path.replace("/", "~1") if path != "/" else path,
            "HttpMethod": method,
            "ThrottlingRateLimit": PUBLIC_RATE,
            "ThrottlingBurstLimit": 2 * PUBLIC_RATE,
            "LoggingLevel": "OFF",
            "DataTraceEnabled": False,
        }
        stage = self.api.deployment_stage.node.default_child
        assert isinstance(stage, apigateway.CfnStage)  # noqa: S101 - the construct's own resource
        stage.add_property_override(f"MethodSettings.{self._limits}", setting)  # 0 is of all methods

    def _rest_api(self, deployment: Deployment) -> apigateway.RestApi:
        name, line = self._purpose.name, {**_LINE, "who": self._purpose.who}
        log: dict[str, Any] = {}
        if deployment.api_log_role != "none":
            lines = log_group(self, f"/aws/apigateway/{name}", days=deployment.log_days)
            log = {
                "access_log_destination": apigateway.LogGroupLogDestination(lines),
                "access_log_format": apigateway.AccessLogFormat.custom(json.dumps(line)),
            }
        api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            description=f"duetime: {self._purpose.about}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            cloud_watch_role=False,
            min_compression_size=_COMPRESSED,
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE,
                throttling_rate_limit=deployment.api_rate,
                throttling_burst_limit=2 * deployment.api_rate,
                logging_level=apigateway.MethodLoggingLevel.OFF,
                data_trace_enabled=False,
                tracing_enabled=False,
                **log,
            ),
        )
        api.node.try_remove_child("Endpoint")  # CDK's own output; the stack outputs the complete URL
        return api

    def _serve(self, function: lambda_.Function) -> None:
        integration = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        under = self.api.root.resource_for_path(self._purpose.prefix)
        for name in self._purpose.public_paths:
            path = under.add_resource(name)
            _accept_open(
                path.add_method("GET", integration), "It has no data of any tenant; monitors cannot sign in."
            )
            self._limit(f"{self._purpose.prefix}/{name}", "GET")
            self._let_pages_call(path)
        if self._purpose.has_open_hand_overs:
            self._serve_hand_overs(under, integration)
        everything, guard = under.add_resource("{proxy+}"), self._purpose.guard
        self.guarded = everything.add_method(
            "ANY", integration, authorization_type=guard.authorization_type, authorizer=guard.authorizer
        )
        self._let_pages_call(everything)

    def _serve_hand_overs(
        self, under: apigateway.Resource, integration: apigateway.LambdaIntegration
    ) -> None:
        path = under.add_resource("handovers").add_resource("{proxy+}")
        _accept_open(
            path.add_method("POST", integration),
            "The token in the path is the right; the function checks it.",
        )
        self._limit(path.path, "POST")

    def _let_pages_call(self, path: apigateway.Resource) -> None:
        if not self._purpose.origin:
            return
        preflight = path.add_cors_preflight(
            allow_origins=[self._purpose.origin],
            allow_methods=list(_METHODS),
            allow_headers=list(_HEADERS),
            max_age=Duration.hours(1),
        )
        _accept_open(preflight, "A browser sends it without credentials; API Gateway responds itself.")
        self._limit(path.path, "OPTIONS")


def _accept_open(method: apigateway.Method, reason: str) -> None:
    for rule in ("AwsSolutions-APIG4", "AwsSolutions-COG4"):
        accept(method, rule, reason)


_ACCEPTED = {
    "AwsSolutions-APIG3": "A firewall is billed by rule; the setting web_acl attaches one.",
    "AwsSolutions-APIG6": "Such logs contain query strings and headers; the access log has none of them.",
}

_Kind = apigateway.ResponseType

_REFUSALS = (
    (_Kind.UNAUTHORIZED, 401, "unauthenticated", "The ID token is missing, forged or has expired"),
    (_Kind.EXPIRED_TOKEN, 401, "unauthenticated", "The credentials that signed the request have expired"),
    (_Kind.INVALID_SIGNATURE, 401, "unauthenticated", "The request's signature is wrong"),
    (
        _Kind.MISSING_AUTHENTICATION_TOKEN,
        403,
        "forbidden",
        "The request is not signed, or the path does not exist",
    ),
    (_Kind.ACCESS_DENIED, 403, "forbidden", "The signer of the request may not call this API"),
    (_Kind.REQUEST_TOO_LARGE, 413, "body-too-large", "The body is too large"),
    (_Kind.THROTTLED, 429, "throttled", "Too many requests at once; retry after a second"),
    (_Kind.INTEGRATION_TIMEOUT, 504, "unavailable", "The API did not answer in time"),
)


def _refuse(api: apigateway.RestApi, origin: str) -> None:
    """Set an API's responses to rejected requests; pages of `origin` may read them."""
    headers = {"Content-Type": f"'{MEDIA_TYPE}'"}
    if origin:
        headers |= {"Access-Control-Allow-Origin": f"'{origin}'", "Vary": "'Origin'"}
    for kind, status, code, title in _REFUSALS:
        waits = {"Retry-After": "'1'"} if code == "throttled" else {}
        api.add_gateway_response(
            f"Refusal-{kind.response_type}",
            type=kind,
            status_code=str(status),
            response_headers=headers | waits,
            templates={"application/json": _document(status, code, title)},
        )


def _document(status: int, code: str, title: str) -> str:
    """Return the same members as `duetime.api.problems.problem_of`."""
    return json.dumps({"type": TYPE_PREFIX + code, "title": title, "status": status, "detail": title})


LOG_ROLE_WARNING = "duetime:api-log-role"
"""The id of the warning: `Annotations.acknowledge_warning` hides it."""

_LOG_ROLE = (
    "The first deploy sets the role in which all REST APIs of the account and region write logs, and replaces"
    " one that is set. `duetime deployment preflight` names it; the setting api_log_role=false keeps it"
)


class GatewayLogs(Construct):
    """The role, and the account's setting. Both remain after the stack, since other APIs may use them.

    AWS requires these rights. Narrower ones would stop the logs of other APIs.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        role = iam.Role(
            self,
            "Role",
            description="duetime: API Gateway writes the logs of this region's APIs",
            assumed_by=iam.ServicePrincipal("apigateway.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(_LOG_POLICY)],
        )
        role.apply_removal_policy(RemovalPolicy.RETAIN)
        accept(
            role,
            f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{_LOG_POLICY}]",
            "All APIs of the account use the role; AWS maintains its rights.",
        )
        self.account = apigateway.CfnAccount(self, "Account", cloud_watch_role_arn=role.role_arn)
        self.account.apply_removal_policy(RemovalPolicy.RETAIN)
        Annotations.of(self.account).add_warning_v2(LOG_ROLE_WARNING, _LOG_ROLE)
