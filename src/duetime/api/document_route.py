"""The route of the OpenAPI document. It is open: the document contains no tenant's data."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.routes import RouteGroup, route
from duetime.model.entity_tags import has_tag, tag_of

FILE: Final = Path(__file__).parent / "openapi/served.json"
"""The document as the API serves it, without line breaks; `python -m duetime.api.openapi` writes it."""

CACHED = "public, max-age=300, must-revalidate"

ONE_TAG = "Actions at their time, jobs, and their notifications."
"""The description of the tag that a deployment sets for all operations."""


class DocumentRoute(RouteGroup):
    """Serves the generated document, with the deployment's URL and tag."""

    tag = "service"

    @route("getDocument", "GET", "/openapi.json", is_open=True)
    def get(self, request: Request) -> Response[str]:
        """This document; its server is what was called."""
        base, domain = request.context["base"], request.resolved_event["requestContext"].get("domainName")
        url = f"https://{domain}{base}" if domain else base  # a local gateway has no domain
        body, tag = _served(self.api.settings.api_tag, url)
        headers: dict[str, str | list[str]] = {"ETag": tag, "Cache-Control": CACHED}
        if has_tag(request.resolved_event.get("headers"), tag):
            return Response(HTTPStatus.NOT_MODIFIED, "application/json", "", headers=headers)
        return Response(HTTPStatus.OK, "application/json", body, headers=headers)


@lru_cache(maxsize=16)
def _served(tag: str, url: str) -> tuple[str, str]:
    """Return the document's text and its ETag."""
    document = _with_tag(tag) | {"servers": [{"url": url}]}
    body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return body, tag_of(body)


@cache
def _with_tag(tag: str) -> dict[str, Any]:
    """Return the document; all operations have the tag unless it is empty."""
    document: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    if not tag:
        return document
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["tags"] = [tag]
    return document | {"tags": [{"name": tag, "description": ONE_TAG}]}
