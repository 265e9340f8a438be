"""Ids and names: of actions, jobs, tenants, correlations and idempotency keys; their form and their facts.

Id and tenant lead to an action's row without an index. There are five kinds of action ids::

    0199c1d2-…-7…-…-…3                           one-shot: a UUIDv7, made at random
    billing-nightly.000003.20260601T011500Z      occurrence: job, schedule version, nominal time
    billing-nightly.000003.20260601T011502Z.m1f… manual run: the same, and eight random digits
    billing-nightly.000003.20260601T011500Z.b7c… run of a backfill: the same, and the backfill's eight digits
    kb-reindex.e20260601T011500Z.9c2e…           event run: job, the event's time, a hash of the event's id

Two planners make the same id for the same occurrence, and two deliveries of an event the same for the same
run.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256
from typing import NewType

from duetime.errors import InvalidArgument

ActionId = NewType("ActionId", str)
TenantId = NewType("TenantId", str)
JobName = NewType("JobName", str)

Entropy = Callable[[int], bytes]
"""Returns random bytes: the machine's own, or a simulation's."""

SEPARATOR = "#"
"""Joins the parts of a key; no part may contain it."""

SHARDS = "0123456789abcdef"
"""A tenant's actions are spread over these: a constant of the format, never a setting."""

EVENT_SOURCE = "duetime"
"""The source of duetime's own events on a bus."""

SYSTEM_TENANT = TenantId("system")
"""Owns the jobs that code declares; no caller may claim to be it."""

DEFAULT_WORKER = "default"
"""The worker of an app that names none."""

TARGET_WORKER = "targets"
"""duetime's own worker that sends targets, in a stack that grants one."""

PLANNER = "duetime"
"""The actor that plans and skips occurrences, if no person does."""

JOB_NAME_LIMIT = 64
TENANT_LIMIT, KEY_LIMIT, CORRELATION_LIMIT = 64, 128, 256
"""Characters; short names keep a row within one write unit."""

_ACTION_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
_JOB_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+", re.ASCII)
_RUN_ID = re.compile(
    r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+\.(?:e\d{8}T\d{6}Z\.[0-9a-f]{16}|\d{6}\.\d{8}T\d{6}Z(?:\.[bm][0-9a-f]{8})?)",
    re.ASCII,
)
_BATCH_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}", re.ASCII)
_BACKFILL_ID = re.compile(r"[0-9a-f]{8}", re.ASCII)
_NUMBER_DIGITS = 7
_SECOND_FORM = "%Y%m%dT%H%M%SZ"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_VARIANT_DIGITS = {f"{digit:x}": f"{0b1000 | digit & 0b11:x}" for digit in range(16)}
"""The variant of RFC 9562: the first two of a digit's four bits."""


def share_of(random_bytes: Entropy) -> float:
    """Return a random number from 0 up to 1, without 1."""
    return int.from_bytes(random_bytes(6)) / (1 << 48)


def new_action_id(now: datetime, random_bytes: Entropy = os.urandom) -> ActionId:
    """Return a new UUIDv7 (RFC 9562): 48 bits of milliseconds, then 74 random bits."""
    time, random = f"{(now - _EPOCH) // _MILLISECOND:012x}", random_bytes(10).hex()
    variant = _VARIANT_DIGITS[random[4]]
    return ActionId(f"{time[:8]}-{time[8:]}-7{random[:3]}-{variant}{random[5:8]}-{random[8:]}")


def batch_id(now: datetime, random_bytes: Entropy = os.urandom) -> ActionId:
    """Return a new id whose last seven digits are 0: that of member 0 of a batch."""
    return ActionId(new_action_id(now, random_bytes)[:-_NUMBER_DIGITS] + "0" * _NUMBER_DIGITS)


def member_id(first_id: ActionId, number: int) -> ActionId:
    """Return the id of a batch's member: the last seven digits are its number, the last one its shard."""
    return ActionId(f"{first_id[:-_NUMBER_DIGITS]}{number:0{_NUMBER_DIGITS}x}")


def member_number(member: ActionId) -> int:
    """Return the number of a batch's member."""
    return int(member[-_NUMBER_DIGITS:], 16)


