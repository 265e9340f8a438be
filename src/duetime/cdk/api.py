"""The admin API: its function and two REST APIs, since API Gateway allows one authorizer for each method.

People send an ID token of the user pool. Services sign their requests; the setting `identities` maps them to
tenants. ``api=services`` omits the first API, the pool and the console.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from aws_cdk import ArnFormat, Duration, Fn, RemovalPolicy, Resource, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cognito as cognito
from aws_cdk import aws_iam as iam
from constructs import Construct

from duetime.api.authenticator import EVERYONE
from duetime.aws.tables import AUDIT, DUE, JOB_NAMES
from duetime.cdk.bundle import Bundle
from duetime.cdk.console import Console
from duetime.cdk.deployment import Deployment
from duetime.cdk.functions import DuetimeFunction, FunctionSpec
from duetime.cdk.gateway import OPEN, Gateway, GatewayLogs, GatewayPurpose
from duetime.cdk.handlers import Handlers
from duetime.cdk.hardening import WebAcl
from duetime.cdk.job_rights import JOBS, index
from duetime.cdk.region import in_govcloud
from duetime.cdk.resources import SharedResources
from duetime.cdk.rights import (
    BOOKMARKS,
    LIMITS,
    PAUSES,
    RUN_COUNTS,
    may,
    may_by_key,
    read_manifests,
    read_undelivered,
    send,
)
from duetime.cdk.rules import accept, accept_wildcard
from duetime.cdk.tables import Tables
from duetime.environment import PREFIX, RUNBOOK, WORKER_CONCURRENCY, ConsoleEnvironment
from duetime.settings import Settings

TENANT = "tenant_id"
"""The attribute that an ID token contains as ``custom:tenant_id``."""

_SIGNED_IN = Duration.hours(1)
_REMEMBERED = Duration.hours(12)


class Users(Construct):
    """A user pool of the stack, or an existing one, which has its own groups and sign-in pages."""

    def __init__(
        self, scope: Construct, construct_id: str, *, settings: Settings, deployment: Deployment
    ) -> None:
        super().__init__(scope, construct_id)
        self.sign_in_url = deployment.sign_in
        """The sign-in pages; empty if neither the deployment nor the stack provides them."""
        if deployment.user_pool_id:
            self.pool = cognito.UserPool.from_user_pool_id(self, "Pool", deployment.user_pool_id)
        else:
            self.pool = self._make_pool(
                f"{settings.prefix}users",
                keep=deployment.keep_data,
                second_factor=deployment.second_factor,
            )
            self._make_groups(settings, keep=deployment.keep_data)
            if deployment.sign_in or deployment.serves_console:
                self.sign_in_url = self._make_pages(deployment.sign_in, keep=deployment.keep_data)
        self.issuer = f"https://cognito-idp.{Stack.of(self).region}.amazonaws.com/{self.pool.user_pool_id}"
        """The issuer of the pool's tokens."""

    def _make_pool(self, name: str, *, keep: bool, second_factor: bool) -> cognito.IUserPool:
        email = cognito.StandardAttribute(required=True, mutable=True)
        pool = cognito.UserPool(
            self,
            "Pool",
            user_pool_name=name,
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            sign_in_case_sensitive=False,
            standard_attributes=cognito.StandardAttributes(email=email),
            custom_attributes={
                TENANT: cognito.StringAttribute(min_len=1, max_len=64, mutable=True),
            },
            keep_original=cognito.KeepOriginalAttrs(email=True),
            password_policy=cognito.PasswordPolicy(
                min_length=12,
                require_digits=True,
                require_lowercase=True,
                require_uppercase=True,
                require_symbols=True,
                temp_password_validity=Duration.days(3),
            ),
            mfa=cognito.Mfa.REQUIRED if second_factor else cognito.Mfa.OPTIONAL,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            deletion_protection=keep,
            removal_policy=RemovalPolicy.RETAIN if keep else RemovalPolicy.DESTROY,
        )
        for rule, reason in _LEFT_TO_THE_POOLS_OWNER.items():
            accept(pool, rule, reason)
        return pool

    def _make_groups(self, settings: Settings, *, keep: bool) -> None:
        for role in sorted({*settings.roles, settings.required_role} - {EVERYONE, ""}):
            group = cognito.UserPoolGroup(
                self,
                f"Group-{role}",
                user_pool=self.pool,
                group_name=role,
                description=settings.roles.get(role, "users who may call the API"),
            )
            _keep_beside_the_pool(group, keep=keep)

    def _make_pages(self, prefix: str, *, keep: bool) -> str:
        """Create Cognito's classic sign-in pages, which need no branding, and return their URL.

        GovCloud serves them at FIPS endpoints only. The default prefix is permanent and unique to the stack:
        the last part of the stack's id is a UUID.
        """
        prefix = prefix or f"duetime-{Fn.select(2, Fn.split('/', Stack.of(self).stack_id))}"
        domain = self.pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(domain_prefix=prefix),
            managed_login_version=cognito.ManagedLoginVersion.CLASSIC_HOSTED_UI,
        )
        _keep_beside_the_pool(domain, keep=keep)
        return in_govcloud(self, domain.base_url(fips=True), otherwise=domain.base_url())

    def add_client(self, name: str, *, addresses: Sequence[str]) -> cognito.UserPoolClient:
        """Add a client without a secret: codes need a proof (PKCE), and the console's addresses.

        A user may change only the e-mail address, which must then be verified, and never the tenant. The only
        scope is ``openid``: an ID token then contains all attributes that the client may read. With a second
        scope it contains only that scope's attributes, which never include the tenant.

        Args:
            name: the client's.
            addresses: the pages after signing in and out; without any, there is no sign-in through pages.
        """
        signs_in = cognito.OAuthSettings(
            flows=cognito.OAuthFlows(authorization_code_grant=True),
            scopes=[cognito.OAuthScope.OPENID],
            callback_urls=list(addresses),
            logout_urls=list(addresses),
        )
        may_know = cognito.ClientAttributes().with_standard_attributes(email=True, email_verified=True)
        return cognito.UserPoolClient(
            self,
            "Client",
            user_pool=self.pool,
            user_pool_client_name=name,
            generate_secret=False,
            auth_flows=cognito.AuthFlow(user_srp=True, admin_user_password=True),
            disable_o_auth=not addresses,
            o_auth=signs_in if addresses else None,
            supported_identity_providers=[cognito.UserPoolClientIdentityProvider.COGNITO],
            read_attributes=may_know.with_custom_attributes(TENANT),
            write_attributes=cognito.ClientAttributes().with_standard_attributes(email=True),
            id_token_validity=_SIGNED_IN,
            access_token_validity=_SIGNED_IN,
            refresh_token_validity=_REMEMBERED,
            enable_token_revocation=True,
            prevent_user_existence_errors=True,
        )


