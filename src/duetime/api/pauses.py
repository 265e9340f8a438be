"""Routes of pauses of work: begin, list and end them.

A caller's pause covers the work of its own tenant. One of an operator with ``tenants:manage`` covers all
tenants' work, or that of the tenant it names; only such operators end it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated

from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.request import Request
from pydantic import Field

from duetime import ids
from duetime._english import ordinal
from duetime._masking import masked
from duetime.api.context import caller_at
from duetime.api.errors import Flaw, InvalidRequest
from duetime.api.parameters import instant_of
from duetime.api.requests import RequestBody
from duetime.api.routes import Operation, RouteGroup, route
from duetime.api.views import Instant, View, shows
from duetime.errors import Forbidden, InvalidArgument
from duetime.ids import DEFAULT_WORKER, TenantId
from duetime.model.audit import AuditKind
from duetime.model.built_in import RESERVED
from duetime.model.permissions import Permission
from duetime.model.work_pause import LONGEST_SPREAD, PauseScope, WorkPause, check_end

LONGEST_REASON = 200

MOST_OF_TENANT = 20
"""The most pauses in force that a tenant's own callers begin: each worker reads all of them."""

_SHOWN = 10
"""The most allowed names that an error lists."""


class PauseWorkRequest(RequestBody):
    """A pause of a type, a key, a worker or a tenant."""

    scope: Annotated[PauseScope, Field(description="what the pause covers")]
    name: Annotated[str, Field(description="the type, the key, the worker or the tenant", min_length=1)]
    reason: Annotated[str, Field(description="why, for others", min_length=1, max_length=LONGEST_REASON)]
    until: Annotated[
        str | None, Field(description="an ISO 8601 instant at which it ends by itself; default: never")
    ] = None
    spread: Annotated[
        float | None,
        Field(
            description="the seconds after the end within which waiting actions begin; by default those that"
            " the pause lasted, at most 600",
            ge=0,
            le=LONGEST_SPREAD.total_seconds(),
        ),
    ] = None
    skip: Annotated[bool, Field(description="skip actions that become due under it; the others wait")] = False
    of_tenant: Annotated[
        str | None, Field(description="for operators: only this tenant's work; by default all tenants'")
    ] = None


@shows(WorkPause, "id scope name reason by since until ended_at over_at skips")
class WorkPauseView(View):
    """A pause: no run that it covers begins."""

    tenant: str | None
    """The tenant whose work it covers; null: all tenants' work."""
    probes_at: Instant | None
    """Of an open breaker: from when on one run probes; its success ends the pause. Null: of a caller's."""


class WorkPauseList(View):
    """Pauses of work."""

    items: list[WorkPauseView]
    """The oldest first."""


def checked_end(reason: str, until: str | None, now: datetime, *, is_required: bool) -> datetime | None:
    """Return when a requested pause ends by itself, after a check of its reason; None if it does not.

    Raises:
        InvalidRequest: the reason is no printable text.
        InvalidArgument: the end has passed, or the deployment requires one.
    """
    if not reason.strip() or not reason.isprintable():
        raise InvalidRequest([Flaw("reason", "must be printable text, not only spaces")])
    end = None if until is None else instant_of(until, "until", now)
    if end is not None and end <= now:
        raise InvalidArgument("has passed; name a later instant, or none", value=until, field="until")
    check_end(end, is_required=is_required)
    return end


