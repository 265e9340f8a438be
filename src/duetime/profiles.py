"""Profiles: named defaults of settings. A setting that is given wins over the profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

STANDARD, SMALL = "standard", "small"
PROFILES: Mapping[str, Mapping[str, Any]] = {
    STANDARD: {},
    SMALL: {
        "tenants": "default",
        "identities": {"*": "default operators"},
        "events": "off",
        "people_api": False,
        "public_paths": False,
        "api_log_role": "none",
        "alarms": "few",
    },
}
"""The values of each profile, both of `Settings` and of the deployment's own settings."""

Kind = TypeVar("Kind", bound=Any)


def with_profile(settings: Kind, profile: str) -> Kind:
    """Return the settings with the profile's values in the fields that the caller did not give."""
    free = {field.name for field in fields(settings)} - settings.given
    return replace(settings, **{name: value for name, value in PROFILES[profile].items() if name in free})
