"""The life of a job in a simulated cloud: it is planned and runs; operators deploy, pause and drop it."""

import zlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from random import Random

from duetime import App, DuetimeError, Run, every
from duetime.retry import RetryPolicy
from duetime.settings import Settings
from duetime.testing import Faults, SimulatedCloud
from tests.proof.world import rates_of

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
JOB = "count-orders"
CADENCES = [2, 3, 5]
"""Minutes between two runs."""

OVERLAPS = ["skip", "queue_one", "cancel_running", "allow"]
LASTS = [0, 0, 30, 150, 400]
"""Seconds that a run lasts: some until after the next ones are due."""

LIFE = 45 * MINUTE
ONCE = RetryPolicy(attempts=1)


def app_of(minutes, overlap):
    """An app with the job; without it if there are no minutes."""
    app = App()
    if minutes:

        @app.job(every(minutes=minutes), name=JOB, overlap=overlap, retry=ONCE, timeout=15 * MINUTE)
        def count_orders(run: Run) -> None:
            ends = run.now() + timedelta(seconds=LASTS[zlib.crc32(run.id.encode()) % len(LASTS)])
            while run.now() < ends:
                run.clock.wait_until(min(ends, run.now() + MINUTE))
                run.raise_if_cancelled()

    return app


class JobLife:
    """A job and its cloud, drawn from a seed."""

    def __init__(self, seed):
        self.length = 3 * LIFE
        self.seed, self.draw = seed, Random(f"job life {seed}")  # noqa: S311 - the same for the same seed
        self.overlap = self.draw.choice(OVERLAPS)
        skew = timedelta(seconds=self.draw.choice([0, 5]))
        self.settings = Settings(clock_skew=skew, cancel_poll=MINUTE)
        self.cloud = SimulatedCloud(
            app_of(None, self.overlap),
            start=NOON,
            settings=self.settings,
            faults=Faults(seed, skew=skew, **rates_of(self.draw)),
        )
        self.jobs = self.cloud.scheduler_for("acme", "an operator", meets_faults=True).jobs

    def live(self):
        end = self.cloud.now + LIFE
        self.cloud.deploy(app_of(self.draw.choice(CADENCES), self.overlap))
        while self.cloud.now < end:
            operation = self.draw.choice([self.deploy, self.pause, self.resume, None, None, None])
            if operation is not None:
                with suppress(DuetimeError):
                    operation()
            self.cloud.advance(seconds=self.draw.choice([20, 60, 200, 300]))

    def deploy(self):
        minutes = self.draw.choice([None, *CADENCES, *CADENCES])
        if self.draw.random() < 0.5:
            self.overlap = self.draw.choice(OVERLAPS)
        self.cloud.deploy(app_of(minutes, self.overlap))

    def pause(self):
        if not self.jobs.get(JOB).pauses:
            self.jobs.pause(JOB, reason="a drill", until=self.draw.choice([None, 4 * MINUTE]))

    def resume(self):
        self.jobs.resume(JOB)
