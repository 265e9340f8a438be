"""The caller: which tenant and who, read off the claims that API Gateway's authorizer has verified, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duetime import ids
from duetime.api.refusals import Forbidden
from duetime.errors import InvalidIdentifier

TENANT_CLAIM = "custom:tenant_id"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, for which tenant."""

    tenant_id: ids.TenantId
    actor: str


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
    return Caller(tenant_id, _actor(claims))


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
