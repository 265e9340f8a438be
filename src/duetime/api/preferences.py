"""Routes of notification preferences: kinds, channels, addresses and language."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Self

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import ConfigDict, Field, model_validator

from duetime.api.authenticator import Caller, require
from duetime.api.context import NOTIFICATIONS, caller_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.notifications import MANAGE, READ, Scope, admin_of, whose
from duetime.api.preconditions import compare, etag_of_preferences, expected_etags
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import View, answer, shows
from duetime.errors import InvalidArgument, StateConflict, truncate
from duetime.model.audit import AuditKind
from duetime.model.notification import Channel, NotificationKind
from duetime.model.preferences import Preferences
from duetime.settings import Settings

_MOST_FLAWS = 20
_LONG = 2_048
_MANY = 1_000


class PreferencesRequest(RequestBody):
    """The changed preferences; absent fields stay unchanged."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    language: Annotated[str | None, Field(max_length=_LONG)] = None
    """such as `fr` or `fr-CA`; a language without translation falls back to English"""
    channels: dict[NotificationKind, list[Channel] | None] | None = None
    """by kind: its channels; an empty list for none, null for the default. Other kinds stay unchanged"""
    addresses: Annotated[list[str] | None, Field(max_length=_MANY)] = None
    """who gets mails, 20 at most, in place of those before"""
    admin_addresses: Annotated[list[str] | None, Field(max_length=_MANY)] = None
    """who gets the mails that are for admins, 20 at most, in place of those before; for admins to say"""

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        requested = (getattr(self, name) for name in type(self).model_fields)
        if all(value is None for value in requested):
            names = ", ".join(type(self).model_fields)
            raise ValueError(f"says nothing; say at least one of {names}")
        return self

    def onto(self, stored: Preferences) -> Preferences:
        """Return the changed preferences.

        Raises:
            InvalidRequest: an address or the language is none, or there are too many addresses.
        """
        try:
            return replace(
                stored,
                language=stored.language if self.language is None else self.language,
                channels=_merged(stored, self.channels or {}),
                addresses=_once(stored.addresses, self.addresses),
                admin_addresses=_once(stored.admin_addresses, self.admin_addresses),
            )
        except InvalidArgument as error:
            raise InvalidRequest([_flaw(problem) for problem in error.problems[:_MOST_FLAWS]]) from None


def _merged(
    stored: Preferences, requested: dict[NotificationKind, list[Channel] | None]
) -> dict[NotificationKind, frozenset[Channel]]:
    unchanged = {kind: channels for kind, channels in stored.channels.items() if kind not in requested}
    return unchanged | {
        kind: frozenset(channels) for kind, channels in requested.items() if channels is not None
    }


def _once(stored: tuple[str, ...], requested: Iterable[str] | None) -> tuple[str, ...]:
    """Return each address once, in the requested order."""
    return stored if requested is None else tuple(dict.fromkeys(requested))


def _flaw(problem: str) -> Flaw:
    where, _, explanation = problem.partition(": ")
    return Flaw(where, truncate(explanation, 400))


@shows(Preferences, "language addresses revision changed_at changed_by")
class PreferencesView(View):
    """The chosen preferences, their effect, and the available choices."""

    mails_in: str
    """The language of the mails: ``en`` if the chosen one has no translation."""
    languages: list[str]
    """The languages with a translation."""
    channels: dict[NotificationKind, list[Channel]]
    """What was chosen, by kind; a kind that is not here goes where it does by default."""
    channels_in_force: dict[NotificationKind, list[Channel]]
    """Where each kind goes, chosen or by default."""
    channels_available: list[Channel]
    """The deployment's channels; notifications to another channel are not delivered."""
    admin_addresses: list[str] | None
    """The addresses of mails for admins; null if the caller may not change them."""


def available(settings: Settings) -> list[Channel]:
    """Return the channels of a deployment."""
    needs = {Channel.EMAIL: settings.mail_from, Channel.SNS: settings.topic_arn, Channel.IN_APP: "nothing"}
    return [value for value in Channel if needs[value]]


class NotificationPreferences(RouteGroup):
    """Serves the preferences of the caller's tenant; to operators also the deployment's own."""

    tag = "notifications"

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
        operation=Operation("set", AuditKind.PREFERENCES),
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
            raise StateConflict(
                "another caller has changed the preferences meanwhile",
                "read them, then decide",
                code="preferences-conflict",
            )
        return self._answer(caller, replace(chosen, revision=chosen.revision + 1))

    def _answer(self, caller: Caller, chosen: Preferences) -> Response[PreferencesView]:
        from duetime.notifications.mail import languages, mail_language  # noqa: PLC0415 - rarely used

        shows_admins = admin_of(chosen.tenant_id) in caller.permissions
        return answer(
            PreferencesView.of(
                chosen,
                mails_in=mail_language(chosen.language),
                languages=list(languages()),
                channels={kind: sorted(chosen.channels[kind]) for kind in sorted(chosen.channels)},
                channels_in_force={kind: sorted(chosen.channels_for(kind)) for kind in NotificationKind},
                channels_available=available(self.api.settings),
                admin_addresses=chosen.admin_addresses if shows_admins else None,
            ),
            ETag=etag_of_preferences(chosen),
        )


def _require_what_changes(caller: Caller, old: Preferences, new: Preferences) -> None:
    """Require an admin for changes of the admins' addresses and channels.

    Raises:
        Forbidden: the caller would, and is none.
    """
    if new.admin_addresses != old.admin_addresses:
        require(caller, admin_of(new.tenant_id), what="changing admin_addresses")
    for kind in sorted(old.channels.keys() | new.channels.keys()):
        if kind.is_for_admins and old.channels.get(kind) != new.channels.get(kind):
            require(caller, admin_of(new.tenant_id), what=f"changing the channels of {kind}")
