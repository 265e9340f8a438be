"""Profiles: named defaults of settings. A setting that is given wins over the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from duetime.settings import ROLES

STANDARD, SMALL, MANY = "standard", "small", "many"
_PREFIX = "<prefix>"
PROFILES: Mapping[str, Mapping[str, Any]] = {
    STANDARD: {},
    SMALL: {
        "tenants": "default",
        "identities": {"*": "default operators"},
        "events": "off",
        "api": "services",
        "public_paths": False,
        "api_log_role": "none",
        "alarms": "few",
    },
    MANY: {
        "tenants": "*",
        "roles": {**ROLES, "admins": "tenant:admin"},
        "event_bus": f"{_PREFIX}events",
        "public_paths": False,
    },
}
"""The values of each profile, both of `Settings` and of the deployment's own settings."""

Kind = TypeVar("Kind", bound=Any)


def with_profile(settings: Kind, profile: str) -> Kind:
    """Return the settings with the profile's values in the fields that the caller did not give."""
    free = {field.name for field in fields(settings)} - settings.given
    values = {name: value for name, value in PROFILES[profile].items() if name in free}
    return replace(settings, **{name: _named(value, settings) for name, value in values.items()})


def _named(value: object, settings: Any) -> object:
    """Return a value with the deployment's prefix in its place."""
    return value.replace(_PREFIX, settings.prefix) if isinstance(value, str) and _PREFIX in value else value
