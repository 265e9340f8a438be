"""The guards of concurrency keys: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class SlotGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    IS_FREE = "take: others hold fewer than the limit"
    SAME_LINE = "take: no action has joined the line"
    AS_MANY_HELD = "wait: as many as the limit hold slots"
    TOKEN_GROWS = "take: a token only grows"
    TOKEN = "claim: the fence is the holder's token"
    ROW_AS_READ = "claim: the row is as read"
    AFTER_SETTLE = "free: after the settle"
    FREE_TOKEN = "free: the token is as read"
    ROW_DECIDES = "free: if the token is another, the row decides"
    FREE_LINE = "free: no action has joined the line"
    NO_TAIL = "take: no tail has begun"
    WAIT_TAIL = "wait: no tail has begun"
    ENTRY_FIRST = "join the tail: the entry before the mark"
    TAIL_MARKED = "join the tail: the key is marked"
    LOOKS_AGAIN = "join the tail: the slots are read again"
    FREE_TAIL = "free: no tail has begun"
    FREE_READS_TAIL = "free: the tail is read again"
    APPEND_LINE = "append: the line is as read"
    HAS_TAIL = "append: the mark is still there"
    LEAVES_AFTER = "append: entries leave the tail after it"
    READS_TAIL_AGAIN = "append: the tail is read again after its end"
    MARKS_AGAIN = "append: an entry is marked again"
    HOLDERS_AS_READ = "pass: the holders are as read"
    HAS_ENDED = "evict: the holder's lease has ended"
    HOLDER_AS_READ = "evict: the holder is as read"
    LOSES_FENCE = "evict: a dead holder loses its fence"
    PENDING_LOSES_FENCE = "evict: a pending holder loses its fence"
    LOSES_NONCE = "evict: the holder loses its nonce"
    SETTLED_IS_DEAD = "evict: a settled holder counts as dead"
    GONE_IS_DEAD = "evict: a holder whose row is gone counts as dead"
    SETTLE_FREES = "free: at all"
    SETTLE_FENCE = "settle: the fence is mine"
    RENEW_FENCE = "renew: the fence is still mine"


ALL_OF_SLOTS = frozenset(SlotGuard)

BREAKS_WITHOUT = {
    SlotGuard.IS_FREE: "more runs at once than the limit",
    SlotGuard.SAME_LINE: "a new action runs before one that waits",
    SlotGuard.AS_MANY_HELD: "an action waits for a slot that is free, and no wake is sent to it",
    SlotGuard.TOKEN_GROWS: "a worker with an old row sets a token back, and a late free counts as valid",
    SlotGuard.TOKEN: "a run begins with the slot of its former run, which is being freed",
    SlotGuard.ROW_AS_READ: "a late claim begins a run whose slot was evicted",
    SlotGuard.AFTER_SETTLE: "the next one begins while the run has its lease",
    SlotGuard.FREE_TOKEN: "a late free frees the slot of the action's next run",
    SlotGuard.ROW_DECIDES: "a run leaves its slot, which a take-over that lost its race took again",
    SlotGuard.FREE_LINE: "a slot is freed past an action that has joined the line, and no wake is sent to it",
    SlotGuard.NO_TAIL: "a new action runs before one in the tail",
    SlotGuard.WAIT_TAIL: "a new action waits before one in the tail",
    SlotGuard.ENTRY_FIRST: "the mark is removed before the entry is there",
    SlotGuard.TAIL_MARKED: "no move reads the tail",
    SlotGuard.LOOKS_AGAIN: "an action joins the tail after the last slot was freed",
    SlotGuard.FREE_TAIL: "a slot is freed past an action in the tail, and no wake is sent to it",
    SlotGuard.FREE_READS_TAIL: "the same, if the tail was marked before",
    SlotGuard.APPEND_LINE: "two moves append at once, and one forgets what the other appended",
    SlotGuard.HAS_TAIL: "two moves end a tail at once",
    SlotGuard.LEAVES_AFTER: "a move that is refused has removed entries",
    SlotGuard.READS_TAIL_AGAIN: "an action in the tail saw a mark that is removed",
    SlotGuard.MARKS_AGAIN: "the same",
    SlotGuard.HOLDERS_AS_READ: "two that pass slots at once each forget the other's holder",
    SlotGuard.HAS_ENDED: "a live run loses its slot to another",
    SlotGuard.HOLDER_AS_READ: "a late eviction lets a holder that renewed or began again run beside another",
    SlotGuard.LOSES_FENCE: "a holder that wakes late renews its lease beside its successor",
    SlotGuard.PENDING_LOSES_FENCE: "a holder that has not begun claims its row after its eviction",
    SlotGuard.LOSES_NONCE: "a claim with a late response counts as valid under the new fence",
    SlotGuard.SETTLED_IS_DEAD: "a slot that a settle left behind is held for ever",
    SlotGuard.GONE_IS_DEAD: "the same after its row has expired",
    SlotGuard.SETTLE_FREES: "a slot stays with a settled run, and no wake is sent",
    SlotGuard.SETTLE_FENCE: "a run that was evicted frees the slot of its successor under the same id",
    SlotGuard.RENEW_FENCE: "an evicted run has a lease again",
}
"""What happens without each guard."""
