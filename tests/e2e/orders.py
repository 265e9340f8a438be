"""Five hundred orders of actions, by a caller who repeats each call until it is answered."""

import contextlib
import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta

from duetime import App, Order, Payload, RetryPolicy, Run, Scheduler, Status
from duetime.errors import BackendUnavailable, StateConflict

SEED, CHANCE = 20270601, 0.06
EFFECTS = "effects"
BULK, NEAR, STUMBLING, FAR, CANCELLED = 100, 80, 20, 242, 50
SOON, LATER = (2, 10), (65, 80)
"""Seconds: when near and far actions are due."""
jitter_draw = random.Random(SEED)  # noqa: S311 - spreads due times, guards nothing


class Count(Payload):
    """Its effect is one more under its name."""

    name: str
    stumbles: bool = False


app = App()


@app.action(retry=RetryPolicy(attempts=3, backoff=1, jitter=0), timeout=timedelta(minutes=1))
def count(payload: Count, run: Run) -> None:
    if payload.stumbles and run.attempt == 1:
        raise ConnectionError("the API does not answer")
    # without a condition: a second commit would be seen
    run.commit(
        [
            {
                "Update": {
                    "TableName": EFFECTS,
                    "Key": {"name": {"S": payload.name}},
                    "UpdateExpression": "ADD times :one",
                    "ExpressionAttributeValues": {":one": {"N": "1"}},
                }
            }
        ]
    )


@dataclass
class Ordered:
    """What a caller ordered, who repeats a call until it is answered."""

    scheduler: Scheduler
    ids: dict[str, str] = field(default_factory=dict)
    """Of each action that has a key, by its name."""

    def one(self, name: str, due: tuple[float, float], *, stumbles: bool = False) -> str:
        payload, at = Count(name=name, stumbles=stumbles), between(*due)
        action = insisted(lambda: self.scheduler.schedule(payload, at=at, idempotency_key=name))
        self.ids[name] = action.id
        return action.id

    def many(self, names: Iterable[str]) -> None:
        """Schedule without keys; after an unknown outcome, the caller lists the actions."""
        orders = [Order(Count(name=name), at=between(*SOON), correlation_id=name) for name in names]
        while orders:
            with contextlib.suppress(BackendUnavailable):
                self.scheduler.schedule_many(orders)
            orders = [order for order in orders if not self._is_there(order)]

    def cancelled(self, name: str) -> None:
        action_id = self.one(name, LATER)
        try:
            insisted(lambda: self.scheduler.cancel(action_id))
        except StateConflict:  # a cancel before this one was made, and its answers were lost
            assert insisted(lambda: self.scheduler.get(action_id)).status is Status.CANCELLED

    def _is_there(self, order: Order) -> bool:
        return bool(insisted(lambda: self.scheduler.list(correlation_id=order.correlation_id)))


def order_the_rest(ordered):
    with ThreadPoolExecutor(8) as callers:
        request = [
            callers.submit(ordered.many, names("bulk", BULK)),
            *(callers.submit(ordered.one, name, SOON) for name in names("near", NEAR)),
            *(
                callers.submit(ordered.one, name, SOON, stumbles=True)
                for name in names("stumbling", STUMBLING)
            ),
            *(callers.submit(ordered.cancelled, name) for name in names("cancelled", CANCELLED)),
            *(callers.submit(ordered.one, name, LATER) for name in names("far", FAR)),
        ]
    for row in request:
        row.result()


def names(kind, how_many):
    return [f"{kind}-{number}" for number in range(how_many)]


def between(low, high):
    return timedelta(seconds=jitter_draw.uniform(low, high))


def insisted(call):
    """Return the answer of `call`; repeat it while its outcome is unknown."""
    while True:
        with contextlib.suppress(BackendUnavailable):
            return call()
