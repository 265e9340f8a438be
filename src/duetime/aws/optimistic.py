"""Conditional writes on a row as read, for claims that depend on more than the row."""

from __future__ import annotations

from duetime.aws import damaged_leases
from duetime.aws.conditions import FENCE_IS_MINE, GENERATION_IS_AS_READ, PROGRESS, ROW_IS_ABSENT, Update
from duetime.aws.items import checkpoint_entry, to_item
from duetime.aws.keys import Item
from duetime.model import transition
from duetime.model.action import Action, Status
from duetime.ports.actions import DamagedRow, Holder

STATUS_IS_AS_READ = "#status = :status"
LEASE_IS_AS_READ = "lease_until = :lease"
CHECKPOINT_IS_AS_READ = "checkpoint = :checkpoint"
CHECKPOINT_IS_ABSENT = "attribute_not_exists(checkpoint)"


def claim_row(row: Action, claimed: Action) -> Update:
    """Begin a run if the row is as read."""
    became, as_read = to_item(claimed), _as_read(row)
    checkpoint, checkpoint_values = _checkpoint_as_read(row)
    taken = [
        name
        for name in (
            "fence",
            "lease_until",
            "nonce",
            "retry",
            "attempt",
            "recoveries",
            "catches_up",
            "held_by",
        )
        if name in became
    ]
    sets = [
        "#status = :processing",
        "attempts = list_append(if_not_exists(attempts, :none), :started)",
        *(f"{name} = :new_{name}" for name in taken),
    ]
    return {
        "ConditionExpression": f"{as_read['ConditionExpression']}{checkpoint} AND {GENERATION_IS_AS_READ}",
        "UpdateExpression": f"SET {', '.join(sets)} REMOVE {', '.join(PROGRESS)}",
        "ExpressionAttributeNames": as_read["ExpressionAttributeNames"],
        "ExpressionAttributeValues": {
            **as_read["ExpressionAttributeValues"],
            **checkpoint_values,
            ":generation": {"N": str(row.generation)},
            ":processing": became["status"],
            ":none": {"L": []},
            ":started": {"L": became["attempts"]["L"][-1:]},
            **{f":new_{name}": became[name] for name in taken},
        },
    }


def still_dead(dead: Holder | None, *, loses_slot: bool = False) -> Update:
    """Check that a holder is dead as read, or gone.

    A dead run loses fence and nonce: if it wakes, or receives the response of its claim late, it holds
    nothing.

    Args:
        dead: the row as read.
        loses_slot: whether it loses a slot. Then a pending row loses its fence too: a claim of it may be
            under way.
    """
    if dead is None:
        return {"ConditionExpression": ROW_IS_ABSENT}
    if isinstance(dead, DamagedRow):
        return damaged_leases.still_over(dead)
    read = _as_read(dead)
    if dead.status is not Status.PROCESSING and not (loses_slot and dead.status is Status.PENDING):
        return read
    next_fence = {":next_fence": to_item(transition.fenced_off(dead))["fence"]}
    return {
        **read,
        "UpdateExpression": "SET fence = :next_fence REMOVE nonce",
        "ExpressionAttributeValues": read["ExpressionAttributeValues"] | next_fence,
    }


def _checkpoint_as_read(row: Action) -> tuple[str, Item]:
    """Return what checks the checkpoint of a processing row: its run may store another one meanwhile."""
    if row.status is not Status.PROCESSING:
        return "", {}
    if row.checkpoint is None:
        return f" AND {CHECKPOINT_IS_ABSENT}", {}
    return f" AND {CHECKPOINT_IS_AS_READ}", {":checkpoint": checkpoint_entry(row.checkpoint)}


def _as_read(row: Action) -> Update:
    """Check status and fence, and the lease of a processing row, which heartbeats move."""
    read = to_item(row)
    conditions = [STATUS_IS_AS_READ, FENCE_IS_MINE]
    values = {":status": read["status"], ":fence": read["fence"]}
    if "lease_until" in read:
        conditions.append(LEASE_IS_AS_READ)
        values[":lease"] = read["lease_until"]
    return {
        "ConditionExpression": " AND ".join(conditions),
        "ExpressionAttributeNames": {"#status": "status"},
        "ExpressionAttributeValues": values,
    }
