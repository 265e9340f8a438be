"""Cadences: rules in local time that compute when something is due next, as instants in UTC.

All functions are pure: they do no input or output and read no clock. The steps, each with its modules:

1. Read a text (``text``, ``expression``; ``dialects`` for other schedulers' spellings).
2. Build the days and times of a wall clock (``days``, ``walk``, ``wall_cadence``), narrowed by ``modifiers``.
3. Walk through a zone's clock changes (``zones``, ``walk``).
4. Describe the cadence (``cron_words``, ``explain``, ``preview``).
5. Compile EventBridge expressions that wake a planner (``wakes``, ``eventbridge``).

Names are imported on first use: a Lambda that plans cron jobs imports no other kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.cadence._daily import daily, once
    from duetime.cadence._parse import cron, parse
    from duetime.cadence._spaced import Interval, every, interval
    from duetime.cadence.cadence import Cadence
    from duetime.cadence.calendars import Calendar
    from duetime.cadence.crontab import Cron
    from duetime.cadence.errors import (
        AmbiguousDays,
        InvalidCadence,
        InvalidCron,
        InvalidExpression,
        NaiveInstant,
        NeverFires,
        UnknownZone,
    )
    from duetime.cadence.eventbridge import WakeExpression
    from duetime.cadence.explain import LocalOccurrence, local_occurrences
    from duetime.cadence.exports import to_rrule, to_systemd
    from duetime.cadence.preview import (
        Preview,
        cadence_warnings,
        compare_with_croniter,
        incomparable_reason,
        upcoming_clock_changes,
    )
    from duetime.cadence.rrule_text import from_rrule
    from duetime.cadence.systemd_text import from_systemd
    from duetime.cadence.triggers import manual, on_event
    from duetime.cadence.wakes import planned_until
    from duetime.cadence.weeks_and_months import business_day, monthly, nth_weekday, weekly, yearly

__all__ = [
    "AmbiguousDays",
    "Cadence",
    "Calendar",
    "Cron",
    "Interval",
    "InvalidCadence",
    "InvalidCron",
    "InvalidExpression",
    "LocalOccurrence",
    "NaiveInstant",
    "NeverFires",
    "Preview",
    "UnknownZone",
    "WakeExpression",
    "business_day",
    "cadence_warnings",
    "compare_with_croniter",
    "cron",
    "daily",
    "every",
    "from_rrule",
    "from_systemd",
    "incomparable_reason",
    "interval",
    "local_occurrences",
    "manual",
    "monthly",
    "nth_weekday",
    "on_event",
    "once",
    "parse",
    "planned_until",
    "to_rrule",
    "to_systemd",
    "upcoming_clock_changes",
    "weekly",
    "yearly",
]

# The module of each name. A module with the name of an object would hide that object.
_MODULES = {
    "_daily": ("daily", "once"),
    "cadence": ("Cadence",),
    "calendars": ("Calendar",),
    "crontab": ("Cron",),
    "_spaced": ("Interval", "every", "interval"),
    "errors": (
        "AmbiguousDays",
        "InvalidCadence",
        "InvalidCron",
        "InvalidExpression",
        "NaiveInstant",
        "NeverFires",
        "UnknownZone",
    ),
    "explain": ("LocalOccurrence", "local_occurrences"),
    "weeks_and_months": ("weekly", "monthly", "nth_weekday", "business_day", "yearly"),
    "preview": (
        "Preview",
        "cadence_warnings",
        "compare_with_croniter",
        "incomparable_reason",
        "upcoming_clock_changes",
    ),
    "_parse": ("cron", "parse"),
    "exports": ("to_rrule", "to_systemd"),
    "rrule_text": ("from_rrule",),
    "systemd_text": ("from_systemd",),
    "triggers": ("manual", "on_event"),
    "wakes": ("planned_until",),
    "eventbridge": ("WakeExpression",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(f"duetime.cadence.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
