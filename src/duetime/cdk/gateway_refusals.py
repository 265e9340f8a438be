"""What API Gateway itself refuses, told like every other refusal: as a problem (RFC 9457), readable by the console."""

from __future__ import annotations

import json

from aws_cdk import aws_apigateway as apigateway

from duetime.api.problems import MEDIA_TYPE, TYPE_PREFIX

_Kind = apigateway.ResponseType

_REFUSALS = (
    (_Kind.UNAUTHORIZED, 401, "unauthenticated", "The ID token is missing, forged or has expired"),
    (_Kind.EXPIRED_TOKEN, 401, "unauthenticated", "The credentials that signed the request have expired"),
    (_Kind.INVALID_SIGNATURE, 401, "unauthenticated", "The request's signature is not right"),
    (_Kind.MISSING_AUTHENTICATION_TOKEN, 403, "forbidden", "The request is not signed, or nothing is served here"),
    (_Kind.ACCESS_DENIED, 403, "forbidden", "Whoever signed the request may not call this API"),
    (_Kind.REQUEST_TOO_LARGE, 413, "body-too-large", "The body is too large"),
    (_Kind.THROTTLED, 429, "throttled", "Too many requests at once; come again in a second"),
    (_Kind.INTEGRATION_TIMEOUT, 504, "unavailable", "The API did not answer in time"),
)  # fmt: skip


def refuse(api: apigateway.RestApi, origin: str) -> None:
    """Have an API tell its own refusals so; pages of `origin` may read them."""
    headers = {"Content-Type": f"'{MEDIA_TYPE}'"}
    if origin:
        headers |= {"Access-Control-Allow-Origin": f"'{origin}'", "Vary": "'Origin'"}
    for kind, status, code, title in _REFUSALS:
        waits = {"Retry-After": "'1'"} if code == "throttled" else {}
        api.add_gateway_response(
            f"Refusal-{kind.response_type}",
            type=kind,
            status_code=str(status),
            response_headers=headers | waits,
            templates={"application/json": _document(status, code, title)},
        )


def _document(status: int, code: str, title: str) -> str:
    """The same members as `duetime.api.problems.Problem.document`."""
    told = {"type": TYPE_PREFIX + code, "title": title, "status": status, "detail": title}
    return json.dumps(told)
