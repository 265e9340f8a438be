"""Prints what a version's reader needs of items: ``reader_needs.py FILE``; PYTHONPATH selects the version.

FILE has items by kind, as this version writes them. An attribute is needed if each item is unreadable without
it, and has a type if another type does. Words are the values that the version's enumerations have.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from duetime.aws import items as rows
from duetime.aws.job_items import from_items

Item = dict[str, Any]
ENUMS = {"status": "Status", "skip_reason": "SkipReason", "ending": "Ending"}


def fails(read: Callable[[Item], object], item: Item) -> bool:
    try:
        read(item)
    except Exception:  # noqa: BLE001 - any error makes it unreadable
        return True
    return False


def without(name: str, item: Item) -> Item:
    return {key: value for key, value in item.items() if key != name}


def needs(read: Callable[[Item], object], items: list[Item]) -> dict[str, Any]:
    found: dict[str, Any] = {"needed": {}, "types": {}}
    for item in items:
        read(item)
        for name, value in item.items():
            (kind,) = value
            other = {"N": "7"} if kind != "N" else {"S": "seven"}
            if all(name in row and fails(read, without(name, row)) for row in items):
                found["needed"][name] = kind
            elif fails(read, {**item, name: other}):
                found["types"][name] = kind
    return found


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text())
    (state,), (definition,) = given["state"], given["definition"]
    result = {
        "row": needs(rows.from_item, given["row"]),
        "state": needs(lambda item: from_items(item, definition), [state]),
        "definition": needs(lambda item: from_items(state, item), [definition]),
        "words": {name: sorted(getattr(rows, enum)) for name, enum in ENUMS.items()},
    }
    sys.stdout.write(json.dumps(result, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
