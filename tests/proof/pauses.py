"""Pauses in a world: drawn apart, so that other worlds stay as they are."""

from datetime import timedelta
from random import Random

from duetime import ids
from duetime.jobs.trusted_reading import REREAD_AFTER, KnownPauses
from duetime.model.action import SkipReason, Status
from duetime.model.work_pause import PauseScope, WorkPause, work_of
from tests.proof.shop import Errand

EVERY, BLOCK = 3, 100
"""The second hundred of each three hundred seeds has pauses."""
LONGEST_READ = timedelta(seconds=60)
KEY = "till"
"""The concurrency key that the worlds' operations use, too."""
SPREAD = timedelta(minutes=4)
HOLDS_UNTIL = WorkPause.holds_until
"""As it is without a removed guard."""


def has_pauses(seed):
    return seed // BLOCK % EVERY == 1


def claims_of(row):
    """How often an action was claimed: each claim begins an attempt, or takes over a lost one.

    Its fence is no such count: an action that gives its slot up, since a pause holds it, gets the next fence
    without a claim.
    """
    return row.attempt + row.recoveries


class Pauses:
    def __init__(self, seed, cloud, tenants):
        self.draw = Random(f"pauses {seed}")  # noqa: S311 - the same pauses for the same seed
        self.cloud, self.tenants, self.broken = cloud, tenants, []
        self.known = KnownPauses(cloud.memory.pauses, cloud.clock)

    def sometimes(self):
        """Pause something, or end all pauses, between two operations of the world."""
        if self.draw.random() < 0.2:
            until = self.draw.choice([None, timedelta(minutes=17)])
            self.begin(
                *self.scope(self.draw.choice(self.tenants)), until=until, skips=self.draw.random() < 0.2
            )
        elif self.draw.random() < 0.2:
            self.end_all()

    def scope(self, tenant):
        """A scope that covers an errand of a tenant with the key, and whose work it covers."""
        return self.draw.choice(
            [
                (PauseScope.TENANT, tenant, None),
                (PauseScope.TYPE, "errand", tenant),
                (PauseScope.TYPE, "errand", None),
                (PauseScope.CONCURRENCY_KEY, KEY, tenant),
                (PauseScope.WORKER, "default", tenant),
            ]
        )

    def begin(self, scope, name, tenant, *, until=None, skips=False, spread=SPREAD):
        now = self.cloud.now
        pause = WorkPause(
            id=ids.new_action_id(now, self.draw.randbytes),
            scope=scope,
            name=name,
            tenant_id=tenant,
            reason="a drill",
            by="an operator",
            since=now,
            until=None if until is None else now + until,
            skips=skips,
            spread=spread,
        )
        self.known.begin(pause)
        return pause

    def end_all(self):
        return self.known.end_all(self.known.list(), "an operator")

    def drill(self):
        """After the faults: no covered run begins; afterwards each begins at its own instant."""
        self.end_all()
        self.cloud.advance(SPREAD + timedelta(minutes=1))
        tenant, other = self.draw.sample(self.tenants, 2)
        pause = self.begin(*self.scope(tenant), skips=self.draw.random() < 0.3)
        self.cloud.advance(REREAD_AFTER + LONGEST_READ)
        before = {row.ref: claims_of(row) for row in self.cloud.actions()}
        mine = self.schedule(tenant)
        self.schedule(other)
        self.cloud.advance(minutes=3)
        self.broken = [
            f"{row.id} was claimed under the pause of the {pause.subject}"
            for row in self.cloud.actions()
            if pause.covers(work_of(row, "default")) and claims_of(row) > before.get(row.ref, 0)
        ]
        [pause] = self.end_all()
        self.cloud.advance(SPREAD + timedelta(minutes=2))
        self.broken += self.released(self.cloud.scheduler_for(tenant).get(mine.id), pause)

    def schedule(self, tenant):
        at = timedelta(seconds=20)
        return self.cloud.scheduler_for(tenant).schedule(
            Errand(), at=at, concurrency_key=KEY, concurrency_limit=9
        )

    def released(self, row, pause):
        """What is wrong with how an action ended that became due under the pause."""
        if pause.skips:
            if (row.status, row.skip_reason) != (Status.SKIPPED, SkipReason.PAUSED):
                yield f"{row.id} became due under a pause that skips, and is {row.status}"
            return
        if row.attempts and row.attempts[0].started_at < HOLDS_UNTIL(pause, work_of(row, "default")):
            yield f"{row.id} began before its instant of the spread"
        if row.attempts and "a drill" not in (row.held_by or ""):
            yield f"{row.id} has no pause in its history"
