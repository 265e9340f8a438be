"""Signature version 4 for API Gateway, with the AWS credentials of the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from duetime.errors import OperationFailed

_SERVICE = "execute-api"
_REGION = re.compile(r"https://[^./]+\.execute-api\.([a-z0-9-]+)\.")


def signed(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, region: str | None = None
) -> dict[str, str]:
    """Return the headers of a request with its signature.

    Args:
        method: the HTTP method.
        url: the full URL, quoted.
        headers: the request's headers.
        body: the request's body, if any.
        region: the API's region; by default from the URL, or else from the AWS settings.

    Raises:
        OperationFailed: the credentials are missing or cannot be loaded, or no region is known.
    """
    request = AWSRequest(method, url, headers=dict(headers), data=body)
    try:
        session = Session()
        credentials = session.get_credentials()
        where = region or _region_in(url) or session.get_config_variable("region")
        if credentials is None:
            raise OperationFailed(
                "there are no AWS credentials to sign with; sign in to AWS, or pass a token"
            )
        if where is None:
            raise OperationFailed("the URL contains no AWS region; pass --region, or set AWS_REGION")
        SigV4Auth(credentials.get_frozen_credentials(), _SERVICE, where).add_auth(request)
    except BotoCoreError as error:
        raise OperationFailed(
            f"the AWS credentials cannot be loaded ({error}); sign in to AWS again"
        ) from None
    return dict(request.headers.items())


def _region_in(url: str) -> str | None:
    found = _REGION.match(url)
    return found and found[1]
