"""The API's handler: it authenticates the caller, finds the route, checks the permission and calls the route.

It authenticates the caller before it reads the path's parameters, the query or the body. What a request for a
route needs is imported at the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from duetime.api import PREFIX
from duetime.api.authenticator import Authenticator, Caller
from duetime.api.context import Access, ApiContext, Health
from duetime.api.gateway_event import Within, normalise, read_within
from duetime.api.routes import LazyRouteTable, ServedRequest
from duetime.errors import DuetimeError, NotFound, RateExceeded
from duetime.jobs.token_buckets import TokenBuckets
from duetime.model.quota import Quota, limit_of

if TYPE_CHECKING:
    from duetime.api.dispatch import Dispatcher

Event = Mapping[str, Any]
_SECOND = timedelta(seconds=1)
Handler = Callable[[Event, Any], dict[str, Any]]
_EVERY_RESPONSE = {"Cache-Control": ["no-store"], "X-Content-Type-Options": ["nosniff"]}
"""Against caching, because a response has one tenant's data at one moment; and against content sniffing."""


def make_api(api: ApiContext, health: Health, access: Access, *, prefix: str = PREFIX) -> Handler:
    """Return the handler of API Gateway's REST proxy events (payload version 1).

    The handler is safe to call from several threads.
    """
    table = LazyRouteTable(api, health, access, prefix)
    authenticator = Authenticator(access.grants, api.settings)
    buckets = TokenBuckets(api.clock, _SECOND)

    @cache
    def dispatcher() -> Dispatcher:
        from duetime.api.dispatch import Dispatcher  # noqa: PLC0415 - at the first request for a route

        return Dispatcher(api, access.trail, prefix)

    def respond(event: dict[str, Any], context: Any, known: Caller | None) -> dict[str, Any]:
        """Return the response of an event; one that is served within another has a known caller."""
        base = _base(event, prefix)
        try:
            match = table.find(event["path"])
            caller = None if match and match.is_open else known or authenticator.caller_of(event)
            if caller is not None:
                _limit_rate(caller, buckets, api)
            if match is None:
                raise NotFound("route", event["path"], f"; {prefix}/openapi.json lists the routes")
        except DuetimeError as error:
            from duetime.api.dispatch import problem_response  # noqa: PLC0415 - at the first problem

            return problem_response(error)

        def serve(within: Within) -> dict[str, Any]:
            return respond(read_within(event, prefix, base, within), context, caller)

        return dispatcher()(ServedRequest(event, context, match, caller, base, serve))

    return lambda sent, context: respond(normalise(sent), context, None)


def _limit_rate(caller: Caller, buckets: TokenBuckets, api: ApiContext) -> None:
    """Count a request of a tenant.

    Raises:
        RateExceeded: the tenant has sent as many within a second as its quota allows.
    """
    limit = limit_of(api.settings, caller.tenant_id, Quota.REQUESTS)
    if limit is not None and not buckets.take(caller.tenant_id, limit):
        raise RateExceeded(caller.tenant_id, Quota.REQUESTS, limit=limit)


def _base(event: Event, prefix: str) -> str:
    """Return the prefix as the client called it: with the stage, or the base path of a custom domain."""
    called = str(event["requestContext"]["path"] or event["path"]).rstrip("/")
    return called.removesuffix(event["path"].rstrip("/").removeprefix(prefix))


def with_headers(handler: Handler, origin: str) -> Handler:
    """Return the handler with every response's headers, and CORS headers for one origin unless it is empty.

    Only a route of public content sets its own ``Cache-Control``.
    """
    cross_origin = {
        "Access-Control-Allow-Origin": [origin],
        "Access-Control-Expose-Headers": ["ETag, Location, Retry-After"],
        "Vary": ["Origin"],
    }
    added = cross_origin if origin else {}

    def respond(event: Event, context: Any) -> dict[str, Any]:
        response = handler(event, context)
        headers = {**_EVERY_RESPONSE, **(response.get("multiValueHeaders") or {}), **added}
        return {**response, "multiValueHeaders": headers}

    return respond
