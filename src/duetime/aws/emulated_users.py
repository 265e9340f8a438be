"""Users of an emulator of AWS: of a Cognito pool, with an ID token, and of IAM, with an access key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import boto3

from duetime.aws.faults import translate_errors


class PoolUsers:
    """The users of one pool. Every method may raise `BackendMisconfigured`."""

    def __init__(self, pool_id: str, client_id: str, *, endpoint: str, region: str) -> None:
        self._pool, self._client_id = pool_id, client_id
        self._client = _client("cognito-idp", endpoint, region)

    def add(self, email: str, password: str, *, tenant: str, groups: Sequence[str]) -> None:
        """Add a user of a tenant with a permanent password."""
        attributes = {"email": email, "email_verified": "true", "custom:tenant_id": tenant}
        user = {"UserPoolId": self._pool, "Username": email}
        with translate_errors("Amazon Cognito"):
            self._client.admin_create_user(
                **user,
                UserAttributes=[{"Name": name, "Value": value} for name, value in attributes.items()],
                MessageAction="SUPPRESS",
            )
            self._client.admin_set_user_password(**user, Password=password, Permanent=True)
            for group in groups:
                self._client.admin_add_user_to_group(**user, GroupName=group)

    def id_token(self, email: str, password: str) -> str:
        """Return an ID token, which is valid for an hour."""
        with translate_errors("Amazon Cognito"):
            result = self._client.admin_initiate_auth(
                UserPoolId=self._pool,
                ClientId=self._client_id,
                AuthFlow="ADMIN_USER_PASSWORD_AUTH",
                AuthParameters={"USERNAME": email, "PASSWORD": password},
            )
        return str(result["AuthenticationResult"]["IdToken"])


@dataclass(frozen=True, slots=True)
class IamUser:
    """A user who signs requests.

    Attributes:
        arn: as the setting `identities` names the user.
        key_id: of the access key.
        secret: of the access key.
    """

    arn: str
    key_id: str
    secret: str = field(repr=False)

    @classmethod
    def create(cls, name: str, *, endpoint: str, region: str) -> Self:
        """Create a user without rights.

        Raises:
            BackendMisconfigured: IAM rejects the call.
        """
        client = _client("iam", endpoint, region)
        with translate_errors("IAM"):
            arn = client.create_user(UserName=name)["User"]["Arn"]
            key = client.create_access_key(UserName=name)["AccessKey"]
        return cls(arn, key["AccessKeyId"], key["SecretAccessKey"])


def _client(service: Any, endpoint: str, region: str) -> Any:
    """Return a client of the emulator, which takes any credentials."""
    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name=region,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - see above
    )
