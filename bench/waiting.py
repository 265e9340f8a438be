"""Waiting: 200 actions of one concurrency key with the limit 1, in simulated time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.result import Result, at_most
from duetime import App, Payload, Run
from duetime.ports.wakeups import Send
from duetime.testing import Faults, SimulatedCloud

ACTIONS, LASTS = 200, timedelta(seconds=10)
START = datetime(2027, 6, 1, tzinfo=UTC)
POLL = timedelta(seconds=30)
POLLED = sum(1 + number * LASTS // POLL for number in range(ACTIONS))
"""The messages of the same actions if each one in line checked the key every `POLL`."""

_OF_SLOTS = ("take_slot", "wait_for_slot", "join_tail", "mark_tail", "leave_tail", "move_slots", "evict")

_MOST_UNITS = 4
"""Nine write units a life, less the five of one without a key. Items of at most 1 KB cost a unit each."""


class Sync(Payload):
    """A call that takes ten seconds."""

    number: int


def measure() -> list[Result]:
    """Run them one after another, and count the messages, and the writes of the key's item."""
    app, begun, counted = App(), list[int](), Counter[str]()

    @app.action
    def sync(payload: Sync, run: Run) -> None:
        begun.append(payload.number)
        run.clock.wait_until(run.now() + LASTS)

    cloud = SimulatedCloud(app, start=START, faults=Faults.only(1))
    _count_messages(cloud, counted)
    for name in _OF_SLOTS:
        _count_calls(cloud.memory.store, name, counted)
    for number in range(ACTIONS):
        cloud.scheduler.schedule(Sync(number=number), at=timedelta(0), concurrency_key="customer:42")
    cloud.advance(hours=2)
    if len(begun) != ACTIONS:
        raise RuntimeError(f"{len(begun)} of {ACTIONS} actions ran")
    return [
        Result(
            bench="waiting",
            name=f"{ACTIONS} actions of one key: queue messages",
            measured=counted["message"],
            unit="messages",
            reference=POLLED,
            against="each one in line checks every 30 seconds",
        ),
        Result(
            bench="waiting",
            name="the same: write units of slots for each action",
            measured=sum(counted[name] for name in _OF_SLOTS) / ACTIONS,
            unit="units",
            budget=at_most(_MOST_UNITS),
        ),
    ]


def _count_messages(cloud: SimulatedCloud, counted: Counter[str]) -> None:
    send = cloud.memory.queues.send

    def counting(sends: Sequence[Send]) -> None:
        counted["message"] += sum(one.message.type == "sync" for one in sends)
        send(sends)

    cloud.memory.queues.send = counting  # type: ignore[method-assign]


def _count_calls(store: Any, name: str, counted: Counter[str]) -> None:
    call, joined = getattr(store, name), set[str]()

    def counting(*args: Any) -> Any:
        if name == "leave_tail":
            counted[name] += len(args[-1])
        elif name == "join_tail":  # a check reads its entry, and writes nothing
            joined.add(args[0].id)
            counted[name] = len(joined)
        else:
            counted[name] += 1
        return call(*args)

    setattr(store, name, counting)
