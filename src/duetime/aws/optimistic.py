"""Conditions on a row as it was read: for claims that are decided on more than the row, and written if it still stands."""

from __future__ import annotations

from duetime.aws.conditions import FENCE_IS_MINE, GEN_IS_AS_READ, ROW_IS_ABSENT, Update
from duetime.aws.items import to_item
from duetime.model.action import Action, Status

STATUS_IS_AS_READ = "#status = :status"
LEASE_IS_AS_READ = "lease_until = :lease"

_ONE = {"N": "1"}


def claim_row(row: Action, claimed: Action) -> Update:
    """The row as read: the run begins."""
    became, as_read = to_item(claimed), _as_read(row)
    taken = [
        name
        for name in ("fence", "lease_until", "nonce", "retry", "attempt", "recoveries", "catches_up")
        if name in became
    ]
    sets = [
        "#status = :processing",
        "attempts = list_append(if_not_exists(attempts, :none), :started)",
        *(f"{name} = :new_{name}" for name in taken),
    ]
    return {
        "ConditionExpression": f"{as_read['ConditionExpression']} AND {GEN_IS_AS_READ}",
        "UpdateExpression": f"SET {', '.join(sets)}",
        "ExpressionAttributeNames": as_read["ExpressionAttributeNames"],
        "ExpressionAttributeValues": {
            **as_read["ExpressionAttributeValues"],
            ":gen": {"N": str(row.generation)},
            ":processing": became["status"],
            ":none": {"L": []},
            ":started": {"L": became["attempts"]["L"][-1:]},
            **{f":new_{name}": became[name] for name in taken},
        },
    }


def still_dead(dead: Action | None) -> Update:
    """A holder stands as it was read, or is gone.

    A run that died loses fence and nonce: should it wake, or hear of its claim only then, it holds nothing.
    """
    if dead is None:
        return {"ConditionExpression": ROW_IS_ABSENT}
    read = _as_read(dead)
    if dead.status is not Status.PROCESSING:
        return read
    values = {**read["ExpressionAttributeValues"], ":one": _ONE}
    return {
        **read,
        "UpdateExpression": "SET fence = fence + :one REMOVE nonce",
        "ExpressionAttributeValues": values,
    }


def _as_read(row: Action) -> Update:
    """Status and fence are as read; of a processing one the lease too, which a heartbeat moves under the same fence."""
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
