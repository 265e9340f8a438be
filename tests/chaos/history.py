"""The history of each row: the records of all processes as operations of `row_model`.

======================================  ==========================================================
a call whose                            is
======================================  ==========================================================
response confirms the effect            an operation that must have taken effect by then
response denies it                      what its caller then read, and perhaps an earlier attempt
response never came, or was an error    an operation that may take effect at any later time
======================================  ==========================================================
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any

from tests.chaos.linearizability import Operation

Ref = tuple[str, str]
Call = Mapping[str, Any]

CONFIRMS = frozenset({"True", "Claimed", "Renewed", "SETTLED", "Applied"})
WITHOUT_EFFECT = frozenset({"CommitRejected", "KeyConflict"})
"""Errors that state that nothing was written."""


def read_calls(directory: Path) -> list[Call]:
    """Return the recorded calls with their responses, by their start."""
    calls: list[dict[str, Any]] = []
    for path in directory.glob("*.jsonl"):
        by_number: dict[int, dict[str, Any]] = {}
        for line in path.read_text().splitlines():
            part = json.loads(line)
            if "start" in part:
                by_number[part["n"]] = {**part, "process": path.stem}
            else:
                by_number[part.pop("n")]["response"] = part
        calls.extend(by_number.values())
    return sorted(calls, key=lambda call: call["start"])


def by_row(calls: Sequence[Call]) -> dict[Ref, list[Operation]]:
    """Return the operations of each row."""
    rows: dict[Ref, list[Operation]] = defaultdict(list)
    for call in calls:
        rows[_ref(call)] += _operations(call)
        for dead in call.get("dead", ()):
            fenced = {**call, **dead, "op": "fence off"}
            rows[_ref(fenced)] += _operations(fenced)
    return dict(rows)


def _ref(call: Call) -> Ref:
    tenant, action = call["ref"]
    return tenant, action


def _operations(call: Call) -> Iterator[Operation]:
    response = call.get("response")
    if response is None or ("raised" in response and response["raised"] not in WITHOUT_EFFECT):
        if call["op"] != "read":
            yield Operation(call, call["start"], inf, must=False)
    elif "raised" not in response:
        yield from _answered(call, response)


def _answered(call: Call, response: Mapping[str, Any]) -> Iterator[Operation]:
    start, end, answer = call["start"], response["end"], response["answer"]
    if call["op"] == "read":
        yield Operation({**call, "row": response.get("row")}, start, end)
    elif answer in CONFIRMS or _is_put(call, response):
        fence = {"fence": response["fence"]} if answer == "Claimed" else {}
        yield Operation({**call, **fence}, start, end)
    else:
        if call.get("by") != "commit" and call["op"] != "put":
            yield Operation(call, start, end, must=False)
        if (seen := _SEEN.get((call["op"], answer))) is not None:
            yield Operation({**call, "op": seen}, start, end)


def _is_put(call: Call, response: Mapping[str, Any]) -> bool:
    """A put confirms by its return; one under a key returns the action that has the key."""
    return call["op"] == "put" and response.get("id", call["ref"][1]) == call["ref"][1]


_SEEN = {
    ("claim", "LeaseHeld"): "see running",
    ("claim", "None"): "see not running",
    ("renew", "None"): "see not mine",
    ("settle", "LEASE_LOST"): "see not mine",
    ("settle", "CANCEL_REQUESTED"): "see cancel",
    ("ask to cancel", "Rejected"): "see not mine",
    ("end pending", "Rejected"): "see not pending",
    ("reschedule", "Rejected"): "see not pending",
}
"""What the caller read in the row, by its call and response."""
