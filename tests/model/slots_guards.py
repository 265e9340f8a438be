"""The guards of concurrency keys: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class SlotGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    ROW_AS_READ = "take: the row is as read"
    IS_FREE = "take: others hold fewer than the limit"
    WITH_THE_ROW = "take: the slot with the row"
    HAS_ENDED = "evict: the holder's lease has ended"
    HOLDER_AS_READ = "evict: the holder is as read"
    LOSES_FENCE = "evict: the holder loses its fence"
    LOSES_NONCE = "evict: the holder loses its nonce"
    SETTLED_IS_DEAD = "evict: a settled holder counts as dead"
    GONE_IS_DEAD = "evict: a holder whose row is gone counts as dead"
    SETTLE_FREES = "free: with the settle"
    SETTLE_FENCE = "free: the fence is mine"
    RENEW_FENCE = "renew: the fence is still mine"


ALL_OF_SLOTS = frozenset(SlotGuard)
