"""A caller: it schedules actions, and sometimes reads one, moves it or cancels it."""

import threading
from datetime import timedelta
from random import Random
from typing import Any

from duetime import Scheduler
from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import repeat
from tests.chaos.shop import Pay, PaySlowly, PayTogether

AT_ONCE, CALL_EACH = 3, 0.8
"""Calls of one process, and the seconds between them."""
TENANT = "acme"


def serve(_settings: Settings, words: Words) -> None:
    scheduler = Scheduler.from_env(tenant_id=TENANT, actor=words.name)
    for number in range(AT_ONCE):
        caller = Caller(scheduler, Random(f"{words.seed} {number}"))  # noqa: S311 - simulated
        threading.Thread(target=repeat, args=(caller.turn, CALL_EACH)).start()


class Caller:
    """Makes one call a turn, and repeats none."""

    def __init__(self, scheduler: Scheduler, draw: Random) -> None:
        self._scheduler, self._draw = scheduler, draw
        self._made: list[str] = []

    def turn(self) -> bool:
        """Make one call."""
        chance, draw = self._draw.random(), self._draw
        if chance < 0.7 or not self._made:
            self._made.append(self._schedule())
            return False
        action_id = draw.choice(self._made[-20:])
        if chance < 0.8:
            self._scheduler.get(action_id)
        elif chance < 0.9:
            self._scheduler.reschedule(action_id, timedelta(seconds=draw.uniform(0, 8)))
        else:
            self._scheduler.cancel(action_id)
        return False

    def _schedule(self) -> str:
        draw, more = self._draw, dict[str, Any]()
        payload = draw.choice((Pay, Pay, PayTogether))(
            seconds=draw.choice((0, 0, 0, 0.5, 2, 4, 7)),
            stumbles=draw.choice((0, 0, 0, 0, 1, 2, 4)),
            stops=draw.random() < 0.5,
        )
        if draw.random() < 0.25:
            customer = f"customer-{draw.randrange(2)}"
            payload = PaySlowly(customer=customer, **payload.model_dump())
        if draw.random() < 0.2:
            more["idempotency_key"] = f"key-{draw.randrange(10_000)}"
        if draw.random() < 0.25:
            customer = draw.randrange(4)
            more["concurrency_key"] = f"customer-{customer}"
            more["concurrency_limit"] = 1 + customer % 2
        at = timedelta(seconds=draw.choice((0, 0.5, 3, draw.uniform(5, 15))))
        return self._scheduler.schedule(payload, at=at, **more).id
