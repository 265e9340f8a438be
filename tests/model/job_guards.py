"""The guards of the jobs' protocol: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class JobGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    ROW_IS_ABSENT = "plan: the row is absent"
    ROWS_FIRST = "plan: rows before the cursor"
    CURSOR_AS_READ = "move the cursor: the cursor is as read"
    MOVE_REVISION = "move the cursor: the revision is as read"
    CHANGE_REVISION = "change: the revision is as read"
    ACCOUNTS_FOR_OLD = "change: the old version's times up to now are accounted for"
    VERSION_COUNTS = "change: a version is a counter"
    PLANS_BEFORE_PAUSE = "pause: what is due by then is planned first"
    RESUME_CURSOR = "resume: the cursor goes to the pause's end"
    NOT_COVERED = "claim: no former version has run this time"
    CLAIM_ROW = "claim: the row is as read"
    CLAIM_REVISION = "claim: the revision is as read"
    LOCK_IS_FREE = "claim: the lock is free, mine or a dead one's"
    DEAD_AS_READ = "claim: the dead holder is as read"
    DEAD_LOSES_FENCE = "claim: a dead holder loses its fence"
    UNLOCKED_HOLD = "claim: live runs without the lock count as its holders"
    UNLOCKED_LOSE_FENCE = "claim: dead runs without the lock lose their fence"
    SETTLED_IS_DEAD = "claim: a settled holder counts as dead"
    UNLOCK_IS_MINE = "unlock: the lock is mine"
    SETTLE_UNLOCKS = "settle: the lock is freed"
    RETRY_KEEPS_LOCK = "settle for retry: the lock is kept"
    CANCEL_UNLOCKS = "end pending: the lock is freed"
    SKIP_AS_READ = "end pending: pending as read"


ALL_OF_JOBS = frozenset(JobGuard)

BREAKS_WITHOUT = {
    JobGuard.ROW_IS_ABSENT: "a second planner resets rows that were run or retired",
    JobGuard.ROWS_FIRST: "a planner that stops in between loses the rows not yet put",
    JobGuard.CURSOR_AS_READ: "a slow planner, or its late request, moves it back: times are planned again",
    JobGuard.MOVE_REVISION: "a planner of the old version moves the new one's cursor past unplanned times",
    JobGuard.CHANGE_REVISION: "a concurrent or late deploy undoes a pause",
    JobGuard.ACCOUNTS_FOR_OLD: "unplanned times disappear with their version",
    JobGuard.VERSION_COUNTS: "the rollback finds the rows that the deploy retired, and they do not run",
    JobGuard.PLANS_BEFORE_PAUSE: "planners omit the times of a cadence before its pause",
    JobGuard.RESUME_CURSOR: "paused times run afterwards; times that planners omitted in advance never run",
    JobGuard.NOT_COVERED: "a time between a change and its write runs under both versions",
    JobGuard.CLAIM_ROW: "a settled run begins again, by a late claim too",
    JobGuard.CLAIM_REVISION: "a run that was decided before a pause begins under it",
    JobGuard.LOCK_IS_FREE: "two runs at once",
    JobGuard.DEAD_AS_READ: "a holder that renewed its lease runs beside another",
    JobGuard.DEAD_LOSES_FENCE: "a holder that wakes late renews its lease beside its successor",
    JobGuard.UNLOCKED_HOLD: "after a change of the policy, a run begins beside one that began before it",
    JobGuard.UNLOCKED_LOSE_FENCE: "such a run wakes late, and renews its lease beside the lock's holder",
    JobGuard.SETTLED_IS_DEAD: "only with 'settle: the lock is freed': a lock for ever",
    JobGuard.UNLOCK_IS_MINE: "a cancel of a waiting run frees another run's lock: two runs at once",
    JobGuard.SETTLE_UNLOCKS: "only with 'claim: a settled holder counts as dead': a lock for ever",
    JobGuard.RETRY_KEEPS_LOCK: "another occurrence begins between two attempts",
    JobGuard.CANCEL_UNLOCKS: "only with 'claim: a settled holder counts as dead': a lock for ever",
    JobGuard.SKIP_AS_READ: "a run that has begun is skipped",
}
"""What happens without each guard."""
