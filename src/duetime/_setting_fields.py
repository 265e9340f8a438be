"""The fields of a settings class: their metadata, their text in the environment, and which were given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields
from datetime import timedelta
from typing import Any, Self

from duetime._english import nearest
from duetime.environment import OTHERS, PREFIX, SWITCH, variable_of
from duetime.errors import SettingsError

_WRITTEN_AS = {timedelta: "a number of seconds", int: "a whole number", bool: "true or false", str: "text"}
"""How the environment writes a value of each type; others are JSON objects."""


class GivenFields:
    """A base of settings classes. It records which fields the caller gave: a profile sets only others."""

    __slots__ = ("given",)
    given: frozenset[str]

    def __new__(cls, **given: object) -> Self:
        """Record the names of the fields. The dataclass' own ``__init__`` checks and sets them.

        Raises:
            SettingsError: there is no setting with one of the names.
        """
        known = {setting.name for setting in fields(cls)}  # type: ignore[arg-type]  # subclasses are dataclasses
        if unknown := sorted(given.keys() - known):
            raise SettingsError([_unknown(cls.__name__, name, known) for name in unknown])
        settings = super().__new__(cls)
        object.__setattr__(settings, "given", frozenset(given))
        return settings


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    meant = nearest(name, known)
    return f"{name} is not a setting of {kind}; " + (
        f"did you mean {meant}?" if meant else "see docs/settings.md"
    )


def seconds(default: float, about: str, *, low: float, high: float) -> Any:
    """Return a field of a duration, with its limits in seconds."""
    return field(
        default=timedelta(seconds=default),
        metadata={"about": about, "low": timedelta(seconds=low), "high": timedelta(seconds=high)},
    )


def number(default: int, about: str, *, low: int, high: int) -> Any:
    """Return a field of a whole number, with its limits."""
    return field(default=default, metadata={"about": about, "low": low, "high": high})


def text(default: str, about: str, *, like: str = r".*", allowed: str = "text") -> Any:
    """Return a field of a text that matches the regular expression `like`; `allowed` describes it."""
    return field(default=default, metadata={"about": about, "like": like, "allowed": allowed})


def default_of(setting: Field[Any]) -> Any:
    """Return the default of a setting."""
    return setting.default if setting.default_factory is MISSING else setting.default_factory()


def settings_in(kind: Any) -> tuple[Field[Any], ...]:
    """Return the fields of a class that are settings, each with its meaning; `Settings.made` is none."""
    return tuple(setting for setting in fields(kind) if "about" in setting.metadata)


def unknown_variables(settings: Iterable[Field[Any]], names: Iterable[str]) -> Iterator[str]:
    """Yield a problem for each variable with duetime's prefix that is neither a setting nor in `OTHERS`."""
    known = {name.removeprefix(PREFIX) for name in OTHERS.union(map(variable_of, settings))}
    own = (name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))
    for name in sorted(name for name in own if name not in known):
        meant = nearest(name, known)
        remedy = f"did you mean {PREFIX}{meant}?" if meant else "docs/settings.md lists them"
        yield f"{PREFIX}{name} is not a variable of duetime; {remedy}"


def values_from(settings: Sequence[Field[Any]], source: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the fields that the environment has.

    Raises:
        SettingsError: a variable is unknown, or cannot be read.
    """
    values: dict[str, Any] = {}
    problems = [*unknown_variables(settings, source)]
    for setting in settings:
        if (written := source.get(variable_of(setting))) is not None:
            try:
                values[setting.name] = read(setting, written)
            except (ValueError, OverflowError, KeyError):
                problems.append(
                    f"{variable_of(setting)} is {written!r}, which cannot be read;"
                    f" use {_WRITTEN_AS.get(type(default_of(setting)), 'a JSON object')}"
                )
    if problems:
        raise SettingsError(problems)
    return values


def variables_of(settings: Any) -> dict[str, str]:
    """Return the variables of the fields that differ from their defaults."""
    return {
        variable_of(setting): _written(value)
        for setting in settings_in(settings)
        if (value := getattr(settings, setting.name)) != default_of(setting)
    }


def read(setting: Field[Any], written: str) -> Any:
    """Return the value that a text means.

    Raises:
        ValueError: it means none; so do the others.
        OverflowError: it is too large a number of seconds.
        KeyError: it is not one of a switch's words.
    """
    match setting.default:
        case bool():
            return SWITCH[written.lower()]
        case timedelta():
            return timedelta(seconds=float(written))
        case int():
            return int(written)
        case str():
            return written
        case _:
            return {str(name): str(value) for name, value in dict(json.loads(written)).items()}


def _written(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case timedelta():
            return f"{value.total_seconds():.12g}"
        case Mapping():
            return json.dumps(dict(value), sort_keys=True)
        case _:
            return str(value)


def shown(value: object) -> str:
    """Return a value as messages and docs show it: durations in seconds."""
    return f"{value.total_seconds():.12g} s" if isinstance(value, timedelta) else str(value)


QUOTAS = {
    "pending": 100_000,
    "payload_bytes": 1_000_000_000,
    "jobs": 1_000,
    "event_rules": 50,
    "requests": 50,
    "events": 600,
}
"""The default quotas of each tenant in a deployment with several; see `duetime.model.quota`."""


def quota_words(words: str) -> dict[str, int]:
    """Read the quotas of a tenant, such as ``jobs=500 requests=20``.

    Raises:
        ValueError: a word is no quota, or a quota occurs twice.
    """
    pairs = [word.partition("=") for word in words.split()]
    limits = {name: int(limit) for name, _, limit in pairs}
    is_known = len(limits) == len(pairs) and limits.keys() <= QUOTAS.keys()
    if not is_known or any(limit < 0 for limit in limits.values()):
        raise ValueError(words)
    return limits
