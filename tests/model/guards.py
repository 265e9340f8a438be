"""The guards of the protocol: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class Guard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    ROW_IS_ABSENT = "schedule: the row is absent"
    CLAIM_PENDING = "claim: pending"
    CLAIM_DUE = "claim: due"
    NEXT_FENCE = "claim: the next fence"
    NONCE = "claim: a nonce marks one's own"
    SKEW = "take over: only after the skew"
    TAKE_OVER_LEASE_ENDED = "take over: the lease has ended"
    TAKE_OVER_PROCESSING = "take over: processing"
    TAKE_OVER_FENCE = "take over: the dead run's fence"
    RENEW_PROCESSING = "renew: processing"
    RENEW_FENCE = "renew: the fence is mine"
    SETTLE_PROCESSING = "settle: processing"
    SETTLE_FENCE = "settle: the fence is mine"
    SETTLE_ENDS_LEASE = "settle: the lease ends"
    FINAL_LEAVES_DUE_INDEX = "settle: a final row leaves the due index"
    RETRY_NO_CANCEL = "settle for retry: no cancel was asked for"
    RETRY_GEN = "settle for retry: the next gen"
    RETRY_IN_DUE_INDEX = "settle for retry: stays in the due index"
    CANCEL_PENDING = "cancel: pending"
    ASK_PROCESSING = "ask to cancel: processing"
    RESCHEDULE_PENDING = "reschedule: pending"
    RESCHEDULE_GEN = "reschedule: the next gen"
    REDRIVE_FAILED = "redrive: failed"
    REDRIVE_GEN = "redrive: the next gen"
    REDRIVE_IN_DUE_INDEX = "redrive: in the due index again"
    REDRIVE_NO_EXPIRY = "redrive: no longer expiring"
    TIMER_OF_A_GEN = "arm: a timer for each gen"


ALL = frozenset(Guard)
