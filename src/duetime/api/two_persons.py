"""Two persons: a change that cannot be undone is stored as a request, which another person confirms.

`Operation.cannot_be_undone` marks these changes; the setting `two_persons` enables this. A request is an
action of a built-in type, `duetime-confirmation`, due when it lapses. The confirmation cancels that action:
the row's own condition lets one caller end it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from duetime.api.authenticator import require
from duetime.api.body import RequestContent
from duetime.api.confirmation_request import ConfirmationRequest
from duetime.api.context import ApiContext
from duetime.api.parameters import LARGEST_PAGE
from duetime.api.routes import Route
from duetime.api.served_request import ServedRequest, Within
from duetime.model.new_action import new_action

CONFIRMATIONS = "/confirmations"
WAITS = timedelta(days=1)
"""How long a request waits for the second person."""
CORRELATION = "duetime:confirmations"
"""The correlation id of all requests, by which a tenant's are listed."""

_OF_STEPS = frozenset({"cursor", "limit", "dry_run"})
"""The fields of one step of a bulk change: the confirmed change makes all steps."""
_PARAMETER = re.compile(r"<(\w+)>")


class TwoPersons:
    """Stores requests for a second person, if the deployment requires one."""

    def __init__(self, api: ApiContext) -> None:
        self._api = api

    def must_confirm(self, request: ServedRequest, route: Route, content: RequestContent) -> bool:
        """Return whether a second person must confirm the change before it is made."""
        if route.operation is None or request.is_within or not self._api.settings.two_persons:
            return False
        return route.operation.cannot_be_undone(content.fields)

    def request(self, request: ServedRequest, route: Route, content: RequestContent) -> dict[str, Any]:
        """Store the change for a second person (202), unless a look at its target is rejected.

        Raises:
            Forbidden: the caller may not make this change.
        """
        caller = request.caller
        assert caller is not None  # noqa: S101 - no open route makes a change that must be confirmed
        path = _PARAMETER.sub(lambda found: request.match.arguments[found[1]], route.path)
        fields = {name: value for name, value in content.fields.items() if name not in _OF_STEPS}
        needs = route.admits
        if route.operation is not None and route.operation.resolve is not None:
            fields, needs = route.operation.resolve(fields, caller)
            require(caller, *needs)
        looked = request.serve(_look(route, path, fields))
        if looked["statusCode"] >= HTTPStatus.BAD_REQUEST:
            return looked
        found = json.loads(looked["body"])
        if found.get("created_until") is not None:  # what is scheduled later was not counted
            fields["created_until"] = found["created_until"]
        now, (count, has_more) = self._api.clock.now(), _count(found)
        waiting = ConfirmationRequest(
            operation=route.operation_id,
            needs=tuple(permission.value for permission in needs),
            method=route.method,
            path=path,
            body=fields if content.text is not None else None,
            etag=_etag(request, looked) if route.checks_if_match else None,
            subject=caller.person,
            count=count,
            more=has_more,
        )
        action = new_action(
            waiting,
            due_at=now + WAITS,
            now=now,
            tenant_id=caller.tenant_id,
            actor=caller.actor,
            correlation_id=CORRELATION,
            due_shards=len(self._api.store.due_shards),
        )
        self._api.store.put(action)
        response = request.serve(Within(f"{CONFIRMATIONS}/{action.id}"))
        if response["statusCode"] != HTTPStatus.OK:
            return response
        return {**response, "statusCode": HTTPStatus.ACCEPTED.value}


def _look(route: Route, path: str, fields: Mapping[str, Any]) -> Within:
    """Return the preview of a bulk change; of another change the read of its target, or of its list."""
    if route.operation is not None and route.operation.has_dry_run:
        body = json.dumps({**fields, "dry_run": True, "limit": LARGEST_PAGE})
        return Within(path, method=route.method, body=body)
    return Within(path.rpartition("/")[0] if route.method == "POST" and "<" in route.path else path)


def _count(found: Mapping[str, Any]) -> tuple[int | None, bool]:
    """Return how many a preview would change, and whether it may be more."""
    if matched := found.get("matched"):
        return matched["count"], matched["more"]
    if "changed" in found:
        return len(found["changed"]), found["next_cursor"] is not None
    return None, False


def _etag(request: ServedRequest, looked: Mapping[str, Any]) -> str | None:
    """Return the state to which the change applies: that of ``If-Match``, or else the target's own."""
    headers = request.event["headers"]
    sent = next((value for name, value in headers.items() if name.lower() == "if-match"), "*")
    return next(iter(looked["multiValueHeaders"].get("ETag", ())), None) if sent.strip() == "*" else sent
