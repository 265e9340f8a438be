"""Calls with debounce keys in a world, and what must hold of the actions that take them."""

import json
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from random import Random

from duetime import Payload
from duetime.errors import BackendUnavailable
from duetime.model.debounce import awaits_first_run
from duetime.testing.journey import short

KEYS = ("index", "mail")
DELAYS = [0, 5, 40, 90, 400, 1_500]
BOUNDS = [None, 120, 600, 2_000]
"""Seconds."""


def has_debounce(seed):
    """Whether a world's callers use debounce keys: an eighth of them do."""
    return seed % 8 == 3


def joined(old, new):
    return Burst(numbers=(*old.numbers, *new.numbers))


class Burst(Payload, merge=joined):
    """The numbers of the calls that one action takes."""

    numbers: tuple[int, ...]
    text: str = ""


class DebounceCalls:
    """The calls of a world's tenants: drawn apart from its other operations."""

    def __init__(self, seed, world):
        self.draw = Random(f"debounce {seed}")  # noqa: S311 - the same calls for the same seed
        self.world, self.sent, self.accepted, self.broken = world, 0, {}, []

    def sometimes(self):
        """A burst of up to three calls, now and then."""
        for _ in range(self.draw.choice([0, 0, 1, 2, 3])):
            self.call(self.draw.choice(sorted(self.world.schedulers)), self.draw.choice(KEYS))
        waiting = Counter((row.tenant_id, row.debounced.key) for row in self.rows() if awaits_first_run(row))
        self.broken += [f"{number} actions wait under {key}" for key, number in waiting.items() if number > 1]

    def call(self, tenant, key):
        at, bound = self.draw.choice(DELAYS), self.draw.choice(BOUNDS)
        text = "x" * self.draw.choice([0, 0, 0, 3_000])
        more = {} if bound is None else {"at_most_after": timedelta(seconds=max(at, bound))}
        self.sent += 1
        payload, at = Burst(numbers=(self.sent,), text=text), timedelta(seconds=at)
        with suppress(BackendUnavailable):
            scheduler = self.world.schedulers[tenant]
            self.accepted[self.sent] = scheduler.schedule(payload, at=at, debounce_key=key, **more)

    def rows(self):
        return [row for row in self.world.cloud.actions() if row.debounced is not None]

    def check(self):
        """Each accepted call is in one action, whose first run begins no sooner than the last one says."""
        holders = {}
        for row in self.rows():
            numbers = json.loads(row.payload)["numbers"]
            for number in numbers:
                if number in holders:
                    yield f"call {number} is in {short(row.id)} and in {short(holders[number].id)}"
                holders[number] = row
            if row.debounced.until is not None and row.nominal_at > row.debounced.until:
                yield f"{short(row.id)} is due after its bound"
            last = self.accepted.get(max(numbers))
            begun = row.attempts[0].started_at if 0 < len(row.attempts) < 20 else None
            if last is not None and begun is not None and begun < last.due_at:
                yield f"{short(row.id)} begins before its last call's due time"
        for number, action in self.accepted.items():
            if number not in holders:
                yield f"call {number} is accepted and lost"
            elif holders[number].id != action.id:
                yield f"call {number} is answered with {short(action.id)}, which has not taken it"
