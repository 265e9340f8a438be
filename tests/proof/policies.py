"""The policies of a world, drawn from its seed: the settings, which deploys change in mid-run."""

from datetime import timedelta
from random import Random

from duetime.settings import Settings
from tests.proof.shop import CADENCES, OVERLAPS, app_of
from tests.proof.subscribers import NotificationLimits

MINUTE = timedelta(minutes=1)
DUE_SHARDS = [16, 16, 16, 18, 24]
WORKERS = [4, 12, 100_000]
"""How many workers there are: with few, messages wait."""
PLENTY = WORKERS[-1]


def has_events(seed):
    """Whether a world publishes events and notifies of them: a fifth of them do, for a tenth of the time."""
    return seed % 5 == 0


class Policies:
    """Draws apps and settings apart from the world's other decisions."""

    def __init__(self, seed, skew):
        self.draw = Random(f"policies {seed}")  # noqa: S311 - the same policies for the same seed
        self.limits = NotificationLimits(seed)
        self.skew, self.events = skew, "standard" if has_events(seed) else "off"

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
        )
        return self.limits.in_settings(settings)

    def app(self, draw):
        """An app with the jobs of a choice, half of the time with other overlap policies than usual."""
        choice = draw.randrange(len(CADENCES))
        overlaps = [overlap for overlap, _ in CADENCES[choice].values()]
        if self.draw.random() < 0.5:
            overlaps = [self.draw.choice(OVERLAPS) for _ in overlaps]
        return app_of(choice, tuple(overlaps), catch_up=draw.choice([0, 2]))

    def deploy(self, world):
        """Deploy an app; often with other settings or another number of workers.

        Callers are deployed with it, or later: until then they have the settings before.
        """
        settings = self.settings() if self.draw.random() < 0.5 else None
        world.cloud.memory.concurrency = self.draw.choice(WORKERS)
        world.cloud.deploy(self.app(world.draw), settings=settings)
        if self.draw.random() < 0.5:
            world.meet_callers()
