"""Routes: each has a method, a path under the prefix, the permissions it needs, its change, and its handler.

`RouteTable` alone decides which route serves a request; `LazyRouteTable` loads the routes that it searches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, TypeVar

from duetime.api.body import BODY_LIMIT
from duetime.api.errors import WrongMethod
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission

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


class RouteGroup:
    """A class with handlers: its routes have one tag."""

    tag: ClassVar[str]

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
            WrongMethod: the path has no such method.
        """
        if method not in self.methods:
            raise WrongMethod(self.methods)
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


class LazyRouteTable:
    """Find a request's route; load the routes whose path begins with the same segment.

    Args:
        groups: by first segments of paths, what imports and returns the groups of all their routes.
        prefix: precedes every path.
    """

    def __init__(
        self, groups: Mapping[tuple[str, ...], Callable[[], Sequence[RouteGroup]]], prefix: str
    ) -> None:
        self._loads = {segment: load for segments, load in groups.items() for segment in segments}
        self._prefix = prefix
        self._tables: dict[Callable[[], Sequence[RouteGroup]], RouteTable] = {}

    def find(self, path: str) -> RouteMatch | None:
        """Return the match of a path; None if no route is served there."""
        load = self._loads.get(path.removeprefix(f"{self._prefix}/").partition("/")[0])
        if load is None or not path.startswith(f"{self._prefix}/"):
            return None
        if load not in self._tables:
            routes = [route for group in load() for route in group.routes()]
            self._tables[load] = RouteTable(routes, self._prefix)
        return self._tables[load].find(path)


def _pattern(path: str) -> re.Pattern[str]:
    """Return the pattern of a path. A parameter has no control character, so no target has two spellings."""
    return re.compile(
        re.sub("<([^>]+)>", lambda found: rf"(?P<{found[1]}>[^/\x00-\x1f\x7f]+)", re.escape(path))
    )
