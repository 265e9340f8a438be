"""Routes of rate limits, for operators of the deployment: list, set and reset them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.context import caller_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import Instant, View
from duetime.declare.rate import Rate
from duetime.errors import DeclarationError
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission
from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimit


class LimitRequest(RequestBody):
    """A limit in place of the declared one."""

    count: Annotated[int, Field(description="the most starts in a period", strict=True)]
    per: Annotated[
        Literal["second", "minute", "hour", "day"] | float,
        Field(description="the period, or its seconds"),
    ]
    burst: Annotated[
        int | None,
        Field(
            description="how many runs may start at once after a rest; by default those of a second",
            strict=True,
        ),
    ] = None

    def limit(self) -> RateLimit:
        """Return the limit.

        Raises:
            InvalidRequest: it cannot be enforced.
        """
        try:
            per = self.per if isinstance(self.per, str) else timedelta(seconds=self.per)
            return RateLimit.parse(self.count, per, self.burst)
        except DeclarationError as error:
            raise InvalidRequest([Flaw("body", str(error))]) from None
        except (OverflowError, ValueError):
            raise InvalidRequest([Flaw("per", f"{self.per} s is no period; use up to 31 days")]) from None


class RateLimitView(View):
    """So many starts in a period."""

    count: int
    """The most starts in a period."""
    seconds: float
    """The period."""
    burst: int
    """How many runs may start at once after a rest."""


class LimitView(View):
    """The rate limit of a payload type."""

    name: str
    """The payload type."""
    scope: Literal["type", "tenant", "key"] | None
    """What has a limit of its own; null if code declares no rate for the type any more."""
    limit: RateLimitView
    """The limit in force."""
    declared: RateLimitView | None
    """The limit in code."""
    set_by: str | None
    """The operator who set the limit in force; null if it is the declared one."""
    set_at: Instant | None
    """When."""


class LimitList(View):
    """Rate limits."""

    items: list[LimitView]
    """All of them, by name."""


class Limits(RouteGroup):
    """Serves the rate limits of all types."""

    tag = "limits"

    @route("listLimits", "GET", "/limits", Permission.SYSTEM)
    def list(self) -> LimitList:
        """Return the rate limit of each type that declares one, and those that operators set."""
        stored = {limit.name: limit for limit in self.api.limits.list()}
        declared = self._declared()
        names = sorted({*declared, *stored})
        return LimitList(items=[_view(name, declared.get(name), stored.get(name)) for name in names])

    @route(
        "setLimit",
        "PUT",
        "/limits/<name>",
        Permission.SYSTEM,
        operation=Operation("set", AuditKind.LIMIT),
    )
    def set(self, name: str, body: Annotated[LimitRequest, Body()], request: Request) -> LimitView:
        """Set the limit of a type: each process knows it within five seconds, until a reset.

        Runs that wait already keep their instants if the limit is raised, and wait again if it is lowered.
        """
        declared = self._declared()
        if name not in declared:
            known = ", ".join(sorted(declared)) or "none"
            raise InvalidRequest([Flaw("name", f"no type {name!r} declares a rate; those that do: {known}")])
        limit = SetLimit(name=name, limit=body.limit(), by=caller_at(request).actor, at=self.api.clock.now())
        self.api.limits.set(limit)
        return _view(name, declared[name], limit)

    @route(
        "resetLimit",
        "DELETE",
        "/limits/<name>",
        Permission.SYSTEM,
        operation=Operation("reset", AuditKind.LIMIT),
    )
    def reset(self, name: str) -> LimitList:
        """Let the declared limit of a type hold again; return the limits."""
        self.api.limits.reset(name)
        return self.list()

    def _declared(self) -> dict[str, Rate]:
        handlers = self.api.app.handlers
        return {name: handler.rate for name, handler in handlers.items() if handler.rate is not None}


def _view(name: str, declared: Rate | None, stored: SetLimit | None) -> LimitView:
    in_code = None if declared is None else _limit_view(declared.limit)
    in_force = in_code if stored is None else _limit_view(stored.limit)
    if in_force is None:
        raise LookupError(name)
    return LimitView(
        name=name,
        scope=None if declared is None else declared.scope,
        limit=in_force,
        declared=in_code,
        set_by=None if stored is None else stored.by,
        set_at=None if stored is None else stored.at,
    )


def _limit_view(limit: RateLimit) -> RateLimitView:
    return RateLimitView.of(limit, seconds=limit.per.total_seconds())
