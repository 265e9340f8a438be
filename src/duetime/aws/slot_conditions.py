"""The conditional writes on the item of a concurrency key, as expressions with their values.

`duetime.aws.slots` states the rules.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duetime.aws.conditions import Update
from duetime.aws.slot_items import holders_entry, line_entry, time_to_live
from duetime.model.action import Action
from duetime.model.slots import MOST_WAITING, KeySlots, SlotMove

NONE_WERE_HELD = "attribute_not_exists(holders)"
SOME_WERE_HELD = "attribute_exists(holders)"
FEWER_ARE_HELD = "size(holders) < :limit"
AS_MANY_ARE_HELD = "size(holders) >= :limit"
HOLDERS_ARE_AS_READ = "holders = :holders"
HOLDS_NONE = "attribute_not_exists(holders.#id)"
TOKEN_IS_MINE = "holders.#id = :token"  # noqa: S105 - a condition
TOKEN_IS_OLDER = "holders.#id < :fence"  # noqa: S105 - a condition
LINE_IS_AS_READ = "size(waiting) = :waiting"
LINE_IS_EMPTY = "attribute_not_exists(waiting)"
LINE_IS_THE_SAME = "waiting = :line"
THERE_IS_ROOM = "size(waiting) < :most"
HAS_TAIL = "attribute_exists(tail)"
HAS_NO_TAIL = "attribute_not_exists(tail)"
JOINED_AS_READ = "#ttl = :joined"


def take(row: Action, slots: KeySlots, at: datetime) -> Update:
    """Make a row a holder with its fence; one that holds a slot already gets its new token."""
    values: dict[str, Any] = {":ttl": time_to_live(at)}
    names = {"#ttl": "ttl"}
    if slots.holders:
        change = "holders.#id = :fence"
        names["#id"] = row.id
        values[":fence"] = {"N": str(row.fence)}
    else:
        change = "holders = :after"
        values[":after"] = holders_entry({row.id: row.fence})
    if row.id in slots.holders:
        conditions = [TOKEN_IS_OLDER]
    elif slots.holders:
        values[":limit"] = {"N": str(row.concurrency_limit)}
        conditions = [SOME_WERE_HELD, FEWER_ARE_HELD, HOLDS_NONE, _same_line(slots, values)]
    else:
        conditions = [_same_holders(slots, values), _same_line(slots, values)]
    return {
        "ConditionExpression": " AND ".join(conditions),
        "UpdateExpression": f"SET {change}, #ttl = :ttl",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def wait(row: Action) -> Update:
    """Append a row to the line."""
    return {
        "ConditionExpression": (
            f"{SOME_WERE_HELD} AND {AS_MANY_ARE_HELD} AND ({LINE_IS_EMPTY} OR {THERE_IS_ROOM})"
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
    names, conditions = dict[str, str](), list[str]()
    sets, removes = list[str](), list[str]()
    if move.passed:
        conditions.append(_same_holders(before, values))
        names["#ttl"] = "ttl"
        values |= {":after": holders_entry(move.holders), ":ttl": time_to_live(move.at)}
        sets += ["holders = :after", "#ttl = :ttl"]
    elif move.freed is not None:
        names["#id"] = move.freed
        values[":token"] = {"N": str(before.holders[move.freed])}
        conditions.append(TOKEN_IS_MINE)
        removes.append("holders.#id")
    _move_line(move, values, conditions, sets, removes)
    parts = [
        f"SET {', '.join(sets)}" if sets else "",
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


def _same_holders(slots: KeySlots, values: dict[str, Any]) -> str:
    """Check that the holders and their tokens are as read. A key without holders may have no attribute."""
    values[":holders"] = holders_entry(slots.holders)
    return HOLDERS_ARE_AS_READ if slots.holders else f"({NONE_WERE_HELD} OR {HOLDERS_ARE_AS_READ})"