class Pauses(RouteGroup):
    """Serves the pauses of work."""

    tag = "pauses"

    @route("listPauses", "GET", "/pauses", Permission.READ_ACTIONS, Permission.MANAGE_TENANTS)
    def list(self, request: Request) -> WorkPauseList:
        """Return the pauses that cover the caller's tenant, or, for operators, all.

        Ended pauses are listed until the last action that waited for them begins.
        """
        caller, now = caller_at(request), self.api.clock.now()
        is_operator = Permission.MANAGE_TENANTS in caller.permissions
        return _listed(
            pause
            for pause in self.api.known_pauses.stored()
            if (pause.over_at is None or pause.over_at > now)
            and (is_operator or _tenant_of(pause) in {None, caller.tenant_id})
        )

    @route(
        "pauseWork",
        "POST",
        "/pauses",
        Permission.MANAGE_ACTIONS,
        Permission.MANAGE_TENANTS,
        status=HTTPStatus.CREATED,
        operation=Operation("pause", AuditKind.PAUSE, is_new=True),
    )
    def begin(self, body: Annotated[PauseWorkRequest, Body()], request: Request) -> WorkPauseView:
        """Pause work: within five seconds no run of it begins. A run in progress continues.

        A pause stands beside earlier ones, and changes none of them.
        """
        caller, now = caller_at(request), self.api.clock.now()
        until = checked_end(body.reason, body.until, now, is_required=self.api.settings.pause_needs_end)
        is_operator = Permission.MANAGE_TENANTS in caller.permissions
        pause = WorkPause(
            id=ids.new_action_id(now, os.urandom),
            scope=body.scope,
            name=self._checked_name(body.scope, body.name),
            reason=masked(body.reason),
            by=caller.actor,
            since=now,
            until=until,
            tenant_id=self._covered(body, request),
            spread=None if body.spread is None else timedelta(seconds=body.spread),
            skips=body.skip,
            is_operators=is_operator,
        )
        if not is_operator:
            self._check_number(caller.tenant_id, now)
        self.api.known_pauses.begin(pause)
        return _view(pause)

    @route(
        "resumeWork",
        "DELETE",
        "/pauses/<pause_id>",
        Permission.MANAGE_ACTIONS,
        Permission.MANAGE_TENANTS,
        operation=Operation("resume", AuditKind.PAUSE),
    )
    def end(self, pause_id: str, request: Request) -> WorkPauseView:
        """End a pause. What waits for it begins within its spread, each action at its own instant."""
        caller = caller_at(request)
        is_operator = Permission.MANAGE_TENANTS in caller.permissions
        for pause in self.api.known_pauses.list():
            if pause.id == pause_id and (is_operator or _tenant_of(pause) in {None, caller.tenant_id}):
                if pause.is_operators and not is_operator:
                    problem = f"an operator began this pause, so ending it needs {Permission.MANAGE_TENANTS}"
                    raise Forbidden(problem)
                [ended] = self.api.known_pauses.end_all([pause], caller.actor)
                return _view(ended)
        raise InvalidRequest([Flaw("pause_id", "is no pause in force; list them for their ids")])

    def _covered(self, body: PauseWorkRequest, request: Request) -> TenantId | None:
        """Return the tenant whose work a pause covers; None for all tenants' work.

        Raises:
            Forbidden: the caller is no operator, and the pause would cover another tenant.
        """
        caller = caller_at(request)
        if Permission.MANAGE_TENANTS in caller.permissions:
            named = body.name if body.scope is PauseScope.TENANT else body.of_tenant
            return None if named is None else ids.tenant(named)
        if body.scope is PauseScope.TENANT or body.of_tenant not in {None, caller.tenant_id}:
            what = "a tenant" if body.scope is PauseScope.TENANT else "another tenant's work"
            raise Forbidden(f"a pause of {what} needs the permission {Permission.MANAGE_TENANTS}")
        return caller.tenant_id

    def _checked_name(self, scope: PauseScope, name: str) -> str:
        """Return the name of what is paused.

        Raises:
            InvalidArgument: it is no tenant's name, or no key.
            InvalidRequest: no worker hosts the type, or there is no such worker.
        """
        if scope is PauseScope.TENANT:
            return ids.tenant(name)
        if scope in {PauseScope.CONCURRENCY_KEY, PauseScope.RATE_KEY}:
            return ids.key(scope.replace("-", "_"), name)
        routes = self.api.jobs.routes
        hosted = {*routes.types(), *self.api.app.handlers}
        types = {name for name in hosted if not name.startswith(RESERVED)}
        workers = {routes.queue_for(type_name) or DEFAULT_WORKER for type_name in types}
        known = sorted(types if scope is PauseScope.TYPE else workers)
        if name not in known:
            listed = ", ".join(known[:_SHOWN]) + (" …" if len(known) > _SHOWN else "")
            raise InvalidRequest([Flaw("name", f"{name!r} is no known {scope}; known: {listed or 'none'}")])
        return name

    def _check_number(self, tenant_id: TenantId, now: datetime) -> None:
        mine = [
            pause
            for pause in self.api.known_pauses.list()
            if not pause.is_operators and pause.tenant_id == tenant_id and not pause.is_over(now)
        ]
        if len(mine) >= MOST_OF_TENANT:
            problem = (
                f"would be your {ordinal(len(mine) + 1)} pause in force; at most {MOST_OF_TENANT} are allowed"
            )
            raise InvalidRequest([Flaw("scope", f"{problem}: end one first")])


def _tenant_of(pause: WorkPause) -> str | None:
    return pause.name if pause.scope is PauseScope.TENANT else pause.tenant_id


def _listed(pauses: Iterable[WorkPause]) -> WorkPauseList:
    return WorkPauseList(items=[_view(pause) for pause in pauses])


def _view(pause: WorkPause) -> WorkPauseView:
    probes_at = None if pause.breaker is None else pause.breaker.probes_at
    return WorkPauseView.of(pause, tenant=_tenant_of(pause), probes_at=probes_at)
