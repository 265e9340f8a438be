"""Items of the jobs table: a job as DynamoDB keeps it, in one partition of its own.

=========================  =======================================================================
sort key                   holds
=========================  =======================================================================
``current#definition``     the definition in force
``current#state``          all else that a `Job` tells; small, since each claim and settle writes it
``previous#000003``          a version that has ended
``span#END#START#…``       a part of the job's time for which nothing was planned
=========================  =======================================================================

So one query reads a job, and one its versions. Two items are not read at one instant: each says with which revision the
definition was last written, and where they differ, one of them is old.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from duetime import instant
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item, partition
from duetime.errors import DuetimeError, UnreadableRow
from duetime.ids import SEPARATOR, ActionId, JobName, TenantId
from duetime.model.action import ActionRef
from duetime.model.job import (
    Definition,
    Job,
    JobRef,
    JobSpan,
    Origin,
    Pause,
    SpanKind,
    Version,
    attend_shard_of,
)
from duetime.model.run_stats import RunStats
from duetime.model.wake_state import WakeState
from duetime.retry import Tuning

CURRENT, FORMER, SPAN = "current#", "former#", "span#"
DEFINITION, STATE = CURRENT + "definition", CURRENT + "state"

_OUTLIVES = timedelta(days=400)
"""What has ended is kept this long: no action that it explains is kept longer than that by default."""

DECLARED = (
    *("version", "since", "cursor", "attend_at", "ends", "pauses", "dropped_at", "tuning", "wakes"),
    *("registered_by", "registered_at", "idempotency_key", "idempotency_until"),
)
"""The attributes of the state that `JobStore.change` writes."""

_TALLIED = ("last_id", "last_status", "last_error", "triggered_by")
_COUNTED = ("executed", "failed", "consecutive_failures")


def job_key(ref: JobRef, name: str) -> Item:
    """The key of one of a job's items."""
    return {"pk": {"S": partition(ref.tenant_id, ref.name)}, "sk": {"S": name}}


def job_ref_of(item: Item) -> JobRef:
    """The job that an item, or an index' entry, speaks of."""
    tenant_id, _, name = item["pk"]["S"].partition(SEPARATOR)
    return JobRef(TenantId(tenant_id), JobName(name))


def holder(ref: ActionRef) -> Item:
    """An action as a job's state names it, in one text: ``acme#billing-nightly.000003.20260601T011500Z``."""
    return {"S": f"{ref.tenant_id}{SEPARATOR}{ref.id}"}


def to_state(job: Job) -> Item:
    """The state of a job that is added."""
    item = {
        **job_key(job.ref, STATE),
        "tenant": {"S": job.ref.tenant_id},
        "name": {"S": job.ref.name},
        "attend_shard": {"S": attend_shard_of(job.ref)},
        "origin": {"S": job.origin.value},
        "anchor": at(job.anchor),
        "revision": {"N": str(job.revision)},
        "defined_in": {"N": str(job.revision)},
        **declared(job),
        **_tally(job.tally),
    }
    for name, ref in (("running", job.running), ("waiting", job.waiting)):
        if ref is not None:
            item[name] = holder(ref)
    return item


def declared(job: Job) -> Item:
    """What reconcile and operators say of it; what has its default is left out."""
    said = {
        "version": {"N": str(job.version)},
        "since": at(job.since),
        "cursor": at(job.cursor),
        "attend_at": at(job.maintain_at),
    }
    texts = {
        "ends": _packed({str(number): instant.text(end) for number, end in job.ends.items()}),
        "pauses": _packed({name: _pause(pause) for name, pause in job.pauses.items()}),
        "tuning": _packed({name: asdict(each) for name, each in job.tuning.items()}),
        "dropped_at": _instant_text(job.removed_at),
        "wakes": job.wakes.text,
        "registered_by": job.registered_by,
        "registered_at": _instant_text(job.registered_at),
        "idempotency_key": job.idempotency_key or "",
        "idempotency_until": _instant_text(job.idempotency_until),
    }
    return said | {name: {"S": text} for name, text in texts.items() if text}


def to_definition(job: Job) -> Item:
    """The definition in force."""
    return {
        **job_key(job.ref, DEFINITION),
        "definition": {"S": job.definition.to_json()},
        "defined_in": {"N": str(job.revision)},
    }


def to_former(job: Job, until: datetime) -> Item:
    """The version in force as one that has ended."""
    return {
        **job_key(job.ref, f"{FORMER}{job.version:06d}"),
        "definition": {"S": job.definition.to_json()},
        "since": at(job.since),
        "until": at(until),
        "ttl": {"N": to_epoch(until + _OUTLIVES)},
    }


def to_span(ref: JobRef, span: JobSpan) -> Item:
    """A span; it is found by when it ended."""
    start, end = instant.text(span.start), instant.text(span.end)
    item = {
        **job_key(ref, f"{SPAN}{SEPARATOR.join((end, start, span.kind.value, span.cadence))}"),
        "ttl": {"N": to_epoch(span.end + _OUTLIVES)},
    }
    for name, text in (("by", span.by), ("reason", span.reason)):
        if text:
            item[name] = {"S": text}
    return item


