"""The ledger: the table that a world's runs commit to, and what must hold of it."""

from collections import Counter

from duetime.errors import CommitRejected, RejectedEntry
from duetime.model.action import Status
from duetime.testing.journey import short
from tests.proof.shop import end_of


class Ledger:
    """Accepts puts, and rejects entries with a condition."""

    def __init__(self):
        self.lines: list[tuple[object, int]] = []

    def __call__(self, entries):
        if any("ConditionCheck" in entry for entry in entries):
            raise CommitRejected([RejectedEntry(0, "ConditionalCheckFailed")])
        self.lines.extend(
            (entry["Put"]["Item"]["action"], entry["Put"]["Item"]["fence"]) for entry in entries
        )

    def broken(self, rows):
        """What an action commits is there exactly once if that commit has executed it, else not at all."""
        for (tenant, action), times in Counter(action for action, _ in self.lines).items():
            if times > 1:
                yield f"{short(action)} of {tenant} has committed {times} times"
        fences = dict(self.lines)
        for row in rows:
            is_by_commit = row.status is Status.EXECUTED and end_of(row).startswith("committed")
            expected = row.fence if is_by_commit else None
            found = fences.get((row.tenant_id, row.id))
            if found != expected:
                yield f"{short(row.id)} is {row.status} under fence {row.fence}; committed under {found}"
