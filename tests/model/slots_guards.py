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

BREAKS_WITHOUT = {
    SlotGuard.ROW_AS_READ: "a duplicate message or late claim begins a run that holds a slot: two for one",
    SlotGuard.IS_FREE: "more runs at once than the limit",
    SlotGuard.WITH_THE_ROW: "two runs that look at the same time both begin",
    SlotGuard.HAS_ENDED: "a live run loses its slot to another",
    SlotGuard.HOLDER_AS_READ: "a late eviction lets a holder that renewed or began again run beside another",
    SlotGuard.LOSES_FENCE: "a holder that wakes late renews its lease beside its successor",
    SlotGuard.LOSES_NONCE: "a claim with a late response counts as valid under the new fence",
    SlotGuard.SETTLED_IS_DEAD: "a slot that a settle left behind is held for ever",
    SlotGuard.GONE_IS_DEAD: "the same after its row has expired",
    SlotGuard.SETTLE_FREES: "only with 'evict: a settled holder counts as dead': a slot for ever",
    SlotGuard.SETTLE_FENCE: "a run that was evicted frees the slot of its successor under the same id",
    SlotGuard.RENEW_FENCE: "an evicted run has a lease again",
}
"""What happens without each guard."""
