"""duetime: run code when it is due, on serverless AWS.

The public names are loaded when they are first used, so that a Lambda that only schedules pays for no more
than that.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.actions.order import Order
    from duetime.app import App
    from duetime.async_scheduler import AsyncScheduler
    from duetime.cadence import (
        Calendar,
        business_day,
        cron,
        daily,
        every,
        interval,
        manual,
        monthly,
        nth_weekday,
        on_event,
        once,
        weekly,
        yearly,
    )
    from duetime.declare.batch import Batch
    from duetime.declare.holiday_dates import holiday_calendar
    from duetime.declare.rate import Rate
    from duetime.errors import DuetimeError
    from duetime.jobs.register import Registration
    from duetime.model.action import Action, Status
    from duetime.model.breaker import Breaker
    from duetime.model.run import Run
    from duetime.payload import Payload
    from duetime.retry import Continue, Fatal, Retry, RetryPolicy, exponential
    from duetime.scheduler import Scheduler

_HOMES = {
    "Action": "model.action",
    "App": "app",
    "AsyncScheduler": "async_scheduler",
    "Batch": "declare.batch",
    "Breaker": "model.breaker",
    "Continue": "retry",
    "DuetimeError": "errors",
    "Fatal": "retry",
    "Order": "actions.order",
    "Payload": "payload",
    "Rate": "declare.rate",
    "Registration": "jobs.register",
    "Retry": "retry",
    "RetryPolicy": "retry",
    "Run": "model.run",
    "Scheduler": "scheduler",
    "Status": "model.action",
    "exponential": "retry",
    "holiday_calendar": "declare.holiday_dates",
} | dict.fromkeys(
    (
        "Calendar",
        "business_day",
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
        "yearly",
    ),
    "cadence",
)

__all__ = [
    "Action",
    "App",
    "AsyncScheduler",
    "Batch",
    "Breaker",
    "Calendar",
    "Continue",
    "DuetimeError",
    "Fatal",
    "Order",
    "Payload",
    "Rate",
    "Registration",
    "Retry",
    "RetryPolicy",
    "Run",
    "Scheduler",
    "Status",
    "business_day",
    "cron",
    "daily",
    "every",
    "exponential",
    "holiday_calendar",
    "interval",
    "manual",
    "monthly",
    "nth_weekday",
    "on_event",
    "once",
    "weekly",
    "yearly",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
