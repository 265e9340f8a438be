"""Handed-over actions in a world, and the parties that hold their tokens.

A party loses its responses, repeats its calls, comes late, and goes on with the token of a run that was taken
over. What it was promised must hold at the end.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from duetime import Payload, Run
from duetime.errors import DuetimeError
from duetime.model.action import Status
from duetime.model.hand_over_token import token_of
from duetime.testing.journey import short

TIMEOUTS, HEARTBEATS = [60, 300, 900], [None, 20, 120, 400]
"""Seconds."""

_ENDED = {Status.EXECUTED, Status.FAILED, Status.CANCELLED}


def has_hand_overs(seed):
    """Whether a world hands actions over: a fifth of those without pauses and changed limits do."""
    return seed % 5 == 1 and seed // 100 % 3 == 0


class Film(Payload):
    """Is handed over after `lasts` seconds."""

    lasts: float = 0
    timeout: int = 60
    heartbeat: int | None = None


def hand_over(payload: Film, run: Run):
    run.clock.wait_until(run.now() + timedelta(seconds=payload.lasts))
    heartbeat = None if payload.heartbeat is None else timedelta(seconds=payload.heartbeat)
    return run.hand_over(timeout=timedelta(seconds=payload.timeout), heartbeat=heartbeat)


@dataclass(frozen=True)
class Ticket:
    """A token, as its party has it."""

    text: str
    tenant: str
    action: str
    fence: int


class HandOvers:
    """The parties of a world: drawn apart from its other operations."""

    def __init__(self, seed, world):
        self.draw = Random(f"hand overs {seed}")  # noqa: S311 - the same calls for the same seed
        self.world, self.tickets, self.ended, self.broken = world, {}, {}, []

    def sometimes(self):
        """Schedule some, and let parties call: with the latest tokens, or with one of long ago."""
        for _ in range(self.draw.choice([0, 0, 1, 2])):
            self.schedule(self.draw.choice(sorted(self.world.schedulers)))
        for row in self.world.cloud.actions(Status.PROCESSING):
            if row.type == "film":
                text = token_of(row)
                self.tickets.setdefault(text, Ticket(text, row.tenant_id, row.id, row.fence))
        for _ in range(self.draw.choice([0, 1, 2, 4])):
            if self.tickets:
                newest = self.draw.random() < 0.7
                self.call(self.draw.choice([*self.tickets.values()][-3 if newest else -30 :]))

    def schedule(self, tenant):
        timeout = self.draw.choice(TIMEOUTS)
        heartbeat = self.draw.choice([beat for beat in HEARTBEATS if beat is None or beat <= timeout])
        film = Film(lasts=self.draw.choice([0, 0, 20, 150]), timeout=timeout, heartbeat=heartbeat)
        key = "studio" if self.draw.random() < 0.3 else None
        with suppress(DuetimeError):
            self.world.schedulers[tenant].schedule(film, at=timedelta(0), concurrency_key=key)

    def call(self, ticket):
        """One call, or the same twice; what is accepted is remembered."""
        scheduler = self.world.schedulers[ticket.tenant]
        call = self.draw.choices(
            [
                lambda: scheduler.heartbeat(ticket.text, progress=0.5),
                lambda: scheduler.complete(ticket.text, result=ticket.fence),
                lambda: scheduler.fail(ticket.text, "jammed", retry=self.draw.random() < 0.7),
            ],
            [3, 2, 1],
        )[0]
        for _ in range(self.draw.choice([1, 1, 1, 2])):
            with suppress(DuetimeError):
                answer = call()
                if hasattr(answer, "status"):
                    self.accept(ticket, answer)

    def accept(self, ticket, row):
        if ticket in self.ended:
            self.broken.append(f"{short(ticket.action)} is ended twice by one token")
        self.ended[ticket] = row.status
        stored = self.world.cloud.scheduler_for(ticket.tenant).get(ticket.action)
        if stored.fence == ticket.fence and stored.status not in {*_ENDED, Status.PENDING}:
            self.broken.append(f"{short(ticket.action)} is {stored.status.value} after its accepted end")

    def check(self):
        """Each accepted end has ended its run, and no action was completed twice."""
        rows = {row.id: row for row in self.world.cloud.actions() if row.type == "film"}
        completed = [ticket for ticket, status in self.ended.items() if status is Status.EXECUTED]
        for ticket in completed:
            row = rows[ticket.action]
            if row.status is not Status.EXECUTED or row.result != str(ticket.fence):
                yield f"{short(row.id)} is {row.status.value}, though its completion was accepted"
        if len({ticket.action for ticket in completed}) < len(completed):
            yield "an action was completed by two tokens"
        for row in rows.values():
            if row.is_handed_over and row.lease_until < self.world.cloud.now - timedelta(minutes=3):
                yield f"{short(row.id)} waits on after its hand-over has ended"
