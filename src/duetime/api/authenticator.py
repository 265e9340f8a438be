"""Authentication and permissions of callers.

A person has an ID token of the Cognito user pool: its claims contain the tenant, and its groups are roles.
A service signs its requests: the settings map its ARN, which API Gateway verifies, to a tenant and roles.
No other part of a request identifies the caller.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from duetime import ids
from duetime.errors import Forbidden, InvalidArgument, SettingsError
from duetime.model.permissions import EVERYTHING, GRANTABLE, Permission, permissions_of
from duetime.ports.access import Grants
from duetime.settings import Settings

TENANT_CLAIM = "custom:tenant_id"
GROUPS_CLAIM = "cognito:groups"

ANY_SIGNER = "*"
"""In the setting `identities`: each signer that IAM lets call the API and that has no entry of its own."""

_SUBJECT_LIMIT = 256
_IDENTITY_CENTER = "AWSReservedSSO_"
"""Begins the names of the roles of IAM Identity Center, which names their sessions after its users."""

EVERYONE = "everyone"
"""The role of every caller with a known tenant."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: its tenant, actor, roles and permissions."""

    tenant_id: ids.TenantId
    actor: str
    roles: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = frozenset()
    address: str | None = None
    subject: str = ""
    """The id that never changes: a user's ``sub``, or the unique id of a signer; its ARN if it has none."""
    names_itself: bool = False
    """Whether the caller chose the session's name in `subject`: that of an assumed role, outside of IAM
    Identity Center."""

    def is_other_than(self, subject: str) -> bool:
        """Return whether this is another person or service than the one that has a subject.

        All sessions of one role are one, unless IAM Identity Center names them. A caller without a subject
        may be anyone.
        """
        mine = self.subject
        if self.names_itself:
            mine, subject = (text.partition(":")[0] for text in (mine, subject))
        return bool(mine and subject) and mine != subject


class Authenticator:
    """Authenticates callers and computes their permissions.

    Raises:
        SettingsError: a role has a word that is no permission, or an identity none that can be a tenant.
    """

    def __init__(self, grants: Grants, settings: Settings) -> None:
        self._grants = grants
        self._identities = _identities(settings.identities)
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
        caller = (
            _of_claims(claims) if isinstance(claims, Mapping) else _of_signature(context, self._identities)
        )
        if self._required_role and self._required_role not in caller.roles:
            raise Forbidden(f"the caller needs the role {self._required_role!r}, which all callers must have")
        return replace(
            caller,
            permissions=self._permissions(caller),
            address=address if isinstance(address, str) else None,
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
    for read, words in ((_read, settings.roles), (_identities, settings.identities)):
        try:
            read(words)
        except SettingsError as error:
            problems += error.problems
    if problems:
        raise SettingsError(problems)


def _read(roles: Mapping[str, str]) -> Mapping[str, frozenset[Permission]]:
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


def _of_claims(claims: Mapping[str, Any]) -> Caller:
    """Return the caller of an ID token's claims.

    Raises:
        Forbidden: the token has no valid tenant or no actor, or is no ID token.
    """
    if claims.get("token_use", "id") != "id":
        raise Forbidden("the caller's token is no ID token; send the ID token of the sign-in")
    if TENANT_CLAIM not in claims:
        raise Forbidden(f"the caller's token names no tenant; it needs the claim {TENANT_CLAIM}")
    try:
        tenant_id = ids.tenant(claims[TENANT_CLAIM])
    except InvalidArgument as error:
        raise Forbidden(f"the caller's claim {TENANT_CLAIM} names no tenant: {error.problem}") from None
    return Caller(tenant_id, _actor(claims), _groups(claims), subject=_subject(claims.get("sub")))


def _identities(setting: Mapping[str, str]) -> dict[str, tuple[ids.TenantId, frozenset[str]]]:
    """Return the tenant and the roles of each signer's ARN in the settings."""
    identities, problems = {}, []
    for arn, words in setting.items():
        tenant_id, *roles = words.split() or [""]
        try:
            identities[_without_path(arn)] = ids.tenant(tenant_id), frozenset(roles)
        except InvalidArgument as error:
            problems.append(
                f"identities says {words!r} of {arn!r}: its first word, the tenant, {error.problem}"
            )
    if problems:
        raise SettingsError(problems)
    return identities


def _of_signature(
    context: Mapping[str, Any], identities: Mapping[str, tuple[ids.TenantId, frozenset[str]]]
) -> Caller:
    """Return the service that signed a request, from API Gateway's ARN.

    Raises:
        Forbidden: there is none, or the settings do not know it.
    """
    signed_by = context["identity"].get("userArn")
    if not isinstance(signed_by, str) or not signed_by:
        raise Forbidden("the caller has neither an ID token with claims nor a signature")
    arn, session = _without_session(signed_by)
    identity = identities.get(arn) or identities.get(ANY_SIGNER)
    if identity is None:
        raise Forbidden(f"the settings' identities do not know {arn}; they must name its tenant and roles")
    tenant_id, roles = identity
    name = arn.rpartition("/")[2]
    actor = f"{name}/{session}" if session else name
    subject = _subject(context["identity"].get("user")) or _subject(signed_by)
    names_itself = bool(session) and not name.startswith(_IDENTITY_CENTER)
    return Caller(
        tenant_id, ids.key("actor", actor[: ids.KEY_LIMIT]), roles, subject=subject, names_itself=names_itself
    )


def _without_session(arn: str) -> tuple[str, str]:
    """Return the role's ARN and the session's name of an assumed role; any other ARN without its path.

    ``arn:aws:sts::123456789012:assumed-role/billing/i-0a1b`` has the role
    ``arn:aws:iam::123456789012:role/billing``.
    """
    found = re.fullmatch(r"(arn:[^:]+):sts::(\d*):assumed-role/([^/]+)/(.+)", arn)
    if found is None:
        return _without_path(arn), ""
    partition, account, role, session = found.groups()
    return f"{partition}:iam::{account}:role/{role}", session


def _without_path(arn: str) -> str:
    """Return an ARN without its path: a session's ARN has no path."""
    head, _, name = arn.rpartition("/")
    return f"{head.split('/')[0]}/{name}" if head else arn


def _actor(claims: Mapping[str, Any]) -> str:
    """Return the e-mail address if it is verified, else the subject."""
    names = ["email", "sub"] if str(claims.get("email_verified", True)).lower() == "true" else ["sub"]
    for name in names:
        try:
            return ids.key("actor", claims.get(name))
        except InvalidArgument:  # an address may hold the key separator; the subject never does
            continue
    raise Forbidden("the caller's token has no valid actor; it needs the claim email or sub")


def _subject(value: object) -> str:
    return value[:_SUBJECT_LIMIT] if isinstance(value, str) else ""


def _groups(claims: Mapping[str, Any]) -> frozenset[str]:
    claim = claims.get(GROUPS_CLAIM) or ""
    text = " ".join(map(str, claim)) if isinstance(claim, list) else str(claim)
    return frozenset(part for part in re.split(r"[\s,\[\]]+", text) if part)
