"""Routes: a method and a path under the prefix, and what answers there. A path refuses the methods it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver

from duetime.api.refusals import WrongMethod

METHODS = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""All that API Gateway lets through."""


@dataclass(frozen=True, slots=True)
class Route:
    """One route; `answer` is annotated with what it takes and gives."""

    method: str
    path: str
    answer: Callable[..., Any]
    status: HTTPStatus = HTTPStatus.OK


def add(resolver: APIGatewayRestResolver, routes: Iterable[Route], prefix: str) -> None:
    """Have the resolver serve these routes, and every other method of their paths refused."""
    methods: dict[str, set[str]] = {}
    for route in routes:
        path = prefix + route.path
        methods.setdefault(path, set()).add(route.method)
        resolver.route(path, route.method, status_code=route.status)(route.answer)
    _refuse_others(resolver, methods)


def _refuse_others(resolver: APIGatewayRestResolver, methods: Mapping[str, set[str]]) -> None:
    for path, allowed in methods.items():
        others = sorted(METHODS - allowed)
        resolver.route(path, others, include_in_schema=False, enable_validation=False)(_refusal(allowed))


def _refusal(allowed: set[str]) -> Callable[..., None]:
    def refuse(**_path: str) -> None:
        raise WrongMethod(allowed)

    return refuse
