"""A REST API of API Gateway's: who it lets through, how much at once, and what it logs."""

from __future__ import annotations

import json

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

_SENT = ("Authorization", "Content-Type", "Idempotency-Key")
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


class Gateway(Construct):
    """One REST API before a function: all under the prefix goes there, guarded but for what is open.

    Pages of `origin` may call it; of none where that is empty. `who` is what a log line tells of the caller.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        function: lambda_.Function,
        guard: apigateway.MethodOptions,
        *,
        name: str,
        prefix: str,
        who: str,
        origin: str = "",
        deployment: Deployment,
    ) -> None:
        super().__init__(scope, construct_id)
        self._origin = origin
        lines = log_group(self, f"/aws/apigateway/{name}", days=deployment.log_days)
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            description=f"duetime: the admin API for {construct_id.lower()}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            cloud_watch_role=False,
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE,
                throttling_rate_limit=deployment.api_rate,
                throttling_burst_limit=deployment.api_burst,
                access_log_destination=apigateway.LogGroupLogDestination(lines),
                access_log_format=apigateway.AccessLogFormat.custom(json.dumps({**_LINE, "who": who})),
                logging_level=apigateway.MethodLoggingLevel.OFF,
                data_trace_enabled=False,
                tracing_enabled=False,
            ),
        )
        self.api.node.try_remove_child("Endpoint")  # CDK's own output; the stack tells the whole URL
        self._serve(function, guard, prefix)
        refuse(self.api, origin)
        self.url = f"{self.api.url_for_path('/')}{prefix.removeprefix('/')}"
        self.arn = self.api.arn_for_execute_api("*", f"{prefix}/*", STAGE)
        """What one calls who may call it."""
        for rule, reason in _LEFT_TO_OTHERS.items():
            accept(self.api if rule in _OF_THE_API else self.api.deployment_stage, rule, reason)

    def _serve(self, function: lambda_.Function, guard: apigateway.MethodOptions, prefix: str) -> None:
        called = apigateway.LambdaIntegration(
            function, allow_test_invoke=False, scope_permission_to_method=False
        )
        under = self.api.root.resource_for_path(prefix)
        for each in OPEN:
            path = under.add_resource(each)
            method = path.add_method("GET", called)
            for rule in ("AwsSolutions-APIG4", "AwsSolutions-COG4"):
                accept(
                    method, rule, "It tells nothing of any tenant, and monitors and clients have no sign-in."
                )
            self._let_pages_call(path)
        everything = under.add_resource("{proxy+}")
        self.guarded = everything.add_method(
            "ANY", called, authorization_type=guard.authorization_type, authorizer=guard.authorizer
        )
        self._let_pages_call(everything)

    def _let_pages_call(self, path: apigateway.Resource) -> None:
        if self._origin:
            asked = path.add_cors_preflight(
                allow_origins=[self._origin], allow_methods=list(_METHODS), allow_headers=list(_SENT)
            )
            for rule in ("AwsSolutions-APIG4", "AwsSolutions-COG4"):
                accept(
                    asked, rule, "A browser asks beforehand, without any sign-in; API Gateway answers itself."
                )


_OF_THE_API = frozenset({"AwsSolutions-APIG2"})
_LEFT_TO_OTHERS = {
    "AwsSolutions-APIG2": "The function validates each request, and tells every flaw of it.",
    "AwsSolutions-APIG3": "A firewall is paid by the rule; it is the user's to attach to the stage.",
    "AwsSolutions-APIG6": "Such logs hold query strings and headers; the access log tells each request without them.",
}
