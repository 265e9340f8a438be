"""Records each call of the stores by a process: a line before it, and a line with its response.

A line is one write to a file that is only appended to, so the records of a killed process are complete.
All processes share the machine's monotonic clock. Calls within a call are a part of it.
"""

import dataclasses
import json
import os
import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any

from duetime import instant
from duetime.aws.jobs import DynamoJobStore
from duetime.aws.store import DynamoStore
from duetime.clock import SystemClock
from duetime.model.action import Action

CLOCK = SystemClock()


def row_of(action: Action | None) -> dict[str, Any] | None:
    """What `row_model.Row` holds of an action."""
    if action is None:
        return None
    return {
        "status": action.status.value,
        "fence": action.fence,
        "generation": action.generation,
        "due_at": instant.text(action.due_at),
        "lease_until": _text(action.lease_until),
        "cancel": action.cancel_request is not None,
    }


def record(directory: Path, process: str, skew: timedelta) -> None:
    """Record every later call of this process in the directory."""
    journal = _Journal(directory / f"{process}-{os.getpid()}.jsonl", skew)
    for store, calls in ((DynamoStore, _ACTIONS), (DynamoJobStore, _JOBS)):
        for name, describe in calls.items():
            setattr(store, name, journal.around(getattr(store, name), describe))


class _Journal:
    def __init__(self, path: Path, skew: timedelta) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._depth, self._lock, self._skew = threading.local(), threading.Lock(), skew
        self._number = 0

    def around(self, method: Callable[..., Any], describe: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(store: Any, *args: Any, **options: Any) -> Any:
            if getattr(self._depth, "is_within", False):
                return method(store, *args, **options)
            self._depth.is_within = True
            try:
                return self._record(lambda: method(store, *args, **options), describe(*args, **options))
            finally:
                self._depth.is_within = False

        return call

    def _record(self, make: Callable[[], Any], call: Mapping[str, Any]) -> Any:
        with self._lock:
            self._number += 1
            number = self._number
        plain = {name: _plain(value) for name, value in call.items()}
        if isinstance(call.get("now"), datetime):
            plain["ended_before"] = instant.text(call["now"] - self._skew)
        self._write({"n": number, "start": CLOCK.elapsed(), **plain})
        try:
            result = make()
        except BaseException as error:
            self._write({"n": number, "end": CLOCK.elapsed(), "raised": type(error).__name__})
            raise
        self._write({"n": number, "end": CLOCK.elapsed(), **_answer(result)})
        return result

    def _write(self, line: Mapping[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")


def _answer(result: Any) -> dict[str, Any]:
    if isinstance(result, Action):
        return {"answer": "Action", "id": result.id, "row": row_of(result)}
    if isinstance(result, Enum):
        return {"answer": result.name}
    if not dataclasses.is_dataclass(result):
        return {"answer": str(result)}
    action = getattr(result, "action", None)
    return {"answer": type(result).__name__, **({"fence": action.fence} if action else {})}


def _plain(value: Any) -> Any:
    return instant.text(value) if isinstance(value, datetime) else value


def _text(value: datetime | None) -> str:
    return "" if value is None else instant.text(value)


def _call(op: str, action: Any, **more: Any) -> dict[str, Any]:
    ref = getattr(action, "ref", action)
    return {"op": op, "ref": [ref.tenant_id, ref.id], **more}


def _put(action, terms=None):
    return _call("put", action, row=row_of(action))


def _claim(row, terms):
    """A claim that the row as read forbids sends nothing."""
    op = "claim" if terms.may_begin(row) else "none"
    return _call(op, row, now=terms.now, lease_until=terms.lease_until)


def _claim_as_read(row, claimed):
    return _call(
        "claim as read",
        row,
        before=row_of(row),
        after=row_of(claimed),
        now=claimed.attempts[-1].started_at,
    )


def _evict(move, row):
    ref = [move.before.tenant_id, move.freed]
    return {"op": "evict", "ref": ref, "before": row_of(row), "now": CLOCK.now()}


def _claim_job_run(taking):
    rows = [] if taking.dead_ref in {None, taking.row.ref} else [(taking.dead_ref, taking.dead)]
    rows += [(dead.ref, dead) for dead in taking.unlocked or ()]
    dead = [{"ref": [ref.tenant_id, ref.id], "before": row_of(row)} for ref, row in rows]
    return _claim_as_read(taking.row, taking.claimed) | {"dead": dead}


def _renew(claimed, until):
    return _call("renew", claimed, fence=claimed.fence, until=until)


def _settle(claimed, settlement, *_job, **_options):
    due_at = settlement.due_at
    status = settlement.status.value
    return _call("settle", claimed, fence=claimed.fence, status=status, due_at=due_at)


def _commit(claimed, settlement, *job, **options):
    return _settle(claimed, settlement) | {"by": "commit"}


def _end_pending(row, ended, ref):
    return _call("end pending", row, generation=row.generation, status=ended.status.value)


def _skip(row, *_reason, **_options):
    return _call("end pending", row, generation=row.generation, status="skipped")


def _cancel(row, **_options):
    return _call("end pending", row, generation=row.generation, status="cancelled")


def _ask_to_cancel(row, **_options):
    return _call("ask to cancel", row, fence=row.fence)


def _reschedule(row, due_at, **_options):
    return _call("reschedule", row, generation=row.generation, due_at=due_at)


def _defer(row, until, **_options):
    return _reschedule(row, until)


def _get(ref):
    return _call("read", ref)


_ACTIONS = {
    "put": _put,
    "put_once": _put,
    "record": _put,
    "get": _get,
    "claim": _claim,
    "evict": _evict,
    "renew": _renew,
    "settle": _settle,
    "commit": _commit,
    "cancel": _cancel,
    "skip": _skip,
    "ask_to_cancel": _ask_to_cancel,
    "reschedule": _reschedule,
    "defer": _defer,
}
_JOBS = {"claim": _claim_job_run, "settle": _settle, "commit": _commit, "end_pending": _end_pending}
