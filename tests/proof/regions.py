"""A world of two regions: an hour of an app, with a failover in the middle of it, drawn from one seed."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

from duetime.model.action import Status
from duetime.settings import Settings
from duetime.testing import Faults, InvariantBroken
from duetime.testing.invariants import broken_in
from duetime.testing.journey import short
from duetime_faults.two_regions import FIRST, SECOND, TwoRegions
from tests.proof.shop import CADENCES, Errand, app_of
from tests.proof.world import LOSE_ALL, USUAL

NOON = datetime(2026, 3, 27, 12, tzinfo=UTC)
FATES = ["planned", "split", "destroyed"]
RATES = {name: usual for name, usual in USUAL.items() if name not in {"late", "pause"}}
"""A request that arrives, and a process that goes on, later than a lease may write over the new region."""


def app_drawn(draw):
    """An app with one of the choices of jobs."""
    choice = draw.randrange(len(CADENCES))
    overlaps = tuple(overlap for overlap, _ in CADENCES[choice].values())
    return app_of(choice, overlaps, draw.choice([0, 2]))


class RegionsWorld:
    """`fate` is what happens to the first region before the failover."""

    def __init__(self, seed):
        self.seed, draw = seed, Random(f"regions {seed}")  # noqa: S311 - the same world for the same seed
        self.draw, self.fate = draw, FATES[seed % len(FATES)]
        rates = {name: draw.choice([0.0, usual]) for name, usual in RATES.items()}
        self.commits = Counter()
        self.regions = TwoRegions(
            app_drawn(draw),
            faults=Faults(
                seed,
                late=0.0,
                pause=0.0,
                lose_all=LOSE_ALL,
                skew=timedelta(seconds=draw.choice([0, 4])),
                **rates,
            ),
            lag=timedelta(seconds=draw.choice([0, 5, 60])),
            settings=Settings(
                timers=draw.choice(["eventbridge", "wheel"]), cancel_poll=timedelta(seconds=60), events="off"
            ),
            start=NOON,
            on_commit=self.commit,
        )
        self.scheduled, self.lost, self.unreplicated = {}, (), set()

    def commit(self, region, entries):
        for entry in entries:
            if "ConditionCheck" not in entry:
                self.commits[(region, *entry["Put"]["Item"]["action"])] += 1

    def live(self, region, minutes):
        """Callers schedule in a region, some seconds apart."""
        regions, end = self.regions, self.regions.now + timedelta(minutes=minutes)
        scheduler = regions.scheduler(region)
        while regions.now < end:
            self.schedule(scheduler)
            regions.advance(seconds=self.draw.choice([0, 1, 20, 120]))

    def schedule(self, scheduler):
        ends, key = self.draw.choice([("well",), ("committed",)]), self.draw.choice([None, "account-7"])
        lasts = self.draw.choice([0, 5, 5 if key else 400])
        after = timedelta(seconds=self.draw.choice([0, 30, 600, 1500]))
        errand = Errand(lasts=lasts, ends=self.draw.choice([ends, ("badly", *ends)]))
        action = scheduler.schedule(errand, at=after, concurrency_key=key)
        self.scheduled[action.id] = self.regions.now

    def pass_by(self):
        self.live(FIRST, minutes=20)
        self.meet_fate()
        self.moved_at = self.regions.now
        self.reconciled = self.regions.fail_over()
        self.live(SECOND, minutes=10)
        if self.fate == "split":
            self.regions.heal()
        self.regions.end_faults()
        self.regions.advance(minutes=12)
        self.regions.scheduler(SECOND).jobs.trigger("duetime-catch-up")
        self.regions.advance(minutes=80)

    def meet_fate(self):
        if self.fate == "split":
            self.regions.split()
            self.live(FIRST, minutes=self.draw.choice([0, 2, 7]))
        if self.fate == "destroyed":
            for _ in range(6):
                self.schedule(self.regions.scheduler(FIRST))
                self.regions.advance(seconds=self.draw.choice([0, 4]))
            self.lost_at, self.unreplicated = self.regions.now, {row.id for row in self.regions.destroy()}

    def check(self):
        """What must hold of a world; what is lost must be within the lag, and counted."""
        second = self.regions.clouds[SECOND]
        broken = [*self.regions.broken, *second.broken(), *broken_in(second)]
        broken += [*self.lost_ones(), *self.unsettled(), *self.committed_twice()]
        if broken:
            raise InvariantBroken(broken, seed=self.seed, story=self.regions.story())

    def lost_ones(self):
        there = {row.id for row in self.regions.clouds[SECOND].store.rows()}
        self.lost = [action for action in self.scheduled if action not in there]
        for action in self.lost:
            if self.fate != "destroyed":
                yield f"{short(action)} is lost, though its region was only cut off"
            elif self.scheduled[action] < self.lost_at - self.regions.lag:
                yield f"{short(action)} is lost, though it was scheduled before the lag"
            if action not in self.unreplicated:
                yield f"{short(action)} is lost, and was not counted"

    def unsettled(self):
        for row in self.regions.clouds[SECOND].store.rows():
            if row.id in self.scheduled and row.status is not Status.EXECUTED:
                yield f"{short(row.id)} is {row.status.value} at the end"

    def committed_twice(self):
        for (region, _tenant, action), times in self.commits.items():
            if times > 1 and action in self.scheduled:
                yield f"{short(action)} has committed {times} times in {region}"


def first_broken(seeds):
    """The first of some worlds in which something does not hold, and what; None if all holds."""
    for seed in seeds:
        try:
            prove_regions(seed)
        except InvariantBroken as broken:
            return seed, broken
    return None


def prove_regions(seed):
    """Live through a world of two regions, and check what must hold of it; return the world.

    Raises:
        InvariantBroken: with the story.
    """
    world = RegionsWorld(seed)
    try:
        world.pass_by()
        world.check()
    finally:
        world.regions.close()
    return world