def before_all_after(at: datetime) -> str:
    """Return a text that sorts after the ids of one-shots made up to `at`, and before later ones."""
    digits = f"{(at - _EPOCH) // _MILLISECOND + 1:012x}"
    return f"{digits[:8]}-{digits[8:]}"


def occurrence_id(job: JobName, version: int, nominal_at: datetime) -> ActionId:
    """Return the id of a job's occurrence; every planner makes the same id."""
    return ActionId(f"{job}.{version:06d}.{_second(nominal_at)}")


def manual_run_id(job: JobName, version: int, at: datetime, random_bytes: Entropy = os.urandom) -> ActionId:
    """Return a new id for a manual run at `at`; it sorts among the occurrences."""
    return ActionId(f"{occurrence_id(job, version, at)}.m{random_bytes(4).hex()}")


def registered_run_id(job: JobName, version: int, at: datetime, key: str) -> ActionId:
    """Return the id of a run triggered with a registration under a key; a repeated call makes the same id."""
    return ActionId(f"{occurrence_id(job, version, at)}.m{sha256(key.encode()).hexdigest()[:8]}")


def new_backfill_id(random_bytes: Entropy = os.urandom) -> str:
    """Return a new id of a backfill: eight digits, unique within its job."""
    return random_bytes(4).hex()


def is_backfill_id(text: str) -> bool:
    """Return whether `text` has the form of a backfill's id."""
    return _BACKFILL_ID.fullmatch(text) is not None


def backfill_run_id(job: JobName, version: int, nominal_at: datetime, backfill: str) -> ActionId:
    """Return the id of a backfill's run at a nominal time; it sorts among the occurrences."""
    return ActionId(f"{occurrence_id(job, version, nominal_at)}.b{backfill}")


def event_run_id(job: JobName, event_at: datetime, event_id: str) -> ActionId:
    """Return the id of the run that an event starts; a duplicate event makes the same id."""
    return ActionId(f"{job}.e{_second(event_at)}.{sha256(event_id.encode()).hexdigest()[:16]}")


def is_action_id(text: object) -> bool:
    """Return whether `text` has the form of an action's id."""
    return isinstance(text, str) and bool(
        _ACTION_ID.fullmatch(text) or (_RUN_ID.fullmatch(text) and text.index(".") <= JOB_NAME_LIMIT)
    )


def is_one_shot(action_id: str) -> bool:
    """Return whether the id belongs to no job."""
    return "." not in action_id


def job_of(action_id: str) -> JobName | None:
    """Return the job whose run it is; None for a one-shot."""
    return None if is_one_shot(action_id) else JobName(action_id.partition(".")[0])


def version_of(action_id: str) -> int | None:
    """Return the job's version that an occurrence or a manual run belongs to."""
    part = action_id.split(".")[1:2]
    return int(part[0]) if part and part[0].isdigit() else None


def created_at(action_id: str) -> datetime:
    """Return when a one-shot's id was made, to the millisecond; of a job's run, the nominal time."""
    if is_one_shot(action_id):
        return _EPOCH + int(action_id[:8] + action_id[9:13], 16) * _MILLISECOND
    return nominal_at(action_id)


def nominal_at(action_id: str) -> datetime:
    """Return the second of a job's run: its nominal time, its trigger, or the event's time."""
    first, *rest = action_id.split(".")[1:]
    written = first.removeprefix("e") if first.startswith("e") else rest[0]
    return _second_in(written)


def is_manual_run(action_id: str) -> bool:
    """Return whether it is a manual run."""
    return _fourth_part(action_id).startswith("m")


def backfill_of(action_id: str) -> str | None:
    """Return the id of the backfill whose run it is; None for any other action."""
    part = _fourth_part(action_id)
    return part[1:] if part.startswith("b") else None


def is_beside_plan(action_id: str) -> bool:
    """Return whether it is a job's run that no planner writes: a manual run, or one of a backfill."""
    return bool(_fourth_part(action_id))


def _fourth_part(action_id: str) -> str:
    return "".join(action_id.split(".")[3:])


def is_event_run(action_id: str) -> bool:
    """Return whether an event started it."""
    return not is_one_shot(action_id) and action_id.split(".")[1].startswith("e")


def place_of(action_id: str) -> str:
    """Return the tenant's partition of an action's row: one of the `SHARDS`, or its job's.

    A job's history is one partition; event runs, of which there may be thousands a second, are spread over
    16.
    """
    job = job_of(action_id)
    if job is None:
        return action_id[-1]
    return f"{job}{SEPARATOR}{action_id[-1]}" if is_event_run(action_id) else job


