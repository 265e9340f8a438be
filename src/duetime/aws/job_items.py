"""Jobs as DynamoDB items. Each job has a partition of its own.

=========================  =======================================================================
sort key                   holds
=========================  =======================================================================
``current#definition``     the definition in force
``current#state``          all other fields of `Job`; small, because each claim and settle writes it
``edit#000003#REVISION``   a definition of a registered job that an edit within a version replaced
``former#000003``          a version that has ended
``late#KIND#TIME``         a report of a missed deadline, of a predicted miss, or of a silence
``span#END#START#…``       a period without planned runs
``backfill#ID``            a backfill; see `duetime.aws.backfills`
=========================  =======================================================================

One query reads a job, and one reads its versions. A query may read the two items at different times. Both
have the revision that last wrote the definition; if these differ, one item is old. This module has both;
`duetime.aws.job_history_items` has the items of ended definitions, spans and reports.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from duetime import instant
from duetime.aws.keys import Item, partition
from duetime.aws.row_checks import UNREADABLE
from duetime.errors import UnreadableRow
from duetime.ids import SEPARATOR, SHARDS, ActionId, JobName, TenantId, is_job_name
from duetime.model.action import ActionRef
from duetime.model.job import (
    MAINTENANCE_SHARDS,
    Definition,
    Job,
    JobRef,
    Origin,
    Pause,
    maintenance_shard_of,
)
from duetime.model.run_stats import RunStats
from duetime.model.wake_state import WakeState
from duetime.retry import Tuning

CURRENT, EDIT, FORMER, REPORT, SPAN, BACKFILL = (
    *("current#", "edit#", "former#"),
    *("late#", "span#", "backfill#"),
)
DEFINITION, STATE = CURRENT + "definition", CURRENT + "state"

DECLARED = (
    *("version", "since", "cursor", "maintain_at", "ends", "pauses", "removed_at", "tuning", "wakes"),
    *("registered_by", "registered_at", "idempotency_key", "idempotency_until", "maintain_failures"),
    "unlocked_since",
)
"""The attributes of the state that `JobStore.change` writes."""

_TALLIED = ("last_id", "last_status", "last_error", "triggered_by")
_COUNTED = ("executed", "failed", "consecutive_failures")


def job_key(ref: JobRef, name: str) -> Item:
    """Return the key of one of a job's items."""
    return {"pk": {"S": partition(ref.tenant_id, ref.name)}, "sk": {"S": name}}


def job_ref_of(item: Item) -> JobRef:
    """Return the job of an item or an index entry."""
    tenant_id, _, name = item["pk"]["S"].partition(SEPARATOR)
    return JobRef(TenantId(tenant_id), JobName(name))


def holder(ref: ActionRef) -> Item:
    """Return an action's reference as one text: ``acme#billing-nightly.000003.20260601T011500Z``."""
    return {"S": f"{ref.tenant_id}{SEPARATOR}{ref.id}"}


