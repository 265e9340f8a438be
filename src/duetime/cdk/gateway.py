"""A REST API of API Gateway's: who it lets through, how much at once, and what it logs."""

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
"""What everybody may read, under the prefix."""

_COMPRESSED = Size.kibibytes(1)
"""An answer of this size, or a larger one, is compressed for who asks for it."""
_SENT = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match")
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
"""One request: no header, no body, and no query string, which may hold what a correlation id tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPurpose:
    """What one REST API is for."""

    name: str
    about: str
    prefix: str
    """All under it goes to the function."""
    guard: apigateway.MethodOptions
    """Who is let through, but for what is open."""
    who: str
    """What a line of the log tells of the caller."""
    origin: str = ""
    """Whose pages may call it; none if empty."""
    compresses: bool = False


class Gateway(Construct):
    """One REST API before a function."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        front: GatewayPurpose,
        *,
        function: lambda_.Function,
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._front = front
        self.api = self._rest_api(deployment)
        self.address = _address(self.api)
        """Where its stage is, without a slash at the end. It waits for no method, so whoever serves one may know it."""
        self._serve(function)
        refuse(self.api, front.origin)
        self.url = f"{self.api.url_for_path('/')}{front.prefix.removeprefix('/')}"
        self.arn = self.api.arn_for_execute_api("*", f"{front.prefix}/*", STAGE)
        """What one calls who may call it."""
        accept(
            self.api, "AwsSolutions-APIG2", "The function validates each request, and tells every flaw of it."
        )
        for rule, reason in _LEFT_TO_OTHERS.items():
            accept(self.api.deployment_stage, rule, reason)

    def serve_openly(self, path: str, function: lambda_.Function, reason: str) -> None:
        """Have a function answer everybody who gets a path, which is not under the prefix."""
        at = self.api.root if path == "/" else self.api.root.resource_for_path(path)
        called = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        _accept_open(at.add_method("GET", called), reason)

    def _rest_api(self, deployment: Deployment) -> apigateway.RestApi:
        name, line = self._front.name, {**_LINE, "who": self._front.who}
        lines = log_group(self, f"/aws/apigateway/{name}", days=deployment.log_days)
        api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            description=f"duetime: {self._front.about}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            cloud_watch_role=False,
            min_compression_size=_COMPRESSED if self._front.compresses else None,
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
        api.node.try_remove_child("Endpoint")  # CDK's own output; the stack tells the whole URL
        return api

    def _serve(self, function: lambda_.Function) -> None:
        called = apigateway.LambdaIntegration(function, scope_permission_to_method=False)
        under = self.api.root.resource_for_path(self._front.prefix)
        for each in OPEN:
            path = under.add_resource(each)
            _accept_open(
                path.add_method("GET", called), "It tells nothing of any tenant; monitors have no sign-in."
            )
            self._let_pages_call(path)
        everything, guard = under.add_resource("{proxy+}"), self._front.guard
        self.guarded = everything.add_method(
            "ANY", called, authorization_type=guard.authorization_type, authorizer=guard.authorizer
        )
        self._let_pages_call(everything)

    def _let_pages_call(self, path: apigateway.Resource) -> None:
        if not self._front.origin:
            return
        asked = path.add_cors_preflight(
            allow_origins=[self._front.origin],
            allow_methods=list(_METHODS),
            allow_headers=list(_SENT),
            max_age=Duration.hours(1),
        )
        _accept_open(asked, "A browser asks beforehand, without any sign-in; API Gateway answers itself.")


def _address(api: apigateway.RestApi) -> str:
    here = Stack.of(api)
    return f"https://{api.rest_api_id}.execute-api.{here.region}.{here.url_suffix}/{STAGE}"


def _accept_open(method: apigateway.Method, reason: str) -> None:
    for rule in ("AwsSolutions-APIG4", "AwsSolutions-COG4"):
        accept(method, rule, reason)


_LEFT_TO_OTHERS = {
    "AwsSolutions-APIG3": "A firewall is paid by the rule; it is the user's to attach to the stage.",
    "AwsSolutions-APIG6": "Such logs hold query strings and headers; the access log tells each request without them.",
}
