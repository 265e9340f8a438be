"""The conditional writes on the item of a concurrency key, as expressions with their values.

`duetime.aws.slots` states the rules.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duetime.aws.conditions import Update
from duetime.aws.slot_items import line_entry, time_to_live, token_attribute
from duetime.model.action import Action
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove

IS_FREE = "attribute_not_exists(holders)"
FEWER_ARE_HELD = "size(holders) < :limit"
SOME_ARE_HELD = "attribute_exists(holders)"
AS_MANY_ARE_HELD = "size(holders) >= :limit"
HOLDERS_ARE_AS_READ = "holders = :holders"
IT_HOLDS_ONE = "contains(holders, :id)"
LINE_IS_AS_READ = "size(waiting) = :waiting"
LINE_IS_EMPTY = "attribute_not_exists(waiting)"
LINE_IS_THE_SAME = "waiting = :line"
THERE_IS_ROOM = "size(waiting) < :most"
TOKEN_IS_MINE = "#token = :token"  # noqa: S105 - a condition
TOKEN_IS_OLDER = "#token < :fence"  # noqa: S105 - a condition
HAS_NO_TOKEN = "attribute_not_exists(#token)"  # noqa: S105 - a condition
NONE_WAS_TAKEN = "#ttl = :stamp"
HAS_TAIL = "attribute_exists(tail)"
HAS_NO_TAIL = "attribute_not_exists(tail)"
JOINED_AS_READ = "#ttl = :joined"


def take(row: Action, slots: KeySlots, at: datetime) -> Update:
    """Make a row a holder with its fence; one that holds a slot already gets its new token."""
    values: dict[str, Any] = {
        ":id": {"S": row.id},
        ":ttl": time_to_live(at),
        ":fence": {"N": str(row.fence)},
    }
    if row.id in slots.holders:
        condition = f"{IT_HOLDS_ONE} AND ({HAS_NO_TOKEN} OR {TOKEN_IS_OLDER})"
        change = "SET #token = :fence, #ttl = :ttl"
    else:
        values |= {":me": {"SS": [row.id]}, ":limit": {"N": str(row.concurrency_limit)}}
        condition = f"({IS_FREE} OR {FEWER_ARE_HELD}) AND NOT {IT_HOLDS_ONE} AND {_same_line(slots, values)}"
        change = "ADD holders :me SET #token = :fence, #ttl = :ttl"
    return {
        "ConditionExpression": condition,
        "UpdateExpression": change,
        "ExpressionAttributeNames": {"#token": token_attribute(row.id), "#ttl": "ttl"},
        "ExpressionAttributeValues": values,
    }


def wait(row: Action) -> Update:
    """Append a row to the line."""
    return {
        "ConditionExpression": (
            f"{SOME_ARE_HELD} AND {AS_MANY_ARE_HELD} AND ({LINE_IS_EMPTY} OR {THERE_IS_ROOM})"
            f" AND {HAS_NO_TAIL}"
        ),
        "UpdateExpression": "SET waiting = list_append(if_not_exists(waiting, :none), :mine)",
        "ExpressionAttributeValues": {
            ":limit": {"N": str(row.concurrency_limit)},
            ":most": {"N": str(MOST_WAITING)},
            ":none": {"L": []},
            ":mine": {"L": [line_entry(row.id)]},
        },
    }


def moved(move: SlotMove) -> Update:
    """Free a slot, and make the next of the line holders."""
    before, values = move.before, dict[str, Any]()
    names, conditions, removes = dict[str, str](), list[str](), list[str]()
    sets: list[str] = []
    change = ""
    if move.freed is not None:
        names["#token"] = token_attribute(move.freed)
        values[":id"] = {"S": move.freed}
        conditions += [IT_HOLDS_ONE, _token(before.holders[move.freed], values)]
        removes.append("#token")
    if move.passed:
        conditions.append(HOLDERS_ARE_AS_READ if before.holders else IS_FREE)
        if before.holders:
            values[":holders"] = {"SS": sorted(before.holders)}
        names["#ttl"] = "ttl"
        values |= {":after": {"SS": sorted(move.holders)}, ":ttl": time_to_live(move.at)}
        sets += ["holders = :after", "#ttl = :ttl"]
        for place, row in enumerate(move.passed):
            names[f"#token{place}"] = token_attribute(row.id)
            values[f":fence{place}"] = {"N": str(row.fence)}
            sets.append(f"#token{place} = :fence{place}")
    elif move.freed is not None:
        values[":mine"] = {"SS": [move.freed]}
        change = "DELETE holders :mine"
    _move_line(move, values, conditions, sets, removes)
    if move.may_run_again and before.taken_at is not None:
        names["#ttl"] = "ttl"
        values[":stamp"] = time_to_live(before.taken_at)
        conditions.append(NONE_WAS_TAKEN)
    parts = [
        f"SET {', '.join(sets)}" if sets else "",
        change,
        f"REMOVE {', '.join(removes)}" if removes else "",
    ]
    return {
        "ConditionExpression": " AND ".join(conditions),
        "UpdateExpression": " ".join(filter(None, parts)),
        **({"ExpressionAttributeNames": names} if names else {}),
        **({"ExpressionAttributeValues": values} if values else {}),
    }


def _move_line(
    move: SlotMove, values: dict[str, Any], conditions: list[str], sets: list[str], removes: list[str]
) -> None:
    """Add how the line changes: entries leave it, or it is replaced by one with some of the tail."""
    before = move.before
    if move.appended:
        values[":rest"] = {"L": [*map(line_entry, move.waiting)]}
        sets.append("waiting = :rest")
    if move.appended and before.waiting:
        values[":line"] = {"L": [*map(line_entry, before.waiting)]}
        conditions.append(LINE_IS_THE_SAME)
    for place in () if move.appended else sorted(move.dropped):
        values[f":entry{place}"] = line_entry(before.waiting[place])
        conditions.append(f"waiting[{place}] = :entry{place}")
        removes.append(f"waiting[{place}]")
    if move.needs_same_line or (move.appended and not before.waiting):
        conditions.append(_same_line(before, values))
    if move.ends_tail:
        conditions.append(HAS_TAIL)
        removes.append("tail")


def _same_line(slots: KeySlots, values: dict[str, Any]) -> str:
    """Check that no action has joined the line since the read, or begun a tail.

    An empty line may have no attribute.
    """
    values[":waiting"] = {"N": str(len(slots.waiting))}
    line = LINE_IS_AS_READ if slots.waiting else f"({LINE_IS_EMPTY} OR {LINE_IS_AS_READ})"
    return line if slots.has_tail else f"{line} AND {HAS_NO_TAIL}"


def _token(fence: int | None, values: dict[str, Any]) -> str:
    """Check that a holder's token is as read."""
    if fence is None:
        return HAS_NO_TOKEN
    values[":token"] = {"N": str(fence)}
    return TOKEN_IS_MINE