def shard_of(action_id: str) -> str:
    """Return an action's shard: the last digit of its id, or of a hash for an occurrence."""
    last = action_id[-1]
    return last if last in SHARDS else f"{zlib.crc32(action_id.encode()) % 16:x}"


def due_shard_of(action_id: str, shards: int) -> str:
    """Return the row's partition in the due index, out of `shards`.

    The row stores it, so `shards` may grow.
    """
    number = int(action_id[-5:-1], 16) if is_one_shot(action_id) else zlib.crc32(action_id.encode())
    return str(number % shards)


@lru_cache(maxsize=1_024)
def _second_in(written: str) -> datetime:
    return datetime.strptime(written, _SECOND_FORM).replace(tzinfo=UTC)


def _second(instant: datetime) -> str:
    return instant.astimezone(UTC).strftime(_SECOND_FORM)


def is_job_name(text: str) -> bool:
    """Return whether `text` has the form of a job's name."""
    return len(text) <= JOB_NAME_LIMIT and _JOB_NAME.fullmatch(text) is not None


def job_name(value: object) -> JobName:
    """Check a job's name: two or more kebab-case segments, as in ``billing-nightly-cleanup``; 64 characters.

    Raises:
        InvalidArgument: it has another form.
    """
    if not isinstance(value, str) or not _JOB_NAME.fullmatch(value):
        raise InvalidArgument(
            "must be two or more kebab-case segments, such as billing-nightly-cleanup",
            field="job",
            value=value,
        )
    if len(value) > JOB_NAME_LIMIT:
        raise InvalidArgument(
            f"has {len(value)} characters; at most {JOB_NAME_LIMIT} are allowed", field="job", value=value
        )
    return JobName(value)


def tenant(value: object) -> TenantId:
    """Check a tenant's id: 1 to 64 printable ASCII characters without ``#`` or white space.

    Raises:
        InvalidArgument: it is empty, too long, reserved, or holds a character that a key cannot.
    """
    checked = TenantId(_key_part("tenant_id", value, TENANT_LIMIT, spaces=False))
    if checked == SYSTEM_TENANT:
        raise InvalidArgument("is reserved for the jobs that code declares", field="tenant_id", value=value)
    return checked


def key(field: str, value: object) -> str:
    """Check an actor, a key or a correlation id: 1 to 128 printable characters without ``#``, or to 256.

    Args:
        field: its name for the error.
        value: the text.

    Raises:
        InvalidArgument: it is no such text.
    """
    limit = CORRELATION_LIMIT if field == "correlation_id" else KEY_LIMIT
    return _key_part(field, value, limit, spaces=True)


def optional_key(field: str, value: object) -> str | None:
    """Check a key as `key` does, if there is one."""
    return None if value is None else key(field, value)


def batch_name(value: object) -> str:
    """Check a batch's name: 1 to 100 letters, digits and ``._:-``, the first a letter or a digit."""
    if not isinstance(value, str) or not _BATCH_NAME.fullmatch(value):
        raise InvalidArgument(
            "must be 1 to 100 letters, digits and . _ : - with a letter or digit first, as import-2027-03",
            field="batch",
            value=value,
        )
    return value


def _key_part(field: str, value: object, limit: int, *, spaces: bool) -> str:
    if not isinstance(value, str):
        raise InvalidArgument("must be text", field=field, value=value)
    if not value:
        raise InvalidArgument(f"is empty; use 1 to {limit} characters", field=field, value=value)
    if len(value) > limit:
        raise InvalidArgument(
            f"has {len(value)} characters; at most {limit} are allowed", field=field, value=value
        )
    if SEPARATOR in value:
        raise InvalidArgument(
            f"holds {SEPARATOR!r}, which separates the parts of a key", field=field, value=value
        )
    if not value.isprintable() or value != value.strip():
        raise InvalidArgument(
            "holds a control character, or white space at an end; use printable characters only",
            field=field,
            value=value,
        )
    if not spaces and not (value.isascii() and " " not in value):
        raise InvalidArgument(
            "may hold only printable ASCII characters other than space", field=field, value=value
        )
    return value
