"""The catch-up, and its schedule, which is more frequent than that of a deployment."""

from duetime.lambdas import passes
from duetime.settings import Settings
from tests.chaos.process import Words
from tests.chaos.roles.service import invoke_each, no_metrics

SECONDS = 12


def serve(settings: Settings, words: Words) -> None:
    invoke_each(SECONDS, passes.make_catch_up_handler(settings, instance=words.name, metrics=no_metrics))
