"""The guards of batches: what each write's condition, order or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class BatchGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    ADD_OPEN = "add: the batch is open"
    ADD_AS_READ = "add: the batch is as read"
    SIZE_FIRST = "add: the size before the rows"
    ROW_IS_ABSENT = "add: the row is absent"
    CLOSE_AS_READ = "close: the batch is as read"
    COUNT_AS_READ = "count: the batch is as read"
    COUNT_CLOSED = "count: complete only if closed"
    COUNT_ALL_FINAL = "count: complete only if all are final"
    COUNT_MISSING = "count: a row in the place of a missing one"
    COUNT_KEPT = "count: a removed row keeps its count"
    COUNT_REDRIVEN = "count: a redriven member replaces a failed one"
    REDRIVE_BEFORE = "redrive: the batch counts again before it"
    REDRIVE_AFTER = "redrive: the batch counts again after it"
    REDRIVE_AS_READ = "redrive: the batch is as read"
    REDRIVE_IN_DUE_INDEX = "redrive: the batch is in the due index again"
    ONCE_MORE = "count: once more after a redrive"
    RELEASE_COMPLETE = "release: the batch is complete"
    RELEASE_PENDING = "release: pending"
    RELEASE_AS_READ = "release: the generation is as read"


ALL_OF_BATCHES = frozenset(BatchGuard)

BREAKS_WITHOUT = {
    BatchGuard.ADD_OPEN: "a member is added after the close, perhaps after the completion",
    BatchGuard.ADD_AS_READ: "an add that read the open batch opens a closed one again",
    BatchGuard.SIZE_FIRST: "the batch is closed between the two, and a row is in no batch",
    BatchGuard.ROW_IS_ABSENT: "a repeated put resets a member that has ended",
    BatchGuard.CLOSE_AS_READ: "a close removes a member that was added since its read",
    BatchGuard.COUNT_AS_READ: "a count removes a member that was added since its read",
    BatchGuard.COUNT_CLOSED: "a batch is complete before its last members are added",
    BatchGuard.COUNT_ALL_FINAL: "the completion action runs while a member is left",
    BatchGuard.COUNT_MISSING: "a put that arrives late adds a member to a complete batch",
    BatchGuard.COUNT_KEPT: "after a redrive, a member whose row has expired is counted as skipped",
    BatchGuard.COUNT_REDRIVEN: "a member that was executed after its redrive is counted as failed",
    BatchGuard.REDRIVE_BEFORE: "a redrive whose caller dies is never counted",
    BatchGuard.REDRIVE_AFTER: "a batch completes without a redriven member for which it should wait",
    BatchGuard.REDRIVE_AS_READ: "a redrive that read the open batch opens a closed one again",
    BatchGuard.REDRIVE_IN_DUE_INDEX: "no sweep finds the batch, and its counts stay wrong",
    BatchGuard.ONCE_MORE: "a redrive that arrives late is never counted",
    BatchGuard.RELEASE_COMPLETE: "the completion action runs while a member is left",
    BatchGuard.RELEASE_PENDING: "a completion action that was cancelled runs",
    BatchGuard.RELEASE_AS_READ: "two processes release the completion action twice",
}
"""What happens without each guard."""
