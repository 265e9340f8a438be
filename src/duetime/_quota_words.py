"""The quotas of tenants in the settings: their defaults, and how a tenant's are written."""

from __future__ import annotations

QUOTAS = {
    "pending": 100_000,
    "payload_bytes": 1_000_000_000,
    "jobs": 1_000,
    "event_rules": 50,
    "requests": 50,
    "events": 600,
}
"""The default quotas of each tenant in a deployment with several; see `duetime.model.quota`."""


def quota_words(words: str) -> dict[str, int]:
    """Read the quotas of a tenant, such as ``jobs=500 requests=20``.

    Raises:
        ValueError: a word is no quota, or a quota occurs twice.
    """
    pairs = [word.partition("=") for word in words.split()]
    limits = {name: int(limit) for name, _, limit in pairs}
    is_known = len(limits) == len(pairs) and limits.keys() <= QUOTAS.keys()
    if not is_known or any(limit < 0 for limit in limits.values()):
        raise ValueError(words)
    return limits
