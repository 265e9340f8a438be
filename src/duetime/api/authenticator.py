"""Authentication and permissions of callers.

A person has an ID token of the Cognito user pool: its claims contain the tenant, and its groups are roles. A
service
signs its requests: the settings map its ARN, which API Gateway verifies, to a tenant and roles. No other part
of a
request identifies the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duetime.api.caller import Caller, Identities, of_claims, of_signature
from duetime.api.errors import Forbidden
from duetime.errors import SettingsError
from duetime.model.permissions import EVERYTHING, GRANTABLE, Permission, permissions_of
from duetime.ports.access import Grants
from duetime.settings import Settings

EVERYONE = "everyone"
"""The role of every caller with a known tenant."""


class Authenticator:
    """Authenticates callers and computes their permissions.

    Raises:
        SettingsError: a role has a word that is no permission, or an identity none that can be a tenant.
    """

    def __init__(self, grants: Grants, settings: Settings) -> None:
        self._grants = grants
        self._identities = Identities(settings.identities)
        self._required_role = settings.required_role
        self._allows_all = settings.authorization == "allow-all"
        self._roles = _read(settings.roles)

    def caller_of(self, event: Mapping[str, Any]) -> Caller:
        """Return the caller of an API Gateway REST request, with the permissions of its roles.

        Raises:
            Forbidden: the actor or the tenant is missing, or the role that all callers need.
            BackendUnavailable: the grants cannot be read.
        """
        context = event["requestContext"]
        claims, address = context["authorizer"].get("claims"), context["identity"].get("sourceIp")
        caller = of_claims(claims) if isinstance(claims, Mapping) else of_signature(context, self._identities)
        if self._required_role and self._required_role not in caller.roles:
            raise Forbidden(f"the caller needs the role {self._required_role!r}, which all callers must have")
        return caller.permitted(
            self._permissions(caller), address=address if isinstance(address, str) else None
        )

    def _permissions(self, caller: Caller) -> frozenset[Permission]:
        if self._allows_all:
            return EVERYTHING
        roles = caller.roles | {EVERYONE}
        by_settings = frozenset[Permission]().union(*(self._roles.get(role, ()) for role in roles))
        if Permission.ADMIN in by_settings:
            return by_settings
        granted = self._grants.for_tenant(caller.tenant_id)
        at_run_time = (granted[role].permissions for role in roles if role in granted)
        return by_settings.union(*(permissions_of(grant & GRANTABLE) for grant in at_run_time))


def check_access(settings: Settings) -> None:
    """Check the roles and the identities in the settings.

    Raises:
        SettingsError: as `Authenticator`, all of it at once.
    """
    problems = list[str]()
    for read, words in ((_read, settings.roles), (Identities, settings.identities)):
        try:
            read(words)
        except SettingsError as error:
            problems += error.problems
    if problems:
        raise SettingsError(problems)


def _read(roles: Mapping[str, str]) -> Mapping[str, frozenset[Permission]]:
    """Return the permissions of each role in the settings."""
    problems = [
        f"roles gives {role!r} {', '.join(unknown)}; permissions are {', '.join(Permission)}"
        for role, words in roles.items()
        if (unknown := sorted(set(words.split()) - set(Permission)))
    ]
    if problems:
        raise SettingsError(problems)
    return {role: permissions_of(words.split()) for role, words in roles.items()}


def require(caller: Caller, *needed: Permission, what: str = "this") -> None:
    """Require one of the permissions.

    Raises:
        Forbidden: with the permissions, and the roles that the caller has.
    """
    if caller.permissions.isdisjoint(needed):
        roles = ", ".join(sorted(caller.roles)) or "none"
        raise Forbidden(
            f"{what} needs the permission {' or '.join(needed)}, which the caller lacks (roles: {roles})"
        )
