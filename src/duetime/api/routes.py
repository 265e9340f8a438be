"""Routes: a method and a path under the prefix, who may ask, what it changes, and what answers there.

The directory alone says which route a request is for: what it does not find is refused, and never comes to the resolver,
which reads paths in its own way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from duetime.api.errors import RouteNotFound, WrongMethod
from duetime.model.audit import AuditKind
from duetime.model.permissions import Permission


@dataclass(frozen=True, slots=True)
class Operation:
    """A change, as the audit trail tells it."""

    name: str
    about: AuditKind
    is_new: bool = False
    """Whether it makes something that was not there, whose id nobody knows before."""
    has_dry_run: bool = False
    """Whether a client may ask for it to be told instead of done."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route; `answer` is annotated with what it takes and gives."""

    method: str
    path: str
    answer: Callable[..., Any]
    needs: Permission | None
    """None: every caller whose tenant is known may ask."""
    status: HTTPStatus = HTTPStatus.OK
    operation: Operation | None = None
    """What it changes; None for a route that only reads."""
    also: HTTPStatus | None = None
    """Another status of success, where there are two."""
    is_open: bool = False
    """Everybody may ask, and nobody needs to say who that is."""
    or_needs: Permission | None = None
    """Another permission that will do as well."""

    @property
    def admits(self) -> tuple[Permission, ...]:
        """The permissions of which a caller needs one; none where every caller may ask."""
        return tuple(each for each in (self.needs, self.or_needs) if each is not None)


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """The route of a request, and what stands in its path: the id or the name, if it has one."""

    route: Route
    name: str


class RouteTable:
    """Finds a request's route before anything of the request is read."""

    def __init__(self, routes: Iterable[Route], prefix: str) -> None:
        by_path: dict[str, dict[str, Route]] = {}
        for route in sorted(routes, key=_literal_first):
            by_path.setdefault(prefix + route.path, {})[route.method] = route
        self._prefix = prefix
        self._paths: Sequence[tuple[re.Pattern[str], Mapping[str, Route]]] = [
            (_pattern(path), methods) for path, methods in by_path.items()
        ]

    def find(self, method: str, path: str) -> RouteMatch:
        """The route, and what stands in its path.

        Raises:
            RouteNotFound: nothing is served at the path.
            WrongMethod: something is, but not with this method.
        """
        matched, methods = self._at(path)
        if matched is None:
            raise RouteNotFound(path, self._prefix)
        if method not in methods:
            raise WrongMethod(methods)
        return RouteMatch(methods[method], next(iter(matched.groups()), ""))

    def is_open(self, path: str) -> bool:
        """Whether everybody may ask there."""
        _, methods = self._at(path)
        return any(route.is_open for route in methods.values())

    def _at(self, path: str) -> tuple[re.Match[str] | None, Mapping[str, Route]]:
        for pattern, methods in self._paths:
            if matched := pattern.fullmatch(path.rstrip("/")):
                return matched, methods
        return None, {}


def add(resolver: APIGatewayRestResolver, routes: Iterable[Route], prefix: str) -> None:
    """Have the resolver serve these routes."""
    for route in routes:
        resolver.route(prefix + route.path, route.method, status_code=route.status)(route.answer)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(
        "".join("([^/]+)" if part.startswith("<") else re.escape(part) for part in _parts(path))
    )


def _parts(path: str) -> list[str]:
    return re.split(r"(<[^>]+>)", path)


def _literal_first(route: Route) -> int:
    """A path that is written out comes before one with a name in its place."""
    return route.path.count("<")
