"""duetime: run code when it is due, on serverless AWS.

The public names are loaded when they are first used, so that a Lambda that only schedules pays for no more
than that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.actions.order import Order as Order
    from duetime.app import App as App
    from duetime.cadence import Calendar as Calendar
    from duetime.cadence import cron as cron
    from duetime.cadence import daily as daily
    from duetime.cadence import every as every
    from duetime.cadence import interval as interval
    from duetime.cadence import manual as manual
    from duetime.cadence import monthly as monthly
    from duetime.cadence import nth_weekday as nth_weekday
    from duetime.cadence import on_event as on_event
    from duetime.cadence import once as once
    from duetime.cadence import weekly as weekly
    from duetime.errors import DuetimeError as DuetimeError
    from duetime.jobs.register import Registration as Registration
    from duetime.model.action import Action as Action
    from duetime.model.action import Status as Status
    from duetime.model.run import Run as Run
    from duetime.payload import Payload as Payload
    from duetime.retry import Fatal as Fatal
    from duetime.retry import Retry as Retry
    from duetime.retry import RetryPolicy as RetryPolicy
    from duetime.retry import exponential as exponential
    from duetime.scheduler import Scheduler as Scheduler

_HOMES = {
    "Action": "model.action",
    "App": "app",
    "DuetimeError": "errors",
    "Fatal": "retry",
    "Order": "actions.order",
    "Payload": "payload",
    "Registration": "jobs.register",
    "Retry": "retry",
    "RetryPolicy": "retry",
    "Run": "model.run",
    "Scheduler": "scheduler",
    "Status": "model.action",
    "exponential": "retry",
} | dict.fromkeys(
    (
        "Calendar",
        "cron",
        "daily",
        "every",
        "interval",
        "manual",
        "monthly",
        "nth_weekday",
        "on_event",
        "once",
        "weekly",
    ),
    "cadence",
)

__all__ = [*_HOMES]  # noqa: PLE0604 - the names are texts


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
