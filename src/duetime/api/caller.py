"""The caller: tenant, actor and roles, read only from what API Gateway has verified."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from duetime import ids
from duetime.api.errors import Forbidden
from duetime.errors import InvalidIdentifier, SettingsError
from duetime.model.permissions import Permission

TENANT_CLAIM = "custom:tenant_id"
GROUPS_CLAIM = "cognito:groups"


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller: its tenant, actor, roles and permissions."""

    tenant_id: ids.TenantId
    actor: str
    roles: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = frozenset()
    address: str | None = None

    def permitted(self, permissions: frozenset[Permission], *, address: str | None) -> Caller:
        """Return the caller with its permissions and address."""
        return replace(self, permissions=permissions, address=address)


def of_claims(claims: Mapping[str, Any]) -> Caller:
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
    except InvalidIdentifier as error:
        raise Forbidden(f"the caller's claim {TENANT_CLAIM} names no tenant: {error.problem}") from None
    return Caller(tenant_id, _actor(claims), _groups(claims))


class Identities:
    """The tenant and the roles of each signer's ARN, from the settings.

    Raises:
        SettingsError: an ARN has none that can be a tenant.
    """

    def __init__(self, setting: Mapping[str, str]) -> None:
        self._known: dict[str, tuple[ids.TenantId, frozenset[str]]] = {}
        problems = []
        for arn, words in setting.items():
            tenant_id, *roles = words.split() or [""]
            try:
                self._known[_without_path(arn)] = ids.tenant(tenant_id), frozenset(roles)
            except InvalidIdentifier as error:
                problems.append(
                    f"identities says {words!r} of {arn!r}: its first word, the tenant, {error.problem}"
                )
        if problems:
            raise SettingsError(problems)

    def identify(self, arn: str) -> tuple[ids.TenantId, frozenset[str]]:
        """Return the tenant and the roles of an ARN.

        Raises:
            Forbidden: the settings do not know it.
        """
        if arn not in self._known:
            raise Forbidden(
                f"the settings' identities do not know {arn}; they must name its tenant and roles"
            )
        return self._known[arn]


def of_signature(context: Mapping[str, Any], identities: Identities) -> Caller:
    """Return the service that signed a request, from API Gateway's ARN.

    Raises:
        Forbidden: there is none, or the settings do not know it.
    """
    signed_by = context["identity"].get("userArn")
    if not isinstance(signed_by, str) or not signed_by:
        raise Forbidden("the caller has neither an ID token with claims nor a signature")
    arn, session = _without_session(signed_by)
    tenant_id, roles = identities.identify(arn)
    name = arn.rpartition("/")[2]
    actor = f"{name}/{session}" if session else name
    return Caller(tenant_id, ids.actor(actor[: ids.ACTOR_LIMIT]), roles)


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
            return ids.actor(claims.get(name))
        except InvalidIdentifier:  # an address may hold the key separator; the subject never does
            continue
    raise Forbidden("the caller's token has no valid actor; it needs the claim email or sub")


def _groups(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the groups, which API Gateway sends as one text such as ``[admins operators]``."""
    claim = claims.get(GROUPS_CLAIM) or ""
    text = " ".join(map(str, claim)) if isinstance(claim, list) else str(claim)
    return frozenset(part for part in re.split(r"[\s,\[\]]+", text) if part)
