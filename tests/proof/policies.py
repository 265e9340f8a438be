"""The policies of a world, drawn from its seed: the settings, which deploys change in mid-run."""

from datetime import timedelta
from random import Random

from duetime.settings import Settings
from tests.proof.rates import rate_of
from tests.proof.shop import CADENCES, OVERLAPS, app_of
from tests.proof.subscribers import NotificationLimits

MINUTE = timedelta(minutes=1)
DUE_SHARDS = [16, 16, 16, 18, 24]
WORKERS = [4, 12, 100_000]
"""How many workers there are: with few, messages wait."""
PLENTY = WORKERS[-1]
BATCHES = [1, 1, 1, 2, 4, 10]
"""The most messages of a call: half of the worlds have batches, and half of those a handler of many."""
FEW = [1, 2, 4, PLENTY]
"""How many workers those worlds have: with few, batches fill."""


def has_events(seed):
    """Whether a world publishes events and notifies of them: a fifth of them do, for a tenth of the time."""
    return seed % 5 == 0


def has_priority(seed):
    """Whether some of a world's actions are high: in a seventh of the worlds, as deploys permit."""
    return seed % 7 == 2


class Policies:
    """Draws apps and settings apart from the world's other decisions."""

    def __init__(self, seed, skew, expiry):
        self.expiry = expiry
        self.draw = Random(f"policies {seed}")  # noqa: S311 - the same policies for the same seed
        self.limits, self.rate = NotificationLimits(seed), rate_of(seed)
        self.batches = Random(f"batches {seed}")  # noqa: S311 - as above, whatever else a world draws
        self.batch = self.batches.choice(BATCHES)
        self.high = Random(f"priority {seed}") if has_priority(seed) else None  # noqa: S311 - as above
        self.skew, self.events = skew, "standard" if has_events(seed) else "off"

    def few_workers(self):
        return PLENTY if self.batch == 1 else self.batches.choice(FEW)

    def priority(self):
        """The priority of an action; callers whose deployment does not enable a high one are rejected."""
        return "normal" if self.high is None else self.high.choice(["normal", "high"])

    def settings(self):
        draw = self.draw
        settings = Settings(
            clock_skew=self.skew,
            timers=draw.choice(["eventbridge", "wheel"]),
            due_shards=draw.choice(DUE_SHARDS),
            retention=timedelta(days=draw.choice([1, 30])),
            catch_up_rate=timedelta(minutes=draw.choice([30, 90, 360])),
            cancel_poll=timedelta(seconds=60),
            near_limit=timedelta(minutes=draw.choice([4, 15])),
            events=self.events,
            worker_batch=self.batch,
            high_priority=self.high is not None and self.high.random() < 0.7,
        )
        return self.limits.in_settings(settings)

    def app(self, draw):
        """An app with the jobs of a choice, half of the time with other overlap policies than usual."""
        choice = draw.randrange(len(CADENCES))
        overlaps = [overlap for overlap, _ in CADENCES[choice].values()]
        if self.draw.random() < 0.5:
            overlaps = [self.draw.choice(OVERLAPS) for _ in overlaps]
        many = self.batch > 1 and self.batches.random() < 0.7
        return app_of(
            choice,
            tuple(overlaps),
            catch_up=draw.choice([0, 2]),
            many=many,
            rate=self.rate,
            expiry=self.expiry,
        )

    def deploy(self, world):
        """Deploy an app; often with other settings or another number of workers.

        Callers are deployed with it, or later: until then they have the settings before.
        """
        settings = self.settings() if self.draw.random() < 0.5 else None
        workers = self.draw.choice(WORKERS)
        world.cloud.memory.concurrency = self.few_workers() if self.batch > 1 else workers
        world.cloud.deploy(self.app(world.draw), settings=settings)
        if self.draw.random() < 0.5:
            world.meet_callers()