def _keep_beside_the_pool(part: Resource, *, keep: bool) -> None:
    """Retain a group or the sign-in pages with the pool: a later stack uses the pool as it was.

    The policy deletes them if the deploy that creates them fails.
    """
    if keep:
        part.apply_removal_policy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)


_LEFT_TO_THE_POOLS_OWNER = {
    "AwsSolutions-COG2": "A second factor is each user's choice; the setting second_factor requires it.",
    "AwsSolutions-COG8": "Threat protection is a Cognito plan billed by user; it is the pool owner's choice.",
}


GRANTS = "*#grants"
ENTRIES = "*#audit#*"
"""Partitions of the audit trail."""
PREFERENCES = "*#preferences"
INBOXES = "*#inbox"
"""Partitions of tenants' lists of notifications."""


def let_serve(tables: Tables, failures: str, worker_logs: str) -> list[iam.PolicyStatement]:
    """Allow the calls of the routes. Of queues they only request redrives and count waiting failures.

    `worker_logs` is the pattern of the workers' log groups, of which they search the lines of one action.
    """
    jobs = tables.jobs.table_arn
    rows = ("PutItem", "GetItem", "UpdateItem", "ConditionCheckItem", "BatchGetItem", "Query")
    reads = ("dynamodb:Query", "dynamodb:BatchGetItem")
    return [
        may(*(f"dynamodb:{call}" for call in rows), on=tables.actions.table_arn),
        may("dynamodb:Query", on=[tables.index_arn(DUE.name), *tables.tenant_indexes]),
        may_by_key(*reads, "dynamodb:PutItem", "dynamodb:UpdateItem", on=jobs, keys=JOBS),
        may("dynamodb:Query", on=index(jobs, JOB_NAMES.name)),
        read_manifests(jobs),
        may_by_key("dynamodb:GetItem", on=jobs, keys=[BOOKMARKS]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", on=jobs, keys=[GRANTS]),
        may_by_key(*reads, "dynamodb:PutItem", on=jobs, keys=[ENTRIES]),  # entries are never deleted
        may("dynamodb:Query", on=index(jobs, AUDIT.name)),
        may_by_key("dynamodb:GetItem", "dynamodb:PutItem", on=jobs, keys=[PREFERENCES]),
        may_by_key("dynamodb:Query", "dynamodb:GetItem", "dynamodb:UpdateItem", on=jobs, keys=[INBOXES]),
        may_by_key("dynamodb:Query", on=jobs, keys=[RUN_COUNTS]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", on=jobs, keys=[PAUSES]),
        may_by_key("dynamodb:Query", "dynamodb:PutItem", "dynamodb:DeleteItem", on=jobs, keys=[LIMITS]),
        read_undelivered(jobs),
        send(failures),
        may("sqs:GetQueueAttributes", on=failures),
        may("logs:FilterLogEvents", on=worker_logs),
    ]


_APP = f"{PREFIX}APP"
_TIMEOUT = timedelta(seconds=29)
"""The time-out of API Gateway."""


class Api(Construct):
    """The admin API of all workers. It validates payloads with their models."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        handlers: Sequence[Handlers],
        resources: SharedResources,
        *,
        topic_arn: str,
        console_page: Path,
    ) -> None:
        super().__init__(scope, construct_id)
        self._settings = settings = replace(resources.settings, topic_arn=topic_arn)
        self._deployment = deployment = resources.deployment
        self.users: Users | None = None
        self.people: Gateway | None = None
        self.client: cognito.UserPoolClient | None = None
        self.console: Console | None = None
        self._serve = self._function(handlers, resources)
        self.function = self._serve.function
        if deployment.serves_people:
            users = self.users = Users(self, "Users", settings=settings, deployment=deployment)
            people = self.people = self._for_people(users)
            addresses = self._addresses(people)
            client = self.client = users.add_client(f"{settings.prefix}console", addresses=addresses)
            if deployment.serves_console:
                self.console = self._console(people, users, client, console_page)
        self.services = self._for_services()
        gateways = [gateway for gateway in (self.people, self.services) if gateway is not None]
        if deployment.web_acl:
            stages = [gateway.api.deployment_stage for gateway in gateways]
            name, acl = f"{settings.prefix}api", deployment.web_acl
            WebAcl(self, "WebAcl", name=name, web_acl=acl, stages=stages)
        if deployment.api_log_role is True:
            account = GatewayLogs(self, "GatewayLogs").account
            for gateway in gateways:
                gateway.api.deployment_stage.node.add_dependency(account)

    def read_also(self, app: str) -> None:
        """Read the payloads of an app that was unknown when the function was created."""
        self._serve.add_environment(_APP, f"{self._serve.variables[_APP]} {app}")

    @property
    def console_url(self) -> str:
        """The console's address, without a slash at the end; empty without a console."""
        here = self.people.address if self.people and self._deployment.serves_console else ""
        return self._settings.console_url or here

    def _addresses(self, people: Gateway) -> list[str]:
        """Return the console's addresses in a browser: of this stack, and of the settings."""
        here = [people.address] if self._deployment.serves_console else []
        there = [self._settings.console_url] if self._settings.console_url else []
        return [f"{address}/" for address in (*here, *there)]

    def _console(self, people: Gateway, users: Users, client: cognito.UserPoolClient, page: Path) -> Console:
        environment = ConsoleEnvironment(
            api_prefix=self._settings.api_prefix,
            sign_in_url=users.sign_in_url,
            sign_in_issuer=users.issuer,
            sign_in_client=client.user_pool_client_id,
            runbook=self._deployment.runbook,
        )
        name = f"{self._settings.prefix}console"
        return Console(
            self, "Console", name, environment, people=people, deployment=self._deployment, page=page
        )

    def grant_call(self, grantee: iam.IGrantable) -> None:
        """Let a function or a role sign requests. The setting `identities` maps it to a tenant and roles."""
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["execute-api:Invoke"],
            resource_arns=[self.services.arn],
        )

    def _function(self, handlers: Sequence[Handlers], resources: SharedResources) -> DuetimeFunction:
        apps, failures = " ".join(handler.app for handler in handlers), resources.failures
        mine = replace(self._settings, app=apps).with_made(failure_queue=failures.queue_url)
        runbook, worker_logs = self._deployment.runbook, self._worker_logs()
        spec = FunctionSpec(
            name=f"{mine.prefix}api",
            about="serves the admin API",
            entry="api",
            timeout=_TIMEOUT,
            environment={
                **mine.to_env(),
                WORKER_CONCURRENCY: str(self._deployment.worker_concurrency),
                **({RUNBOOK: runbook} if runbook else {}),
            },
            rights=let_serve(resources.tables, failures.queue_arn, worker_logs),
        )
        code = Bundle.for_deployment(self._deployment, *handlers, has_api=True).code()
        function = DuetimeFunction(self, "Serve", spec, code, self._deployment)
        accept_wildcard(function.role, worker_logs, "Log groups of workers that are added later.")
        return function

    def _worker_logs(self) -> str:
        """Return the pattern of the log groups of all workers, also of those that are added later."""
        return Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/aws/lambda/{self._settings.prefix}work-*",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

    def _for_people(self, users: Users) -> Gateway:
        """Create the API for people. Every token is verified: a cached result would outlast the token."""
        authorizer = apigateway.CognitoUserPoolsAuthorizer(
            self,
            "Authorizer",
            cognito_user_pools=[users.pool],
            results_cache_ttl=Duration.seconds(0),
        )
        guard = apigateway.MethodOptions(
            authorization_type=apigateway.AuthorizationType.COGNITO, authorizer=authorizer
        )
        origin, who = self._settings.console_origin, "$context.authorizer.claims.sub"
        return self._gateway("People", guard=guard, who=who, origin=origin)

    def _for_services(self) -> Gateway:
        """Create the API for services. No page may call it, since no page signs requests."""
        guard = apigateway.MethodOptions(authorization_type=apigateway.AuthorizationType.IAM)
        services = self._gateway("Services", guard=guard, who="$context.identity.userArn")
        accept(
            services.guarded, "AwsSolutions-COG4", "Services are not users of the pool; they sign with IAM."
        )
        return services

    def _gateway(
        self,
        construct_id: str,
        *,
        guard: apigateway.MethodOptions,
        who: str,
        origin: str = "",
    ) -> Gateway:
        audience = construct_id.lower()
        purpose = GatewayPurpose(
            name=f"{self._settings.prefix}api-{audience}",
            about=f"the admin API for {audience}",
            prefix=self._settings.api_prefix,
            guard=guard,
            who=who,
            origin=origin,
            public_paths=OPEN if self._deployment.public_paths else (),
            has_open_hand_overs=self._deployment.open_hand_overs,
        )
        return Gateway(self, construct_id, purpose, function=self.function, deployment=self._deployment)
