"""Users of a Cognito user pool: add one, and get its ID token."""

from __future__ import annotations

from collections.abc import Sequence

import boto3

from duetime.aws.faults import translate_errors

SERVICE = "Amazon Cognito"


class PoolUsers:
    """The users of one pool at an endpoint. Every method may raise `BackendMisconfigured`."""

    def __init__(self, pool_id: str, client_id: str, *, endpoint: str, region: str) -> None:
        self._pool, self._client_id = pool_id, client_id
        self._client = boto3.client(
            "cognito-idp",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - an emulator's
        )

    def add(self, email: str, password: str, *, tenant: str, groups: Sequence[str]) -> None:
        """Add a user of a tenant with a permanent password."""
        attributes = {"email": email, "email_verified": "true", "custom:tenant_id": tenant}
        with translate_errors(SERVICE):
            self._client.admin_create_user(
                UserPoolId=self._pool,
                Username=email,
                UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
                MessageAction="SUPPRESS",
            )
            self._client.admin_set_user_password(
                UserPoolId=self._pool, Username=email, Password=password, Permanent=True
            )
            for group in groups:
                self._client.admin_add_user_to_group(UserPoolId=self._pool, Username=email, GroupName=group)

    def id_token(self, email: str, password: str) -> str:
        """Return an ID token, which is valid for an hour."""
        with translate_errors(SERVICE):
            result = self._client.admin_initiate_auth(
                UserPoolId=self._pool,
                ClientId=self._client_id,
                AuthFlow="ADMIN_USER_PASSWORD_AUTH",
                AuthParameters={"USERNAME": email, "PASSWORD": password},
            )
        return str(result["AuthenticationResult"]["IdToken"])
