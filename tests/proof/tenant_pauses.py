"""Pauses of tenants in a world: drawn apart, so that other worlds stay as they are."""

from datetime import timedelta
from random import Random

from duetime import ids
from duetime.jobs.known_pauses import REREAD_AFTER, KnownPauses
from duetime.model.work_pause import PauseScope, WorkPause
from tests.proof.shop import Errand

EVERY, BLOCK = 3, 100
"""The second hundred of each three hundred seeds has pauses."""
LONGEST_READ = timedelta(seconds=60)


def has_pauses(seed):
    return seed // BLOCK % EVERY == 1


class TenantPauses:
    def __init__(self, seed, cloud, tenants):
        self.draw = Random(f"pauses {seed}")  # noqa: S311 - the same pauses for the same seed
        self.cloud, self.tenants, self.broken = cloud, tenants, []
        self.known = KnownPauses(cloud.memory.pauses, cloud.clock)

    def sometimes(self):
        """Pause a tenant, or resume one, between two operations of the world."""
        if self.draw.random() < 0.2:
            self.begin(self.draw.choice(self.tenants), until=self.draw.choice([None, timedelta(minutes=17)]))
        elif self.draw.random() < 0.2:
            self.end_all()

    def begin(self, tenant, until=None):
        now = self.cloud.now
        pause = WorkPause(
            id=ids.new_action_id(now),
            scope=PauseScope.TENANT,
            name=tenant,
            reason="a drill",
            by="an operator",
            since=now,
            until=None if until is None else now + until,
        )
        self.known.begin(pause)

    def end_all(self):
        for tenant in self.tenants:
            self.known.end_all(tenant, "an operator")

    def drill(self):
        """After the faults: while one tenant is paused, none of its runs begins, and the other's do."""
        self.end_all()
        tenant = self.draw.choice(self.tenants)
        self.begin(tenant)
        self.cloud.advance(REREAD_AFTER + LONGEST_READ)
        before = {row.ref: row.fence for row in self.cloud.actions()}
        self.cloud.scheduler_for(tenant).schedule(Errand(), at=timedelta(seconds=20))
        self.cloud.advance(minutes=3)
        self.broken = [
            f"{row.id} was claimed while its tenant was paused"
            for row in self.cloud.actions()
            if row.tenant_id == tenant and row.fence > before.get(row.ref, 0)
        ]
        self.end_all()
