"""Pauses of work in the jobs table: the partition ``system#pauses``, which no grant to callers covers.

The sort key is the scope, the name and the pause's id. DynamoDB's time to live removes ended pauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from duetime import instant
from duetime.aws.dynamodb import Client, DynamoTable, readable
from duetime.aws.faults import ConditionFailed, TransactionCancelled, TransactionFailed
from duetime.aws.items import to_epoch
from duetime.aws.keys import Item
from duetime.aws.transactions import put, retry_on_conflict, write
from duetime.ids import SEPARATOR, ActionId, TenantId
from duetime.model.breaker import FailureCount
from duetime.model.work_pause import BreakerState, PauseScope, WorkPause, WorkPauseChange

PARTITION = "system#pauses"
FAILURES = "system#failures"
"""The partition of the counts of closed breakers, one item for each tenant and type with failures."""
_STORED_AFTER_END = timedelta(days=1)
_KNOWN = frozenset(PauseScope)
_IS_NEW = "attribute_not_exists(pk)"
_REVISION_IS_AS_READ = "revision = :revision"
_HAS_NOT_ENDED = "attribute_exists(pk) AND attribute_not_exists(ended_at)"


class DynamoWorkPauses:
    """One item for each pause.

    See `duetime.ports.work_pauses.WorkPauses`.
    """

    def __init__(self, client: Client, table: str) -> None:
        self._table = DynamoTable(client, table)

    def list(self) -> Sequence[WorkPause]:
        items = self._table.items(
            KeyConditionExpression="pk = :pauses",
            ExpressionAttributeValues={":pauses": {"S": PARTITION}},
            ConsistentRead=True,
        )
        known = (item for item in items if item["sk"]["S"].partition(SEPARATOR)[0] in _KNOWN)
        return sorted(readable(known, from_pause_item, "pause"), key=lambda pause: pause.id)

    def begin(self, pause: WorkPause) -> None:
        with suppress(ConditionFailed):
            self._table.put(_pause_item(pause), ConditionExpression=_IS_NEW)

    def end(self, pause: WorkPause) -> None:
        with suppress(ConditionFailed):
            self._table.put(_pause_item(pause), ConditionExpression=_HAS_NOT_ENDED)

    def replace(self, old: WorkPause, new: WorkPause) -> bool:
        state = old.breaker
        if state is None:
            return False
        condition = f"{_HAS_NOT_ENDED} AND {_REVISION_IS_AS_READ}"
        values = {":revision": {"N": str(state.revision)}}
        try:
            self._table.put(_pause_item(new), ConditionExpression=condition, ExpressionAttributeValues=values)
        except ConditionFailed:
            key = {name: _pause_item(new)[name] for name in ("pk", "sk")}
            return [new] == [*readable(filter(None, [self._table.get(key)]), from_pause_item, "pause")]
        return True

    def failures(self, tenant_id: TenantId, type_name: str) -> FailureCount:
        item = self._table.get(_failures_key(tenant_id, type_name))
        none = FailureCount(tenant_id=tenant_id, type=type_name)
        return none if item is None else next(iter(readable([item], _from_failures_item, "failures")), none)

    def count_failure(self, new: FailureCount, opened: WorkPause | None) -> bool:
        item, before = _failures_item(new), new.revision - 1
        condition: dict[str, Any] = {"ConditionExpression": _IS_NEW}
        if before:
            condition = {
                "ConditionExpression": _REVISION_IS_AS_READ,
                "ExpressionAttributeValues": {":revision": {"N": str(before)}},
            }
        try:
            if opened is None:
                self._table.put(item, **condition)
            else:
                pause = put(self._table.name, _pause_item(opened), ConditionExpression=_IS_NEW)
                entries = [put(self._table.name, item, **condition), pause]
                retry_on_conflict(partial(write, self._table.client, entries), TransactionCancelled)
        except (ConditionFailed, TransactionFailed, TransactionCancelled):
            return self.failures(new.tenant_id, new.type) == new
        return True


def _failures_key(tenant_id: TenantId, type_name: str) -> Item:
    return {"pk": {"S": FAILURES}, "sk": {"S": SEPARATOR.join((tenant_id, type_name))}}


def _failures_item(count: FailureCount) -> Item:
    return {
        **_failures_key(count.tenant_id, count.type),
        "failed": {"L": [{"N": f"{at.timestamp():.3f}"} for at in count.failed_at]},
        "revision": {"N": str(count.revision)},
        "nonce": {"S": count.nonce},
        "at": {"S": instant.text(count.at)},
        "ttl": {"N": to_epoch(count.at + _STORED_AFTER_END)},
    }


def _from_failures_item(item: Mapping[str, Any]) -> FailureCount:
    tenant_id, _, type_name = item["sk"]["S"].partition(SEPARATOR)
    return FailureCount(
        tenant_id=TenantId(tenant_id),
        type=type_name,
        failed_at=tuple(datetime.fromtimestamp(float(entry["N"]), UTC) for entry in item["failed"]["L"]),
        at=instant.parse(item["at"]["S"]),
        revision=int(item["revision"]["N"]),
        nonce=item["nonce"]["S"],
    )


def pause_change_of(old: Item | None, new: Item) -> WorkPauseChange | None:
    """Return the change in a stream's record; None if the scope is one of a later version.

    Raises:
        ValueError: an attribute is invalid.
        LookupError: one is missing.
    """
    if new["sk"]["S"].partition(SEPARATOR)[0] not in _KNOWN:
        return None
    return WorkPauseChange(from_pause_item(old) if old else None, from_pause_item(new))


def _pause_item(pause: WorkPause) -> Item:
    texts: dict[str, Any] = {
        "pk": PARTITION,
        "sk": SEPARATOR.join((pause.scope, pause.name, pause.id)),
        "reason": pause.reason,
        "by": pause.by,
        "since": instant.text(pause.since),
        "until": pause.until and instant.text(pause.until),
        "ended_at": pause.ended_at and instant.text(pause.ended_at),
        "ended_by": pause.ended_by,
        "tenant_id": pause.tenant_id,
    }
    item: dict[str, Any] = {name: {"S": text} for name, text in texts.items() if text is not None}
    item |= {name: {"BOOL": True} for name in ("skips", "is_tenants") if _flags(pause)[name]}
    if pause.spread is not None:
        item["spread"] = {"N": f"{pause.spread.total_seconds():g}"}
    item |= _breaker_attributes(pause.breaker)
    over_at = pause.over_at
    return item if over_at is None else {**item, "ttl": {"N": to_epoch(over_at + _STORED_AFTER_END)}}


def _breaker_attributes(state: BreakerState | None) -> Item:
    if state is None:
        return {}
    return {
        "open_for": {"N": f"{state.open_for.total_seconds():g}"},
        "probes_at": {"S": instant.text(state.probes_at)},
        "revision": {"N": str(state.revision)},
        **({} if state.probe is None else {"probe": {"S": state.probe}}),
        **({} if state.probe_until is None else {"probe_until": {"S": instant.text(state.probe_until)}}),
    }


def _to_breaker(item: Mapping[str, Any]) -> BreakerState | None:
    if "probes_at" not in item:
        return None
    return BreakerState(
        open_for=timedelta(seconds=float(item["open_for"]["N"])),
        probes_at=instant.parse(item["probes_at"]["S"]),
        probe=ActionId(item["probe"]["S"]) if "probe" in item else None,
        probe_until=instant.parse(item["probe_until"]["S"]) if "probe_until" in item else None,
        revision=int(item["revision"]["N"]),
    )


def _flags(pause: WorkPause) -> Mapping[str, bool]:
    return {"skips": pause.skips, "is_tenants": not pause.is_operators}


def from_pause_item(item: Mapping[str, Any]) -> WorkPause:
    """Read a pause from its item.

    Raises:
        ValueError: an attribute is invalid.
        LookupError: one is missing.
    """
    scope, _, rest = item["sk"]["S"].partition(SEPARATOR)
    name, _, pause_id = rest.rpartition(SEPARATOR)  # a key may contain the separator
    times = {
        field: instant.parse(item[field]["S"]) if field in item else None for field in ("until", "ended_at")
    }
    return WorkPause(
        id=pause_id,
        scope=PauseScope(scope),
        name=name,
        reason=item["reason"]["S"],
        by=item["by"]["S"],
        since=instant.parse(item["since"]["S"]),
        ended_by=item["ended_by"]["S"] if "ended_by" in item else None,
        tenant_id=TenantId(item["tenant_id"]["S"]) if "tenant_id" in item else None,
        spread=timedelta(seconds=float(item["spread"]["N"])) if "spread" in item else None,
        skips="skips" in item,
        is_operators="is_tenants" not in item,
        breaker=_to_breaker(item),
        **times,
    )
