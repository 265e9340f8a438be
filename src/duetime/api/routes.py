"""Routes: each has a method, a path under the prefix, the permissions it needs, its change, and its handler.

`GROUPS` lists where they are. A route is one entry: its mark stands above its handler, whose annotations are
the request and the response, and whose docstring is the description. `RouteTable` alone decides which route
serves a request; `LazyRouteTable` loads the routes that it searches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from duetime.api.errors import RequestError
from duetime.api.gateway_event import BODY_LIMIT
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission

if TYPE_CHECKING:
    from duetime.api.authenticator import Caller
    from duetime.api.context import Access, ApiContext, Health
    from duetime.api.gateway_event import Within

GROUPS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("actions", "dead-letters"): (
        "scheduling:Scheduling",
        "bulk_actions:BulkActionRoutes",
        "attempts:AttemptRoutes",
        "hand_overs:DecisionRoutes",
    ),
    ("me", "grants", "audit"): ("access:AccessRoutes",),
    ("health", "recount"): (
        "health:HealthRoutes",
        "recount:RecountRoutes",
    ),
    ("jobs",): (
        "background_jobs:BackgroundJobs",
        "forecasts:Forecasts",
        "job_operations:JobOperationRoutes",
        "job_definitions:JobDefinitionRoutes",
        "job_previews:JobPreviews",
        "backfills:BackfillRoutes",
    ),
    ("summary",): ("summary:Summary",),
    ("pauses",): ("pauses:Pauses",),
    ("quotas",): ("quotas:Quotas",),
    ("limits",): ("limits:Limits",),
    ("check-ins",): ("check_in:CheckInRoutes",),
    ("undelivered",): ("undelivered:UndeliveredRoutes",),
    ("notifications",): ("notifications:NotificationRoutes", "preferences:NotificationPreferences"),
    ("batches",): ("batches:BatchRoutes",),
    ("handovers",): ("hand_overs:HandOverRoutes",),
    ("search",): ("search:SearchRoutes",),
    ("reads",): ("reads:ReadRoutes",),
    ("openapi.json",): ("document_route:DocumentRoute",),
}
"""The groups of routes, each as module and class, by the first segments of their paths under the prefix.

A module is imported when a request first needs it: a cold start imports the routes of one request.
"""

_BY_SEGMENT = {segment: groups for segments, groups in GROUPS.items() for segment in segments}

_MARK = "duetime_route"
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operation:
    """A change, as the audit trail records it."""

    name: str
    about: AuditKind
    is_new: bool = False
    """Whether it creates the target, whose id does not exist before."""
    has_dry_run: bool = False
    """Whether a client may request a preview of the change."""
    creates_work: bool = False
    """Whether it makes runs due: while the tenant is paused, the API rejects it."""

    def is_preview(self, fields: Mapping[str, Any]) -> bool:
        """Return whether a request only previews the change; most routes ignore the field `dry_run`."""
        return self.has_dry_run and fields.get("dry_run") is True


@dataclass(frozen=True, slots=True)
class Route:
    """One route. The annotations of `handler` define its parameters, body and response."""

    tag: str
    """The group of the operation in the OpenAPI document."""
    handler: Callable[..., Any]
    operation_id: str
    """The operation's public name, from which clients are generated. Never change it."""
    method: str
    path: str
    admits: tuple[Permission, ...]
    """The permissions of which a caller needs one; empty if every caller with a known tenant is admitted."""
    status: HTTPStatus = HTTPStatus.OK
    operation: Operation | None = None
    """The change that the route makes; None for a route that only reads."""
    second_status: HTTPStatus | None = None
    """Another status of success, if there are two."""
    is_open: bool = False
    """Whether unauthenticated callers are admitted."""
    has_ids: bool = False
    """Whether its body names what it changes, so that it may find nothing of that name."""
    is_by_token: bool = False
    """Whether a token in its path is the right that it needs, in place of a caller's."""
    body_limit: int = BODY_LIMIT
    """The most bytes of its body."""
    header: str = ""
    """A response header of every success: ``ETag`` or ``Location``."""

    @property
    def checks_if_match(self) -> bool:
        """Return whether the route reads ``If-Match``: it changes an action, a job or the preferences."""
        about = None if self.operation is None or self.is_by_token else self.operation.about
        return about is AuditKind.PREFERENCES or (
            about in {AuditKind.ACTION, AuditKind.JOB} and "<" in self.path
        )


