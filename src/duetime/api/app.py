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
from duetime.api.all_routes import groups_of
from duetime.api.authenticator import Authenticator, Caller
from duetime.api.context import ApiContext
from duetime.api.errors import RouteNotFound
from duetime.api.normalise_event import normalise, read_within
from duetime.api.route_ports import Access, Health
from duetime.api.routes import LazyRouteTable
from duetime.api.served_request import ServedRequest, Within
from duetime.errors import DuetimeError, RateExceeded
from duetime.jobs.token_buckets import TokenBuckets
from duetime.model.quota import Quota, limit_of

if TYPE_CHECKING:
    from duetime.api.dispatch import Dispatcher

Event = Mapping[str, Any]
_SECOND = timedelta(seconds=1)
Handler = Callable[[Event, Any], dict[str, Any]]


def make_api(api: ApiContext, health: Health, access: Access, *, prefix: str = PREFIX) -> Handler:
    """Return the handler of API Gateway's REST proxy events (payload version 1).

    The handler is safe to call from several threads.
    """
    table = LazyRouteTable(groups_of(api, health, access), prefix)
    dispatcher = _dispatcher_of(api, access, prefix)
    authenticator = Authenticator(access.grants, api.settings)
    buckets = TokenBuckets(api.clock, _SECOND)

    def respond(event: dict[str, Any], context: Any, known: Caller | None) -> dict[str, Any]:
        """Return the response of an event; one that is served within another has a known caller."""
        base = _base(event, prefix)
        try:
            match = table.find(event["path"])
            caller = None if match and match.is_open else known or authenticator.caller_of(event)
            if caller is not None:
                _limit_rate(caller, buckets, api)
            if match is None:
                raise RouteNotFound(event["path"], prefix)
        except DuetimeError as error:
            from duetime.api.dispatch import problem_response  # noqa: PLC0415 - at the first problem

            return problem_response(error)

        def serve(within: Within) -> dict[str, Any]:
            return respond(read_within(event, prefix, base, within), context, caller)

        return dispatcher()(ServedRequest(event, context, match, caller, base, serve))

    return lambda sent, context: respond(normalise(sent), context, None)


def _dispatcher_of(api: ApiContext, access: Access, prefix: str) -> Callable[[], Dispatcher]:
    """Return what makes the dispatcher at its first call."""

    @cache
    def dispatcher() -> Dispatcher:
        from duetime.api.dispatch import Dispatcher  # noqa: PLC0415 - at the first request for a route

        return Dispatcher(api, access.trail, prefix)

    return dispatcher


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
