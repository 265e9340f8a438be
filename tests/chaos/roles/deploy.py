"""A deploy: it rolls out the app and the system's jobs, and ends."""

from duetime.lambdas.deploy import Rollout
from duetime.settings import Settings
from duetime.wakeups import system_jobs
from tests.chaos.process import Words
from tests.chaos.roles.service import CLOCK
from tests.chaos.shop import app


def serve(settings: Settings, _words: Words) -> None:
    rollout = Rollout(settings, CLOCK)
    rollout.publish(system_jobs.manifest(settings))
    rollout.publish(app.manifest)
