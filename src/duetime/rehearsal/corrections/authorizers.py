"""The authorizers of a REST API's methods, for an emulator that has none.

ministack passes a request to the function without checking its token or its signature. This module verifies
a token's signature, issuer, kind, audience and time, and passes its claims on as texts, as API Gateway does.
It computes a request's signature again and passes on the ARN of its key. It checks no policy for
``execute-api:Invoke``.
"""
# ruff: noqa: SLF001 - ministack has no public interface

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from ministack.core.responses import get_account_id
from ministack.services import apigateway_v1, cognito, iam, sts

from duetime.clock import SystemClock

_LONGEST = timedelta(minutes=5)
"""The greatest age of a signature."""

_UNAUTHENTICATED, _FORBIDDEN = 401, 403

_CLOCK = SystemClock()
_build_event = apigateway_v1._build_lambda_event_v1
_authorize = apigateway_v1._authorize_request_v1


class Rejected(Exception):
    """The authorizer's rejection; `answer` is the response of API Gateway."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.answer = apigateway_v1._gw_error(status, message)


async def authorized(*arguments: Any) -> Any:
    """Return the rejection, or the caller's data for the function."""
    api_id, stage, method_obj, method, path, _resource, headers, body, query, *_more = arguments
    try:
        match method_obj.get("authorizationType"):
            case "COGNITO_USER_POOLS":
                authorizer = apigateway_v1._authorizers_v1[api_id][method_obj["authorizerId"]]
                return None, {"claims": claims_of(headers.get("authorization", ""), authorizer)}
            case "AWS_IAM":
                complete = f"/_aws/execute-api/{api_id}/{stage}{path}"
                return None, {"userArn": signer_of(method, complete, headers, body, query)}
    except Rejected as rejected:
        return rejected.answer, None
    return await _authorize(*arguments)


def event(*positional: Any, authorizer_context: Any = None, **named: Any) -> dict[str, Any]:
    """Return the function's event, with the path of the emulator's address as that of the request.

    A signer is part of the identity and not of an authorizer's answer.
    """
    is_signed = authorizer_context is not None and "userArn" in authorizer_context
    made: dict[str, Any] = _build_event(
        *positional, authorizer_context=None if is_signed else authorizer_context, **named
    )
    context = made["requestContext"]
    context["path"] = f"/_aws/execute-api/{context['apiId']}{context['path']}"
    if is_signed:
        context["identity"] |= authorizer_context
    return made


def claims_of(header: str, authorizer: Mapping[str, Any]) -> dict[str, str]:
    """Return the claims of a valid token, as texts."""
    token = header.removeprefix("Bearer ")
    claims = _verified(token)
    pool = claims["iss"].rpartition("/")[2]
    pools = {arn.rpartition("/")[2] for arn in authorizer["providerARNs"]}
    clients = cognito._user_pools[pool]["_clients"] if pool in pools else {}
    if claims.get("token_use") != "id" or claims.get("aud") not in clients:
        raise Rejected(_UNAUTHENTICATED, "Unauthorized")
    if claims["exp"] <= _CLOCK.now().timestamp():
        raise Rejected(_UNAUTHENTICATED, "The incoming token has expired")
    return {name: _text_of(name, value) for name, value in claims.items()}


def _verified(token: str) -> dict[str, Any]:
    try:
        signed, _, signature = token.rpartition(".")
        header, payload = (json.loads(_decoded(part)) for part in signed.split("."))
        key = cognito._RSA_PRIVATE_KEY.public_key()
        key.verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    except (ValueError, KeyError, InvalidSignature):
        raise Rejected(_UNAUTHENTICATED, "Unauthorized") from None
    if header.get("alg") != "RS256":
        raise Rejected(_UNAUTHENTICATED, "Unauthorized")
    return dict(payload)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _text_of(name: str, value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return ",".join(map(str, value))
        case int() | float() if name in {"exp", "iat"}:
            return datetime.fromtimestamp(value, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
        case _:
            return str(value)


def signer_of(
    method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]
) -> str:
    """Return the ARN of the key that signed a request."""
    output = headers.get("authorization", "")
    if not output.startswith("AWS4-HMAC-SHA256 "):
        raise Rejected(_FORBIDDEN, "Missing Authentication Token")
    parts = dict(part.strip().split("=", 1) for part in output.partition(" ")[2].split(","))
    key, _, region, service, _ = parts["Credential"].split("/")
    secret, arn = _known(key)
    signed = {name: headers[name] for name in parts["SignedHeaders"].split(";")}
    arguments = urlencode([(name, value) for name, values in query.items() for value in values])
    request = AWSRequest(
        method, f"http://{signed.pop('host')}{path}?{arguments}".rstrip("?"), headers=signed, data=body or b""
    )
    at = request.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(key, secret), service, region)
    right = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    made_at = datetime.strptime(at, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    if right != parts["Signature"] or service != "execute-api":
        raise Rejected(
            _FORBIDDEN, "The request signature we calculated does not match the signature you provided."
        )
    if abs(_CLOCK.now() - made_at) > _LONGEST:
        raise Rejected(_FORBIDDEN, "Signature expired")
    return arn


def _known(key: str) -> tuple[str, str]:
    """Return the secret of an access key, and the ARN of its owner."""
    if key in sts._sessions:
        return str(sts._sessions[key]["SecretAccessKey"]), str(sts._sessions[key]["Arn"])
    for stored in iam._access_keys.values():
        if stored["AccessKeyId"] == key:
            return str(
                stored["SecretAccessKey"]
            ), f"arn:aws:iam::{get_account_id()}:user/{stored['UserName']}"
    raise Rejected(_FORBIDDEN, "The security token included in the request is invalid.")


def correct() -> None:
    """Guard the methods of REST APIs."""
    apigateway_v1._authorize_request_v1 = authorized
    apigateway_v1._build_lambda_event_v1 = event
