"""Checks of a deployment's settings: types, allowed values, and contradictions between settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING

from duetime._setting_fields import QUOTAS, default_of, quota_words, shown
from duetime.errors import InvalidArgument
from duetime.ids import EVENT_SOURCE
from duetime.instant import zone

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from duetime.settings import Settings


MOST_PATTERNS = 10
_LONGEST, _LEAST, _MOST_CHOICES = 256, 3, 100
_ATOM = re.compile(
    r"(?:\\[dDwWsSbB.\-/\\^$|?*+()\[\]{}]|\[\^?(?:\\.|[^\]\\\[])+\]|[^\\\[\](){}*+?|^$])"
    r"(?:\{(?P<low>\d{1,3})(?:,(?P<high>\d{1,3}))?\}|(?P<option>\?))?"
)


def problems_of(patterns: Mapping[str, str]) -> Iterator[str]:
    """Yield the problem of each pattern that is invalid, or could be slow or hide every text."""
    if len(patterns) > MOST_PATTERNS:
        yield f"secret_patterns has {len(patterns)} patterns; at most {MOST_PATTERNS} are allowed"
    for name, pattern in patterns.items():
        if problem := _problem(pattern):
            yield f"secret_patterns[{name!r}] is {pattern!r}: {problem}"


def _problem(pattern: object) -> str:
    if not isinstance(pattern, str) or len(pattern) > _LONGEST:
        return f"use text of at most {_LONGEST} characters"
    repeats = _repeats(pattern.removeprefix("(?i)"))
    if repeats is None:
        return "use characters, classes and bounded repeats alone, as in CUST-[0-9]{8} or key_[a-z]{8,40}"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"it is no regular expression: {error}"
    return _slow(repeats)


def _repeats(text: str) -> list[tuple[int, int]] | None:
    """Return the bounds of each atom's repeat; None if the text has other parts."""
    at, found = 0, list[tuple[int, int]]()
    while at < len(text):
        atom = _ATOM.match(text, at)
        if atom is None:
            return None
        low = int(atom["low"] or (0 if atom["option"] else 1))
        found.append((low, int(atom["high"] or (1 if atom["option"] else low))))
        at = atom.end()
    return found


def _slow(repeats: list[tuple[int, int]]) -> str:
    choices = 1
    for low, high in repeats:
        choices *= max(high - low + 1, 1)
    if sum(low for low, _ in repeats) < _LEAST:
        return f"it must match at least {_LEAST} characters"
    if choices > _MOST_CHOICES or sum(high for _, high in repeats) > _LONGEST:
        return (
            f"its repeats have {choices:,} combinations; at most {_MOST_CHOICES} are allowed,"
            f" and {_LONGEST} characters in all: give narrower bounds"
        )
    return ""


_MINUTE = timedelta(minutes=1)
_LEAST_WITH_WHEEL = timedelta(minutes=3)
_KINDS = {timedelta: "a timedelta", int: "a whole number", bool: "True or False", str: "text"}


def wrong_kinds(settings: DataclassInstance) -> Iterator[str]:
    """Yield the problem of each value of a wrong type."""
    for setting in fields(settings):
        value, kind = getattr(settings, setting.name), type(default_of(setting))
        is_other = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
        if is_other and kind in _KINDS:
            yield f"{setting.name} is {value!r}; use {_KINDS[kind]}"


def out_of_range(settings: DataclassInstance) -> Iterator[str]:
    """Yield the problem of each value that AWS or the protocol does not allow."""
    for setting in fields(settings):
        value, allowed = getattr(settings, setting.name), setting.metadata
        if "low" in allowed and not allowed["low"] <= value <= allowed["high"]:
            limits = f"{shown(allowed['low'])} to {shown(allowed['high'])}"
            yield f"{setting.name} is {shown(value)}; allowed is {limits}"
        if "choices" in allowed and value not in allowed["choices"]:
            yield f"{setting.name} is {value!r}; allowed is " + ", ".join(map(repr, allowed["choices"]))
        if "like" in allowed and not re.fullmatch(allowed["like"], value):
            yield f"{setting.name} is {value!r}; allowed are {allowed['allowed']}"


