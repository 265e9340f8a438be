"""A REST API of API Gateway: its callers, its limits and its access log."""

from __future__ import annotations

import json
from dataclasses import dataclass

from aws_cdk import Duration, Size, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from duetime.cdk.deployment import Deployment
from duetime.cdk.gateway_refusals import refuse
from duetime.cdk.log_group import log_group
from duetime.cdk.rules import accept

STAGE = "prod"
OPEN = ("health", "openapi.json")
"""The public paths under the prefix."""

_COMPRESSED = Size.kibibytes(1)
"""Responses of at least this size are compressed if the client accepts it."""
_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match")
_METHODS = ("DELETE", "GET", "PATCH", "POST", "PUT")

_LINE = {
    "requestId": "$context.requestId",
    "at": "$context.requestTimeEpoch",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "refusal": "$context.error.responseType",
    "ms": "$context.responseLatency",
    "bytes": "$context.responseLength",
    "address": "$context.identity.sourceIp",
}
"""A line for each request, without headers, body or query string, which may contain sensitive values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPurpose:
    """The purpose of one REST API."""

    name: str
    about: str
    prefix: str
    """The function serves every path under it."""
    guard: apigateway.MethodOptions
    """The authorization of all paths that are not public."""
    who: str
    """The caller in a line of the log."""
    origin: str = ""
    """The origin of pages that may call the API; empty for none."""
    compresses: bool = False


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
        self._purpose = purpose
        self.api = self._rest_api(deployment)
        self.address = _address(self.api)
        """The stage's address, without a slash at the end. It depends on no method: functions may use it."""
        self._serve(function)
        refuse(self.api, purpose.origin)
        self.url = f"{self.api.url_for_path('/')}{purpose.prefix.removeprefix('/')}"
        self.arn = self.api.arn_for_execute_api("*", f"{purpose.prefix}/*", STAGE)
        """The ARN of the paths that authorized callers may call."""
        accept(
            self.api, "AwsSolutions-APIG2", "The function validates each request, and lists all its problems."
        )
        for rule, reason in _ACCEPTED.items():
            accept(self.api.deployment_stage, rule, reason)

    def serve_openly(self, path: str, function: lambda_.Function, reason: str) -> None:
        """Let a function serve GET requests for a public path outside the prefix."""
        resource = self.api.root if path == "/" else self.api.root.resource_for_path(path)
        integration = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        _accept_open(resource.add_method("GET", integration), reason)

    def _rest_api(self, deployment: Deployment) -> apigateway.RestApi:
        name, line = self._purpose.name, {**_LINE, "who": self._purpose.who}
        lines = log_group(self, f"/aws/apigateway/{name}", days=deployment.log_days)
        api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            description=f"duetime: {self._purpose.about}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            cloud_watch_role=False,
            min_compression_size=_COMPRESSED if self._purpose.compresses else None,
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE,
                throttling_rate_limit=deployment.api_rate,
                throttling_burst_limit=deployment.api_burst,
                access_log_destination=apigateway.LogGroupLogDestination(lines),
                access_log_format=apigateway.AccessLogFormat.custom(json.dumps(line)),
                logging_level=apigateway.MethodLoggingLevel.OFF,
                data_trace_enabled=False,
                tracing_enabled=False,
            ),
        )
        api.node.try_remove_child("Endpoint")  # CDK's own output; the stack outputs the complete URL
        return api

    def _serve(self, function: lambda_.Function) -> None:
        integration = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        under = self.api.root.resource_for_path(self._purpose.prefix)
        for name in OPEN:
            path = under.add_resource(name)
            _accept_open(
                path.add_method("GET", integration), "It has no data of any tenant; monitors cannot sign in."
            )
            self._let_pages_call(path)
        everything, guard = under.add_resource("{proxy+}"), self._purpose.guard
        self.guarded = everything.add_method(
            "ANY", integration, authorization_type=guard.authorization_type, authorizer=guard.authorizer
        )
        self._let_pages_call(everything)

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


def _address(api: apigateway.RestApi) -> str:
    here = Stack.of(api)
    return f"https://{api.rest_api_id}.execute-api.{here.region}.{here.url_suffix}/{STAGE}"


def _accept_open(method: apigateway.Method, reason: str) -> None:
    for rule in ("AwsSolutions-APIG4", "AwsSolutions-COG4"):
        accept(method, rule, reason)


_ACCEPTED = {
    "AwsSolutions-APIG3": "A firewall is billed by rule; users can attach one to the stage.",
    "AwsSolutions-APIG6": "Such logs contain query strings and headers; the access log has none of them.",
}
