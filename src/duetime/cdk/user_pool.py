"""The users of the API: a Cognito user pool, its groups, and the client with which the console signs in.

Users cannot sign up. An admin creates each user with a tenant, and adds the user to groups, which are roles.
"""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration, Fn, RemovalPolicy, Resource, Stack
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from duetime.api.authenticator import EVERYONE
from duetime.cdk.deployment import Deployment
from duetime.cdk.region import in_govcloud
from duetime.cdk.rules import accept
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
