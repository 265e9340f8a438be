"""Routes: a method and a path under the prefix, who may ask, what it changes, and what answers there.

A path refuses the methods it does not have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from duetime.api.refusals import WrongMethod
from duetime.audit import Kind
from duetime.permissions import Permission

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""All that API Gateway lets through."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A change, as the audit trail tells it."""

    name: str
    about: Kind


@dataclass(frozen=True, slots=True)
class Route:
    """One route; `answer` is annotated with what it takes and gives."""

    method: str
    path: str
    answer: Callable[..., Any]
    needs: Permission | None
    """None: everybody may ask, and nobody needs to say who that is."""
    status: HTTPStatus = HTTPStatus.OK
    operation: Operation | None = None
    """What it changes; None for a route that only reads."""
    also: HTTPStatus | None = None
    """Another status of success, where there are two."""


@dataclass(frozen=True, slots=True)
class Found:
    """The route of a request, and what stands in its path: the id or the name, if it has one."""

    route: Route
    name: str


class Directory:
    """Finds a request's route before anything of the request is read."""

    def __init__(self, routes: Iterable[Route], prefix: str) -> None:
        self._routes: Sequence[tuple[re.Pattern[str], Route]] = [
            (_pattern(prefix + each.path), each) for each in sorted(routes, key=_literal_first)
        ]

    def find(self, method: str, path: str) -> Found | None:
        """The route, or None if nothing is served there with this method."""
        for pattern, route in self._routes:
            matched = pattern.fullmatch(path.rstrip("/"))
            if matched and route.method == method:
                return Found(route, next(iter(matched.groups()), ""))
        return None

    def is_open(self, path: str) -> bool:
        """Whether everybody may ask there."""
        at = path.rstrip("/")
        return any(route.needs is None and pattern.fullmatch(at) for pattern, route in self._routes)


def add(resolver: APIGatewayRestResolver, routes: Iterable[Route], prefix: str) -> None:
    """Have the resolver serve these routes, and every other method of their paths refused."""
    methods: dict[str, set[str]] = {}
    for route in routes:
        path = prefix + route.path
        methods.setdefault(path, set()).add(route.method)
        resolver.route(path, route.method, status_code=route.status)(route.answer)
    _refuse_others(resolver, methods)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(
        "".join("([^/]+)" if part.startswith("<") else re.escape(part) for part in _parts(path))
    )


def _parts(path: str) -> list[str]:
    return re.split(r"(<[^>]+>)", path)


def _literal_first(route: Route) -> int:
    """A path that is written out comes before one with a name in its place."""
    return route.path.count("<")


def _refuse_others(resolver: APIGatewayRestResolver, methods: Mapping[str, set[str]]) -> None:
    for path, allowed in methods.items():
        others = sorted(METHODS - allowed)
        resolver.route(path, others, include_in_schema=False, enable_validation=False)(_refusal(allowed))


def _refusal(allowed: set[str]) -> Callable[..., None]:
    def refuse(**_path: str) -> None:
        raise WrongMethod(allowed)

    return refuse
