"""The route of the document. Everybody may read it: it tells of no tenant, and nothing that is not public."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.routes import Route

PATH = "/openapi.json"
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Description:
    """Tells what is served; the document is made when somebody first asks, once per process."""

    others: Sequence[Route]
    api_tag: str = ""
    _made: dict[str, Any] = field(default_factory=dict)

    def routes(self) -> Iterable[Route]:
        """What is served, under the prefix."""
        return (Route("GET", PATH, self.get, None, is_open=True),)

    def get(self, request: Request) -> Response[str]:
        """This document; its server is what was called."""
        if not self._made:
            from duetime.api.openapi.document import document  # noqa: PLC0415 - a cold start has no need of it

            served = [*self.others, *self.routes()]
            self._made.update(document(served, server="", api_tag=self.api_tag))
        told = self._made | {"servers": [{"url": _called(request)}]}
        return Response(HTTPStatus.OK, _JSON, json.dumps(told, separators=(",", ":"), ensure_ascii=False))


def _called(request: Request) -> str:
    """The prefix's URL as API Gateway was called; its path where there is no other gateway than this machine's."""
    base: str = request.context["base"]
    domain = request.resolved_event["requestContext"].get("domainName")
    return f"https://{domain}{base}" if domain else base
