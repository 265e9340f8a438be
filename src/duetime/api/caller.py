"""The caller: which tenant and who, read off the claims that API Gateway's authorizer has verified, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duetime import ids
from duetime.api.refusals import Forbidden
from duetime.errors import InvalidIdentifier

TENANT_CLAIM = "custom:tenant_id"
GROUPS_CLAIM = "cognito:groups"

OPERATORS = frozenset({"operators", "admins"})
"""The groups of those who see and manage code's jobs beside their own tenant's."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant."""

    tenant_id: ids.TenantId
    actor: str
    is_operator: bool = False


def caller_of(event: Mapping[str, Any]) -> Caller:
    """The caller of an API Gateway REST request.

    Raises:
        Forbidden: the token names no tenant, or none that can be one; or nobody.
    """
    claims = _claims(event)
    if TENANT_CLAIM not in claims:
        raise Forbidden(f"the caller's token names no tenant; it needs the claim {TENANT_CLAIM}")
    try:
        tenant_id = ids.tenant(claims[TENANT_CLAIM])
    except InvalidIdentifier as error:
        raise Forbidden(f"the caller's claim {TENANT_CLAIM} names no tenant: {error.problem}") from None
    return Caller(tenant_id, _actor(claims), is_operator=not OPERATORS.isdisjoint(_groups(claims)))


def _claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    authorizer = event["requestContext"].get("authorizer") or {}
    claims = authorizer.get("claims")
    return claims if isinstance(claims, Mapping) else {}


def _actor(claims: Mapping[str, Any]) -> str:
    """The e-mail address, unless the token says that nobody has verified it; else the subject."""
    names = ["email", "sub"] if str(claims.get("email_verified", True)).lower() == "true" else ["sub"]
    for name in names:
        try:
            return ids.actor(claims.get(name))
        except InvalidIdentifier:  # an address may hold the key separator; the subject never does
            continue
    raise Forbidden("the caller's token names nobody; it needs the claim email or sub")


def _groups(claims: Mapping[str, Any]) -> set[str]:
    """The groups, which API Gateway passes as one text: ``admins operators``, ``[admins operators]``, or with commas."""
    said = claims.get(GROUPS_CLAIM) or ""
    many = said if isinstance(said, list) else re.split(r"[\s,\[\]]+", str(said))
    return {str(each) for each in many}
