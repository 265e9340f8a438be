"""Cadences: when is it due next?

A cadence is a rule in local time; what it gives are instants in UTC. Pure functions of their arguments: no input or
output, and no clock is read. In the order of the story: a text is read (``text``, ``expression``, ``fields``), put together as days
and times of a wall clock (``days``, ``times``, ``wall``, narrowed by a ``scope``), walked through a zone's changes (``zones``,
``walk``), told in words (``cron_words``, ``explain``, ``surprise``, ``preview``), and given a heartbeat on EventBridge (``wakes``, ``eventbridge``).

Names are imported when they are first asked for: a Lambda that plans cron jobs loads no other kind.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duetime.cadence._daily import daily
    from duetime.cadence._every import every
    from duetime.cadence._interval import Interval, interval
    from duetime.cadence._once import once
    from duetime.cadence._weekly import weekly
    from duetime.cadence.cadence import Cadence
    from duetime.cadence.calendars import Calendar
    from duetime.cadence.croniter_check import not_comparable, second_opinion
    from duetime.cadence.crontab import Cron, cron
    from duetime.cadence.errors import (
        AmbiguousDays,
        InvalidCadence,
        InvalidCron,
        InvalidExpression,
        NaiveInstant,
        NeverFires,
        UnknownZone,
    )
    from duetime.cadence.explain import Explained, explained
    from duetime.cadence.months import monthly, nth_weekday
    from duetime.cadence.preview import Preview
    from duetime.cadence.text import parse
    from duetime.cadence.triggers import manual, on_event
    from duetime.cadence.wakes import WakeExpression, planned_until
    from duetime.cadence.warnings import changed_ahead, surprises

__all__ = [
    "AmbiguousDays",
    "Cadence",
    "Calendar",
    "Cron",
    "Explained",
    "Interval",
    "InvalidCadence",
    "InvalidCron",
    "InvalidExpression",
    "NaiveInstant",
    "NeverFires",
    "Preview",
    "UnknownZone",
    "WakeExpression",
    "changed_ahead",
    "cron",
    "daily",
    "every",
    "explained",
    "interval",
    "manual",
    "monthly",
    "not_comparable",
    "nth_weekday",
    "on_event",
    "once",
    "parse",
    "planned_until",
    "second_opinion",
    "surprises",
    "weekly",
]

_HOMES = {
    "_daily": ("daily",),
    "cadence": ("Cadence",),
    "calendars": ("Calendar",),
    "crontab": ("Cron", "cron"),
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
    "explain": ("Explained", "explained"),
    "months": ("monthly", "nth_weekday"),
    "croniter_check": ("not_comparable", "second_opinion"),
    "preview": ("Preview",),
    "_once": ("once",),
    "_every": ("every",),
    "warnings": ("changed_ahead", "surprises"),
    "text": ("parse",),
    "triggers": ("manual", "on_event"),
    "wakes": ("WakeExpression", "planned_until"),
    "_weekly": ("weekly",),
}
"""Where each name lives. No module is named like a name that lives in another: importing it would hide the name."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            value: object = getattr(import_module(f"duetime.cadence.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
