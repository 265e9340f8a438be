"""The fields of a settings class: their metadata, their text in the environment, and which were given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, field, fields
from datetime import timedelta
from typing import Any, Self

from duetime.environment import PREFIX, SWITCH
from duetime.errors import SettingsError

_WRITTEN_AS = {timedelta: "a number of seconds", int: "a whole number", bool: "true or false", str: "text"}
"""How the environment writes a value of each type; others are JSON objects."""


class GivenFields:
    """A base of settings classes. It records which fields the caller gave: a profile sets only others."""

    __slots__ = ("given",)
    given: frozenset[str]

    def __new__(cls, **given: object) -> Self:
        """Record the names of the fields. The dataclass' own ``__init__`` checks and sets them."""
        settings = super().__new__(cls)
        object.__setattr__(settings, "given", frozenset(given))
        return settings


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


def values_from(settings: Iterable[Field[Any]], source: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the fields that the environment has.

    Raises:
        SettingsError: one cannot be read.
    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    for setting in settings:
        variable = _variable(setting)
        if (written := source.get(variable)) is None:
            continue
        try:
            values[setting.name] = _read(setting, written)
        except (ValueError, OverflowError, KeyError):
            problems.append(
                f"{variable} is {written!r}, which cannot be read;"
                f" use {_WRITTEN_AS.get(type(default_of(setting)), 'a JSON object')}"
            )
    if problems:
        raise SettingsError(problems)
    return values


def variables_of(settings: Any) -> dict[str, str]:
    """Return the variables of the fields that differ from their defaults."""
    return {
        _variable(setting): _written(value)
        for setting in fields(settings)
        if (value := getattr(settings, setting.name)) != default_of(setting)
    }


def _variable(setting: Field[Any]) -> str:
    return PREFIX + setting.name.upper()


def _read(setting: Field[Any], written: str) -> Any:
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
            return dict(json.loads(written))


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