def route(
    operation_id: str, method: str, path: str, *admits: Permission, **facts: Any
) -> Callable[[Method], Method]:
    """Mark a method of a `RouteGroup` as a route's handler; `facts` are further fields of `Route`."""

    def mark(handler: Method) -> Method:
        fields = {"operation_id": operation_id, "method": method, "path": path, "admits": admits}
        setattr(handler, _MARK, fields | facts)
        return handler

    return mark


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """A class with handlers: its routes have one tag."""

    tag: ClassVar[str]

    api: ApiContext
    health: Health
    access: Access

    def routes(self) -> Iterable[Route]:
        """Return the routes of the methods that are marked with `route`, under the prefix."""
        for name, method in vars(type(self)).items():
            if hasattr(method, _MARK):
                yield Route(self.tag, getattr(self, name), **getattr(method, _MARK))


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """The methods served at a request's path, and the parameters in that path."""

    methods: Mapping[str, Route]
    arguments: Mapping[str, str]

    @property
    def is_open(self) -> bool:
        """Return whether the path admits unauthenticated callers."""
        return any(route.is_open for route in self.methods.values())

    def route(self, method: str) -> Route:
        """Return the route of a method.

        Raises:
            RequestError: the path has no such method.
        """
        if method not in self.methods:
            allowed = sorted(self.methods)
            headers = {"Allow": ", ".join(allowed)}
            raise RequestError("wrong-method", f"this path takes {' or '.join(allowed)}", headers=headers)
        return self.methods[method]


class RouteTable:
    """Find a request's route from its path alone."""

    def __init__(self, routes: Iterable[Route], prefix: str) -> None:
        by_path: dict[str, dict[str, Route]] = {}
        for route in sorted(routes, key=lambda route: route.path.count("<")):  # literal paths first
            by_path.setdefault(prefix + route.path, {})[route.method] = route
        self._paths = [(_pattern(path), methods) for path, methods in by_path.items()]

    def find(self, path: str) -> RouteMatch | None:
        """Return the match of a path; None if no route is served there."""
        for pattern, methods in self._paths:
            if matched := pattern.fullmatch(path.rstrip("/")):
                return RouteMatch(methods, matched.groupdict())
        return None


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request whose path is served: the normalised event, with what was found out about it."""

    event: dict[str, Any]
    context: Any
    match: RouteMatch
    caller: Caller | None
    """None if the path admits unauthenticated callers."""
    base: str
    """The prefix as the client called it."""
    serve: Callable[[Within], dict[str, Any]]
    """Serve a further read of the same caller."""


class LazyRouteTable:
    """Find a request's route; load the routes whose path begins with the same segment."""

    def __init__(self, api: ApiContext, health: Health, access: Access, prefix: str) -> None:
        self._parts, self._prefix = (api, health, access), prefix
        self._tables = dict[tuple[str, ...], RouteTable]()

    def find(self, path: str) -> RouteMatch | None:
        """Return the match of a path; None if no route is served there."""
        groups = _BY_SEGMENT.get(path.removeprefix(f"{self._prefix}/").partition("/")[0])
        if groups is None or not path.startswith(f"{self._prefix}/"):
            return None
        if groups not in self._tables:
            # Two threads may both make a table; all use the first, so that a route has one handler.
            self._tables.setdefault(groups, RouteTable(_routes(groups, *self._parts), self._prefix))
        return self._tables[groups].find(path)


def routes_of(api: ApiContext, health: Health, access: Access) -> Sequence[Route]:
    """Return all routes, without the prefix."""
    return [route for groups in GROUPS.values() for route in _routes(groups, api, health, access)]


def _routes(groups: Sequence[str], api: ApiContext, health: Health, access: Access) -> Iterator[Route]:
    for module, name in (group.split(":") for group in groups):
        yield from getattr(import_module(f"duetime.api.{module}"), name)(api, health, access).routes()


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path. A parameter has no control character, so no target has two spellings."""
    return re.compile(
        re.sub("<([^>]+)>", lambda found: rf"(?P<{found[1]}>[^/\x00-\x1f\x7f]+)", re.escape(path))
    )
