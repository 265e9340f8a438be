"""A world: some hours of an app's life, with operators at work and faults all over, drawn from one seed."""

from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from random import Random

from duetime import DuetimeError
from duetime.errors import NotFound
from duetime.instant import LATEST
from duetime.jobs.desired_wakes import wakes_of
from duetime.jobs.occurrence_status import OccurrenceStatus
from duetime.model.action import Status
from duetime.model.expiry import NO_EXPIRY
from duetime.testing import Faults, InvariantBroken, SimulatedCloud
from tests.proof.debounce_calls import DebounceCalls, has_debounce
from tests.proof.hand_overs import HandOvers, has_hand_overs
from tests.proof.keys import Keys
from tests.proof.ledger import Ledger
from tests.proof.operations import OPERATIONS, WEIGHTS
from tests.proof.pauses import Pauses, has_pauses
from tests.proof.policies import PLENTY, Policies
from tests.proof.rates import LimitChanges
from tests.proof.subscribers import subscribe

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
TENANTS = ("acme", "bolt")

NEAR = 0.3
"""How often an operation comes near what is due next."""
EXPIRIES = [0.5, 5, 60, 400]
"""Seconds from an action's due time to its expiry."""
STEPS = [1, 20, 60, 300, 900]
"""Seconds between two operations."""


USUAL = {
    field.name: field.default
    for field in fields(Faults)
    if field.name not in {"seed", "skew", "drop_message", "lose_all"}
}
"""The default rate of each fault. SQS loses no message; a world loses them all at once, or none."""
LOSE_ALL = 0.3
"""In how many worlds all messages are lost at one instant, as by a purge of the queues or a restart."""


def prove(seed):
    """Live through a world, and check what must hold of it.

    Raises:
        InvariantBroken: with the story.
    """
    world = World(seed)
    try:
        world.live(hours=2)
        world.rest()
        world.check()
    finally:
        world.cloud.close()


