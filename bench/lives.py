"""Lives: the write units and calls of one action, from the schedule to the settle, on DynamoDB Local."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from bench.meter import Bill, metered
from bench.result import Result, at_most
from bench.stand import Letter, Stand, emulated, made
from duetime.aws.tables import TableShape
from duetime.model.action import Action

SMALL, MIDDLE, LARGE = 600, 3_000, 10_000
"""Bytes of a payload's JSON."""

_BARE = "the same put and two updates of a table without any index"
_IN_ROW = "the same life with the payload kept in the row"
_APART = "a put of each by itself"
_WITHOUT_KEY = "the same life without the key"
_NOW = timedelta(0)
_CALLS = 4
"""The put, the worker's read, the claim and the settle."""


@dataclass(frozen=True, slots=True)
class Life:
    """The bill of one life."""

    bill: Bill
    messages: int


def lived(stand: Stand, schedule: Callable[[], Action]) -> Life:
    """Schedule, arm, claim, run, settle."""
    before = len(stand.queues.sent)
    with metered(stand.client) as bill:
        stand.run(schedule())
    return Life(bill, len(stand.queues.sent) - before)


def measure() -> list[Result]:
    """Measure lives of small and larger payloads, and a life in a caller's transaction."""
    with emulated() as dynamodb:
        stand = Stand(dynamodb, made(dynamodb, "actions"))
        bare = Stand(dynamodb, made(dynamodb, "bare", TableShape("bare", (), has_stream=False)))
        return [
            *_small(stand, bare),
            *_larger(stand, "3 KB", MIDDLE),
            *_larger(stand, "10 KB", LARGE),
            *_in_a_transaction(stand),
            *_under_a_concurrency_key(stand),
        ]


def _small(stand: Stand, bare: Stand) -> list[Result]:
    payload = Letter.of_size(SMALL)
    life = lived(stand, lambda: stand.scheduler.schedule(payload, at=_NOW))
    correlated = lived(
        stand, lambda: stand.scheduler.schedule(payload, at=_NOW, correlation_id="subscription:42")
    )
    least = lived(bare, lambda: bare.scheduler.schedule(payload, at=_NOW)).bill
    return [
        _writes("0.6 KB", life, least, _BARE, 5),
        _calls("0.6 KB", life, least, _BARE, _CALLS),
        _writes("0.6 KB and a correlation id", correlated, least, _BARE, 6),
        _calls("0.6 KB and a correlation id", correlated, least, _BARE, _CALLS),
        Result(
            bench="lives",
            name="0.6 KB: queue messages, due within 15 minutes",
            measured=life.messages,
            unit="messages",
            budget=at_most(1),
        ),
    ]


def _larger(stand: Stand, name: str, size: int) -> list[Result]:
    payload = Letter.of_size(size)

    def in_row() -> Action:
        pending, _ = stand.scheduler.transact_items(payload, at=_NOW)
        row = replace(pending, payload_size=0)
        stand.store.put(row)
        return row

    life = lived(stand, lambda: stand.scheduler.schedule(payload, at=_NOW))
    small = lived(stand, in_row).bill
    note = f"and {life.bill.read_units:g} read units, for the claim to fetch the payload"
    return [
        _writes(name, life, small, _IN_ROW, note=note),
        _calls(name, life, small, _IN_ROW),
    ]


def _in_a_transaction(stand: Stand) -> list[Result]:
    """Measure a schedule together with a business item of 0.6 KB, in a transaction of the caller."""
    business = {"Put": {"TableName": stand.table, "Item": _business()}}

    def schedule() -> Action:
        action, entries = stand.scheduler.transact_items(Letter.of_size(SMALL), at=_NOW)
        stand.client.transact_write_items(TransactItems=[business, *entries])
        return action

    life = lived(stand, schedule)
    with metered(stand.client) as apart:
        stand.client.put_item(**business["Put"])
        stand.run(stand.scheduler.schedule(Letter.of_size(SMALL), at=_NOW))
    note = "the transaction itself is 5 of these: 2 for each of its items, and 1 for the due index"
    return [
        _writes("in a transaction with a business item", life, apart, _APART, note=note),
        _calls("in a transaction with a business item", life, apart, _APART),
    ]


def _under_a_concurrency_key(stand: Stand) -> list[Result]:
    """Measure a life whose claim and settle also write a slot."""
    payload = Letter.of_size(SMALL)
    life = lived(stand, lambda: stand.scheduler.schedule(payload, at=_NOW, concurrency_key="customer:42"))
    least = lived(stand, lambda: stand.scheduler.schedule(payload, at=_NOW)).bill
    units = f"{life.bill.read_units:g} read units, two of them for the slot"
    note = f"claim and settle also write the slot; {units}"
    return [
        _writes("0.6 KB under a concurrency key", life, least, _WITHOUT_KEY, note=note),
        _calls("0.6 KB under a concurrency key", life, least, _WITHOUT_KEY),
    ]


def _business() -> Mapping[str, Any]:
    return {"pk": {"S": "plans"}, "sk": {"S": "subscription:42"}, "plan": {"S": "x" * SMALL}}


def _writes(
    name: str, life: Life, least: Bill, against: str, limit: int | None = None, *, note: str = ""
) -> Result:
    return Result(
        bench="lives",
        name=f"{name}: write units",
        measured=life.bill.write_units,
        unit="units",
        reference=least.write_units,
        against=against,
        budget=None if limit is None else at_most(limit),
        note=note,
    )


def _calls(name: str, life: Life, least: Bill, against: str, limit: int | None = None) -> Result:
    return Result(
        bench="lives",
        name=f"{name}: DynamoDB calls",
        measured=life.bill.calls,
        unit="calls",
        reference=least.calls,
        against=against,
        budget=None if limit is None else at_most(limit),
    )