def unsafe_patterns(settings: Settings) -> Iterator[str]:
    """Yield the problem of each pattern of secrets that is invalid or could be slow."""
    if settings.secret_patterns:
        yield from problems_of(settings.secret_patterns)


def unknown_zones(settings: Settings) -> Iterator[str]:
    """Yield the problem of a zone that is not in the IANA database; no zone is loaded if none is set."""
    if settings.default_tz:
        try:
            zone(settings.default_tz)
        except InvalidArgument:
            yield f"default_tz is {settings.default_tz!r}; use an IANA time zone such as Europe/Paris"


def wrong_quotas(settings: Settings) -> Iterator[str]:
    """Yield the problem of each tenant's quotas that cannot be read."""
    for tenant, words in settings.quotas.items():
        try:
            quota_words(words)
        except ValueError:
            yield f"quotas has {words!r} for {tenant!r}; write {' '.join(f'{name}=N' for name in QUOTAS)}"


def wrong_event_sources(settings: Settings) -> Iterator[str]:
    """Yield the problem of each source whose events cannot name their tenant so."""
    for source, path in settings.event_sources.items():
        if source == EVENT_SOURCE or not source.strip():
            yield f"event_sources has {source!r}; name a source of yours: duetime's own events need no entry"
        if not re.fullmatch(r"detail(\.[^\s.]+)+", str(path)):
            yield f"event_sources has {path!r} for {source!r}; write a field of the detail: detail.tenant_id"


def contradictions(settings: Settings) -> Iterator[str]:
    """Return the problems of settings that contradict each other."""
    has_wheel = settings.timers == "wheel"
    rules = (
        (
            settings.heartbeat * 2 > settings.lease,
            "heartbeat ({heartbeat}) must be at most half the lease ({lease}), or one late beat loses it",
        ),
        (
            settings.cancel_poll > settings.heartbeat,
            "cancel_poll ({cancel_poll}) must not exceed heartbeat ({heartbeat})",
        ),
        (
            settings.wake_early >= settings.near_limit,
            (
                "wake_early ({wake_early}) must be below near_limit ({near_limit}): after a wake, the"
                " queue carries the rest"
            ),
        ),
        (
            has_wheel and settings.near_limit < _LEAST_WITH_WHEEL,
            (
                "near_limit ({near_limit}) must be at least {least} with timers='wheel', as files and the"
                " local cloud have: it turns once a minute, and looks a minute less than that ahead"
            ),
        ),
        (
            settings.idempotency_ttl > settings.retention,
            (
                "idempotency_ttl ({idempotency_ttl}) must not exceed retention ({retention}): a key is"
                " removed with its action's row"
            ),
        ),
        (
            settings.clock_skew >= settings.lease,
            "clock_skew ({clock_skew}) must be below the lease ({lease})",
        ),
        (
            bool(settings.sweep_rate % _MINUTE),
            "sweep_rate is {sweep_rate}; allowed are whole multiples of 60 s",
        ),
        (
            bool(settings.catch_up_rate % _MINUTE),
            "catch_up_rate is {catch_up_rate}; allowed are whole multiples of 60 s",
        ),
        (
            settings.sweep_rate > settings.catch_up_rate,
            (
                "sweep_rate ({sweep_rate}) must not exceed catch_up_rate ({catch_up_rate}): the catch-up"
                " is the rarer pass"
            ),
        ),
        (
            has_wheel and settings.sweep_rate * 2 > settings.near_limit,
            (
                "sweep_rate ({sweep_rate}) must be at most half of near_limit ({near_limit}) with"
                " timers='wheel', where the sweep wakes actions"
            ),
        ),
        (
            settings.job_grace < settings.grace + settings.sweep_rate,
            (
                "job_grace ({job_grace}) must be at least grace ({grace}) and sweep_rate ({sweep_rate})"
                " together: the sweep resends a lost wake only then, and its occurrence would be missed"
            ),
        ),
    )
    values = {setting.name: shown(getattr(settings, setting.name)) for setting in fields(settings)} | {
        "least": shown(_LEAST_WITH_WHEEL)
    }
    return (problem.format_map(values) for is_broken, problem in rules if is_broken)