def to_state(job: Job) -> Item:
    """Return the state item of a new job."""
    item = {
        **job_key(job.ref, STATE),
        "tenant": {"S": job.ref.tenant_id},
        "name": {"S": job.ref.name},
        "maintenance_shard": {"S": maintenance_shard_of(job.ref)},
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
    """Return the attributes that reconcile and operators write, without defaults."""
    attributes = {
        "version": {"N": str(job.version)},
        "since": at(job.since),
        "cursor": at(job.cursor),
        "maintain_at": at(job.maintain_at),
    }
    if job.maintain_failures:
        attributes["maintain_failures"] = {"N": str(job.maintain_failures)}
    texts = {
        "ends": _packed({str(number): instant.text(end) for number, end in job.ends.items()}),
        "pauses": _packed({name: _pause(pause) for name, pause in job.pauses.items()}),
        "tuning": _packed({name: asdict(tuning) for name, tuning in job.tuning.items()}),
        "removed_at": instant_text(job.removed_at),
        "wakes": job.wakes.text,
        "registered_by": job.registered_by,
        "registered_at": instant_text(job.registered_at),
        "idempotency_key": job.idempotency_key or "",
        "idempotency_until": instant_text(job.idempotency_until),
        "unlocked_since": instant_text(job.unlocked_since),
    }
    return attributes | {name: {"S": text} for name, text in texts.items() if text}


def to_definition(job: Job) -> Item:
    """Return the item of the current definition."""
    return {
        **job_key(job.ref, DEFINITION),
        "definition": {"S": job.definition.to_json()},
        "defined_in": {"N": str(job.revision)},
    }


def from_items(state: Item, definition: Item) -> Job:
    """Return the job of its two items.

    Raises:
        UnreadableRow: duetime did not write these items.
    """
    try:
        return _read(state, definition)
    except UNREADABLE as error:
        raise UnreadableRow([state.get("pk"), state.get("sk")], error) from error


def state_alone(state: Item) -> Job:
    """Return the job of its state item, with an empty definition.

    Raises:
        UnreadableRow: as above.
    """
    nothing = Definition(name=job_ref_of(state).name, type="", cadences=())
    return from_items(state, {"definition": {"S": nothing.to_json()}})


def _check_names(state: Item) -> None:
    """Check that the state is of the job of its key: IAM restricts keys alone."""
    ref = job_ref_of(state)
    if not is_job_name(ref.name):
        raise ValueError(f"pk names the job {ref.name!r}")
    if (shard := state["maintenance_shard"]["S"]) not in SHARDS[:MAINTENANCE_SHARDS]:
        raise ValueError(f"maintenance_shard is {shard!r}, which no pass reads")
    for name, text in (("tenant", ref.tenant_id), ("name", ref.name)):
        if state[name]["S"] != text:
            raise ValueError(f"{name} is {state[name]['S']!r}; this job's is {text!r}")


def _read(state: Item, definition: Item) -> Job:
    _check_names(state)
    ends, pauses, tuning = (
        json.loads(read_text(state, name) or "{}") for name in ("ends", "pauses", "tuning")
    )
    return Job(
        ref=job_ref_of(state),
        definition=Definition.from_json(definition["definition"]["S"]),
        origin=Origin(state["origin"]["S"]),
        version=int(state["version"]["N"]),
        since=instant.parse(state["since"]["S"]),
        anchor=instant.parse(state["anchor"]["S"]),
        cursor=instant.parse(state["cursor"]["S"]),
        revision=int(state["revision"]["N"]),
        maintain_at=instant.parse(state["maintain_at"]["S"]),
        maintain_failures=int(state["maintain_failures"]["N"]) if "maintain_failures" in state else 0,
        ends={int(number): instant.parse(end) for number, end in ends.items()},
        pauses={name: _to_pause(pause) for name, pause in pauses.items()},
        removed_at=read_instant(read_text(state, "removed_at")),
        tuning={name: _to_tuning(options) for name, options in tuning.items()},
        running=_holder_of(read_text(state, "running")),
        waiting=_holder_of(read_text(state, "waiting")),
        unlocked_since=read_instant(read_text(state, "unlocked_since")),
        tally=_to_tally(state),
        wakes=WakeState.parse(read_text(state, "wakes") or ""),
        registered_by=read_text(state, "registered_by") or "",
        registered_at=read_instant(read_text(state, "registered_at")),
        idempotency_key=read_text(state, "idempotency_key"),
        idempotency_until=read_instant(read_text(state, "idempotency_until")),
    )


def at(when: datetime) -> Item:
    """Return an instant as an attribute value."""
    return {"S": instant.text(when)}


def _tally(tally: RunStats) -> Item:
    counts = {name: {"N": str(getattr(tally, name))} for name in _COUNTED if getattr(tally, name)}
    texts = {name: {"S": text} for name in _TALLIED if (text := getattr(tally, name)) is not None}
    started = {} if tally.last_started_at is None else {"last_started_at": at(tally.last_started_at)}
    return counts | texts | started


def _to_tally(state: Item) -> RunStats:
    counts: dict[str, Any] = {name: int(state[name]["N"]) for name in _COUNTED if name in state}
    texts: dict[str, Any] = {name: read_text(state, name) for name in _TALLIED}
    return RunStats(**counts, **texts, last_started_at=read_instant(read_text(state, "last_started_at")))


def _pause(pause: Pause) -> Mapping[str, Any]:
    return {
        "since": instant.text(pause.since),
        "by": pause.by,
        "reason": pause.reason,
        **({} if pause.until is None else {"until": instant.text(pause.until)}),
        **({"parts": [_pause(part) for part in pause.parts]} if pause.parts else {}),
    }


def _to_pause(attributes: Mapping[str, Any]) -> Pause:
    return Pause(
        since=instant.parse(attributes["since"]),
        by=attributes["by"],
        reason=attributes["reason"],
        until=read_instant(attributes.get("until")),
        parts=tuple(map(_to_pause, attributes.get("parts", ()))),
    )


def _to_tuning(attributes: Mapping[str, Any]) -> Tuning:
    backoff = attributes["backoff"]
    return Tuning(**{**attributes, "backoff": None if backoff is None else tuple(backoff)})


def _holder_of(text: str | None) -> ActionRef | None:
    if text is None:
        return None
    tenant_id, _, action_id = text.partition(SEPARATOR)
    return ActionRef(TenantId(tenant_id), ActionId(action_id))


def read_text(item: Item, name: str) -> str | None:
    """Return the text of an attribute; None without it."""
    return item[name]["S"] if name in item else None


def instant_text(when: datetime | None) -> str:
    """Return the text of an instant; an empty one without it."""
    return "" if when is None else instant.text(when)


def read_instant(text: str | None) -> datetime | None:
    """Return the instant of a text; None without one."""
    return None if text is None else instant.parse(text)


def _packed(attributes: Mapping[str, Any]) -> str:
    return (
        json.dumps(attributes, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if attributes
        else ""
    )
