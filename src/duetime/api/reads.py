"""The route that answers several reads in one response: a screen needs one request in place of one each.

Each read is served as a request of its own would be: its route, its permission, its tenant and its parameters
are checked, and it counts towards the tenant's quota of requests.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from aws_lambda_powertools.event_handler.openapi.params import Query
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime.api.errors import Flaw, InvalidRequest, RequestError
from duetime.api.gateway_event import Within
from duetime.api.problems import problem_of
from duetime.api.routes import RouteGroup, route
from duetime.api.views import View

READS = "/reads"
MOST_READS = 12
LONGEST_READ = 2_000
"""Characters of one read."""
MOST_BYTES = 5_000_000
"""Of all bodies, escaped as in a response of Lambda, which has at most 6 MB."""
LONGEST = timedelta(seconds=15)
"""No further read begins after this time: the API's function ends after 29 seconds."""

Serve = Callable[[Within], dict[str, Any]]
"""Serve a further request of the same caller."""


class ReadView(View):
    """The response to one read."""

    read: str
    """The read, as it was sent."""
    status: int
    """Its HTTP status; 413 if its body or its time does not fit beside those before it: send it alone."""
    headers: dict[str, str]
    """Those of `ETag` and `Retry-After` that its response has."""
    body: Any
    """Its JSON; a problem unless it succeeded."""


class ReadsView(View):
    """The responses to several reads."""

    items: list[ReadView]
    """One for each read, in the order of the request."""


class ReadRoutes(RouteGroup):
    """Serves several reads of one caller."""

    tag = "service"

    @route("readMany", "GET", READS)
    def read_many(
        self,
        read: Annotated[
            list[Annotated[str, Field(min_length=1, max_length=LONGEST_READ)]],
            Query(
                min_length=1,
                max_length=MOST_READS,
                description="a path and query of a GET under the prefix, percent-encoded: `/jobs?limit=10`",
            ),
        ],
        request: Request,
    ) -> ReadsView:
        """Return the responses to up to 12 GET requests of this API, each with its own status.

        Each read needs the permission of its route, and counts as a request. One that fails does not affect
        the others.
        """
        problems = {f"read[{number}]": _problem_of(sent) for number, sent in enumerate(read)}
        if flaws := [Flaw(where, problem) for where, problem in problems.items() if problem]:
            raise InvalidRequest(flaws)
        serve: Serve = request.context["serve"]
        items, left, ends = list[ReadView](), MOST_BYTES, self.api.clock.now() + LONGEST
        for sent in read:
            if items and self.api.clock.now() >= ends:
                items.append(_view(sent, _left(f"those before it took {LONGEST.seconds} seconds")))
                continue
            target = urlsplit(sent)
            response = serve(Within(unquote(target.path), target.query))
            size = len(json.dumps(response["body"]))
            if items and size > left:
                response = _left(f"with those before it, its body has over {MOST_BYTES:,} bytes")
            else:
                left -= size
            items.append(_view(sent, response))
        return ReadsView(items=items)


def _left(problem: str) -> dict[str, Any]:
    """Return the response to a read that must be sent alone."""
    response = problem_of(RequestError("reads-too-large", f"{problem}; send this read alone"))
    return {"statusCode": response.status_code, "body": response.body}


def _problem_of(sent: str) -> str:
    """Return why a read is rejected: it is no path of this API, or a read within a read."""
    if not sent.startswith("/") or sent.startswith("//") or "#" in sent:
        return "must be a path under the prefix with its query, such as /jobs?limit=10"
    if unquote(urlsplit(sent).path).rstrip("/") == READS:
        return f"must not be {READS} itself; list each of its reads"
    return ""


def _view(sent: str, response: dict[str, Any]) -> ReadView:
    headers = {
        name: str(value)
        for name, values in (response.get("multiValueHeaders") or {}).items()
        for value in (values if isinstance(values, list) else [values])
        if name in {"ETag", "Retry-After"}
    }
    status, text = HTTPStatus(response["statusCode"]), response["body"]
    return ReadView(read=sent, status=status, headers=headers, body=json.loads(text) if text else None)
