"""Answers the requests that SDKs send to AWS: puts of events on the bus, and a clear error for all others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from werkzeug.wrappers import Request, Response

from duetime import instant
from duetime.aws.tables import name_of
from duetime.clock import Clock
from duetime.local.environment import ACCOUNT, REGION

_PUT_EVENTS = "AWSEvents.PutEvents"
_JSON = "application/x-amz-json-1.1"


class AwsRequests:
    """The bus of the local cloud, for any SDK.

    Args:
        take: is called with each event of the bus in EventBridge's form.
        bus: returns the bus' name; events of other buses are dropped.
        clock: of the local cloud.
        forward: answers all requests, after the local cloud has taken the events; None: it alone answers.
    """

    def __init__(
        self,
        take: Callable[[Mapping[str, Any]], object],
        bus: Callable[[], str],
        clock: Clock,
        forward: Callable[[Request], Response] | None = None,
    ) -> None:
        self._take, self._bus, self._clock, self._forward = take, bus, clock, forward

    def __call__(self, request: Request) -> Response:
        """Answer a signed request."""
        target = request.headers.get("X-Amz-Target", "")
        answer = self._put_events(request) if target == _PUT_EVENTS else None
        if self._forward is not None:
            return self._forward(request)
        return answer or _refused(target or f"{request.method} {request.path}", request.host_url)

    def _put_events(self, request: Request) -> Response:
        try:
            entries = json.loads(request.get_data())["Entries"]
            events = [self._event(entry) for entry in entries]
        except (ValueError, LookupError, TypeError) as error:
            problem = f"an entry needs Source, DetailType and Detail, a JSON object: {error!r}"
            return _problem("ValidationException", problem)
        for entry, event in zip(entries, events, strict=True):
            if name_of(entry.get("EventBusName", "default")) == self._bus():
                self._take(event)
        put = [{"EventId": event["id"]} for event in events]
        return Response(json.dumps({"FailedEntryCount": 0, "Entries": put}), content_type=_JSON)

    def _event(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        return {
            "version": "0",
            "id": str(uuid4()),
            "source": entry["Source"],
            "detail-type": entry["DetailType"],
            "detail": {**json.loads(entry["Detail"])},
            "time": instant.text(self._clock.now().replace(microsecond=0)),
            "account": ACCOUNT,
            "region": REGION,
            "resources": entry.get("Resources", []),
        }


def _refused(operation: str, url: str) -> Response:
    message = (
        f"the local cloud has no {operation}: start it with --setup module:function, which makes the tables,"
        " queues and topics of your handlers on moto; for Scheduler.from_env, first run"
        f' eval "$(curl -s {url}local/env)"'
    )
    return _problem("NotImplemented", message)


def _problem(kind: str, message: str) -> Response:
    body = json.dumps({"__type": kind, "message": message})
    return Response(body, HTTPStatus.BAD_REQUEST, content_type=_JSON)
