"""Rate limits: how near a thousand starts a second come to it over a minute, none beyond, and their cost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

from bench.result import Result, at_most
from bench.stand import Stand, emulated, made
from duetime import App, Order, Payload, Rate, Run
from duetime.ids import TenantId
from duetime.jobs.trusted_reading import KnownLimits
from duetime.memory.keyed_items import MemoryItems
from duetime.memory.store import MemoryStore
from duetime.model.action import Action
from duetime.model.lease import Claimed, ClaimTerms
from duetime.model.new_action import new_action
from duetime.model.rate_limit import RateLimit, bucket_of
from duetime.ports.rate_limits import SetLimits
from duetime.settings import Settings
from duetime.testing import SimulatedCloud, TurnedClock
from duetime.testing.invariants import first_excess
from duetime.worker.rate_turn import RateTurn, StartsAt

RATE, MINUTE, SECOND = 1_000, timedelta(minutes=1), timedelta(seconds=1)
START = datetime(2027, 1, 1, tzinfo=UTC)
LATEST = timedelta(milliseconds=400)
"""The most that a message is late, beside a run that waits."""
_ERROR = 0.01


class Mail(Payload):
    """Nothing to send."""


def measure() -> list[Result]:
    """Measure the simulated cloud, the limit alone with late messages, and the writes on DynamoDB Local."""
    logging.getLogger("duetime").setLevel(logging.ERROR)
    starts, ids, rate = _on_the_cloud()
    alone, late_ids = _with_late_messages(rate)
    return [
        *_of(starts, ids, rate, "simulated cloud, all due at once"),
        *_of(alone, late_ids, rate, f"messages up to {LATEST / SECOND:g} s late, the burst first"),
        *_costs(),
    ]


def _of(starts: list[datetime], ids: list[str], rate: Rate, name: str) -> Iterator[Result]:
    """Yield the error of the minute after the burst, and the starts that are too early, by shard."""
    first = min(starts) + 2 * SECOND
    in_minute = sum(first < start <= first + MINUTE for start in starts)
    error = abs(in_minute / (RATE * MINUTE / SECOND) - 1)
    yield Result(
        bench="rates",
        name=f"{RATE:,} a second for a minute; {name}: error",
        measured=error * 100,
        unit="%",
        budget=at_most(_ERROR * 100),
        note=f"{in_minute:,} starts",
    )
    shards = rate.limit.shards
    by_shard: dict[int, list[datetime]] = {}
    for start, action_id in zip(starts, ids, strict=True):
        by_shard.setdefault(bucket_of("mail", shards, action_id).shard, []).append(start)  # type: ignore[arg-type]
    excess = [first_excess(shard, rate.limit.pace) for shard in by_shard.values()]
    yield Result(
        bench="rates",
        name=f"shards with a window beyond the limit; {name}",
        measured=sum(found is not None for found in excess),
        unit="",
        budget=at_most(0),
        note=f"of {shards}",
    )


def _on_the_cloud() -> tuple[list[datetime], list[str], Rate]:
    app, rate = App(), Rate(RATE, "second")
    starts: list[datetime] = []
    ids: list[str] = []

    @app.action(rate=rate)
    def send_mail(payload: Mail, run: Run) -> None:
        del payload
        starts.append(run.now())
        ids.append(run.id)

    cloud = SimulatedCloud(app, start=START)
    number = int(RATE * (MINUTE / SECOND + 4))
    cloud.scheduler.schedule_many(Order(Mail(), SECOND) for _ in range(number))
    cloud.advance(MINUTE + 3 * SECOND)
    return starts, ids, rate


def _with_late_messages(rate: Rate) -> tuple[list[datetime], list[str]]:
    """Run the limit over the store alone: arrivals in order, each message late by a draw."""
    app, clock, store = App(), TurnedClock(START), MemoryStore()
    app.action(rate=rate)(_nothing)
    handler, limits = app.handlers["mail"], KnownLimits(SetLimits(MemoryItems()), clock)
    draw, number = Random(7), count()  # noqa: S311 - the same each time
    events: list[tuple[datetime, int, Any, RateTurn | None]] = []

    def late(at: datetime) -> datetime:
        return at + draw.random() * LATEST

    for arrival in range(int(RATE * (MINUTE / SECOND + 5))):
        due_at = START + max(arrival - 2 * RATE, 0) * SECOND / RATE
        row = _row(due_at)
        store.put(row)
        heappush(events, (late(due_at), next(number), row.ref, None))
    starts, ids = [], []
    while events:
        now, _, ref, turn = heappop(events)
        clock.wait_until(now)
        found = store.get(ref)
        if found is None:
            continue
        turn = turn or RateTurn(handler, rate, store, limits)
        terms = _terms(now, str(next(number)))
        refused = turn(found, terms)
        if isinstance(refused, StartsAt):
            heappush(events, (refused.at, next(number), ref, turn))
        elif refused is not None:
            moved = store.get(ref)
            heappush(events, (late(moved.due_at if moved else now), next(number), ref, None))
        elif isinstance(store.claim(found, terms), Claimed):
            starts.append(now)
            ids.append(ref.id)
    return starts, ids


def _row(due_at: datetime) -> Action:
    return new_action(
        Mail(),
        due_at=due_at,
        now=START,
        tenant_id=TenantId("acme"),
        actor="bench",
        correlation_id=None,
        due_shards=16,
    )


def _nothing(payload: Mail) -> None:
    del payload


def _terms(now: datetime, nonce: str) -> ClaimTerms:
    settings = Settings()
    return ClaimTerms(
        now=now,
        lease_until=now + settings.lease,
        skew=settings.clock_skew,
        nonce=nonce,
        instance="bench",
        queued_at=now,
        retry="",
    )


def _costs() -> Iterator[Result]:
    """Yield the write units that Amazon's own engine meters."""
    limit = RateLimit.parse(10, "minute", 1)
    with emulated() as client:
        stand = Stand(client, made(client, "actions"))
        store, now = stand.store, datetime.now(UTC)
        action = stand.scheduler.schedule(Mail(), at=timedelta(0))
        bucket = bucket_of("mail", 1, action.id)

        def start() -> object:
            return store.start_within_rate(bucket, limit.pace, now, is_reserved=False)

        def wait() -> object:
            return store.defer(action, store.reserve_start(bucket, limit.pace, now))

        for name, call, budget in (
            ("a start at once", start, 1),
            ("a run that is deferred", wait, 5),
        ):
            with _metered(client) as units:
                call()
            yield Result(
                bench="rates",
                name=f"write units beside the action's own; {name}",
                measured=sum(units),
                unit="WU",
                budget=at_most(budget),
            )


@contextmanager
def _metered(client: Any) -> Iterator[list[float]]:
    """Yield a list to which each write appends its units."""
    units: list[float] = []

    def ask(params: Any, **_rest: Any) -> Any:
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def read(parsed: Any, model: Any, **_rest: Any) -> None:
        if model.name in {"UpdateItem", "PutItem"}:
            units.append(parsed.get("ConsumedCapacity", {}).get("CapacityUnits", 0.0))

    events = client.meta.events
    handlers: tuple[tuple[str, Callable[..., Any]], ...] = (
        ("provide-client-params.dynamodb.*", ask),
        ("after-call.dynamodb.*", read),
    )
    for event, handler in handlers:
        events.register(event, handler)
    try:
        yield units
    finally:
        for event, handler in handlers:
            events.unregister(event, handler)
