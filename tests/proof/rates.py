"""Rate limits in a world: drawn apart, so that other worlds stay as they are."""

from datetime import timedelta
from functools import cache
from random import Random

from duetime import Rate
from duetime.model.rate_limit import RateLimit
from duetime.ports.rate_limits import SetLimit

EVERY, BLOCK = 3, 100
FIRST = 2 * BLOCK
"""The third hundred of each three hundred seeds has rates."""
PERIODS, BURSTS, COUNTS = [5, 20, 60], [1, 1, 2, 5], [1, 1, 3]
SCOPES = [{}, {"per_tenant": True}, {"key": lambda errand: f"lasts {errand.lasts:g}"}]


def has_rates(seed):
    return seed // BLOCK % EVERY == 2


@cache
def rate_of(seed):
    """The rate of errands in a world; its deploys do not change it."""
    if not has_rates(seed):
        return None
    draw = Random(f"rates {seed}")  # noqa: S311 - the same rate for the same seed
    return Rate(*a_limit(draw), burst=draw.choice(BURSTS), **draw.choice(SCOPES))


def a_limit(draw):
    return draw.choice(COUNTS), timedelta(seconds=draw.choice(PERIODS))


class LimitChanges:
    """Operators who change the limit in half of the worlds with rates."""

    def __init__(self, seed, cloud):
        self.draw = Random(f"limits {seed}")  # noqa: S311 - the same changes for the same seed
        self.limits = cloud.memory.limits
        self.cloud, self.changes = cloud, has_rates(seed) and self.draw.random() < 0.5

    def sometimes(self):
        if not self.changes or self.draw.random() > 0.1:
            return
        if self.draw.random() < 0.3:
            self.limits.reset("errand")
        else:
            limit = RateLimit.parse(*a_limit(self.draw), self.draw.choice(BURSTS))
            self.limits.set(SetLimit(name="errand", limit=limit, by="an operator", at=self.cloud.now))
