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
    SETTLED_IS_DEAD = "claim: a settled holder counts as dead"
    UNLOCK_IS_MINE = "unlock: the lock is mine"
    SETTLE_UNLOCKS = "settle: the lock is freed"
    RETRY_KEEPS_LOCK = "settle for retry: the lock is kept"
    CANCEL_UNLOCKS = "end pending: the lock is freed"
    SKIP_AS_READ = "end pending: pending as read"


ALL_OF_JOBS = frozenset(JobGuard)
