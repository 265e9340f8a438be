"""A user of IAM with an access key, at an endpoint such as an emulator's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import boto3

from duetime.aws.faults import translate_errors

SERVICE = "IAM"


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
        client = boto3.client(
            "iam",
            endpoint_url=endpoint,
            region_name=region,
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - an emulator's
        )
        with translate_errors(SERVICE):
            arn = client.create_user(UserName=name)["User"]["Arn"]
            key = client.create_access_key(UserName=name)["AccessKey"]
        return cls(arn, key["AccessKeyId"], key["SecretAccessKey"])
