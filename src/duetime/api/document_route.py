"""The route of the OpenAPI document. It is open: the document contains no tenant's data."""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.context import ApiRoutes
from duetime.api.routes import route

FILE: Final = Path(__file__).parent / "openapi/served.json"
"""The document as the API serves it, without line breaks; `python -m duetime.api.openapi` writes it."""

PATH = "/openapi.json"
ONE_TAG = "Actions at their time, jobs, and their notifications."
"""The description of the tag that a deployment sets for all operations."""


class DocumentRoute(ApiRoutes):
    """Serves the generated document, with the deployment's URL and tag."""

    tag = "service"

    @route("getDocument", "GET", PATH, is_open=True)
    def get(self, request: Request) -> Response[str]:
        """This document; its server is what was called."""
        base, domain = request.context["base"], request.resolved_event["requestContext"].get("domainName")
        document = _with_tag(self.api.settings.api_tag) | {
            "servers": [
                {"url": f"https://{domain}{base}" if domain else base}
            ]  # a local gateway has no domain
        }
        body = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        return Response(HTTPStatus.OK, "application/json", body)


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
