"""Simulates API Gateway: converts an HTTP request to a REST proxy event, and the answer to a response.

It also simulates the sign-in. Development headers name the caller: a person by user, tenant and groups, or
a service by its ARN. There is no password; only this machine can connect. As on AWS, the function receives
the claims of the caller, not the headers.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from werkzeug.wrappers import Request, Response

from duetime.clock import Clock
from duetime.local.environment import ACCOUNT

log = logging.getLogger(__name__)

LARGEST_BODY = 6_000_000
"""Bytes that Lambda accepts in one synchronous invocation; API Gateway accepts 10 MB."""

STAGE = "local"
LOCAL_TENANT = "acme"
"""The caller's tenant, unless the request or the settings name one."""

USER, TENANT, GROUPS, ARN = "X-Duetime-User", "X-Duetime-Tenant", "X-Duetime-Groups", "X-Duetime-Arn"
"""The headers of the sign-in. Without them, the caller is an admin of the only tenant, or of ``acme``."""


class LocalGateway:
    """Calls the API's handler, which returns a response or raises, with HTTP requests."""

    def __init__(self, handler: Callable[[Any], Any], clock: Clock, *, tenant: str = LOCAL_TENANT) -> None:
        self._handler, self._clock, self._tenant = handler, clock, tenant

    def __call__(self, request: Request) -> Response:
        """Answer a request.

        Raises:
            RequestEntityTooLarge: its body is too large.
        """
        request.max_content_length = LARGEST_BODY
        event = proxy_event(request, now_ms=int(self._clock.now().timestamp() * 1000), tenant=self._tenant)
        try:
            return response_of(self._handler(event))
        except Exception:
            log.exception("the API failed")
            return response_of(None)


def proxy_event(request: Request, *, now_ms: int, tenant: str = LOCAL_TENANT) -> dict[str, Any]:
    """Return the event of a Lambda proxy integration of a REST API."""
    body, is_base64 = _body(request.get_data())
    sign_in = {header.lower() for header in (USER, TENANT, GROUPS, ARN)}
    headers = {name: value for name, value in request.headers.items() if name.lower() not in sign_in}
    query = {name: request.args.getlist(name) for name in request.args}
    return {
        "resource": "/{proxy+}",
        "path": request.path,
        "httpMethod": request.method,
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": {name: values[-1] for name, values in query.items()} or None,
        "multiValueQueryStringParameters": query or None,
        "pathParameters": {"proxy": request.path.removeprefix("/")},
        "stageVariables": None,
        "requestContext": _request_context(request, now_ms, tenant),
        "body": body,
        "isBase64Encoded": is_base64,
    }


def _request_context(request: Request, now_ms: int, tenant: str) -> dict[str, Any]:
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "stage": STAGE,
        "requestId": str(uuid4()),
        "requestTimeEpoch": now_ms,
        "protocol": "HTTP/1.1",
        "resourcePath": "/{proxy+}",
        "httpMethod": request.method,
        "path": request.path,
        "identity": {
            "sourceIp": request.remote_addr,
            "userAgent": request.headers.get("User-Agent"),
            "userArn": request.headers.get(ARN),
        },
        "authorizer": None if ARN in request.headers else {"claims": _claims(request, tenant)},
    }


def _claims(request: Request, tenant: str) -> dict[str, str]:
    user = request.headers.get(USER, "developer")
    return {
        "sub": user,
        "email": user if "@" in user else f"{user}@localhost",
        "custom:tenant_id": request.headers.get(TENANT, tenant),
        "cognito:groups": request.headers.get(GROUPS, "admins"),
        "token_use": "id",
    }


def _body(data: bytes) -> tuple[str | None, bool]:
    if not data:
        return None, False
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(data).decode(), True


def response_of(answer: Any) -> Response:
    """Convert the function's answer to HTTP; an invalid one becomes API Gateway's 502."""
    if not isinstance(answer, Mapping) or "statusCode" not in answer:
        return Response('{"message": "Internal server error"}', 502, content_type="application/json")
    body = answer.get("body") or ""
    data = base64.b64decode(body) if answer.get("isBase64Encoded") else body
    response = Response(data, int(answer["statusCode"]))
    several = answer.get("multiValueHeaders") or {}
    single = {name: [value] for name, value in (answer.get("headers") or {}).items()}
    for name, values in {**single, **several}.items():
        response.headers.setlist(name, [str(value) for value in values])
    return response
