"""The row of an action as a register with conditional writes: what each call of a store does to it.

It is written from `docs/protocol.md`, apart from the stores. A response that denies an effect is two
operations: what the caller then read in the row, and an earlier attempt of the same call that may have had
an effect, since its response can be lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.chaos.linearizability import REJECTED

FINAL = frozenset({"executed", "failed", "cancelled", "skipped"})


@dataclass(frozen=True)
class Row:
    """What conditions read. Instants are texts of one width, so they sort."""

    status: str
    fence: int
    generation: int
    due_at: str
    lease_until: str = ""
    cancel: bool = False


Call = Mapping[str, Any]


def step(row: Row | None, call: Call) -> Any:
    """Return the row after a call, or `REJECTED`."""
    return _STEPS[call["op"]](row, call)


def _put(row, call):
    return row or Row(**call["row"])


def _read(row, call):
    found = None if call["row"] is None else Row(**call["row"])
    return row if row == found else REJECTED


def _claim(row, call):
    """Of a row that is pending and due, or whose lease has ended. `ended_before` allows for the skew."""
    if row is None or row.status not in {"pending", "processing"}:
        return REJECTED
    if row.status == "pending" and row.due_at > call["now"]:
        return REJECTED
    if row.status == "processing" and row.lease_until >= call["ended_before"]:
        return REJECTED
    if call.get("fence", row.fence + 1) != row.fence + 1:
        return REJECTED
    return replace(row, status="processing", fence=row.fence + 1, lease_until=call["lease_until"])


def _claim_as_read(row, call):
    """A claim in a transaction: the row must be as its caller read it."""
    before, after = Row(**call["before"]), Row(**call["after"])
    keeps = replace(before, cancel=False)
    if row is None or replace(row, cancel=False) != keeps:
        return REJECTED
    if row.status == "processing" and row.lease_until >= call["ended_before"]:
        return REJECTED
    return replace(after, cancel=row.cancel)


def _fence_off(row, call):
    """A dead run loses a lock or a slot. A settled or removed one loses nothing."""
    before = None if call["before"] is None else Row(**call["before"])
    if before is None:
        return row if row is None else REJECTED
    if row is None or (row.status, row.fence) != (before.status, before.fence):
        return REJECTED
    if row.status != "processing":
        return row
    is_dead = row.lease_until == before.lease_until
    return replace(row, fence=row.fence + 1) if is_dead else REJECTED


def _evict(row, call):
    """As `_fence_off`; a pending holder of a slot loses its fence too: its claim may be under way."""
    after = _fence_off(row, call)
    if after in (None, REJECTED) or after.status != "pending":
        return after
    return replace(after, fence=after.fence + 1)


def _renew(row, call):
    if not _is_run(row, call):
        return REJECTED
    return replace(row, lease_until=max(row.lease_until, call["until"]))


def _settle(row, call):
    if not _is_run(row, call) or (call["status"] == "pending" and row.cancel):
        return REJECTED
    if call["status"] != "pending":
        return replace(row, status=call["status"], lease_until="")
    return replace(
        row, status="pending", lease_until="", due_at=call["due_at"], generation=row.generation + 1
    )


def _end_pending(row, call):
    if not _is_pending(row, call):
        return REJECTED
    return replace(row, status=call["status"])


def _ask_to_cancel(row, call):
    return replace(row, cancel=True) if _is_run(row, call) else REJECTED


def _reschedule(row, call):
    if not _is_pending(row, call):
        return REJECTED
    return replace(row, due_at=call["due_at"], generation=row.generation + 1)


def _see_running(row, _call):
    return row if row is not None and row.status == "processing" else REJECTED


def _see_not_running(row, _call):
    return row if row is None or row.status != "processing" else REJECTED


def _see_not_mine(row, call):
    return REJECTED if _is_run(row, call) else row


def _see_cancel(row, call):
    return row if _is_run(row, call) and row.cancel else REJECTED


def _see_not_pending(row, call):
    return REJECTED if _is_pending(row, call) else row


def _is_run(row, call):
    return row is not None and (row.status, row.fence) == ("processing", call["fence"])


def _is_pending(row, call):
    return row is not None and (row.status, row.generation) == ("pending", call["generation"])


_STEPS = {
    "put": _put,
    "read": _read,
    "none": lambda row, _call: row,
    "claim": _claim,
    "claim as read": _claim_as_read,
    "fence off": _fence_off,
    "evict": _evict,
    "renew": _renew,
    "settle": _settle,
    "end pending": _end_pending,
    "ask to cancel": _ask_to_cancel,
    "reschedule": _reschedule,
    "see running": _see_running,
    "see not running": _see_not_running,
    "see not mine": _see_not_mine,
    "see cancel": _see_cancel,
    "see not pending": _see_not_pending,
}
