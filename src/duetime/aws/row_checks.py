"""Checks of a row's attributes: IAM restricts the keys of a write, not its attributes.

A caller that may write rows of its tenant may write any value. A row that duetime cannot have written is
unreadable, so a forged value reaches no step that handles other tenants' rows too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime

from duetime import ids, instant
from duetime.aws.keys import Item, correlation_key, row_key, shard_key
from duetime.errors import InvalidArgument
from duetime.ids import SYSTEM_TENANT
from duetime.model.action import Action, ActionRef, Status
from duetime.model.checkpoint import CHECKPOINT_LIMIT, Checkpoint
from duetime.model.hand_over import RESULT_LIMIT
from duetime.model.json_value import is_too_large
from duetime.model.new_action import PAYLOAD_LIMIT
from duetime.model.predecessors import Predecessors
from duetime.ports.keyed_items import COUNT_LIMIT
from duetime.retry import RetryPolicy

TYPE_LIMIT = 100
TEXT_LIMIT = 2_000
"""Characters of any other text: duetime writes at most 500, apart from retry policies."""

FOLLOWERS_LIMIT = 1_000
"""More than a row has: calls at once may add a few more than 50."""
ATTEMPTS_LIMIT = 100
"""More than a row has: it stores the latest 20, and those of workers that died."""

_NAMES = ("created_by", "changed_by", "cancel_requested_by", "nonce", "trace")
_TEXTS = (
    *("recent_calls", "note", "held_by", "dismissed_reason", "retry", "unmet", "waits_for"),
    *("hand_over_key", "completion", "progress", "progress_note", "question"),
)
_COUNTS = (
    "generation",
    "fence",
    "attempt",
    "recoveries",
    "redriven_after",
    "payload_version",
    "payload_size",
    "coalesced",
    "continued",
    "handed_over",
    "beat_seconds",
)
_SHARE = re.compile(r"0(?:\.\d{1,4})?|1", re.ASCII)
_OF_RUNS = ("cadence", "planned_at", "job_tenant")
"""What only the planner writes."""


def read_instant(item: Item, name: str) -> datetime:
    """Return an instant of a row, which DynamoDB compares as a text.

    Raises:
        InvalidArgument: it is not the text that duetime writes, or lies outside the years 1970 to 2199.
    """
    written = item[name]["S"]
    at = instant.parse(written)
    if instant.text(at) != written or not instant.EARLIEST <= at <= instant.LATEST:
        raise InvalidArgument(f"is no instant that duetime writes as {name}", value=written)
    return at


def check_keys(item: Item, ref: ActionRef) -> None:
    """Check that the attributes name only the row and the tenant of the key.

    Raises:
        ValueError: an attribute has a value that duetime writes only into another row.
    """
    if not ids.is_action_id(ref.id):
        raise ValueError(f"sk is {ref.id!r}, which is no action's id")
    ids.created_at(ref.id)
    expected = {
        "pk": row_key(ref)["pk"]["S"],
        "failed": shard_key(ref),
        "tenant_due": shard_key(ref),
    }
    for name, text in expected.items():
        if name in item and item[name]["S"] != text:
            raise ValueError(f"{name} is {item[name]['S']!r}; this row's is {text!r}")
    correlation = item["correlation"]["S"] if "correlation" in item else None
    if correlation is not None and not correlation.startswith(correlation_key(ref.tenant_id, "")):
        raise ValueError(f"correlation {correlation!r} is not of tenant {ref.tenant_id!r}")
    owner = item["job_tenant"]["S"] if "job_tenant" in item else None
    is_run_for_tenant = ids.is_event_run(ref.id) and ref.tenant_id != SYSTEM_TENANT
    if owner is not None and not (owner == SYSTEM_TENANT and is_run_for_tenant):
        raise ValueError(f"job_tenant is {owner!r}; only runs that an event started name {SYSTEM_TENANT!r}")


def check_values(row: Action) -> None:
    """Check that each value is one that duetime writes.

    Raises:
        ValueError: one is not; the error names the attribute.
    """
    for problem in _problems(row):
        raise ValueError(problem)
    for check, value in (
        (ids.correlation_id, row.correlation_id),
        (ids.idempotency_key, row.idempotency_key),
        (ids.concurrency_key, row.concurrency_key),
        (ids.debounce_key, row.debounce_key),
        (ids.rate_key, row.rate_key),
        (ids.batch_name, row.batch),
        (Predecessors.parse, row.after),
        (RetryPolicy.parse, row.retry),
    ):
        if value is not None:
            check(value)


def _problems(row: Action) -> Iterator[str]:
    if not (0 < len(row.type) <= TYPE_LIMIT and row.type.isprintable()):
        yield f"type has {len(row.type)} characters; 1 to {TYPE_LIMIT} printable ones are allowed"
    yield from _missing(row)
    if row.due_shard and not (row.due_shard.isdecimal() and row.due_shard.isascii()):
        yield f"due_shard is {row.due_shard[:20]!r}; it is a number"
    for name in _COUNTS:
        if not 0 <= getattr(row, name) <= COUNT_LIMIT:
            yield f"{name} is {getattr(row, name)}; 0 to {COUNT_LIMIT:,} are allowed"
    if not 1 <= row.concurrency_limit <= COUNT_LIMIT or not 0 <= row.depth <= COUNT_LIMIT:
        yield f"concurrency_limit is {row.concurrency_limit} and depth {row.depth}"
    if len(row.attempts) > ATTEMPTS_LIMIT:
        yield f"attempts has {len(row.attempts)} entries"
    if len((row.payload or "").encode()) > PAYLOAD_LIMIT:
        yield f"payload has more than {PAYLOAD_LIMIT:,} bytes"
    yield from _wrong_reports(row)
    yield from _wrong_followers(row)
    yield from _long_texts(row)
    yield from _of_checkpoint(row.checkpoint)
    if ids.is_one_shot(row.id) and (row.catches_up or any(getattr(row, name) for name in _OF_RUNS)):
        yield f"a one-shot has one of {', '.join(_OF_RUNS)}, catches_up"


def _of_checkpoint(checkpoint: Checkpoint | None) -> Iterator[str]:
    if checkpoint is None:
        return
    json.loads(checkpoint.text)
    if is_too_large(checkpoint.text):
        yield f"checkpoint has more than {CHECKPOINT_LIMIT:,} bytes"


def _missing(row: Action) -> Iterator[str]:
    if not row.status.is_final and not row.due_shard:
        yield f"due_shard is missing; a {row.status} row has one"
    if row.status is Status.PROCESSING and row.lease_until is None:
        yield "lease_until is missing; a processing row has one"
    if row.handed_over and (row.times_out_at is None or row.handed_over_at is None):
        yield "times_out_at or handed_over_at is missing; a row that was handed over has both"


def _wrong_reports(row: Action) -> Iterator[str]:
    if is_too_large(row.result):
        yield f"run_result has more than {RESULT_LIMIT:,} bytes"
    if row.progress is not None and not _SHARE.fullmatch(row.progress):
        yield f"progress is {row.progress[:20]!r}; it is a number from 0 to 1"
    if row.decision_terms not in {None, "execute", "another", "execute another"}:
        yield f"decision_terms is {row.decision_terms[:20]!r}; it is execute, another, both, or absent"


def _wrong_followers(row: Action) -> Iterator[str]:
    if not all(map(ids.is_action_id, row.followers)) or len(row.followers) > FOLLOWERS_LIMIT:
        yield f"followers has {len(row.followers)} entries; at most {FOLLOWERS_LIMIT} ids are allowed"


def _long_texts(row: Action) -> Iterator[str]:
    texts = {name: getattr(row, name) for name in (*_NAMES, *_TEXTS)}
    for number, attempt in enumerate(row.attempts):
        texts[f"attempts[{number}].m"] = attempt.message
        texts[f"attempts[{number}].i"] = attempt.instance
    for name, text in texts.items():
        if text is not None and len(text) > TEXT_LIMIT:
            yield f"{name} has {len(text):,} characters; at most {TEXT_LIMIT:,} are allowed"
