"""The admin API: the function that serves it, and two REST APIs before it, since API Gateway takes one authorizer a method.

People come with an ID token of the user pool; services sign their requests, and the settings' `identities` know them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from duetime.cdk.api_rights import let_serve
from duetime.cdk.bundle import Bundle
from duetime.cdk.console import Console
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.gateway import Gateway, GatewayPurpose
from duetime.cdk.gateway_logs import GatewayLogs
from duetime.cdk.handlers import Handlers
from duetime.cdk.rules import accept
from duetime.cdk.tables import Tables
from duetime.cdk.user_pool import Users
from duetime.environment import RUNBOOK, ConsoleEnvironment
from duetime.settings import Settings

_TIMEOUT = timedelta(seconds=29)
"""API Gateway waits no longer."""


class Api(Construct):
    """The admin API of all workers: their payload models say what may be scheduled."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        handlers: Sequence[Handlers],
        *,
        tables: Tables,
        failures: sqs.Queue,
        settings: Settings,
        deployment: Deployment,
        topic_arn: str = "",
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings = replace(settings, topic_arn=topic_arn)
        self._deployment = deployment
        self.users = Users(self, "Users", settings=settings, deployment=deployment)
        self.function = self._function(handlers, tables, failures).function
        self.people = self._for_people()
        self.services = self._for_services()
        self.client = self.users.add_client(f"{settings.prefix}console", addresses=self._addresses)
        self.console = self._console() if deployment.console else None
        if deployment.api_log_role:
            account = GatewayLogs(self, "GatewayLogs").account
            for each in (self.people, self.services):
                each.api.deployment_stage.node.add_dependency(account)

    @property
    def console_url(self) -> str:
        """Where people reach the console, without a slash at the end; empty where there is none."""
        return self._settings.console_url or (self.people.address if self._deployment.console else "")

    @property
    def _addresses(self) -> list[str]:
        """The console's, as a browser has them: here, and where the settings say that it is."""
        here = [self.people.address] if self._deployment.console else []
        there = [self._settings.console_url] if self._settings.console_url else []
        return [f"{each}/" for each in (*here, *there)]

    def _console(self) -> Console:
        place = ConsoleEnvironment(
            api_prefix=self._settings.api_prefix,
            sign_in_url=self.users.sign_in_url,
            sign_in_issuer=self.users.issuer,
            sign_in_client=self.client.user_pool_client_id,
        )
        name = f"{self._settings.prefix}console"
        return Console(self, "Console", name, place, people=self.people, deployment=self._deployment)

    def grant_call(self, grantee: iam.IGrantable) -> None:
        """Let a function or a role sign requests; whom it then is, the settings' `identities` say."""
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["execute-api:Invoke"],
            resource_arns=[self.services.arn],
        )

    def _function(self, handlers: Sequence[Handlers], tables: Tables, failures: sqs.Queue) -> DuetimeFunction:
        apps = " ".join(handler.app for handler in handlers)
        mine = replace(self._settings, app=apps, failure_queue=failures.queue_url)
        there = self._deployment.chosen_runbook
        duty = FunctionSpec(
            name=f"{mine.prefix}api",
            about="serves the admin API",
            entry="api",
            timeout=_TIMEOUT,
            environment=mine.to_env() | ({RUNBOOK: there} if there else {}),
            rights=let_serve(tables, failures.queue_arn),
        )
        code = Bundle.of(self._deployment, *handlers, has_api=True).code()
        return DuetimeFunction(self, "Serve", duty, code, self._deployment)

    def _for_people(self) -> Gateway:
        """Each token is verified anew: what is kept of an authorizer's answer would outlast the token."""
        authorizer = apigateway.CognitoUserPoolsAuthorizer(
            self,
            "Authorizer",
            cognito_user_pools=[self.users.pool],
            results_cache_ttl=Duration.seconds(0),
        )
        guard = apigateway.MethodOptions(
            authorization_type=apigateway.AuthorizationType.COGNITO, authorizer=authorizer
        )
        origin, who = self._settings.console_origin, "$context.authorizer.claims.sub"
        return self._gateway("People", guard=guard, who=who, origin=origin, compresses=True)

    def _for_services(self) -> Gateway:
        """No page of a browser signs requests, so none may call it."""
        guard = apigateway.MethodOptions(authorization_type=apigateway.AuthorizationType.IAM)
        services = self._gateway("Services", guard=guard, who="$context.identity.userArn")
        accept(
            services.guarded, "AwsSolutions-COG4", "Services are no users of the pool; they sign with IAM."
        )
        return services

    def _gateway(
        self,
        construct_id: str,
        *,
        guard: apigateway.MethodOptions,
        who: str,
        origin: str = "",
        compresses: bool = False,
    ) -> Gateway:
        whose = construct_id.lower()
        front = GatewayPurpose(
            name=f"{self._settings.prefix}api-{whose}",
            about=f"the admin API for {whose}",
            prefix=self._settings.api_prefix,
            guard=guard,
            who=who,
            origin=origin,
            compresses=compresses,
        )
        return Gateway(self, construct_id, front, function=self.function, deployment=self._deployment)