class World:
    """The world of a seed; errands may expire by their type."""

    def __init__(self, seed, expiry=NO_EXPIRY):
        self.seed, self.draw = seed, Random(f"world {seed}")  # noqa: S311 - the same world for the same seed
        skew = timedelta(seconds=self.draw.choice([0, 5, 5, 60]))
        self.policies = Policies(seed, self.skew_allowed(skew), expiry)
        settings = self.policies.settings()
        self.ledger = Ledger()
        app = self.policies.app(self.draw)
        self.faults = Faults(seed, skew=skew, lose_all=LOSE_ALL, **rates_of(self.draw))
        self.cloud = SimulatedCloud(
            app, start=NOON, settings=settings, faults=self.faults, on_commit=self.ledger
        )
        self.cloud.memory.concurrency = self.policies.few_workers()
        if settings.events != "off":
            subscribe(self.cloud.memory.follow_events())
        self.meet_callers()
        self.pauses = Pauses(seed, self.cloud, TENANTS) if has_pauses(seed) else None
        self.debounce = DebounceCalls(seed, self) if has_debounce(seed) else None
        self.hand_overs = HandOvers(seed, self) if has_hand_overs(seed) else None
        self.limits = LimitChanges(seed, self.cloud)
        self.expiries = Random(f"expiries {seed}")  # noqa: S311 - the same for the same seed
        self.made = {tenant: [] for tenant in TENANTS}
        self.keys = {tenant: Keys(tenant, settings.idempotency_ttl) for tenant in TENANTS}

    def skew_allowed(self, skew):
        """How far the scheduler believes that clocks differ, who differ by that `skew`."""
        return skew

    def meet_callers(self):
        """The callers are deployed: they have the present settings."""
        self.schedulers = {
            tenant: self.cloud.scheduler_for(tenant, f"clerk-{tenant}", meets_faults=True)
            for tenant in TENANTS
        }

    def live(self, hours):
        """Random operations, minutes apart."""
        end = self.cloud.now + timedelta(hours=hours)
        while self.cloud.now < end:
            if self.draw.random() < NEAR:
                self.near_something()
            tenant = self.draw.choice(TENANTS)
            operation = self.draw.choices(OPERATIONS, WEIGHTS)[0]
            with suppress(DuetimeError):
                operation(self, tenant, self.schedulers[tenant])
            if self.pauses:
                self.pauses.sometimes()
            if self.debounce:
                self.debounce.sometimes()
            if self.hand_overs:
                self.hand_overs.sometimes()
            self.limits.sometimes()
            self.cloud.advance(seconds=self.draw.choice(STEPS))

    def expiry(self):
        """When an action expires, if it does: drawn apart from the operations."""
        return timedelta(seconds=self.expiries.choice(EXPIRIES)) if self.expiries.random() < 0.3 else None

    def near_something(self):
        """Up to some seconds before or after what is due next: then most can go wrong."""
        coming = [row.due_at for row in self.cloud.actions(Status.PENDING) if row.due_at > self.cloud.now]
        if coming:
            until = min(coming) - self.cloud.now + timedelta(seconds=self.draw.choice([-4, -1, 0, 0.5, 2]))
            self.cloud.advance(max(until, timedelta(0)))

    def rest(self):
        """The faults are over; the sweep, and one catch-up, see to what they have left."""
        self.cloud.end_faults()
        self.cloud.memory.concurrency = PLENTY
        self.cloud.advance(minutes=12)  # longer than a process pauses and a request takes
        if self.pauses:
            self.pauses.drill()
        self.cloud.jobs.trigger("duetime-catch-up")
        self.cloud.advance(minutes=50)

    def check(self):
        """The invariants, those that a cloud can check itself, and those that take a caller."""
        self.cloud.check()
        broken = [*self.strangers(), *self.gone(), *self.resolved(), *self.missed(), *self.strays()]
        broken += [*self.ledger.broken(self.cloud.actions()), *self.twice()]
        broken += self.pauses.broken if self.pauses else []
        broken += [*self.hand_overs.broken, *self.hand_overs.check()] if self.hand_overs else []
        broken += [*self.debounce.broken, *self.debounce.check()] if self.debounce else []
        if broken:
            raise InvariantBroken(broken, seed=self.seed, story=self.cloud.story())

    def strangers(self):
        """7: no tenant sees, or finds, what is another's."""
        for tenant in TENANTS:
            sees = self.cloud.scheduler_for(tenant)
            yield from (f"{tenant} sees {row.id}" for row in pages(sees.list) if row.tenant_id != tenant)
            yield from (
                f"{tenant} sees the job of {job.ref.tenant_id}"
                for job in sees.jobs.list(limit=200)
                if job.ref.tenant_id not in {tenant, "system"}
            )
            for other in (item for name in TENANTS if name != tenant for item in self.made[name]):
                with suppress(NotFound):
                    yield f"{tenant} finds {sees.get(other).id} of another"

    def missed(self):
        """2: once the faults have been over for a while, no time of a job is missed any more."""
        for name in {
            job.name for tenant in TENANTS for job in self.cloud.scheduler_for(tenant).jobs.list(limit=200)
        }:
            for tenant in TENANTS:
                with suppress(DuetimeError):
                    jobs = self.cloud.scheduler_for(tenant).jobs
                    for item in jobs.explain(name, self.cloud.now - 30 * MINUTE, self.cloud.now):
                        if item.account is OccurrenceStatus.MISSED:
                            yield f"{name} at {item.at} is missed: {item.note}"

    def strays(self):
        """EventBridge has what the jobs' rows say, and nothing else."""
        cloud = self.cloud.memory
        refs, _ = cloud.job_store.due_for_maintenance(LATEST, limit=100_000, cursor=None)
        jobs = [cloud.job_store.get(ref) for ref in refs]
        expected = {(w.kind, w.name) for job in jobs for w in wakes_of(job, self.cloud.now, cloud.settings)}
        return [f"{item} strays" for item in expected ^ set(cloud.job_wakes.known())]

    def gone(self):
        """2: what was scheduled is there."""
        there = {row.id for row in self.cloud.actions()}
        return [f"{item} is gone" for made in self.made.values() for item in made if item not in there]

    def twice(self):
        """A repeat under an idempotency key that holds makes no second action."""
        for keys in self.keys.values():
            yield from keys.broken(self.cloud.actions())

    def resolved(self):
        """8 and 6.

        An action without a handler, or one that crashes its worker, never succeeds, and delays no other.
        """
        for row in self.cloud.actions(Status.EXECUTED):
            if row.type in {"nobody", "poison"}:
                yield f"{row.id} of {row.type} is {row.status}"


def rates_of(draw):
    """A swarm's rates: of each world, some faults are off, others usual, and a few are frequent."""
    return {name: draw.choice([0.0, 0.0, usual, usual, 3 * usual]) for name, usual in USUAL.items()}


def first_broken(seeds):
    """The first of some worlds in which an invariant does not hold, and what that says.

    None if it holds in all.
    """
    for seed in seeds:
        try:
            prove(seed)
        except InvariantBroken as broken:
            return seed, broken
    return None


def pages(listed):
    cursor = None
    while True:
        page = listed(limit=200, cursor=cursor)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return
