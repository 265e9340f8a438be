"""The guards of checkpoints: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class CheckpointGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    PROCESSING = "checkpoint: processing"
    FENCE = "checkpoint: the fence is mine"
    OLDER = "checkpoint: the stored one is older"
    STOPS = "checkpoint: a rejected one ends the run"
    CLAIM_AS_READ = "claim under a key: the checkpoint is as read"
    CLAIM_KEEPS = "claim: the checkpoint stays"
    CONTINUE_FENCE = "continue: the fence is mine"
    CONTINUE_ADVANCED = "continue: the checkpoint has changed"
    CONTINUE_BOUND = "continue: at most so often"
    CONTINUE_NO_ATTEMPT = "continue: no attempt is used up"


ALL_OF_CHECKPOINTS = frozenset(CheckpointGuard)

BREAKS_WITHOUT = {
    CheckpointGuard.PROCESSING: "a late checkpoint changes a row that was settled",
    CheckpointGuard.FENCE: "a run that was taken over replaces its successor's checkpoint",
    CheckpointGuard.OLDER: "a late checkpoint replaces a later one of its run",
    CheckpointGuard.STOPS: "a run that was taken over goes on beside its successor",
    CheckpointGuard.CLAIM_AS_READ: "a run under a concurrency key begins with a former checkpoint",
    CheckpointGuard.CLAIM_KEEPS: "a run that is taken over has worked in vain",
    CheckpointGuard.CONTINUE_FENCE: "a run that was taken over makes its successor's row pending",
    CheckpointGuard.CONTINUE_ADVANCED: "a handler that makes no progress continues, and never fails",
    CheckpointGuard.CONTINUE_BOUND: "a handler that only counts upwards continues for ever",
    CheckpointGuard.CONTINUE_NO_ATTEMPT: "a long import fails, although each of its runs made progress",
}
"""What happens without each guard."""
