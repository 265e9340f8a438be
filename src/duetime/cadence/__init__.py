"""Cadences: rules in local time that compute when something is due next, as instants in UTC.

All functions are pure: they do no input or output and read no clock. The steps, each with its modules:

1. Read a text (``text``, ``expression``, ``fields``; ``dialects`` for other schedulers' spellings).
2. Build the days and times of a wall clock (``days``, ``times``, ``wall_schedule``), narrowed by
   ``modifiers``.
3. Walk through a zone's clock changes (``zones``, ``walk``).
4. Describe the cadence (``cron_words``, ``explain``, ``warnings``, ``preview``).
5. Compile EventBridge expressions that wake a planner (``wakes``, ``eventbridge``).

Names are imported on first use: a Lambda that plans cron jobs imports no other kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.cadence._cron import cron
    from duetime.cadence._daily import daily
    from duetime.cadence._every import every
    from duetime.cadence._interval import Interval, interval
    from duetime.cadence._once import once
    from duetime.cadence._parse import parse
    from duetime.cadence._weekly import weekly
    from duetime.cadence._yearly import yearly
    from duetime.cadence.business_days import business_day
    from duetime.cadence.cadence import Cadence
    from duetime.cadence.calendars import Calendar
    from duetime.cadence.croniter_check import compare_with_croniter, incomparable_reason
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
    from duetime.cadence.months import monthly, nth_weekday
    from duetime.cadence.preview import Preview
    from duetime.cadence.rrule_export import to_rrule
    from duetime.cadence.rrule_text import from_rrule
    from duetime.cadence.systemd_text import from_systemd, to_systemd
    from duetime.cadence.triggers import manual, on_event
    from duetime.cadence.wakes import planned_until
    from duetime.cadence.warnings import cadence_warnings, upcoming_clock_changes

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
    "_daily": ("daily",),
    "cadence": ("Cadence",),
    "calendars": ("Calendar",),
    "crontab": ("Cron",),
    "_cron": ("cron",),
    "_interval": ("Interval", "interval"),
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
    "months": ("monthly", "nth_weekday"),
    "croniter_check": ("incomparable_reason", "compare_with_croniter"),
    "preview": ("Preview",),
    "_once": ("once",),
    "_every": ("every",),
    "warnings": ("upcoming_clock_changes", "cadence_warnings"),
    "_parse": ("parse",),
    "rrule_export": ("to_rrule",),
    "rrule_text": ("from_rrule",),
    "systemd_text": ("from_systemd", "to_systemd"),
    "triggers": ("manual", "on_event"),
    "wakes": ("planned_until",),
    "eventbridge": ("WakeExpression",),
    "_weekly": ("weekly",),
    "_yearly": ("yearly",),
    "business_days": ("business_day",),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(f"duetime.cadence.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