def from_items(state: Item, definition: Item) -> Job:
    """The job of its two items.

    Raises:
        UnreadableRow: they are no items that duetime wrote.
    """
    try:
        return _read(state, definition)
    except (LookupError, ValueError, TypeError, AttributeError, DuetimeError) as error:
        raise UnreadableRow([state.get("pk"), state.get("sk")], error) from error


def state_alone(state: Item) -> Job:
    """The job of its state: it has a definition that says nothing.

    Raises:
        UnreadableRow: as above.
    """
    nothing = Definition(name=job_ref_of(state).name, type="", cadences=())
    return from_items(state, {"definition": {"S": nothing.to_json()}})


def _read(state: Item, definition: Item) -> Job:
    ends, pauses, tuning = (json.loads(_text(state, name) or "{}") for name in ("ends", "pauses", "tuning"))
    return Job(
        ref=job_ref_of(state),
        definition=Definition.from_json(definition["definition"]["S"]),
        origin=Origin(state["origin"]["S"]),
        version=int(state["version"]["N"]),
        since=instant.parse(state["since"]["S"]),
        anchor=instant.parse(state["anchor"]["S"]),
        cursor=instant.parse(state["cursor"]["S"]),
        revision=int(state["revision"]["N"]),
        maintain_at=instant.parse(state["attend_at"]["S"]),
        ends={int(number): instant.parse(end) for number, end in ends.items()},
        pauses={name: _to_pause(pause) for name, pause in pauses.items()},
        removed_at=_instant(_text(state, "dropped_at")),
        tuning={name: _to_tuning(each) for name, each in tuning.items()},
        running=_holder_of(_text(state, "running")),
        waiting=_holder_of(_text(state, "waiting")),
        tally=_to_tally(state),
        wakes=WakeState.parse(_text(state, "wakes") or ""),
        registered_by=_text(state, "registered_by") or "",
        registered_at=_instant(_text(state, "registered_at")),
        idempotency_key=_text(state, "idempotency_key"),
        idempotency_until=_instant(_text(state, "idempotency_until")),
    )


def to_version(item: Item) -> Version:
    """A version that has ended."""
    return Version(
        number=int(item["sk"]["S"].removeprefix(FORMER)),
        definition=Definition.from_json(item["definition"]["S"]),
        since=instant.parse(item["since"]["S"]),
        until=instant.parse(item["until"]["S"]),
    )


def from_span(item: Item) -> JobSpan:
    """The span of an item."""
    end, start, kind, cadence = item["sk"]["S"].removeprefix(SPAN).split(SEPARATOR, 3)
    return JobSpan(
        kind=SpanKind(kind),
        start=instant.parse(start),
        end=instant.parse(end),
        cadence=cadence,
        by=_text(item, "by") or "",
        reason=_text(item, "reason") or "",
    )


def at(when: datetime) -> Item:
    """An instant as a value."""
    return {"S": instant.text(when)}


def _tally(tally: RunStats) -> Item:
    counts = {name: {"N": str(getattr(tally, name))} for name in _COUNTED if getattr(tally, name)}
    texts = {name: {"S": text} for name in _TALLIED if (text := getattr(tally, name)) is not None}
    started = {} if tally.last_started_at is None else {"last_started_at": at(tally.last_started_at)}
    return counts | texts | started


def _to_tally(state: Item) -> RunStats:
    counts: dict[str, Any] = {name: int(state[name]["N"]) for name in _COUNTED if name in state}
    texts: dict[str, Any] = {name: _text(state, name) for name in _TALLIED}
    return RunStats(**counts, **texts, last_started_at=_instant(_text(state, "last_started_at")))


def _pause(pause: Pause) -> Mapping[str, str]:
    said = {"since": instant.text(pause.since), "by": pause.by, "reason": pause.reason}
    return said if pause.until is None else said | {"until": instant.text(pause.until)}


def _to_pause(said: Mapping[str, str]) -> Pause:
    return Pause(
        since=instant.parse(said["since"]),
        by=said["by"],
        reason=said["reason"],
        until=_instant(said.get("until")),
    )


def _to_tuning(said: Mapping[str, Any]) -> Tuning:
    backoff = said["backoff"]
    return Tuning(**{**said, "backoff": None if backoff is None else tuple(backoff)})


def _holder_of(text: str | None) -> ActionRef | None:
    if text is None:
        return None
    tenant_id, _, action_id = text.partition(SEPARATOR)
    return ActionRef(TenantId(tenant_id), ActionId(action_id))


def _text(item: Item, name: str) -> str | None:
    return item[name]["S"] if name in item else None


def _instant_text(when: datetime | None) -> str:
    return "" if when is None else instant.text(when)


def _instant(text: str | None) -> datetime | None:
    return None if text is None else instant.parse(text)


def _packed(said: Mapping[str, Any]) -> str:
    return json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False) if said else ""
