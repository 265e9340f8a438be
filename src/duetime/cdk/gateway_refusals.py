"""The responses of API Gateway to requests that it rejects: problems (RFC 9457) that the console can read."""

from __future__ import annotations

import json

from aws_cdk import aws_apigateway as apigateway

from duetime.api.problems import MEDIA_TYPE, TYPE_PREFIX

_Kind = apigateway.ResponseType

_REFUSALS = (
    (_Kind.UNAUTHORIZED, 401, "unauthenticated", "The ID token is missing, forged or has expired"),
    (_Kind.EXPIRED_TOKEN, 401, "unauthenticated", "The credentials that signed the request have expired"),
    (_Kind.INVALID_SIGNATURE, 401, "unauthenticated", "The request's signature is wrong"),
    (
        _Kind.MISSING_AUTHENTICATION_TOKEN,
        403,
        "forbidden",
        "The request is not signed, or the path does not exist",
    ),
    (_Kind.ACCESS_DENIED, 403, "forbidden", "The signer of the request may not call this API"),
    (_Kind.REQUEST_TOO_LARGE, 413, "body-too-large", "The body is too large"),
    (_Kind.THROTTLED, 429, "throttled", "Too many requests at once; retry after a second"),
    (_Kind.INTEGRATION_TIMEOUT, 504, "unavailable", "The API did not answer in time"),
)


def refuse(api: apigateway.RestApi, origin: str) -> None:
    """Set an API's responses to rejected requests; pages of `origin` may read them."""
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
    """Return the same members as `duetime.api.problems.problem_of`."""
    return json.dumps({"type": TYPE_PREFIX + code, "title": title, "status": status, "detail": title})
