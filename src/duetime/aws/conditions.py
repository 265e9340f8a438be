"""The conditional writes of actions' rows, as expressions with their values.

The condition is the rule: no write depends on an earlier read. `swap` renders the guards of
`duetime.model.swap`; the constants name the conditions of the writes that no transition makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duetime.aws.items import FORMS, as_stored, attribute_of, differences
from duetime.aws.keys import Item
from duetime.model.action import Action, Status
from duetime.model.checkpoint import Checkpoint
from duetime.model.quick_fields import with_fields
from duetime.model.swap import MY_RUN, Guard

ROW_IS_ABSENT = "attribute_not_exists(pk)"
IS_A_ROW = "attribute_exists(#status)"
IS_HANDED_OVER = "handed_over = fence"
CHECKPOINT_IS_OLDER = "(attribute_not_exists(checkpoint) OR checkpoint.f < :fence OR checkpoint.n < :number)"

STATUS_NAME = {"#status": "status"}
"""The name of an attribute that DynamoDB reserves."""

Update = Mapping[str, Any]
"""Arguments of DynamoDB's ``UpdateItem``, without the table and the key."""

_FINAL = {f":{status}": {"S": status.value} for status in Status if status.is_final}
ACTION_IS_FINAL_OR_GONE = f"attribute_not_exists(pk) OR #status IN ({', '.join(_FINAL)})"
IS_OVER: Update = {
    "ConditionExpression": ACTION_IS_FINAL_OR_GONE,
    "ExpressionAttributeNames": STATUS_NAME,
    "ExpressionAttributeValues": _FINAL,
}


def swap(read: Action, after: Action, guard: Guard) -> Update:
    """Write the fields in which `after` differs from `read`, if the stored row satisfies the guard.

    A change without any writes the status, so that the condition decides.
    """
    condition, values = _guarded(guard, read, after)
    stored = differences(read, after) or as_stored(after, ["status"])
    sets = [f"#{name} = :new_{name}" for name in sorted(stored) if stored[name] is not None]
    removes = [f"#{name}" for name in sorted(stored) if stored[name] is None]
    return {
        "ConditionExpression": condition,
        "UpdateExpression": f"SET {', '.join(sets)}{' REMOVE ' * bool(removes)}{', '.join(removes)}",
        "ExpressionAttributeNames": STATUS_NAME | {f"#{name}": name for name in stored},
        "ExpressionAttributeValues": values
        | {f":new_{name}": value for name, value in stored.items() if value is not None},
    }


def check(read: Action, guard: Guard) -> Update:
    """Check that the stored row satisfies the guard."""
    condition, values = _guarded(guard, read, read)
    return {
        "ConditionExpression": condition,
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": values,
    }


def _guarded(guard: Guard, read: Action, after: Action) -> tuple[str, Item]:
    """Return a guard as a condition with its values."""
    as_read = as_stored(read, guard.as_read)
    bounds = as_stored(after, guard.at_most)
    least = as_stored(with_fields(read, **guard.above), guard.above)
    conditions = [
        f"#status = :{guard.status}",
        *(
            f"{name} = :{name}" if value else f"attribute_not_exists({name})"
            for name, value in as_read.items()
        ),
        *(f"attribute_not_exists({attribute_of(name)})" for name in guard.unset),
        *(f"{name} <= :most_{name}" for name in bounds),
        *(f"{name} > :least_{name}" for name in least),
    ]
    if guard.is_handed_over is not None:
        conditions.append(IS_HANDED_OVER if guard.is_handed_over else f"NOT {IS_HANDED_OVER}")
    values: Item = {
        f":{guard.status}": {"S": guard.status.value},
        **{f":{name}": value for name, value in as_read.items() if value},
        **{f":most_{name}": value for name, value in bounds.items()},
        **{f":least_{name}": value for name, value in least.items()},
    }
    return " AND ".join(conditions), values


def checkpoint(claimed: Action, stored: Checkpoint) -> Update:
    """Store the checkpoint of a row that is processing under this fence, unless it has a later one."""
    condition, values = _guarded(MY_RUN, claimed, claimed)
    return {
        "ConditionExpression": f"{condition} AND {CHECKPOINT_IS_OLDER}",
        "UpdateExpression": "SET checkpoint = :checkpoint",
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {
            **values,
            ":checkpoint": {"M": FORMS["Checkpoint"].store(stored)},
            ":number": {"N": str(stored.number)},
        },
    }


def add_follower(follower: str) -> Update:
    """Add an id to the followers of a row: the write of its end, or this one, is then their wake."""
    return {
        "ConditionExpression": IS_A_ROW,
        "UpdateExpression": "SET is_awaited = :true ADD followers :followers",
        "ExpressionAttributeNames": STATUS_NAME,
        "ExpressionAttributeValues": {":true": {"BOOL": True}, ":followers": {"SS": [follower]}},
    }
