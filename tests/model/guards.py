"""The guards of the protocol: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class Guard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    ROW_IS_ABSENT = "schedule: the row is absent"
    CLAIM_PENDING = "claim: pending"
    CLAIM_DUE = "claim: due"
    CLAIM_NOT_EXPIRED = "claim: not expired"
    NEXT_FENCE = "claim: the next fence"
    NONCE = "claim: a nonce marks one's own"
    SKEW = "take over: only after the skew"
    TAKE_OVER_LEASE_ENDED = "take over: the lease has ended"
    TAKE_OVER_PROCESSING = "take over: processing"
    TAKE_OVER_FENCE = "take over: the dead run's fence"
    RENEW_PROCESSING = "renew: processing"
    RENEW_FENCE = "renew: the fence is mine"
    RENEW_NOT_HANDED_OVER = "renew: not handed over"
    HAND_OVER_PROCESSING = "hand over: processing"
    HAND_OVER_FENCE = "hand over: the fence is mine"
    HAND_OVER_ONCE = "hand over: not handed over"
    BEAT_FENCE = "heartbeat by token: the fence is mine"
    BEAT_LASTS = "heartbeat by token: the hand-over lasts"
    TOKEN_PROCESSING = "settle by token: processing"
    TOKEN_FENCE = "settle by token: the fence is mine"
    TOKEN_LASTS = "settle by token: the hand-over lasts"
    RENEW_NOT_LATER = "renew: the lease is not later"
    SETTLE_PROCESSING = "settle: processing"
    SETTLE_FENCE = "settle: the fence is mine"
    SETTLE_ENDS_LEASE = "settle: the lease ends"
    FINAL_LEAVES_DUE_INDEX = "settle: a final row leaves the due index"
    RETRY_NO_CANCEL = "settle for retry: no cancel was requested"
    RETRY_GENERATION = "settle for retry: the next generation"
    RETRY_IN_DUE_INDEX = "settle for retry: stays in the due index"
    COMMIT_PROCESSING = "settle by commit: processing"
    COMMIT_FENCE = "settle by commit: the fence is mine"
    COMMIT_SETTLES = "settle by commit: the row is settled with the entries"
    CANCEL_PENDING = "cancel: pending"
    CANCEL_AS_READ = "cancel: the generation is as read"
    ASK_PROCESSING = "ask to cancel: processing"
    ASK_AS_READ = "ask to cancel: the fence is as read"
    RESCHEDULE_PENDING = "reschedule: pending"
    RESCHEDULE_GENERATION = "reschedule: the next generation"
    RESCHEDULE_AS_READ = "reschedule: the generation is as read"
    REDRIVE_FAILED = "redrive: failed"
    REDRIVE_GENERATION = "redrive: the next generation"
    REDRIVE_IN_DUE_INDEX = "redrive: in the due index again"
    REDRIVE_NO_EXPIRY = "redrive: no longer expiring"
    REDRIVE_AS_READ = "redrive: the generation is as read"
    REDRIVE_SEES_DISMISSAL = "redrive: not dismissed since it was read"
    REDRIVE_NOT_DISMISSED = "redrive: no longer dismissed"
    SKIP_PENDING = "skip: pending"
    SKIP_AS_READ = "skip: the generation is as read"
    SKIP_UNDER_PAUSE = "skip: due under the pause, or expired"
    SKIP_NOT_BEGUN = "skip: not begun, or expired"
    DISMISS_FAILED = "dismiss: failed"
    DISMISS_AS_READ = "dismiss: the generation is as read"
    DISMISS_ONCE = "dismiss: not dismissed"
    TIMER_OF_A_GENERATION = "arm: a timer for each generation"


ALL = frozenset(Guard)

BREAKS_WITHOUT = {
    Guard.ROW_IS_ABSENT: "a repeated put resets an action that has run",
    Guard.CLAIM_PENDING: "a running or cancelled action is started again",
    Guard.CLAIM_DUE: "a stale message starts a rescheduled action early",
    Guard.CLAIM_NOT_EXPIRED: "a run begins after the action's expiry",
    Guard.NEXT_FENCE: "a run that was taken over settles its successor's",
    Guard.NONCE: "after a lost response, the action waits for the end of the lease",
    Guard.SKEW: "two machines with different clocks both hold a live lease",
    Guard.TAKE_OVER_LEASE_ENDED: "a run that renewed its lease runs twice",
    Guard.TAKE_OVER_PROCESSING: "only with 'settle: the lease ends': a settled action runs again",
    Guard.TAKE_OVER_FENCE: "only with 'take over: the lease has ended': as there",
    Guard.RENEW_PROCESSING: "a late heartbeat writes to a settled row",
    Guard.RENEW_FENCE: "a run that was taken over has a lease again",
    Guard.RENEW_NOT_HANDED_OVER: "a late heartbeat of the worker keeps a lost hand-over alive",
    Guard.HAND_OVER_PROCESSING: "only with 'hand over: not handed over': a settled row gets a lease",
    Guard.HAND_OVER_FENCE: "a run that was taken over hands its successor's run over",
    Guard.HAND_OVER_ONCE: "a repeated hand-over brings one back that has ended",
    Guard.BEAT_FENCE: "the token of a run that was taken over keeps its successor's lease alive",
    Guard.BEAT_LASTS: "a heartbeat brings back a hand-over that has ended",
    Guard.TOKEN_PROCESSING: "a second completion ends the action again",
    Guard.TOKEN_FENCE: "the token of a run that was taken over ends its successor's",
    Guard.TOKEN_LASTS: "an action is completed after the time-out of its hand-over",
    Guard.RENEW_NOT_LATER: "a late heartbeat moves the lease back, and a run that goes on is taken over",
    Guard.SETTLE_PROCESSING: "a repeated settle counts twice",
    Guard.SETTLE_FENCE: "a run that was taken over settles its successor's",
    Guard.SETTLE_ENDS_LEASE: "only with 'take over: processing': a settled action runs again",
    Guard.FINAL_LEAVES_DUE_INDEX: "sweeps read settled rows for ever",
    Guard.RETRY_NO_CANCEL: "a run whose cancel was requested runs again",
    Guard.RETRY_GENERATION: "nothing arms the next attempt",
    Guard.RETRY_IN_DUE_INDEX: "a lost wake loses the action",
    Guard.COMMIT_PROCESSING: "a repeated commit is applied twice",
    Guard.COMMIT_FENCE: "a run that was taken over commits beside its successor",
    Guard.COMMIT_SETTLES: "a worker dies after its commit, and the next run commits again",
    Guard.CANCEL_PENDING: "an executed action becomes cancelled",
    Guard.ASK_PROCESSING: "a request is left where no run will see it",
    Guard.RESCHEDULE_PENDING: "a settled row gets another due time",
    Guard.RESCHEDULE_GENERATION: "nothing arms the new time",
    Guard.REDRIVE_FAILED: "an action that runs is made pending, and runs twice",
    Guard.REDRIVE_GENERATION: "nothing arms the redriven action",
    Guard.REDRIVE_IN_DUE_INDEX: "a lost wake loses the action",
    Guard.REDRIVE_NO_EXPIRY: "the action expires before it runs",
    Guard.CANCEL_AS_READ: "a late cancel ends an action that was rescheduled since",
    Guard.ASK_AS_READ: "a late request to cancel stops a later run",
    Guard.RESCHEDULE_AS_READ: "a late reschedule undoes a later one",
    Guard.REDRIVE_AS_READ: "a late redrive runs an action that failed again once more",
    Guard.REDRIVE_SEES_DISMISSAL: "a late redrive runs an action that was dismissed since",
    Guard.REDRIVE_NOT_DISMISSED: "a dismissed action runs, and is hidden when it fails again",
    Guard.SKIP_PENDING: "an action that was cancelled meanwhile becomes skipped",
    Guard.SKIP_AS_READ: "a late skip ends an action that was given another due time and expiry since",
    Guard.SKIP_UNDER_PAUSE: "an action that was due before the pause is skipped",
    Guard.SKIP_NOT_BEGUN: "a retry is skipped: the action has run, but not to its end",
    Guard.DISMISS_FAILED: "an executed action is dismissed",
    Guard.DISMISS_AS_READ: "a late dismissal hides a later failure",
    Guard.DISMISS_ONCE: "a late dismissal replaces the reason of another",
    Guard.TIMER_OF_A_GENERATION: "a late clear of the old timer removes the new one",
}
"""What happens without each guard."""
