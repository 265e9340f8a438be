"""Routes of notification preferences: kinds, channels, addresses and language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request

from duetime.api.caller import Caller
from duetime.api.context import NOTIFICATIONS, ApiContext, caller_at
from duetime.api.errors import PreferencesConflict
from duetime.api.notification_access import MANAGE, READ, Scope, require_admin, rules_admins, whose
from duetime.api.preconditions import compare, etag_of_preferences, expected_etags
from duetime.api.preference_views import PreferencesRequest, PreferencesView, available
from duetime.api.routes import Operation, RouteGroup, route
from duetime.model.audit import AuditKind
from duetime.model.preferences import Preferences

_JSON = "application/json"
_SET = Operation("set", AuditKind.PREFERENCES)


@dataclass(frozen=True, slots=True)
class NotificationPreferences(RouteGroup):
    """Serves the preferences of the caller's tenant; to operators also the deployment's own."""

    tag = "notifications"

    api: ApiContext

    @route("getNotificationPreferences", "GET", f"{NOTIFICATIONS}/preferences", *READ, header="ETag")
    def get(self, request: Request, scope: Scope = "tenant") -> Response[PreferencesView]:
        """Return the chosen preferences, the channels of each kind, and the available choices."""
        caller = caller_at(request)
        return self._answer(caller, self.api.notified.preferences.get(whose(caller, scope)))

    @route(
        "setNotificationPreferences",
        "PUT",
        f"{NOTIFICATIONS}/preferences",
        *MANAGE,
        operation=_SET,
        header="ETag",
    )
    def set(
        self, body: Annotated[PreferencesRequest, Body()], request: Request, scope: Scope = "tenant"
    ) -> Response[PreferencesView]:
        """Change preferences; absent fields stay unchanged. Only admins change those for admins."""
        caller, store = caller_at(request), self.api.notified.preferences
        stored = store.get(whose(caller, scope))
        etags = expected_etags(request)
        compare(etags, etag_of_preferences(stored))
        chosen = body.onto(stored)
        _require_what_changes(caller, stored, chosen)
        if chosen == stored:
            return self._answer(caller, stored)
        chosen = replace(chosen, changed_at=self.api.clock.now(), changed_by=caller.actor)
        if not store.put(chosen):
            compare(etags, etag_of_preferences(store.get(chosen.tenant_id)))
            raise PreferencesConflict
        return self._answer(caller, replace(chosen, revision=chosen.revision + 1))

    def _answer(self, caller: Caller, chosen: Preferences) -> Response[PreferencesView]:
        view = PreferencesView.from_preferences(
            chosen,
            channels=available(self.api.settings),
            shows_admins=rules_admins(caller, chosen.tenant_id),
        )
        headers = {"ETag": etag_of_preferences(chosen)}
        return Response(HTTPStatus.OK, _JSON, view, headers=headers)


def _require_what_changes(caller: Caller, old: Preferences, new: Preferences) -> None:
    """Require an admin for changes of the admins' addresses and channels.

    Raises:
        Forbidden: the caller would, and is none.
    """
    if new.admin_addresses != old.admin_addresses:
        require_admin(caller, new.tenant_id, "changing admin_addresses")
    for kind in sorted(old.channels.keys() | new.channels.keys()):
        if kind.is_for_admins and old.channels.get(kind) != new.channels.get(kind):
            require_admin(caller, new.tenant_id, f"changing the channels of {kind}")
