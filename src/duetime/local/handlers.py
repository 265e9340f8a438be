"""The handlers of a deployment by the names of their functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from duetime.app import App
from duetime.declare.handler import LONGEST_RUN
from duetime.environment import instance_name
from duetime.lambdas import api, arm, dispatch, notify, passes, publish, undelivered, work
from duetime.lambdas.metrics_buffer import HandOver
from duetime.local.addresses import ResourceNames
from duetime.local.functions import LocalFunction
from duetime.settings import Settings

_SHORT, _PASS = timedelta(minutes=1), timedelta(minutes=5)
SALVAGE_TIMEOUT = NOTIFY_TIMEOUT = _SHORT


def functions_of(
    app: App, settings: Settings, names: ResourceNames, metrics: HandOver, *, console_url: str
) -> Mapping[str, LocalFunction]:
    """Return the functions by ARN, with handlers for these settings; `metrics` receives their measurements.

    Mails link to `console_url`, unless the settings have another.
    """
    instance = instance_name()
    worker = work.make_handler(settings, app.handler_set, instance=instance, metrics=metrics)
    sweep = passes.make_sweep_handler(settings, instance=instance, metrics=metrics)
    catch_up = passes.make_catch_up_handler(settings, instance=instance, metrics=metrics)
    functions = {
        "arm": LocalFunction(arm.make_handler(settings, metrics=metrics), _SHORT),
        "dispatch": LocalFunction(dispatch.make_handler(settings, metrics=metrics), _SHORT),
        "sweep": LocalFunction(sweep, _SHORT),
        "catch-up": LocalFunction(catch_up, _PASS),
        "publish": LocalFunction(publish.make_handler(settings), _SHORT),
        "salvage": LocalFunction(undelivered.make_handler(settings, metrics=metrics), SALVAGE_TIMEOUT),
        "api": LocalFunction(api.make_handler(settings, app), _SHORT),
    }
    if settings.events != "off":
        linked = replace(settings, console_url=settings.console_url or console_url)
        functions["notify"] = LocalFunction(notify.make_handler(linked), NOTIFY_TIMEOUT)
    by_arn = {names.function(name): function for name, function in functions.items()}
    return {**by_arn, names.work_function: LocalFunction(worker, LONGEST_RUN, runs_in_parallel=True)}
