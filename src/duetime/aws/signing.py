"""Signature version 4 for API Gateway, with whatever AWS credentials the machine has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.exceptions import BotoCoreError
from botocore.session import Session

from duetime.errors import DuetimeError

_SERVICE = "execute-api"
_REGION = re.compile(r"https://[^./]+\.execute-api\.([a-z0-9-]+)\.")


class NotSigned(DuetimeError, RuntimeError):
    """There is nothing to sign with, or no region to sign for."""

    code = "not-signed"


def signed(
    method: str, url: str, headers: Mapping[str, str], body: bytes | None, *, region: str | None = None
) -> dict[str, str]:
    """The headers of a request, and those that sign it.

    Args:
        method: the request's.
        url: in full, quoted as it is sent.
        headers: those that are sent.
        body: what is sent, if anything.
        region: the API's; by default the one that the URL names, or else the AWS settings.

    Raises:
        NotSigned: there are no credentials, or they cannot be had; or no region is known.
    """
    request = AWSRequest(method, url, headers=dict(headers), data=body)
    try:
        session = Session()
        credentials = session.get_credentials()
        where = region or _region_in(url) or session.get_config_variable("region")
        if credentials is None:
            raise NotSigned("there are no AWS credentials to sign with; sign in to AWS, or say a token")
        if where is None:
            raise NotSigned("the URL names no AWS region to sign for; say --region, or AWS_REGION")
        SigV4Auth(credentials.get_frozen_credentials(), _SERVICE, where).add_auth(request)
    except BotoCoreError as error:
        raise NotSigned(f"the AWS credentials cannot be had ({error}); sign in to AWS again") from None
    return dict(request.headers.items())


def _region_in(url: str) -> str | None:
    found = _REGION.match(url)
    return found and found[1]
